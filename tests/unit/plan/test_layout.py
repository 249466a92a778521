"""Which cubes are brought: what is drawn once is in one of them, the rest is put together while it is small."""

from __future__ import annotations

import pytest

import discreet as dp

YEARS = {f"y{i}": dp.Number(0, 9_999) for i in range(10)}
SCHEMA = dp.Schema(
    g=dp.Category(["x", "y", "z"]), h=dp.Category(["a", "b"]), few=dp.Number(0, 9), wide=dp.Number(0, 2 * 10**6), **YEARS
)
SKIP = {"nulls": "skip"}
MEDIANS = [dp.median(name, **SKIP) for name in YEARS]
MEANS = [dp.mean(name, **SKIP) for name in YEARS]
FILL = {"g": dp.Weights({"x": 1, "y": 1}), **{name: dp.Uniform() for name in YEARS}}


def table(neighbours=None):
    return dp.Table(SCHEMA, neighbours or dp.AddRemove())


def columns(plan):
    return [(tuple(axis.name for axis in part.axes), tuple(one.name for one in part.moments)) for part in plan.layout.scans]


def test_medians_of_many_columns_are_read_one_by_one():
    plan = table().group_by("g").agg(dp.count(), *MEDIANS)
    assert columns(plan) == [(("g", name), ()) for name in YEARS]
    assert [part.domain for part in plan.layout.scans] == [4 * 10_001] * 10
    assert plan.layout.joint == 4 * 10_001**10
    assert str(plan.layout).startswith("the source is read 10 times, for tables of 40,004, ")
    assert (
        "because no rows are sampled, and no imputed column is in two of them; "
        f"one joint table would have {4 * 10_001**10:,} cells" in str(plan.layout)
    )


def test_sums_of_any_columns_are_brought_together():
    plan = table().group_by("g").agg(*MEANS)
    assert columns(plan) == [(("g",), tuple(YEARS))]
    assert str(plan.layout) == (
        "the source is read once, for one table of 4 cells, because a table this small costs less than several"
    )


def test_sums_are_brought_beside_the_keys_of_others_unless_these_are_very_many():
    assert columns(table().agg(dp.median("few", **SKIP), MEANS[1])) == [(("few",), ("y1",))]
    assert columns(table().agg(MEDIANS[0], MEANS[1])) == [(("y0",), ()), ((), ("y1",))]
    assert columns(table().agg(MEDIANS[0], dp.median("few", **SKIP), MEANS[1])) == [(("y0",), ()), (("few",), ("y1",))]


def test_a_column_in_bins_is_summed_within_them():
    binned = table().group_by(dp.bins("wide", [0, 10, 1_000]))
    assert columns(binned.agg(dp.mean("wide", **SKIP), MEANS[0])) == [(("wide",), ("y0", "wide"))]
    assert binned.agg(dp.mean("wide", **SKIP)).layout.joint == 4
    assert columns(binned.agg(dp.mean("wide", **SKIP), dp.std("wide", **SKIP))) == [(("wide",), ())]


def test_small_tables_are_put_together_as_far_as_they_fit():
    tables = [dp.histogram(name, [0, 2_000, 4_000, 6_000, 8_000, 9_999]) for name in YEARS]
    plan = table().agg(dp.count(), *tables)
    assert [len(part.axes) for part in plan.layout.scans] == [4, 4, 2]
    assert max(part.domain for part in plan.layout.scans) <= 2**12
    assert [len(part.axes) for part in table().agg(dp.histogram("few", [0, 5, 9]), dp.count("h")).layout.scans] == [2]


def test_tables_over_some_of_the_columns_of_another_need_no_scan_of_their_own():
    years = dp.bins("y0", list(range(0, 9_999, 3)))
    assert columns(table().agg(dp.tables(["g", "h", years], ["h", years], ["g"]))) == [(("g", "h", "y0"), ())]


