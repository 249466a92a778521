"""Tables with the same exact totals ask the kernel for the same random bits."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.cube import Cube, compact
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.codes import NULL
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.totals.checking import check_invariants
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

from .random_totals import random_invariants, random_plan, random_schema, values_of
from .replay import SPENDS, assert_noticed, assert_replayed, cubes_of, extreme_rows
from .test_plan_is_row_level import FREE, SCHEMA
from .totals_laws import quote_of


def semi_adjacent(rng, most: int):
    """A quote beside exact totals and some pairs of tables with these totals, or nothing where no request is accepted."""
    rows = rng.choice([2, 3, 4])
    schema = random_schema(rng)
    invariants = random_invariants(rng, schema)
    try:
        check_invariants(invariants, schema, dp.ReplaceOne(rows=rows))
        plan = random_plan(rng, schema, rows, invariants.columns)
    except dp.PlanError:
        return None
    everybody = list(product(*(values_of(schema, name) for name in schema.columns)))
    tables = combinations_with_replacement(rng.sample(everybody, min(len(everybody), 7)), rows)
    header = dict.fromkeys(schema.columns, "value")
    raw = [KeyAxis(path_of(name, (), facts_of(schema, plan.neighbours))) for name in invariants.columns]
    fibres = defaultdict(list)
    for table in tables:
        cube = ReferenceEngine(header, table).aggregate(raw, ())
        with suppress(dp.InternalError):  # a row in an impossible cell
            fibres[totals_of_counts(invariants, schema, (cube.keys, cube.rows))].append(table)
    if not fibres:
        return None
    totals, alike = max(fibres.items(), key=lambda item: len(item[1]))
    known = exact_totals_of(invariants, schema, rng.choice([totals, None]), rows)
    quoted = quote_of(plan, rng.choice(SPENDS), known)
    if quoted is None:
        return None
    near = [pair for pair in combinations(alike, 2) if changed(*pair) <= known.adjacency.a]
    chosen = rng.sample(near, min(len(near), most))
    tables = {table: certain(plan, ReferenceEngine(header, table)) for table in alike}
    return quoted, [((tables[one], tables[other]), changed(one, other)) for one, other in chosen]


def changed(one, other) -> int:
    return sum((Counter(one) - Counter(other)).values())


def certain(plan, engine: ReferenceEngine) -> list[Cube]:
    """The cubes of a table, with the one value that the only law there is can draw: the first category of its column."""
    cubes = [engine.aggregate(part.axes, part.moments) for part in plan.layout.scans]
    return [compact(replace(cube, keys=np.where(cube.keys < NULL, 0, cube.keys))) for cube in cubes]


def replay_beside_totals(examples: int):
    recorded = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False))
    def check(rng):
        found = semi_adjacent(rng, 2)
        if found is not None:
            quoted, pairs = found
            recorded.extend((quoted, assert_replayed(quoted, tables, moved)) for tables, moved in pairs)

    check()
    return recorded


@pytest.mark.slow
def test_semi_adjacent_tables_are_answered_alike():
    recorded = replay_beside_totals(30)
    assert len(recorded) >= 12
    assert len({type(one.law) for quoted, _ in recorded for one in quoted.measured}) >= 3


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_resized_tables_beside_totals_are_answered_alike(spend):
    """Two persons change places where totals are published, and two copies of each: up to four rows."""
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=6)).impute({"b": FREE["b"], "v": FREE["v"]})
    plan = table.resize(5, proportion="3/2").group_by("b").agg(dp.count(), dp.sum("v"))
    quoted = quote_of(plan, spend, exact_totals_of(dp.Totals("s"), SCHEMA, None, 6))
    assert quoted.group == 4
    low, *_, high = extreme_rows(plan)
    for moved in (1, 2, 4):
        tables = cubes_of(plan, [low] * 5), cubes_of(plan, [high] * moved + [low] * (5 - moved))
        assert_replayed(quoted, tables, moved)
        assert_noticed(quoted, tables, moved - 1)


@pytest.mark.exhaustive
def test_many_semi_adjacent_tables_are_answered_alike():
    recorded = replay_beside_totals(400)
    assert len(recorded) >= 200
    assert len({type(one.law) for quoted, _ in recorded for one in quoted.measured}) >= 5
