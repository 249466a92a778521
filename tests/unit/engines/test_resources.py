"""What the driver may take: limits that cannot be are refused, those that can reach the driver, and stages are told."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.cli.output import Spinner
from discreet.domain.columns import Number
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.errors import ArgumentError

SCHEMA = Schema(x=Number(0, 10))


@pytest.mark.parametrize("memory", ["50MB", "0.05GB", "500 MB", "1.5GiB", "51200KB", "2TB", "52428800 KiB"])
def test_memory_that_can_be(memory: str) -> None:
    assert Limits(memory=memory).memory == memory


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            {"memory": memory}
            for memory in ("", "500", "49.9MB", "50mb", "1e3MB", "-1GB", "50 MB ", "90%", "½GB", 5 * 10**8, b"")
        ),
        *({"memory": memory} for memory in ("50MB'; --", "9999999999GB", "0GB")),
        *({"threads": threads} for threads in (0, -1, 1025, "2", 2.0, True, 10**30)),
        *({"spill": spill} for spill in ("", "/no/such/folder", __file__, "a\0b", 7)),
    ],
)
def test_limits_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=f"^{next(iter(wrong))}=.*: (must be|is no)"):
        Limits(**wrong)


def settings(engine: Any) -> dict[str, Any]:
    wanted = ("memory_limit", "threads", "temp_directory")
    with engine._database.cursor() as cursor:
        return {name: cursor.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in wanted}


def sources(folder: Path) -> dict[str, Any]:
    pl.DataFrame({"x": [1, 2]}).write_parquet(folder / "a.parquet")
    (folder / "a.csv").write_text("x\n1\n2\n")
    with duckdb.connect(folder / "a.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    return {"parquet": folder / "a.parquet", "csv": folder / "a.csv", "stream": lambda: pl.DataFrame({"x": [1]})}


def test_limits_reach_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spilled").mkdir()
    monkeypatch.chdir(tmp_path)
    limits = Limits(memory="80MB", threads=3, spill="spilled")
    for source in sources(tmp_path).values():
        engine = open_source(source, SCHEMA, limits)
        found = settings(engine)
        assert (found["memory_limit"], found["threads"]) == ("76.2 MiB", 3)
        assert Path(found["temp_directory"]).parent == tmp_path / "spilled"
        assert Path(found["temp_directory"]).is_absolute()
        engine.close()
    assert not list((tmp_path / "spilled").iterdir())


def test_limits_are_no_part_of_a_data_set(tmp_path: Path) -> None:
    """The same release is given back under other limits."""
    source = sources(tmp_path)["parquet"]
    seen = []
    for limits in (NO_LIMITS, Limits(memory="80MB", threads=1)):
        with session_over(source, SCHEMA, ledger=tmp_path / "l.db", limits=limits) as session:
            seen.append(session.release(session.table.agg(dp.count()), name="r").document)
    assert seen[0] == seen[1]


def test_a_relation_follows_its_own_connection() -> None:
    relation = duckdb.connect().sql("SELECT 1 AS x")
    with pytest.raises(ArgumentError, match="follows the settings of its connection"):
        open_source(relation, SCHEMA, Limits(threads=2))
    open_source(relation, SCHEMA, Limits())


def test_limits_and_progress_have_types() -> None:
    for wrong in ({"limits": {"memory": "500MB"}}, {"limits": None}, {"progress": "loud"}):
        with pytest.raises(ArgumentError, match=r"^(limits|progress)="):
            open_source(pl.DataFrame({"x": [1]}), SCHEMA, **wrong)  # type: ignore[arg-type]


def told(frame: pl.DataFrame, neighbours: Any) -> list[str]:
    stages: list[str] = []
    session = session_over(frame, SCHEMA, neighbours=neighbours, progress=stages.append)
    try:
        session.release(
            session.table.agg(dp.count() if neighbours == dp.AddRemove() else dp.mean("x", nulls="skip")), name="r"
        )
    except dp.RowsDiffer:
        stages.append("refused")
    return stages


def test_stages_are_the_same_whatever_the_rows_are() -> None:
    whole = ["snapshot", "count", "draw", "snapshot", "snapshot"]
    for values in ([], [1], [None] * 50, [99.5, float("nan")]):
        frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
        assert told(frame, dp.AddRemove()) == whole
        assert told(frame, dp.ReplaceOne(rows=7)) == ["snapshot", "count", "refused"]
        assert told(pl.DataFrame({"x": [1.0] * 7}), dp.ReplaceOne(rows=7)) == ["snapshot", "count", *whole[1:]]


def test_nobody_who_is_told_can_end_a_release() -> None:
    def loud(stage: str) -> None:
        raise BrokenPipeError(stage)

    frame = pl.DataFrame({"x": [1]})
    session = session_over(frame, SCHEMA, progress=loud)
    assert session.release(session.table.agg(dp.count()), name="r").table.height == 1


def test_a_spinner_shows_the_stage_in_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with Spinner("releasing") as silent:
        silent.tell("counting")
        assert silent._status is None
    monkeypatch.setattr(sys, "stdout", Terminal())
    with Spinner("releasing '[b]'") as spinner:
        spinner.tell("counting")
        assert spinner._status is not None
        assert str(spinner._status.status) == "releasing '[b]': counting"
    assert spinner._status is None
