"""What is done with a table after resampling does not depend on it: recorded on one table, replayed on another.

Two tables that differ in k rows go through the same quote with the same random bits. Then every request for noise and for
bits is the same, in the same order, every line of the library runs the same number of times in the same order, the noise
that is added is the same, and so are the shapes of all results; and the exact answers lie within k times the declared
sensitivities, of each query and of all together. Beside exact totals the tables are semi-adjacent, and the sensitivities
are those of all rows that differ. Plans, tables and neighbours are drawn at random; planted errors are noticed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.cube import Cube
from discreet.cube.queries import QuantileCodes, QuantileIntervals, RowCount
from discreet.mechanisms import Sensitivity
from discreet.plan.plan import resize_of, table_facts, used_columns
from discreet.quotes import allocate
from discreet.releases import evaluate

from .replay import SPENDS, Kernel, assert_noticed, assert_replayed, codes_of, cubes_of, extreme_rows
from .test_plan_is_row_level import APART, FREE, SCHEMA, cases


def rows_of(plan) -> st.SearchStrategy:
    """A row after all steps: the code of each column, or null."""
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    return st.fixed_dictionaries({name: st.sampled_from(codes_of(facts, name)) for name in used_columns(plan)})


RESIZES = [None, None, (1, "1/2"), (3, "3/4"), (5, 1), (4, "3/2"), (6, 2)]


@st.composite
def replays(draw, spends=tuple(SPENDS)):
    """A quote, two tables after resampling, and in how many rows they differ."""
    resize = draw(st.sampled_from(RESIZES))
    rows = draw(st.integers(1, 5))
    added = draw(st.booleans())
    neighbours = dp.AddRemove() if added else dp.ReplaceOne(rows=rows)
    drawn = cases(imputed=resize is not None)  # of which few read the source more than once
    asked = draw(st.one_of(drawn, drawn, drawn, st.just(APART))).quoted(dp.Table(SCHEMA, neighbours), FREE, resize)
    assume(asked is not None)
    # What is chosen has no noise that is added; its law is held against every pair of tables in test_selection_law.
    assume(not any(isinstance(one.query, QuantileCodes | QuantileIntervals) for one in asked.measured))
    quoted = allocate.quote(asked.plan, draw(st.sampled_from(spends)))
    row = rows_of(quoted.plan)
    count = rows if resize is None else resize[0]
    table = draw(st.lists(row, min_size=count, max_size=count))
    moved = draw(st.integers(1, min(max(1, quoted.group), count)))
    new = draw(st.lists(row, min_size=moved, max_size=moved))
    # A table that is not resized, of an unknown number of rows, has rows more; any other has rows that are replaced.
    other = [*table, *new] if added and resize is None else [*table[moved:], *new]
    return quoted, (cubes_of(quoted.plan, table), cubes_of(quoted.plan, other)), moved


def replay_many(examples: int):
    """All that was recorded in so many pairs of tables."""
    recorded = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(replays())
    def check(drawn):
        quoted, tables, moved = drawn
        recorded.append((quoted, assert_replayed(quoted, tables, moved)))

    check()
    return recorded


def assert_varied(recorded, pairs: int):
    """Enough was tried: both relations, resized or not, all measures, every kind of query, and real control flow."""
    assert len(recorded) >= pairs
    plans = [quoted.plan for quoted, _ in recorded]
    assert {(type(plan.neighbours), resize_of(plan) is None) for plan in plans} == set(
        product([dp.AddRemove, dp.ReplaceOne], [True, False])
    )
    assert {type(quoted.spend) for quoted, _ in recorded} == {type(spend) for spend in SPENDS}
    assert len({type(one.query) for quoted, _ in recorded for one in quoted.measured}) >= 6
    scans = {len(plan.layout.scans) for plan in plans}
    assert min(scans) == 1 < max(scans)
    assert all(one.reads and len(one.lines) > 100 for _, one in recorded)


def test_neighbouring_tables_are_answered_alike():
    assert_varied(replay_many(60), 40)


@pytest.mark.exhaustive
def test_many_neighbouring_tables_are_answered_alike():
    assert_varied(replay_many(800), 700)


REQUESTS = {
    "counts": lambda t: t.group_by("s").agg(dp.count()),
    "sums": lambda t: t.group_by("b").agg(dp.sum("v", nulls="skip")),
    "quantiles": lambda t: t.agg(dp.median("w", nulls="skip", interval=1)),
    "resized": lambda t: t.impute(FREE).resize(3, proportion="3/2").group_by("s").agg(dp.count(), dp.sum("v")),
}


def extreme_tables(plan) -> list[tuple[list[Cube], list[Cube]]]:
    """Pairs of tables of three rows of which one is moved from one end to another; the others are at the last one."""
    rows = extreme_rows(plan)
    pairs = list(combinations(rows, 2))
    return [(cubes_of(plan, [one, *2 * rows[-1:]]), cubes_of(plan, [other, *2 * rows[-1:]])) for one, other in pairs]


def planted(name: str, neighbours=None):
    return allocate.quote(REQUESTS[name](dp.Table(SCHEMA, neighbours or dp.ReplaceOne(rows=3))), dp.PureDP("0.5"))


@pytest.mark.parametrize("name", REQUESTS)
def test_a_sensitivity_one_too_small_is_noticed(name):
    quoted = planted(name)
    first, *rest = quoted.measured
    smaller = Sensitivity(first.sensitivity.l1 - 1, first.sensitivity.l2_squared - 1)
    wrong, noticed = replace(quoted, measured=(replace(first, sensitivity=smaller), *rest)), 0
    for tables in extreme_tables(quoted.plan):
        assert_replayed(quoted, tables, 1)
        with suppress(AssertionError):
            assert_replayed(wrong, tables, 1)
            continue
        noticed += 1
    assert noticed


def noise_where_there_are_rows(quoted, exact, bits):
    """Only cells that are not empty get noise."""
    found = []
    for values, one in zip(exact, quoted.measured, strict=True):
        there = np.flatnonzero(values)
        noisy = values.copy()
        noisy[there] = one.law.apply(values[there], bits)
        found.append(noisy)
    return found


def noise_until_it_fits(quoted, exact, bits):
    """Counts that come out negative are drawn again."""
    found = evaluate.noisy_answers(quoted, exact, bits)
    while any((one < 0).any() for one in found):
        found = evaluate.noisy_answers(quoted, exact, bits)
    return found


def noise_by_size(quoted, exact, bits):
    """Cells with many rows get the noise of another scale."""
    found = []
    for values, one in zip(exact, quoted.measured, strict=True):
        law = replace(one.law, scale=2 * one.law.scale) if max(values) >= 3 else one.law
        found.append(law.apply(values, bits))
    return found


def answers_of_occupied_cells(quoted, cubes, bits):
    """Cells without rows are left out."""
    return [values[values != 0] for values in evaluate.exact_answers(quoted, cubes, bits)]


def answers_with_a_coin(quoted, cubes, bits):
    """A bit is drawn for every cell that is not empty."""
    found = evaluate.exact_answers(quoted, cubes, bits)
    bits.read(1 + sum(int(np.count_nonzero(values)) for values in found))
    return found


BRANCHING = [
    Kernel(noisy=noise_where_there_are_rows),
    Kernel(noisy=noise_until_it_fits),
    Kernel(noisy=noise_by_size),
    Kernel(exact=answers_of_occupied_cells),
    Kernel(exact=answers_with_a_coin),
]


@pytest.mark.parametrize("kernel", BRANCHING, ids=lambda kernel: f"{kernel.exact.__name__}, {kernel.noisy.__name__}")
def test_an_evaluation_that_depends_on_the_table_is_noticed(kernel):
    quoted = planted("counts")
    (tables,) = extreme_tables(quoted.plan)
    assert_replayed(quoted, tables, 1)
    assert_noticed(quoted, tables, kernel=kernel)


def test_a_branch_in_the_library_is_noticed(monkeypatch):
    """One line more for a table with an empty cell, although nothing that is drawn or published shows it."""
    quoted = planted("counts")
    (tables,) = extreme_tables(quoted.plan)
    real = RowCount.answer

    def branching(query, cube, brought, cells, facts):
        if len(cube.rows) > 1:
            resize_of(quoted.plan)
        return real(query, cube, brought, cells, facts)

    assert_replayed(quoted, tables, 1)
    monkeypatch.setattr(RowCount, "answer", branching)
    assert_noticed(quoted, tables)


def test_more_rows_than_are_counted_are_noticed():
    """A resize that moves two rows, with the sensitivity of one of them for both."""
    quoted = planted("resized", dp.AddRemove())
    assert quoted.group == 2
    low, *_, high = extreme_rows(quoted.plan)
    tables = cubes_of(quoted.plan, [low, low, high]), cubes_of(quoted.plan, [high, high, high])
    assert_replayed(quoted, tables, 2)
    assert_noticed(quoted, tables)
