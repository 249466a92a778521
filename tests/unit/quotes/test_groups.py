"""Errors are stated for the sizes of groups that a plan has, and `error` with `expect` holds for them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.builders import plan_text, run, session_over

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.quotes.groups import check_expect, percentile_words, size_words, sizes_of
from discreet.quotes.spend_for_errors import quote_for
from discreet.statistics.recipe import GroupSize

SCHEMA = dp.Schema(s=dp.Category(["a", "b", "c"]), v=dp.Number(0, 10))
PRIVATE = dp.Table(SCHEMA, dp.AddRemove()).group_by("s").agg(dp.count(), dp.mean("v", nulls="skip"), dp.share())
PUBLIC = dp.Table(SCHEMA, dp.ReplaceOne(rows=50)).group_by("s").agg(dp.count(), dp.mean("v", nulls="skip"))


def test_the_sizes_are_those_of_the_plan_or_round_ones() -> None:
    assert [one.rows for one in sizes_of(PRIVATE)] == [10, 100, 1000, 10000]
    assert [one.every for one in sizes_of(PRIVATE)] == [40, 400, 4000, 40000]
    assert [one.every for one in sizes_of(PUBLIC, (7, 70))] == [50, 70]
    assert [(one.rows, one.every) for one in sizes_of(PUBLIC)] == [(12, 50)]  # 50 rows in 4 groups, null among them
    assert [(one.rows, one.every) for one in sizes_of(PRIVATE, (150,))] == [(150, 150)]  # the others may be empty
    assert [one.rows for one in sizes_of(PUBLIC, (3, 4, 5, 6, 70))] == [3, 5, 70]
    public = dp.Table(SCHEMA, dp.ReplaceOne(rows=50)).group_by("s", nulls="drop").agg(dp.count())
    assert [(one.rows, one.every) for one in sizes_of(public)] == [(16, 50)]  # in the 3 groups that are printed
    private = dp.Table(SCHEMA, dp.AddRemove()).where({"s": ["a", "b"]}).group_by("s", nulls="drop").agg(dp.count())
    assert [one.every for one in sizes_of(private)] == [20, 200, 2000, 20000]
    required = dp.Schema(s=dp.Category(["a", "b", "c"], required=True))
    whole = dp.Table(required, dp.ReplaceOne(rows=50)).group_by("s").agg(dp.count())
    assert [one.rows for one in sizes_of(whole)] == [16]
    known = dp.Table(SCHEMA, dp.AddRemove()).impute({"s": dp.Weights({"a": 1})})
    assert [one.rows for one in sizes_of(known.resize(9).group_by("s").agg(dp.count()))] == [3]


@pytest.mark.parametrize(("given", "sizes"), [(None, ()), (150, (150,)), ([7, 2, 7], (2, 7)), ((1,), (1,))])
def test_expected_sizes_are_ascending_and_each_once(given: Any, sizes: tuple[int, ...]) -> None:
    assert check_expect(given) == sizes


@pytest.mark.parametrize("wrong", [0, -1, True, "150", [], [1.5], [10**16], {"a": 1}])
def test_other_sizes_are_refused(wrong: Any) -> None:
    with pytest.raises(dp.ArgumentError, match="expect="):
        check_expect(wrong)


def test_a_quote_says_the_size_of_the_group_of_an_error_that_depends_on_it() -> None:
    shown = str(quote(PRIVATE, dp.PureDP(1)))
    assert "in a group of 10 / 100 / 1,000 / 10,000 rows" in shown
    assert shown.splitlines()[-3].startswith("  count: ±")
    assert "group" not in shown.splitlines()[-3]
    assert "in a group of 12 rows" in str(quote(PUBLIC, dp.PureDP(1)))
    assert "in a group of 150 rows" in repr(quote(PRIVATE, dp.PureDP(1), expect=(150,)))
    assert size_words(sizes_of(PRIVATE, (1,))) == "in a group of 1 row"


def test_a_small_group_has_a_larger_error_and_never_more_than_is_possible() -> None:
    found = quote(PRIVATE, dp.PureDP(1))
    errors = [found.errors(size)["mean_v"] for size in found.sizes]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == 5


@pytest.mark.parametrize("rows", [20, 150, 5000])
def test_errors_hold_in_groups_of_the_expected_size_and_the_next_smaller_spend_misses_them(rows: int) -> None:
    found = quote_for(PRIVATE, {"mean_v": 2}, dp.PureDP(1), None, (rows,))
    (size,) = found.sizes
    assert size.rows == rows
    assert found.errors(size)["mean_v"] <= 2
    less = quote(PRIVATE, dp.PureDP(found.spend.epsilon * 99 / 100), expect=(rows,))  # type: ignore[union-attr]
    assert less.errors(size)["mean_v"] > 2


def test_errors_hold_in_the_smallest_of_several_groups() -> None:
    several = quote_for(PRIVATE, {"mean_v": 2}, dp.PureDP(1), None, (20, 150, 5000))
    assert several.spend == quote_for(PRIVATE, {"mean_v": 2}, dp.PureDP(1), None, (20,)).spend


def test_errors_without_a_size_keep_the_spend_that_they_had() -> None:
    found = quote_for(PRIVATE, {"mean_v": "0.05"}, dp.PureDP(1), None)
    assert dict(found.expected)["mean_v"] <= 0.05
    assert found.expect == ()


def test_a_session_takes_sizes_and_charges_what_it_quotes() -> None:
    rows = {"s": ["a"] * 200, "v": [3] * 200}
    with session_over(rows_of(rows), SCHEMA, budget=dp.PureDP(100)) as one:
        request = one.table.group_by("s").agg(dp.mean("v", nulls="skip"))
        told = one.quote(request, error={"mean_v": 1}, expect=200)
        release = one.release(request, error={"mean_v": 1}, expect=200, name="r")
        assert release.guarantee.measure == told.spend
        first = release.table.row(0, named=True)
        assert first["mean_v_high"] - first["mean_v_low"] <= 2
        assert one.release(request, error={"mean_v": 1}, expect=200, name="r").payload == release.payload


def rows_of(columns: dict[str, list[Any]]) -> Any:
    import polars as pl

    return pl.DataFrame(columns)


PLAN = plan_text("groups")


def answer(folder: Path, *words: str, more: str) -> str:
    (folder / "rows.csv").write_text("s,v\n" + "a,3\n" * 60, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN + more, encoding="utf-8")
    done = run(*words, str(folder / "plan.toml"))
    return " ".join((done.stdout + done.stderr).split())


def test_check_and_quote_warn_where_a_typical_group_has_little_to_say(tmp_path: Path) -> None:
    for word in ("check", "quote"):
        shown = answer(tmp_path, word, more="spend = 0.1")
        assert "note: 'r': in a group of 15 rows 'count' is uncertain by ±" in shown
        assert "note: 'r': in a group of 15 rows the interval of 'mean_v' can be 100 % of all that is possible" in shown
        assert "note: 'r': in a group of 15 rows the rank of 'median_v' is uncertain by ±" in shown
        assert "uncertain" not in answer(tmp_path, word, more="spend = 0.9\nexpect = [40000]")


def test_errors_of_a_plan_hold_for_the_expected_size_and_those_without_one_are_named(tmp_path: Path) -> None:
    shown = answer(tmp_path, "quote", more="error = { mean_v = 0.5 }")
    assert "note: 'r': its errors are those of a group of about 1,000 rows" in shown
    shown = answer(tmp_path, "quote", more="error = { mean_v = 0.5 }\nexpect = 5000")
    assert "1,000 rows" not in shown
    assert "in a group of 5,000 rows" in shown
    assert "expect=0: must be a whole number" in answer(tmp_path, "check", more="expect = 0")


@pytest.mark.parametrize(
    ("orders", "errors", "rows", "words"),
    [
        (["1/2"], [4], [50], "; between the 42nd and the 58th percentile in a group of 50 rows"),
        (["1/2"], [2], [50], "; between the 46th and the 54th percentile in a group of 50 rows"),
        (["1/4"], [30], [100], "; between the 0th and the 55th percentile in a group of 100 rows"),
        (["1/2"], [1, 1], [10, 200], "; between the percentiles 40 and 60 / 49.5 and 50.5 in a group of 10 / 200 rows"),
        (["1/4", "3/4"], [6], [100], "; ±6 percentage points in a group of 100 rows"),
        (["1/4", "3/4"], [60], [10], "; ±100 percentage points in a group of 10 rows"),
        ([], [6], [100], ""),
    ],
)
def test_errors_of_ranks_are_told_as_percentiles(orders, errors, rows, words):
    sizes = [GroupSize(many, many) for many in rows]
    assert percentile_words([Fraction(q) for q in orders], errors, sizes) == words


def test_a_quote_says_that_null_rows_do_not_count_where_some_may_be_null():
    said = "rows of a group in which the column is null do not count"
    for required in (False, True):
        table = dp.Table(dp.Schema(v=dp.Number(0, 10, required=required)), dp.AddRemove())
        for statistic in (dp.mean("v", nulls="skip"), dp.median("v", nulls="skip")):
            assert said in str(quote(table.agg(statistic), dp.PureDP(1)))
    assert said not in str(quote(table.impute({"v": dp.Uniform()}).agg(dp.mean("v")), dp.PureDP(1)))
    assert said not in str(quote(table.agg(dp.count("v")), dp.PureDP(1)))
