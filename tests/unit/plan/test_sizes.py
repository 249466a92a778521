"""Too large requests are refused with the number of cells, and what the refusal proposes is accepted."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.plan.sizes import MAX_CUBE_CELLS

STEP = re.compile(r"step=(\S+?) for '(\w+)'")
SIZES = [2, 5, 6, 30, 97, 100, 210, 360, 1_000, 2_520, 9_973, 10_000, 100_000, 720_720, 3_000_000]


def proposed(refused: dp.PlanError) -> dict[str, Fraction]:
    return {name: Fraction(step) for step, name in STEP.findall(str(refused))}


def tied(steps, spans, clamped=(), rows=None):
    """Sums in imputed groups: all columns are in one cube. `spans` are the numbers of steps of the columns."""
    columns = {f"c{i}": dp.Number(0, span, steps.get(f"c{i}", 1)) for i, span in enumerate(spans)}
    table = dp.Table(dp.Schema(g=dp.Category(["x", "y", "z"]), **columns), rows or dp.AddRemove())
    for name, bounds in clamped:
        table = table.clamp({name: bounds})
    table = table.impute({"g": dp.Weights({"x": 1, "y": 1})}).group_by("g")
    return table.agg(*(dp.sum(name, nulls="skip") for name in columns))


@settings(max_examples=50)
@given(st.lists(st.sampled_from(SIZES), min_size=1, max_size=6), st.booleans())
@example([10_000, 10_000, 10_000], False)
@example([9_973, 9_973], False)
@example([3_000_000, 97], True)
@example([2**51, 2**51], True)
def test_the_steps_that_a_refusal_names_are_accepted(spans, clamp):
    clamped = [("c0", (0, spans[0] // 2))] if clamp and spans[0] % 2 == 0 else []
    wanted = 3 * prod(span // (2 if clamped and not i else 1) + 2 for i, span in enumerate(spans))
    if wanted <= MAX_CUBE_CELLS:
        assert tied({}, spans, clamped).layout.joint == wanted
        return
    with pytest.raises(dp.PlanError, match=f"has {wanted} cells, more than {MAX_CUBE_CELLS}, and is one table") as refused:
        tied({}, spans, clamped)
    steps = proposed(refused.value)
    assert all(step > 1 for step in steps.values())
    assert tied(steps, spans, clamped).layout.joint <= MAX_CUBE_CELLS


def test_a_step_is_found_for_each_of_several_columns():
    with pytest.raises(dp.PlanError) as refused:
        tied({}, [10_000, 10_000, 100])
    steps = proposed(refused.value)
    assert steps == {"c0": 40, "c1": 40}  # 32 would be enough, but is no part of 10,000
    assert tied(steps, [10_000, 10_000, 100]).layout.joint == 3 * 252 * 252 * 102


def test_bounds_of_clamps_and_laws_and_edges_stay_on_the_grid():
    def make(step):
        schema = dp.Schema(v=dp.Number(0, 60_000, step), w=dp.Number(0, 1_500), u=dp.Number(0, 9))
        table = dp.Table(schema, dp.AddRemove()).clamp({"v": (0, 30_000)})
        table = table.impute({"v": dp.Uniform(150, 900), "w": dp.Uniform(), "u": dp.Uniform()}).resize(10, proportion="1/2")
        return table.agg(dp.mean("v"), dp.mean("w"), dp.histogram("u", [0, 3, 9]))

    with pytest.raises(
        dp.PlanError, match="has 90063002 cells, more than 25000000, and is one table because rows are"
    ) as refused:
        make(1)
    assert proposed(refused.value) == {"v": 5}  # and not 6 or 4, which leave 150 or 900 between two values
    assert make(5).layout.joint == 6_001 * 1_501 * 2


def test_a_public_number_of_rows_bounds_the_cells():
    assert tied({}, [10_000, 10_000], rows=dp.ReplaceOne(rows=5_000)).layout.joint == 3 * 10_002**2
    with pytest.raises(dp.PlanError, match=r"has \d+ cells, more than 4611686018427387903"):
        tied({}, [3_000_000] * 3, rows=dp.ReplaceOne(rows=5_000))


def test_filled_rows_occupy_cells_too():
    schema = dp.Schema(v=dp.Number(0, 10**4), w=dp.Number(0, 10**4))
    table = dp.Table(schema, dp.ReplaceOne(rows=5_000)).impute({"v": dp.Uniform(), "w": dp.Uniform()})
    both = dp.covariance("v", "w"), dp.mean("w")
    with pytest.raises(dp.PlanError, match=r"has \d+ cells, more than 25000000"):
        table.resize(10**9).agg(*both)
    table.resize(10**6).agg(*both)


@pytest.mark.parametrize("groups", [1, 7, 1_000])
def test_the_step_that_fits_quantiles_is_accepted(groups):
    def make(step):
        schema = dp.Schema(g=dp.Category([f"g{i}" for i in range(groups)]), v=dp.Number(0, 36_000_000, step))
        return dp.Table(schema, dp.AddRemove()).group_by("g").agg(dp.median("v", nulls="skip"))

    with pytest.raises(
        dp.PlanError, match=f"{groups + 1} groups with 36000001 values each are {(groups + 1) * 36_000_001}, "
    ) as refused:
        make(1)
    (step,) = proposed(refused.value).values()
    make(step)
    finer = max(d for d in range(1, int(step)) if 36_000_000 % d == 0)
    with pytest.raises(dp.PlanError):
        make(finer)


def test_the_number_of_groups_that_fits_is_accepted():
    def make(edges):
        schema = dp.Schema(v=dp.Number(0, 100_000), w=dp.Number(0, 100_000))
        grouped = dp.Table(schema, dp.AddRemove()).clamp({"v": (0, 100_000)})
        return grouped.group_by(dp.bins("v", list(range(edges))), dp.bins("w", list(range(5_000)))).agg(dp.count())

    with pytest.raises(dp.PlanError, match=r"group_by: 25000000 cells are more than 20000000.* to at most 4000"):
        make(5_000)
    make(4_000)  # 3,999 bins and null


def test_the_bins_and_groups_that_fit_a_histogram_are_accepted():
    def make(groups, bins):
        schema = dp.Schema(g=dp.Category(range(groups)), v=dp.Number(0, 100))
        return dp.Table(schema, dp.AddRemove()).group_by("g").agg(dp.histogram("v", list(range(bins + 1))))

    with pytest.raises(dp.PlanError, match="take at most 100 bins, null included, or at most 99009 groups"):
        make(99_999, 100)
    make(99_999, 99)
    make(99_008, 100)
    with pytest.raises(dp.PlanError):
        make(99_999, 100)
    with pytest.raises(dp.PlanError):
        make(99_010, 100)
    with pytest.raises(dp.PlanError, match="more than 10000000; take at most 250000 groups"):
        make(999_999, 10)
