"""A data set whose columns grow: its releases are given back, and go on in the same budget."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest
from tests.golden import frozen_cases
from tests.golden.test_frozen import OLD, small

import discreet as dp
from discreet.ledger import Ledger, declarations
from discreet.plan.plan import plan_json
from discreet.plan.used import cut_to_used
from discreet.totals.adjacency import semi_adjacency

from .sessions import FRAME, session
from .with_totals import SCHEMA

G, V = dp.Category(["x", "y"]), dp.Number(0, 100)
WIDE = FRAME.with_columns(edu=pl.Series(["a", "b"] * 50), w=pl.Series([1.0] * 100))
FIRST = dp.Schema(g=G, v=V)
GROWN = {
    "a column added": dp.Schema(g=G, v=V, edu=dp.Category(["a", "b"])),
    "in another order": dp.Schema(v=V, g=G),
    "left out": dp.Schema(g=G),
    "an unused bound corrected": dp.Schema(g=G, v=dp.Number(0, 120)),
}

RELEASED = ["reserve", "reading", "drawing", "commit"]


def by_g(one: dp.Session) -> dp.Plan:
    return one.table.group_by("g").agg(dp.count())


def kinds(path):
    with Ledger.open(path) as ledger:
        return [entry.kind for entry in ledger.entries("d")]


@pytest.mark.parametrize("how", GROWN)
def test_a_stored_release_is_recognised_by_what_it_uses(how, tmp_path):
    path = tmp_path / "l.db"
    with session(WIDE, schema=FIRST, ledger=path) as one:
        first = one.release(by_g(one), spend="0.1", name="r")
    with session(WIDE, schema=GROWN[how], ledger=path) as one:
        again = one.release(by_g(one), spend="0.1", name="r")
        assert (again, one.spent) == (first, dp.ZCDP("0.1"))
        assert again.document["plan"]["schema"] == FIRST.to_json()
    assert kinds(path) == ["dataset", *RELEASED]  # to be given something back amends nothing


def test_steps_on_columns_that_are_not_used_do_not_matter(tmp_path):
    path = tmp_path / "l.db"
    with session(WIDE, schema=FIRST, ledger=path) as one:
        plain = one.release(one.table.clamp({"g": ["x"]}).group_by("g").agg(dp.count()), spend="0.1", name="r")
    with session(WIDE, schema=GROWN["a column added"], ledger=path) as one:
        table = one.table.impute({"edu": dp.Weights({"a": 1, "b": 1})}).clamp({"v": (0, 50), "g": ["x"]})
        assert one.release(table.group_by("g").agg(dp.count()), spend="0.1", name="r") == plain


@pytest.mark.parametrize(
    "schema",
    [dp.Schema(g=dp.Category(["x", "y", "z"]), v=V), dp.Schema(g=dp.Category(["y", "x"]), v=V)],
)
def test_a_column_that_is_used_and_changed_makes_another_release(schema, tmp_path):
    path = tmp_path / "l.db"
    with session(WIDE, schema=FIRST, ledger=path) as one:
        one.release(by_g(one), spend="0.1", name="r")
    with session(WIDE, schema=schema, ledger=path) as one:
        with pytest.raises(dp.LedgerError, match="used in data set"):
            one.release(by_g(one), spend="0.1", name="r")
        assert one.release(by_g(one), spend="0.1", name="corrected").table["g"].to_list()[:-1] == [*schema["g"].values]
        assert one.spent == dp.ZCDP("0.2")
    assert kinds(path) == ["dataset", *RELEASED, "amend", *RELEASED]


def test_conditions_and_a_resize_are_always_part_of_what_is_used():
    table = dp.Table(FIRST, dp.ReplaceOne(rows=100))
    plain = table.group_by("g").agg(dp.count())
    others = [
        table.where({"v": (0, 50)}).group_by("g").agg(dp.count()),
        table.impute({"g": dp.Weights({"x": 1, "y": 1})}).resize(rows=50).group_by("g").agg(dp.count()),
        table.group_by("g").agg(dp.count("v")),
        plain.simultaneous(),
        dp.Table(FIRST, dp.ReplaceOne(rows=101)).group_by("g").agg(dp.count()),
    ]
    assert len({one.used_digest for one in [plain, *others]}) == len(others) + 1
    for one in others:
        assert not plain.asks_as(plan_json(one))
        assert not one.asks_as(plan_json(plain))
    assert plain.asks_as(json.loads(json.dumps(plan_json(plain))))


def test_a_count_of_all_rows_depends_on_how_text_is_read(tmp_path):
    """It uses no column; but in another encoding, say, the same file may have other rows."""
    path, file = tmp_path / "l.db", tmp_path / "d.csv"
    file.write_text("g;v\nx;1\ny;2\n", encoding="utf-8")
    sources = {
        "semicolon": dp.CsvFiles(file, separator=";"),
        "no quotes": dp.CsvFiles(file, separator=";", quote=""),
        "encoded": dp.CsvFiles(file, separator=";", encoding="latin-1"),
    }
    for name, source in sources.items():
        with session(source, schema=FIRST, ledger=path) as one:
            first = one.release(one.table.agg(dp.count()), spend="0.1", name=name)
            for other in sources:
                if other == name:
                    assert one.release(one.table.agg(dp.count()), spend="0.1", name=name) == first
                elif [*sources].index(other) < [*sources].index(name):
                    with pytest.raises(dp.LedgerError, match="used in data set"):
                        one.release(one.table.agg(dp.count()), spend="0.1", name=other)
    table = dp.Table(FIRST, dp.AddRemove()).agg(dp.count())
    assert "csv" not in cut_to_used(plan_json(table), []), "where nothing is said, digests are those of 0.1.0"


def test_the_part_that_is_used_has_one_order():
    schema = dp.Schema(a=V, b=V, c=V)
    table = dp.Table(schema, dp.AddRemove())
    one = table.clamp({"b": (0, 9)}).where({"b": (1, 5)}).clamp({"a": (1, 8)}).agg(dp.sum("a", nulls="skip"))
    other = table.clamp({"a": (1, 8), "c": (0, 1), "b": (0, 9)}).where({"b": (1, 5)}).agg(dp.sum("a", nulls="skip"))
    assert one.used_digest == other.used_digest
    assert one.digest != other.digest
    kept = cut_to_used(plan_json(one), ["a", "b"])
    assert [column["name"] for column in kept["schema"]] == ["a", "b"]
    assert [(step["step"], step["column"]) for step in kept["steps"]] == [("clamp", "a"), ("clamp", "b"), ("where", "b")]


# Ledgers of 0.1.0 -------------------------------------------------------------------------------------------------------


def test_an_old_ledger_grows_and_gives_its_releases_back(tmp_path):
    path = tmp_path / "ledger.db"
    shutil.copyfile(OLD / "ledger.sqlite", path)
    path.chmod(0o600)
    before = path.read_bytes()
    columns = dict(frozen_cases.SCHEMA.columns)
    del columns["code"]
    schema = dp.Schema({**columns, "since": dp.Date("2019-01-01", "2021-12-31"), "new": dp.Number(0, 1)})
    rows = frozen_cases.rows_of_people().with_columns(new=pl.lit(1))
    options = {"dataset": "people", "ledger": path, "budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(frozen_cases.ROWS)}
    with dp.Session(rows, schema, **options) as one:
        assert one.release(small(one.table), spend="0.1", name="persons") == dp.Release.load(OLD / "small")
        assert path.read_bytes() == before
        one.release(one.table.agg(dp.count("new")), spend="0.1", name="grown")
    with Ledger.open(path) as ledger:
        assert ledger.verify().intact
        kept = [json.loads(entry.details) for entry in ledger.entries("people") if entry.kind == "amend"]
    assert [[column["name"] for column in one["added"] + one["changed"]] + one["left_out"] for one in kept] == [
        ["new", "since", "code"]
    ]
    with dp.Session(rows, frozen_cases.SCHEMA, **options) as one:
        assert one.release(small(one.table), spend="0.1", name="persons") == dp.Release.load(OLD / "small")
    for changed in ({"neighbours": dp.ReplaceOne(frozen_cases.ROWS - 1)}, {"budget": dp.ZCDP(2)}):
        with pytest.raises(dp.LedgerError, match="declared otherwise"):
            dp.Session(rows, schema, **{**options, **changed})


# Beside exact totals ----------------------------------------------------------------------------------------------------


def test_the_semi_adjacency_does_not_depend_on_other_columns():
    for invariants in (dp.Totals("state"), dp.Margins("state", "sex"), dp.Totals("state") + dp.Occupied("owner")):
        used = {name: SCHEMA[name] for name in invariants.columns}
        found = {
            semi_adjacency(invariants, dp.Schema({**used, **more}), None, 24)
            for more in ({"age": dp.Number(0, 1)}, {"age": dp.Number(0, 10), "w": V}, {"new": dp.Category([1, 2, 3])})
        }
        assert len(found) == 1


def test_another_category_of_exact_totals_would_tell_neighbours_apart(tmp_path, monkeypatch):
    """H2 of docs/proofs/declaration.md: two sources with the totals that were published, one of them with a B."""
    first = dp.Schema(state=dp.Category(["A"]), sex=G)
    later = dp.Schema(state=dp.Category(["A", "B"]), sex=G)
    rows = {name: pl.DataFrame({"state": ["A"] * 9 + [name], "sex": ["x", "y"] * 5}) for name in ("B", "C")}
    found = {}
    for name, source in rows.items():
        path = tmp_path / f"{name}.db"
        options = {"dataset": "d", "ledger": path, "budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(10)}
        with dp.Session(source, first, invariants=dp.Totals("state"), **options) as one:
            totals = one.publish_totals().cells(one.invariants.parts[0], first)
            assert totals == {("A",): 9, (None,): 1}
        with pytest.raises(dp.LedgerError, match="categories of column 'state'"):
            dp.Session(source, later, invariants=dp.Totals("state"), **options)
        with monkeypatch.context() as mutant:
            mutant.setattr(declarations, "_find_used", lambda _: set())
            declarations.fixed_part.cache_clear()
            with dp.Session(source, later, invariants=dp.Totals("state"), **options) as one:
                request = one.table.group_by("state", "sex").agg(dp.count())
                try:
                    found[name] = type(one.release(request, spend="0.1", name="r"))
                except dp.DiscreetError as refused:
                    found[name] = type(refused)
        declarations.fixed_part.cache_clear()
    assert found["B"] is not found["C"] is dp.Release
