"""Groups that are not printed are hidden and nothing else: whatever the table, the rest of a release has the same law.

On all tables of up to three rows over a tiny schema, a release with dropped nulls is the release without, less the hidden
rows, for the same random bits. So the two have one law, whichever mechanism is at work. Mutants that take the null level
out of the drawn table, or the number of rows for the number of those that count, are noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.steps import facts_of
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import Bits
from discreet.pages.report.words import kept_words
from discreet.pages.words import english
from discreet.plan import shown
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.releases import assemble, tabled
from discreet.releases.document import Release
from discreet.releases.evaluate import run_scans
from discreet.releases.publish import publish
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

G, F = ["x", "y"], ["p", "q"]
HEADER = {"g": ColumnType("text", "text"), "f": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}
RECORDS = [(g, f, v) for g, f, v in product([*G, None], [*F, None], [0, None])]
TABLES = [rows for size in (0, 1, 2) for rows in combinations_with_replacement(RECORDS, size)]
THREE = list(combinations_with_replacement(RECORDS[::2], 3))[::7]
WITH_HIDDEN = " with those that are not printed"


def schema(*, required: bool = False) -> dp.Schema:
    return dp.Schema(g=dp.Category(G, required=required), f=dp.Category(F), v=dp.Number(0, 2))


def released(plan: Plan, rows: Sequence[Any], totals: Any = None, *, seed: int = 7) -> Release:
    engine = ReferenceEngine(HEADER, rows)
    beside = None
    if totals is not None:
        start = facts_of(plan.schema, plan.neighbours)
        cube = engine.aggregate([KeyAxis(path_of(name, (), start)) for name in totals.columns], ())
        found = totals_of_counts(totals, plan.schema, (cube.keys, cube.rows))
        beside = exact_totals_of(totals, plan.schema, found, len(rows))
    quoted = quote(plan, dp.ZCDP("0.5"), beside)
    bits = Bits(np.random.default_rng(seed).bytes)
    content = {"name": "r", "dataset": "d", "ledger": {"sequence": 2, "head": "h"}}
    return publish(quoted, run_scans(engine, plan.layout), lambda: bits, report_delta=Fraction(1, 10**9), content=content)


def without_nulls(columns: Sequence[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    labels = [column["values"] for column in columns if column["name"].removesuffix("_group") in names]
    size = len(columns[0]["values"]) if columns else 0
    kept = [place for place in range(size) if all(values[place] is not None for values in labels)]
    return [{**column, "values": [column["values"][place] for place in kept]} for column in columns]


def same_rest(dropped: Release, whole: Release, *names: str) -> None:
    a, b = dropped.document, whole.document
    assert a["columns"] == without_nulls(b["columns"], *names)
    for one, other in zip(a["frames"], b["frames"], strict=True):
        assert one["columns"] == without_nulls(other["columns"], *names)
    assert [a[key] for key in ("guarantee", "noise", "interval")] == [b[key] for key in ("guarantee", "noise", "interval")]
    for one, other in zip(a["statistics"], b["statistics"], strict=True):
        assert one.get("totals", "").removesuffix(WITH_HIDDEN) == other.get("totals", "")
        assert {**one, "totals": ""} == {**other, "totals": ""}


ASKED = {
    "groups": lambda table, nulls: table.group_by("g", "f", nulls=nulls).agg(
        dp.count(), dp.mean("v", nulls="skip"), dp.share(), dp.histogram("v", [0, 1, 2])
    ),
    "tables": lambda table, nulls: table.group_by(nulls=nulls).agg(dp.tables(["g", "f"], ["g"])),
    "bins": lambda table, nulls: table.group_by(dp.bins("v", [0, 1, 2]), "g", nulls=nulls).agg(dp.count()),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_release_with_dropped_nulls_is_the_other_one_less_the_hidden_rows(asked: str, relation: str) -> None:
    for rows in [*TABLES[::5], *THREE]:
        neighbours = dp.AddRemove() if relation == "add-remove" else dp.ReplaceOne(rows=max(1, len(rows)))
        if relation == "replace-one" and not rows:
            continue
        table = dp.Table(schema(), neighbours)
        whole, dropped = (ASKED[asked](table, nulls) for nulls in ("show", "drop"))
        names = [name for name in ("g", "f", "v") if name in dropped.dropped]
        assert dropped.digest != whole.digest
        assert names
        same_rest(released(dropped, rows), released(whole, rows), *names)


@pytest.mark.parametrize("totals", [dp.Totals("g"), dp.Totals("g", "f")], ids=["one", "two"])
def test_beside_totals_the_null_level_stays_in_the_drawn_table(totals: Any) -> None:
    declared = totals
    for rows in [rows for rows in [*TABLES[20::11], *THREE[::2]] if len(rows) > 1]:
        table = dp.Table(schema(), dp.ReplaceOne(rows=len(rows)))
        whole, dropped = (table.group_by("g", "f", nulls=nulls).agg(dp.count()) for nulls in ("show", "drop"))
        found = []
        for plan in (dropped, whole):
            try:
                found.append(released(plan, rows, declared))
            except dp.PlanError as refused:  # the same for both: what is exact already, or leaves no neighbour
                found.append(str(refused))
        if isinstance(found[0], Release) and isinstance(found[1], Release):
            same_rest(found[0], found[1], "g", "f")
        else:
            assert found[0] == found[1]


def test_a_required_column_is_dropped_in_every_request() -> None:
    rows = [("x", "p", 0), (None, "q", None), ("y", None, 1)]
    whole = dp.Table(schema(), dp.AddRemove()).group_by("g", "f").agg(dp.count())
    required = dp.Table(schema(required=True), dp.AddRemove()).group_by("g", "f").agg(dp.count())
    same_rest(released(required, rows), released(whole, rows), "g")
    assert "nulls_dropped" not in required.digest
    both = dp.Table(schema(required=True), dp.AddRemove()).group_by("g", "f", nulls={"f": "drop"}).agg(dp.count())
    same_rest(released(both, rows), released(whole, rows), "g", "f")


def test_groups_that_a_condition_empties_are_not_printed() -> None:
    rows = [("x", "p", 0), (None, "q", 2), ("y", None, 1)]
    start = dp.Table(schema(), dp.AddRemove())
    table = released(
        start.where({"g": ["x"], "v": (1, 2)}).group_by("g", dp.bins("v", [0, 1, 2])).agg(dp.count()), rows
    ).table
    assert table.select("g", "v").rows() == [("x", "[1, 2]")]
    apart = released(start.where({"g": ["x"]}).group_by("f").agg(dp.count()), rows).table
    assert apart["f"].to_list() == ["p", "q", None], "a condition on another column empties no group publicly"
    none = start.where({"v": (2, 2)}).group_by(dp.bins("v", [0, 1])).agg(dp.count())
    assert released(none, rows).table.height == 2, "a release always prints something"
    dropped = start.where({"v": (2, 2)}).group_by(dp.bins("v", [0, 1]), nulls="drop").agg(dp.count())
    assert released(dropped, rows).table["v"].to_list() == ["[0, 1)"], "but no null group that is dropped"
    assert shown.count_shown(dropped) == 1


def test_the_number_of_rows_is_never_the_number_of_those_that_count() -> None:
    rows = [("x", "p", 0)] * 3 + [(None, None, None)] * 5
    table = dp.Table(schema(), dp.ReplaceOne(rows=8))
    whole, dropped = (released(table.group_by("g", nulls=nulls).agg(dp.count()), rows) for nulls in ("show", "drop"))
    assert dp.consistent(whole)["count_consistent"].sum() == 8
    assert dropped.document["known_sums"] == []
    assert dropped.document["known_most"] == [{"labels": None, "totals": [8]}]
    assert dp.consistent(dropped)["count_consistent"].sum() <= 8


def test_a_sum_of_printed_cells_alone_stays_exact() -> None:
    """Of the totals of f, those of p and q have a hidden cell each; without nulls dropped in g they have none."""
    rows = [("x", "p", 0)] * 3 + [("y", "q", 0)] * 2 + [(None, None, None)] * 5
    declared = dp.Totals("f")
    table = dp.Table(schema(), dp.ReplaceOne(rows=10))
    only_f = released(table.group_by("g", "f", nulls={"f": "drop"}).agg(dp.count()), rows, declared).document
    assert sorted(total for one in only_f["known_sums"] for total in one["totals"] if total) == [2, 3]
    both = released(table.group_by("g", "f", nulls="drop").agg(dp.count()), rows, declared).document
    assert all(total == 0 for one in both["known_sums"] for total in one["totals"])
    assert sorted(total for one in both["known_most"] for total in one["totals"] if total) == [2, 3, 5, 10]


def test_tables_agree_in_rows_that_are_not_printed_too() -> None:
    rows = [("x", "p", 0)] * 30 + [("x", None, 0)] * 40
    plan = dp.Table(schema(), dp.ReplaceOne(rows=70)).group_by(nulls={"f": "drop"}).agg(dp.tables(["g", "f"], ["g"]))
    release = released(plan, rows)
    wide, narrow = (dp.consistent(release, name) for name in release.tables if name != "table")
    assert wide["count_consistent"].sum() < narrow["count_consistent"].sum() == 70


def test_shares_of_printed_groups_are_not_made_to_add_up() -> None:
    table = dp.Table(schema(), dp.ReplaceOne(rows=2))
    release = released(table.group_by("g", nulls="drop").agg(dp.share()), [("x", "p", 0), (None, None, 1)])
    with pytest.raises(dp.ArgumentError, match="null groups are not printed: shares do not add up to 1"):
        dp.consistent(release)


@pytest.mark.parametrize("columns", [{"g": ["x"]}, {"g": ["x", "y"]}])
def test_shares_add_up_where_no_row_can_be_in_the_null_groups_that_are_not_printed(columns: Any) -> None:
    """A condition, or an imputation, has left no row there; a clamp may put rows there again."""
    rows = [("x", "p", 0)] * 5 + [("y", "p", 0), (None, None, 1), (None, "q", 1)]
    start = dp.Table(schema(), dp.ReplaceOne(rows=len(rows)))
    imputed = start.impute({"g": dp.Weights({"x": 1, "y": 1})})
    for table in (start.where(columns), imputed):
        view = dp.consistent(released(table.group_by("g", nulls="drop").agg(dp.share()), rows))
        assert view["share_consistent"].sum() == pytest.approx(1)
    clamped = imputed.clamp({"g": ["x"]})
    with pytest.raises(dp.ArgumentError, match="shares do not add up to 1"):
        dp.consistent(released(clamped.group_by("g", nulls="drop").agg(dp.share()), rows))


def test_counts_are_said_to_add_up_to_totals_only_with_those_that_are_not_printed() -> None:
    rows = [("x", "p", 0)] * 30 + [("y", "q", 0)] * 20 + [(None, None, None)] * 5
    table = dp.Table(schema(), dp.ReplaceOne(rows=len(rows)))
    said = {}
    for nulls in ("show", "drop"):
        plan = table.group_by("g", "f", nulls=nulls).agg(dp.count())  # type: ignore[arg-type]
        release = released(plan, rows, dp.Totals("g"))
        said[nulls] = kept_words(release.document["statistics"][0], english())
    assert said["show"] == "These counts add up to the exact totals: the noise leaves every total as it is."
    assert said["drop"].startswith("These counts and those that are not printed add up to the exact totals")


@pytest.mark.slow
def test_tables_of_integers_are_found_beside_totals_whatever_is_not_printed() -> None:
    """The public sums of the printed cells are maxima of groups within groups: all cannot be met exactly at once."""
    rows = [("x", "p", 0), ("x", None, 1), (None, "q", 2)]
    start = dp.Table(schema(), dp.ReplaceOne(rows=3))
    asked = [
        (start.where({"g": ["x"]}).group_by("g", "f", nulls="drop").agg(dp.count()), dp.Totals("g")),
        (start.group_by("f", nulls={"f": "drop"}).agg(dp.count("v")), dp.Totals("g", "f")),
        (start.group_by("g", "f", nulls={"f": "drop"}).agg(dp.histogram("v", [0, 1])), dp.Totals("f")),
        (start.where({"f": ["p"]}).group_by("g", nulls="drop").agg(dp.histogram("v", [0, 1]), dp.count()), dp.Totals("g")),
    ]
    for plan, totals in asked:
        for seed in range(25):
            release = released(plan, rows, totals, seed=seed)
            for name in (line["name"] for line in release.document["statistics"]):
                view = dp.consistent(release, name)
                assert view[view.columns[-1]].sum() <= 3


def test_large_releases_hide_the_same_rows(tmp_path: Path) -> None:
    plan = dp.Table(schema(), dp.AddRemove()).group_by("g", "f", nulls="drop").agg(dp.count())
    engine = ReferenceEngine(HEADER, [("x", "p", 0)])
    content = {"name": "r", "dataset": "d", "ledger": {"sequence": 2, "head": "h"}}
    for rows in (1, 2, 4, 9):
        folder = tmp_path / str(rows) / "table"
        folder.mkdir(parents=True)
        bits = Bits(np.random.default_rng(7).bytes)
        args: Any = {"report_delta": Fraction(1, 10**9), "content": content, "draft": folder, "rows": rows}
        found = publish(quote(plan, dp.ZCDP(100)), run_scans(engine, plan.layout), lambda bits=bits: bits, **args)
        table = Release(found.payload, folder.parent).table
        assert table.select("g", "f").rows() == [("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")]


# Mutants --------------------------------------------------------------------------------------------------------------


def test_a_condition_in_place_of_hiding_is_noticed_beside_totals() -> None:
    """It would take the null level out of the table whose sums the noise keeps."""
    rows = [("x", "p", 0), (None, "q", 1), ("y", None, 1)]
    table = dp.Table(schema(), dp.ReplaceOne(rows=3))
    whole = released(table.group_by("g", "f").agg(dp.count()), rows, dp.Totals("g"))
    same_rest(released(table.group_by("g", "f", nulls="drop").agg(dp.count()), rows, dp.Totals("g")), whole, "g", "f")
    mutant = released(table.where({"g": G, "f": F}).group_by("g", "f").agg(dp.count()), rows, dp.Totals("g"))
    with pytest.raises(AssertionError):
        same_rest(mutant, whole, "g", "f")


def test_a_number_of_rows_that_passes_for_that_of_the_printed_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabled, "show_sums", lambda sums, _shown, _hidden: sums)
    with pytest.raises(AssertionError):
        test_the_number_of_rows_is_never_the_number_of_those_that_count()


def test_another_row_that_is_hidden_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "hidden_labels", lambda _plan, _group: frozenset({0}))
    with pytest.raises(AssertionError):
        test_a_required_column_is_dropped_in_every_request()


def test_what_is_hidden_is_a_function_of_the_plan() -> None:
    plan = dp.Table(schema(), dp.AddRemove()).group_by("g", "f", nulls={"f": "drop"}).agg(dp.count())
    assert [shown.hidden_labels(plan, group) for group in plan.group_by] == [frozenset(), {2}]
    assert shown.count_shown(plan) == 6
    assert facts_of(plan.schema, plan.neighbours).columns["f"].nullable


@pytest.mark.parametrize(
    ("nulls", "message"),
    [
        ("hide", "must be 'show' or 'drop', or one of them for each column"),
        (None, "must be 'show' or 'drop'"),
        (["f"], "must be 'show' or 'drop'"),
        ({"f": "hide"}, "nulls='hide': must be 'show' or 'drop'"),
        ({"f": []}, "must be 'show' or 'drop'"),
        ({"v": "drop"}, "nulls of 'v': the request does not group by this column"),
        ({3: "drop"}, "does not group by this column"),
    ],
)
def test_other_words_for_nulls_are_refused(nulls: Any, message: str) -> None:
    with pytest.raises(dp.PlanError, match=message):
        dp.Table(schema(), dp.AddRemove()).group_by("g", "f", nulls=nulls).agg(dp.count())
