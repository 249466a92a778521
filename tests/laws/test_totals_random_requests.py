"""Random requests beside random totals are charged for every pair of tables with those totals."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.releases.evaluate import exact_answers
from discreet.totals import adjacency as adjacency_module
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.checking import check_invariants
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

from .random_totals import random_invariants, random_plan, random_schema, values_of
from .totals_laws import SPENDS, covered, on_support, one_row_too_few, quote_of, ratio, squared


def assert_kept(invariants, plan, tables, rows):
    """Lattices for all tables of equal totals, charges for those that differ in at most a(t) rows, known counts for each."""
    schema = plan.schema
    header = dict.fromkeys(schema.columns, "value")
    raw = [KeyAxis(path_of(name, (), facts_of(schema, plan.neighbours))) for name in invariants.columns]
    engines = {table: ReferenceEngine(header, table) for table in tables}
    fibres = defaultdict(list)
    for table, engine in engines.items():
        cube = engine.aggregate(raw, ())
        with suppress(dp.InternalError):  # a row in an impossible cell
            fibres[totals_of_counts(invariants, schema, (cube.keys, cube.rows))].append(table)
    totals, alike = max(fibres.items(), key=lambda item: len(item[1]), default=(None, []))
    brought, bits, pairs = plan.layout.scans[0], system_bits(), 0
    for published, spend in product([totals, None], SPENDS):
        known = exact_totals_of(invariants, schema, published, rows)
        quoted = quote_of(plan, spend, known) if alike else None
        if quoted is None:
            continue
        exact = {
            table: exact_answers(quoted, [engines[table].aggregate(brought.axes, brought.moments)], bits)
            for table in alike[:14]
        }
        one_loss = ratio if isinstance(spend, dp.PureDP) else squared
        for first, second in combinations(exact, 2):
            changed = sum((Counter(first) - Counter(second)).values())
            moved = [
                (one.law, left - right)
                for one, left, right in zip(quoted.measured, exact[first], exact[second], strict=True)
            ]
            assert all(on_support(law, u) for law, u in moved)
            if changed <= semi_adjacency(invariants, schema, published, rows).a:
                pairs += 1
                assert sum(one_loss(law, u) for law, u in moved) <= covered(quoted)
    return pairs


def random_case(rng):
    """How many pairs of tables were compared; 0 for a case that is refused in words."""
    rows = rng.choice([2, 3, 3, 4])
    schema = random_schema(rng)
    invariants = random_invariants(rng, schema)
    try:
        check_invariants(invariants, schema, dp.ReplaceOne(rows=rows))
        plan = random_plan(rng, schema, rows, invariants.columns)
    except dp.PlanError:
        return 0
    everybody = list(product(*(values_of(schema, name) for name in schema.columns)))
    few = rng.sample(everybody, min(len(everybody), 8))
    return assert_kept(invariants, plan, list(combinations_with_replacement(few, rows)), rows)


def random_cases(examples):
    pairs = []

    @settings(max_examples=examples, database=None, phases=[Phase.generate])
    @given(st.randoms(use_true_random=True))
    def run(rng):
        pairs.append(random_case(rng))

    run()
    return sum(pairs)


@pytest.mark.exhaustive
def test_many_random_requests(monkeypatch):
    """And with the noise of one row too few some of them fail."""
    assert random_cases(400) > 20_000
    monkeypatch.setattr(adjacency_module, "semi_adjacency", one_row_too_few)
    with pytest.raises(AssertionError):
        random_cases(400)
