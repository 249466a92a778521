"""Tables in release documents: recomputed from their measured integers, refused where a number was changed."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import polars as pl
import pytest
from tests.builders import changed_release, run, session_over

import discreet as dp
from discreet.releases.document import make_release
from discreet.releases.measured import Verified

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 9))
ROWS = list(product(["x", "y", None], ["p", "q"], [0, 4, 9])) * 5
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "v"], orient="row")
TABLES = dp.tables(["a", "b"], [dp.bins("v", step=5), "b"], ["a"])


def released(neighbours=None, spend=None, make=None, **options):
    neighbours, spend = neighbours or dp.ReplaceOne(rows=len(ROWS)), spend or dp.ZCDP("1/2")
    session = session_over(FRAME, SCHEMA, neighbours=neighbours, budget=spend, **options)
    return session.release((make or (lambda table: table.agg(TABLES)))(session.table), spend=spend, name="all")


CASES = {
    "zcdp": {},
    "gdp": {"spend": dp.GDP(1)},
    "approx": {"spend": dp.ApproxDP(1, "1e-6")},
    "pure": {"spend": dp.PureDP(1)},
    "add": {"neighbours": dp.AddRemove()},
    "where": {"make": lambda table: table.where({"v": (0, 5)}).agg(dp.tables(["a"], ["a", "b"]))},
    "imputed": {"make": lambda table: table.impute({"a": dp.Weights({"x": 1})}).agg(TABLES)},
    "more": {"make": lambda table: table.agg(dp.count("a"), TABLES, dp.histogram("v", [0, 5, 9]))},
    "together": {"make": lambda table: table.agg(TABLES).simultaneous()},
}


@pytest.mark.parametrize("case", CASES)
def test_every_cell_follows_from_the_measured_integers(case):
    release = released(**CASES[case])
    found = dp.verify(release)
    frames = [frame for name, frame in release.tables.items() if name.startswith("tables")]
    assert (found.tables, found.cells) == (len(frames), sum(map(len, frames)))
    assert "count_consistent" not in frames[0].columns
    assert dp.verify(make_release({k: v for k, v in release.document.items() if k != "digest"})) == found


def test_exact_totals_are_in_every_table_and_a_table_of_them_refuses_nothing():
    invariants = dp.Totals("a", "b")
    release = released(invariants=invariants)
    tables = release.tables
    exact = {(a, b): sum(row[:2] == (a, b) for row in ROWS) for a, b in product(["x", "y", "z", None], ["p", "q", None])}
    shown = {(a, b): (count, low, high) for a, b, count, low, high in tables["tables_a_b"].rows()}
    assert shown == {cell: (count, count, count) for cell, count in exact.items()}
    assert tables["tables_a"]["count"].to_list() == [30, 30, 0, 30]
    sums = tables["tables_v_b"].group_by("b").agg(pl.col("count").sum())
    assert dict(sums.rows()) == pytest.approx({"p": 45, "q": 45, None: 0}, abs=1e-9)
    empty = tables["tables_v_b"].filter(pl.col("b").is_null())
    assert empty.select("count", "count_low", "count_high").sum().row(0) == (0, 0, 0)
    assert dp.verify(release).sums > 12
    told = [frame["totals"] for frame in release.document["frames"]]
    assert told == ["are the published ones", "add up to the published ones", "are the published ones"]


def test_totals_of_some_groups_are_met_too():
    release = released(invariants=dp.Totals("a", only=["x"]))
    told = [frame["totals"] for frame in release.document["frames"]]
    assert told == ["add up to the published ones"] * 3
    x, *_ = release.tables["tables_a"].rows()
    assert x == ("x", 30, 30, 30)
    assert sum(row[2] for row in release.tables["tables_a_b"].rows() if row[0] == "x") == pytest.approx(30, abs=1e-9)
    assert dp.verify(release).sums > 2


@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.GDP(20), dp.PureDP(1)], ids=str)
@pytest.mark.parametrize("where", [{}, {"v": (0, 5)}], ids=str)
def test_the_number_of_rows_is_a_table_beside_public_sums(spend, where):
    def rows(table):
        return (table.where(where) if where else table).agg(dp.tables([], ["a", "b"]))

    release = released(spend=spend, make=rows, invariants=dp.Impossible("a", "b", cells=[("z", "p"), ("y", None)]))
    every, cells = release.tables["tables"], release.tables["tables_a_b"]
    assert cells["count"].sum() == pytest.approx(every["count"].item(), abs=1e-9)
    assert (every["count_low"].item() == every["count_high"].item()) == (not where)
    assert dp.verify(release).tables == 2


def test_documents_that_call_them_agreeing_tables_are_read_alike():
    release = released(neighbours=dp.AddRemove())
    document = {key: value for key, value in release.document.items() if key != "digest"}
    lines = [{key: value for key, value in one.items() if key != "measured"} for one in document["statistics"]]
    earlier = make_release({**document, "statistics": [{**one, "statistic": "agreeing_tables"} for one in lines]})
    assert dp.verify(earlier) == dp.verify(release) != Verified(0, 0, 0)
    assert dp.consistent(earlier, "tables_a_b").equals(dp.consistent(release, "tables_a_b"))
    assert earlier.rows().frame.columns == release.rows().frame.columns
    with pytest.raises(dp.ArgumentError, match="cannot be read"):
        dp.verify(changed_release(earlier, ("measured",), []))


CHANGES = {
    "a cell": (("frames", 0, "columns", 2, "values", 0), "'count' of 'tables_a_b'"),
    "an end": (("frames", 1, "columns", 3, "values", 2), "'count_low' of 'tables_v_b'"),
    "an integer": (("measured", 0, "effects", 3, "values", 1), "does not follow"),
    "a level": (("measured", 0, "level"), "does not follow"),
    "an axis": (("measured", 0, "effects", 1, "axes"), "cannot be read"),
    "a name": (("measured", 0, "statistic"), "cannot be read"),
    "no times": (("measured", 0, "effects", 0, "times"), "cannot be read"),
    "nothing measured": (("measured",), "cannot be read"),
    "no list": (("measured", 0), "cannot be read"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_number_is_noticed(change):
    path, told = CHANGES[change]
    release = released(neighbours=dp.AddRemove())
    value = {"a level": "0.9", "an axis": [7], "a name": "other", "no times": 0, "nothing measured": []}.get(change, 12345)
    with pytest.raises(dp.ArgumentError, match=told):
        dp.verify(changed_release(release, path, value))


def test_a_label_of_a_public_sum_that_is_none_is_a_made_up_document():
    release = released(invariants=dp.Totals("a"))
    path = ("frames", 0, "known_sums", 0, "labels", 0)
    with pytest.raises(dp.ArgumentError, match="cannot be read"):
        dp.verify(changed_release(release, path, 99))


def test_tables_agree_as_fractions_and_the_view_is_of_whole_numbers():
    release = released()
    (block,) = release.document["measured"]
    assert [effect["noise"] is None for effect in block["effects"]][:2] == [True, False]
    assert Fraction(block["level"]) == Fraction(95, 100)
    one = release.tables["tables_a_b"].group_by("a", maintain_order=True).agg(pl.col("count").sum())
    assert one["count"].to_list() == pytest.approx(release.tables["tables_a"]["count"].to_list(), abs=1e-9)
    whole = dp.consistent(release, "tables_a_b")
    assert (whole["count_consistent"] >= 0).all()
    assert whole["count_consistent"].sum() == len(ROWS)


def test_the_command_says_what_it_recomputed(tmp_path):
    release = released()
    release.save(tmp_path)
    done = run("verify", str(tmp_path))
    assert done.exit_code == 0
    assert "3 tables with 25 cells" in " ".join(done.output.split())
    done = run("verify", str(tmp_path), "--json")
    assert json.loads(done.output)["verified"][0]["tables"] == 3
    changed_release(release, ("frames", 0, "columns", 2, "values", 0), 1.5).save(tmp_path)
    assert run("verify", str(tmp_path)).exit_code == 2
    assert "no tables whose cells" in str(Verified(0, 0, 0))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (dp.tables, "must name different lists"),
        (lambda: table().agg(dp.tables(["a"], ["a"])), "given twice"),
        (lambda: table().group_by("a").agg(dp.tables(["b"])), "without group_by"),
        (lambda: table().agg(dp.tables(["a", "a"])), "names a column twice"),
    ],
)
def test_what_cannot_agree_is_refused(make, told):
    with pytest.raises(dp.PlanError, match=told):
        make()


def table():
    return dp.Table(SCHEMA, dp.AddRemove())