def test_an_imputed_column_of_its_own_leaves_the_others_apart():
    plan = table().impute({"y0": dp.Uniform(), "y1": dp.Uniform()}).group_by("g").agg(MEDIANS[0], dp.mean("y1"), MEDIANS[2])
    assert columns(plan) == [(("g", "y0"), ()), (("g", "y2"), ()), (("g",), ("y1",))]


def test_statistics_that_share_an_imputed_column_stay_together():
    drawn = table().impute({"few": dp.Uniform(), "y0": dp.Uniform(), "y1": dp.Uniform()})
    medians = [dp.median("few"), dp.median("y0"), dp.median("y1")]
    assert columns(drawn.agg(*medians)) == [(("few",), ()), (("y0",), ()), (("y1",), ())]
    linked = drawn.agg(*medians, dp.covariance("few", "y0"))
    assert sorted(columns(linked)) == [(("few", "y0"), ()), (("y1",), ())]
    assert "no imputed column is in two of them" in str(linked.layout)
    (only,) = drawn.agg(dp.median("few"), dp.covariance("few", "y0")).layout.scans
    assert tuple(axis.name for axis in only.axes) == ("few", "y0")


def test_tables_draw_nothing_and_tie_no_imputed_columns():
    first, second = dp.bins("y0", [0, 5_000, 9_999]), dp.bins("y1", list(range(0, 9_999, 3)))
    crossed, beside = dp.tables(["h", first], [first, second]), dp.tables([dp.bins("y2", list(range(0, 9_999, 3)))])
    drawn = table().impute({"y0": dp.Uniform()})
    for one in (table(), drawn):
        found = columns(one.agg(crossed, beside.alias("t")))
        assert [names for names, _ in found] == [("h", "y0"), ("y0", "y1"), ("y2",)]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda t: t.impute(FILL).group_by("g").agg(dp.mean("y0"), dp.count("y0")), "'g' is imputed"),
        (lambda t: t.impute(FILL).where({"y0": (0, 10)}).agg(dp.mean("y0"), dp.count("g")), "'y0' is imputed"),
        (lambda t: t.impute(FILL).resize(8, proportion="1/2").agg(dp.mean("y0"), dp.mean("y1")), "rows are sampled"),
        (lambda t: t.impute(FILL).resize(9).agg(dp.mean("y0"), dp.mean("y1")), "rows are sampled"),
    ],
)
def test_what_all_statistics_share_keeps_them_in_one_cube(make, why):
    (part,) = make(table(dp.ReplaceOne(rows=10))).layout.scans
    assert not part.moments
    assert why in str(make(table(dp.ReplaceOne(rows=10))).layout)


def test_whole_copies_of_a_public_number_of_rows_are_no_sample():
    medians = [dp.median(f"y{i}") for i in range(2)]
    assert len(table(dp.ReplaceOne(rows=10)).impute(FILL).resize(25, proportion=2).agg(*medians).layout.scans) == 2
    with pytest.raises(dp.PlanError, match="rows are sampled"):  # of a secret number none is sure to be kept
        table().impute(FILL).resize(25, proportion=2).agg(*medians)


def test_the_layout_follows_from_the_plan_and_is_no_part_of_it():
    one, other = (table().group_by("g").agg(dp.count()) for _ in range(2))
    assert one == other
    assert one.layout is not other.layout
    assert one.digest == other.digest
    assert "layout" not in repr(one)


def test_a_law_of_one_category_ties_nothing():
    """Nothing is drawn: nulls are in that category, and there is no null group."""
    fill = table().impute({"g": dp.Weights({"x": 1}), "h": dp.Weights({"b": 2})})
    plan = fill.group_by("g").agg(*MEDIANS)
    assert [part.domain for part in plan.layout.scans] == [3 * 10_001] * 10
    assert not any(part.imputed for part in plan.layout.scans)
    tabled = fill.agg(dp.tables(["g", "h"], ["g"]), dp.count())
    assert (tabled.layout.joint, tabled.layout.because) == (6, "a table this small costs less than several")
