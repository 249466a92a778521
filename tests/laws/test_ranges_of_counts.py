"""Ranges of counts against brute force: all tables with the same published ranges, on small domains (A13 to A16)."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.totals import adjacency, ranges
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.cells import levels
from discreet.totals.components import components_of
from discreet.totals.published import totals_from_json, totals_of_counts
from discreet.totals.recovered import tree_of
from discreet.totals.rules import NO_LIMIT, Bands, Rounding, Suppression

from .fibres import SCHEMA, checked, domain, fibres, largest_cost, printed, sizes_for, x

pytestmark = pytest.mark.one_in(3)  # the others run with make test-slow


NESTED = [
    dp.Rounded("a3", base=3),
    dp.Rounded("a3", base=2, to="down", only=[x(0), x(-1)]),
    dp.Rounded("a3", base=4),
    dp.Rounded("a3", base=3, to="up"),
    dp.Suppressed("a4", below=3),
    dp.Suppressed("a3", below=3, zeros="shown"),
    dp.SizeClasses("a3", starts=[1, 3]),
    dp.AtLeast("a4", rows=1),
    dp.AtLeast("a3", rows=2, only=[x(0)]),
    dp.Totals("a2") + dp.Suppressed("a2", "b2", below=2),
    dp.Totals("a2", only=[x(0)]) + dp.Rounded("a2", "b3", base=2),
    dp.Rounded("a2", base=3) + dp.Rounded("a2", "b2", base=2, only=[x(0, 0), x(0, -1)]),
    dp.Occupied("a2", "b2") + dp.Suppressed("a2", below=3),
    dp.AtLeast("a2", rows=1) + dp.Totals("a2", "b2", only=[x(0, 0)]),
    dp.Suppressed("a2", "b2", below=2) + dp.Impossible("a2", "b2", cells=[x(0, 0)]),
    dp.LinearInvariant(["a3"], {"s": {x(0): 1, x(1): 1}}) + dp.Rounded("a3", base=2),
]


CROSSING = [
    dp.Margins("a2", "b2") + dp.Suppressed("a2", "b2", below=2),
    dp.Margins("a2", "b3") + dp.Rounded("a2", "b3", base=2),
    dp.Margins("a3", "b3") + dp.Suppressed("a3", "b3", below=2),
    dp.Rounded("a2", base=3) + dp.Totals("b3") + dp.Suppressed("a2", "b3", below=2),
    dp.Rounded("a2", "b2", base=3) + dp.Rounded("b2", "c2", base=3),
    dp.Totals("a2", "b2") + dp.Suppressed("b2", "c2", below=2),
    dp.Margins("a2", "b2") + dp.AtLeast("a2", "b2", rows=1),
]


@pytest.mark.parametrize("invariants", NESTED, ids=lambda one: "+".join(type(part).__name__[:-9] for part in one.parts))
def test_ranges_of_nested_and_disjoint_sets_are_exact(invariants):
    count, exact, above = checked(invariants, sizes_for(invariants, 60))
    assert count >= 3
    assert (exact, above) == (count, 0)
    assert semi_adjacency(invariants, SCHEMA).a <= 2


@pytest.mark.parametrize("number", range(len(CROSSING)))
def test_ranges_that_cross_are_bounded(number):
    count, _, above = checked(CROSSING[number], sizes_for(CROSSING[number], 60))
    assert count >= 4
    assert above <= 2 * count


def test_suppressed_cells_beside_margins_can_need_four_rows():
    assert max(largest_cost(fibre) for n in (4, 5) for fibre in fibres(CROSSING[2], n)) == 4


def random_ranges(rng, columns, only):
    return rng.choice(
        [
            dp.Rounded(*columns, base=rng.choice([2, 3, 4]), to=rng.choice(["nearest", "down", "up"]), only=only),
            dp.Suppressed(*columns, below=rng.choice([2, 3]), only=only),
            dp.Suppressed(*columns, below=3, zeros="shown", only=only),
            dp.SizeClasses(*columns, starts=sorted(rng.sample([1, 2, 3], 2)), only=only),
            dp.AtLeast(*columns, rows=1, only=only),
        ]
    )


def random_facts(rng):
    names = rng.sample(["a2", "b2", "a3", "b3"], rng.choice([1, 2, 2]))
    joined = None
    for place in range(rng.choice([1, 2, 3])):
        columns = rng.sample(names, rng.choice([1, len(names)]))
        cells = list(product(*(levels(SCHEMA[name]) for name in columns)))
        only = None if rng.random() < 0.5 else rng.sample(cells, rng.randint(1, len(cells) - 1))
        kinds = [dp.Totals(*columns, only=only), dp.Occupied(*columns, only=only)]
        part = random_ranges(rng, columns, only) if place == 0 or rng.random() < 0.6 else rng.choice(kinds)
        joined = part if joined is None else joined + part
    return joined


def check_random(seed, wanted):
    rng = random.Random(seed)  # noqa: S311 (which descriptions are tried)
    seen = 0
    while seen < wanted:
        invariants = random_facts(rng)
        n = rng.randint(1, 4 if len(domain(invariants)) <= 6 else 3)
        found = fibres(invariants, n)
        try:
            before = semi_adjacency(invariants, SCHEMA, None, n)
        except dp.PlanError:
            assert not found, (invariants, n)  # facts that no table has
            continue
        for fibre in rng.sample(found, min(len(found), 12)):
            totals = totals_of_counts(invariants, SCHEMA, fibre[0])
            told, truth = semi_adjacency(invariants, SCHEMA, totals, n), largest_cost(fibre)
            assert told.a == truth if told.exact else told.a >= truth, (invariants, fibre[0], told, truth)
            assert before.a >= truth
            assert totals_from_json(invariants, SCHEMA, totals.to_json(SCHEMA)) == totals
            seen += 1


def test_random_ranges_are_never_below_the_maximum():
    check_random(2113, 250)


@pytest.mark.exhaustive
def test_many_random_ranges_are_never_below_the_maximum():
    for seed in range(20):
        check_random(seed, 1500)


MUTANTS = {
    "two rows are enough where sets cross": (adjacency, "rows_of_ranges", lambda *_: (2, False, ""), CROSSING[2]),
    "one row is enough": (adjacency, "rows_of_ranges", lambda *_: (1, False, ""), NESTED[0]),
    "no end is ever attained": (ranges, "is_attained", lambda *_: False, NESTED[0]),
    "an end is always attained": (ranges, "is_attained", lambda *_: True, NESTED[4]),
    "ranges never need an exchange": (ranges, "ranged_graver_bound", lambda *_: 2, CROSSING[4]),
    "margins need no more than two": (ranges, "graver_bound", lambda *_: 2, CROSSING[2]),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_that_forgets_an_end_would_be_caught(name, monkeypatch):
    where, function, wrong, case = MUTANTS[name]
    monkeypatch.setattr(where, function, wrong)
    with pytest.raises(AssertionError):
        checked(case, sizes_for(case, 400))


@pytest.mark.parametrize("invariants", [NESTED[number] for number in (0, 4, 9, 10, 11, 12)])
def test_what_sets_can_hold_is_what_all_tables_have(invariants):
    """A14: between the two bounds every number of rows is that of some table, and no other is."""
    (component,) = components_of(invariants, SCHEMA)
    checks = 0
    for n in sizes_for(invariants, 60):
        for fibre in fibres(invariants, n):
            totals = totals_of_counts(invariants, SCHEMA, fibre[0])
            tree, cells = tree_of(component, invariants, SCHEMA, totals, n)
            for start, fact in zip(tree.family.starts, tree.facts, strict=True):
                for number in range(int(fact.labels.max(initial=-1)) + 1):
                    held = set(fibre[:, cells[fact.labels == number]].sum(axis=1).tolist())
                    low, high = tree.bounds.low[start + number], tree.bounds.high[start + number]
                    assert held == set(range(low, high + 1)), (fibre, number)
                    checks += 1
    assert checks > 50


RULES = [
    *(Rounding(base, to) for base in (2, 3, 4, 5, 10) for to in ("nearest", "down", "up")),
    *(Suppression(below, zeros) for below in (3, 10) for zeros in ("hidden", "shown")),
    Bands((0, 1)),
    Bands((0, 5, 10, 17)),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_two_counts_have_one_range_if_and_only_if_they_are_published_alike(rule):
    counts = np.arange(60)
    least = rule.least(counts)
    most = rule.most(least)
    for count in counts:
        alike = [other for other in range(200) if printed(rule, other) == printed(rule, int(count))]
        assert least[count] == min(alike)
        assert most[count] == (NO_LIMIT if 199 in alike and max(alike) == 199 and isinstance(rule, Bands) else max(alike))


def spread(n, cells):
    return [np.bincount(chosen, minlength=cells) for chosen in combinations_with_replacement(range(cells), n)]


@pytest.mark.parametrize("units", [3, 4])
def test_how_many_units_are_occupied_can_need_every_row(units):
    """A16: v of the units are occupied, and not all of them: the larger of n/v, rounded up, and 2."""
    for n in range(1, 6):
        for occupied in range(1, min(n, units - 1) + 1):
            fibre = np.array([table for table in spread(n, units) if (table > 0).sum() == occupied])
            assert largest_cost(fibre) == (n if occupied == 1 else max(-(-n // occupied), 2))


def test_totals_of_another_table_leave_the_persons_as_they_are():
    """A16: persons of blocks with margins, where the exact units of a block are 0: the domain is smaller, a(t) the same."""
    margins = dp.Margins("a3", "b2")
    (zero,) = dp.Impossible("a3", cells=[x(1)]).parts
    there = [number for number, cell in enumerate(domain(margins)) if cell[0] != "x1"]
    for n in (3, 4):
        for fibre in fibres(margins, n):
            inhabited = fibre[(np.delete(fibre, there, axis=1) == 0).all(axis=1)]
            if len(inhabited):
                joined = type(margins)((*margins.parts, zero))
                told = semi_adjacency(joined, SCHEMA, totals_of_counts(joined, SCHEMA, inhabited[0]), n)
                assert told == largest_cost(inhabited) == largest_cost(fibre)
