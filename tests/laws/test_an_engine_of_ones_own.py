"""The recipe "To add an engine" of docs/architecture.md, carried out: one folder and one line, and its sources are read.

The engine counts a list of rows, which a program hands over or a text writes as JSON. It passes the suite that every engine
passes; one that lies is caught by it.
"""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.audit.engines.conformance import ConformanceError, check_engine, check_junk, check_table
from discreet.audit.engines.hostile import hostile_tables
from discreet.cli import app
from discreet.cube.cube import Cube, compact, empty_cube, sum_dtype
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines import header_of, open_source, registry
from discreet.engines.base import ColumnType, CubeRequest, Engine, Header
from discreet.engines.kind import EngineKind, Given, Named
from discreet.engines.reference import label, number_target
from discreet.engines.resources import Limits
from discreet.errors import ArgumentError, SourceError
from discreet.planfile.read import load_plan

# The folder that is added -----------------------------------------------------------------------------------------------


class ListEngine:
    """Rows in a list, each a list of values in the order of the header."""

    def __init__(self, header: Header, rows: Sequence[Sequence[Any]]) -> None:
        self._header, self._rows = header, [dict(zip(header, row, strict=True)) for row in rows]

    @property
    def header(self) -> Header:
        return self._header

    def snapshot(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing is open."""

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        cells = defaultdict(list)
        for row in self._rows:
            cells[tuple(label(axis, row[axis.name], self._header[axis.name]) for axis in axes)].append(row)
        widths = [moment.path.high - moment.path.low for moment in moments]
        if not cells:
            return empty_cube(len(axes), widths)
        shape = (len(cells), len(moments))
        sums = [[self.codes(moment, rows) for moment in moments] for rows in cells.values()]
        return compact(
            Cube(
                np.array(list(cells), dtype=np.int64).reshape(len(cells), len(axes)),
                np.array([len(rows) for rows in cells.values()], dtype=np.int64),
                np.array([[len(codes) for codes in cell] for cell in sums], dtype=np.int64).reshape(shape),
                np.array([[sum(codes) for codes in cell] for cell in sums], dtype=sum_dtype(widths)).reshape(shape),
            )
        )

    def codes(self, moment: Moment, rows: Sequence[dict[str, Any]]) -> list[int]:
        codes = [number_target(moment.path, row[moment.name], self._header[moment.name]) for row in rows]
        return [code - moment.path.low for code in codes if code is not None]


def of_list(rows: Any, columns: Sequence[str], limits: Limits) -> Engine:
    return ListEngine(dict.fromkeys(rows[0], ColumnType("any", "a cell")), [list(row.values()) for row in rows])


def of_text(source: Any, columns: Sequence[str], limits: Limits) -> Engine:
    return of_list(json.loads(source.removeprefix("rows:")), columns, limits)


def check_schema(schema: dp.Schema) -> None:
    for name, column in schema.columns.items():
        if isinstance(column, dp.Date):
            raise SourceError(f"column '{name}': a list of rows has no days; declare something else")


ENGINE = EngineKind(
    name="lists",
    check_schema=check_schema,
    given=(Given("a list of rows", "the list", lambda source: isinstance(source, list), of_list, "a list has no limits"),),
    named=(Named("rows:", of_text),),
)


# Some that lie ----------------------------------------------------------------------------------------------------------


class Forgetful(ListEngine):
    """Drops the last row."""

    def __init__(self, header: Header, rows: Sequence[Sequence[Any]]) -> None:
        super().__init__(header, rows[:-1])


class Tidy(ListEngine):
    """Drops the rows that have a null."""

    def __init__(self, header: Header, rows: Sequence[Sequence[Any]]) -> None:
        super().__init__(header, [row for row in rows if None not in row])


class Unique(ListEngine):
    """Counts equal rows once."""

    def __init__(self, header: Header, rows: Sequence[Sequence[Any]]) -> None:
        super().__init__(header, list({repr(row): row for row in rows}.values()))


class Miscounting(ListEngine):
    """Counts a null as a value of 0."""

    def codes(self, moment: Moment, rows: Sequence[dict[str, Any]]) -> list[int]:
        codes = super().codes(moment, rows)
        return codes + [0] * (len(rows) - len(codes))


class Unshifted(ListEngine):
    """Sums codes from 0 instead of from the lower bound."""

    def codes(self, moment: Moment, rows: Sequence[dict[str, Any]]) -> list[int]:
        codes = super().codes(moment, rows)
        return [code + moment.path.low for code in codes]


class Clipped(ListEngine):
    """Drops what lies beyond the bounds, where the plan moves it onto them."""

    def codes(self, moment: Moment, rows: Sequence[dict[str, Any]]) -> list[int]:
        width = moment.path.high - moment.path.low
        codes = super().codes(moment, rows)
        return [code for code in codes if 0 < code < width]


class Swapping(ListEngine):
    """Answers several scans in another order."""

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        return (self.aggregate(*scan) for scan in scans[::-1])


class Restless(ListEngine):
    """Seems to change while nothing does."""

    looks = 0

    def snapshot(self) -> str:
        self.looks += 1
        return str(self.looks)


LIES = (Forgetful, Tidy, Unique, Miscounting, Unshifted, Clipped, Swapping, Restless)


# What then holds without another line -----------------------------------------------------------------------------------

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 9))
ROWS = [{"g": "x", "v": 3}, {"g": "x", "v": 12}, {"g": "y", "v": None}, {"g": None, "v": "4"}]
COUNTS = dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.count(), dp.sum("v", nulls="skip"))
(SCAN,) = COUNTS.layout.scans
OPTIONS: dict[str, Any] = {"dataset": "d", "neighbours": dp.AddRemove(), "ledger": ":memory:"}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the registry."""
    monkeypatch.setattr(registry, "ENGINES", (*registry.ENGINES, ENGINE))


NUMBERS = {one.name for one in hostile_tables() if {kind.kind for kind in one.header.values()} != {"text"}}


@pytest.mark.parametrize("without", [NUMBERS - {"64-bit integers"}, pytest.param(set(), marks=pytest.mark.slow)])
def test_it_passes_the_suite_of_every_engine(without: set[str]) -> None:
    assert check_engine(ListEngine, without=without) > 30 * (len(hostile_tables()) - len(without))
    assert check_junk(ListEngine, 1000) == 4


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lying", LIES)
def test_one_that_lies_is_caught(lying: Callable[[Header, Sequence[Sequence[Any]]], Engine]) -> None:
    (table,) = [one for one in hostile_tables() if one.name == "small integers"]
    assert check_table(ListEngine, table) > 10
    with pytest.raises(ConformanceError):
        check_table(lying, table)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("source", [ROWS, f"rows:{json.dumps(ROWS)}"], ids=["a list", "a text"])
def test_a_session_reads_its_sources(source: Any) -> None:
    cube = open_source(source, SCHEMA).aggregate(SCAN.axes, SCAN.moments)
    assert (cube.rows.tolist(), cube.nonnull.tolist(), cube.sums.tolist()) == ([1, 2, 1], [[1], [2], [0]], [[4], [12], [0]])
    with dp.Session(source, SCHEMA, budget=dp.PureDP(1000), **OPTIONS) as session:
        release = session.release(COUNTS, spend=1000, name="r")
    assert release.table["count"].to_list()[:2] == [2, 1]


@pytest.mark.usefixtures("registered")
def test_what_it_demands_is_demanded() -> None:
    with pytest.raises(SourceError, match="column 'g': a list of rows has no days"):
        open_source(ROWS, dp.Schema(g=dp.Date("2020-01-01", "2020-12-31")))
    with pytest.raises(ArgumentError, match="limits: a list has no limits; set them there"):
        open_source(ROWS, SCHEMA, limits=Limits(threads=1))
    with pytest.raises(SourceError, match="column 'w': declared in the schema, but not in the list"):
        open_source(ROWS, dp.Schema(w=dp.Number(0, 1)))


@pytest.mark.usefixtures("registered")
def test_plan_files_and_the_command_line_take_its_names_as_they_are(tmp_path: Path) -> None:
    source, plan = f"rows:{json.dumps(ROWS)}", tmp_path / "plans" / "plan.toml"
    plan.parent.mkdir()
    done = CliRunner().invoke(app, ["init", source, "--out", str(plan)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert tomllib.loads(plan.read_text("utf-8"))["data"]["source"] == source
    assert list(header_of(source)) == ["g", "v"]
    text = plan_text("counted").replace('"d.csv"', json.dumps(source)).replace("= 1", "= 1000")
    plan.write_text(text + 'group_by = ["g"]\n')
    assert load_plan(plan).source == source
    done = CliRunner().invoke(app, ["release", str(plan), "--out", str(tmp_path / "out")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert [path.name for path in tmp_path.rglob("release.json")] == ["release.json"]


@pytest.mark.usefixtures("registered")
def test_messages_offer_it() -> None:
    with pytest.raises(SourceError, match=r"dict is not a table that can be read twice; pass a path, .* or a list of rows$"):
        open_source({"g": ["x"]}, SCHEMA)


def test_without_the_line_nothing_reads_it() -> None:
    with pytest.raises(SourceError, match="list is not a table that can be read twice"):
        open_source(ROWS, SCHEMA)
    with pytest.raises(SourceError, match="source 'rows:x': cannot be opened"):
        open_source("rows:x", SCHEMA)
