"""Semi-adjacency against brute force: all tables with equal totals, on every small domain that can be listed.

Two oracles. `literal` is the algorithm as it was printed, on ordered tables, except that the value a row already has is no
other value. `largest_cost` is Lemma 0: the same number from histograms alone. What the library computes from the published
totals is held against the maximum over all tables with these totals.
"""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.invariants import Impossible, Invariants, LinearInvariant, Margins, Occupied, Totals
from discreet.totals import adjacency
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.cells import domain_size, levels
from discreet.totals.magnitudes import Magnitude, rows_of_sums
from discreet.totals.published import totals_of_counts

from .fibres import SCHEMA, checked, computed, costs, fibres, largest_cost, moves, norms, sizes_for, x

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow


def literal(tables):
    """a(X) of every ordered table X of one fibre: max over i and x' ≠ x_i of the least distance to an X' with X'_i = x'."""
    tables = np.array(tables)
    distance = (tables[:, None, :] != tables[None, :, :]).sum(axis=2)
    found = []
    for number, table in enumerate(tables):
        worst = 0
        for i, own in enumerate(table):
            for other in set(tables[:, i]) - {own}:
                worst = max(worst, int(distance[number][tables[:, i] == other].min()))
        found.append(worst)
    return found


def ordered(labels, n):
    """All ordered tables of n cells, by the sorted tuples of their labels: one tuple of labels for each margin."""
    found = defaultdict(list)
    for table in product(range(len(labels)), repeat=n):
        found[tuple(tuple(sorted(labels[c][j] for c in table)) for j in range(len(labels[0])))].append(table)
    return found


def margins_of(labels, *counts):
    """The key in `ordered` of margins given as counts of the labels 0, 1, …"""
    return tuple(tuple(label for label, count in enumerate(margin) for _ in range(count)) for margin in counts)


PARTITION = [(g,) for g in (0, 1) for _ in range(2)]


THREE = [(g,) for g in (0, 1, 2) for _ in range(2)]


NESTED = [(state, county) for state, county in ((0, 0), (0, 1), (1, 2)) for _ in range(2)]


TWO = list(product(range(2), range(2)))


CASES = [
    # labels of the cells, n, margins, a(X) for the tables of the fibre, tables, histograms, norms at a(t)
    (PARTITION, 3, [(0, 3)], {1}, None, None, (3, 2, 2, 1, 1)),
    (PARTITION, 3, [(1, 2)], {2}, 24, 6, (11, 4, 8, 2, 2)),
    (PARTITION, 4, [(2, 2)], {2}, 96, 9, (13, 4, 8, 2, 2)),
    (PARTITION, 4, [(1, 3)], {2}, 64, 8, (11, 4, 8, 2, 2)),
    (PARTITION, 4, [(0, 4)], {1}, None, None, None),
    (THREE, 4, [(1, 1, 2)], {2}, 192, 12, (21, 4, 8, 2, 3)),
    (THREE, 4, [(0, 2, 2)], {2}, 96, 9, (13, 4, 8, 2, 2)),
    (THREE, 4, [(0, 0, 4)], {1}, None, None, None),
    (NESTED, 4, [(3, 1), (2, 1, 1)], {2}, 192, 12, (21, 4, 8, 2, 3)),
    (TWO, 2, [(1, 1), (1, 1)], {2}, None, None, (3, 4, 4, 1, 1)),
    (TWO, 3, [(2, 1), (2, 1)], {2, 3}, 9, 2, (3, 4, 4, 1, 1)),
    (TWO, 4, [(2, 2), (2, 2)], {2}, 36, 3, None),
    (TWO, 4, [(1, 3), (2, 2)], {3}, 24, 2, None),
    (TWO, 3, [(0, 3), (0, 3)], {0}, 1, 1, (1, 0, 0, 0, 0)),
    (TWO, 3, [(0, 3), (1, 2)], {2}, None, 1, (1, 0, 0, 0, 0)),
    (list(product(range(2), repeat=3)), 2, [(1, 1)] * 3, {2}, None, None, None),
    (list(product(range(2), repeat=3)), 3, [(2, 1)] * 3, {2, 3}, None, None, None),
    (list(product(range(2), repeat=3)), 4, [(3, 1)] * 3, {2, 3, 4}, None, None, None),
    (list(product(range(2), repeat=3)), 4, [(3, 1), (3, 1), (2, 2)], {3}, None, None, None),
    (list(product(range(2), repeat=3)), 4, [(2, 2)] * 3, {2, 3}, None, None, None),
    (list(product(range(3), range(3))), 3, [(1, 1, 1)] * 2, {3}, 36, 6, (31, 6, 6, 1, 4)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case[0])}-{case[1]}-{case[2]}")
def test_the_printed_algorithm_on_ordered_tables(case):
    """Enumerated cases of the literal algorithm; Lemma 0 gives the same maximum from histograms alone."""
    labels, n, counts, expected, tables, histograms, expected_norms = case
    fibre = ordered(labels, n)[margins_of(labels, *counts)]
    counted = np.unique([np.bincount(table, minlength=len(labels)) for table in fibre], axis=0)
    assert tables in {None, len(fibre)}
    assert histograms in {None, len(counted)}
    if len(fibre) <= 200:
        found = literal(fibre)
        assert set(found) == expected
        assert max(found) == int(costs(counted).max())
    a = int(costs(counted).max())
    assert a == max(expected)
    if expected_norms is not None:
        assert norms(moves(counted, a)) == expected_norms


def test_three_by_three_permutations_at_distance_two():
    fibre = ordered(list(product(range(3), range(3))), 3)[margins_of(None, (1, 1, 1), (1, 1, 1))]
    counted = np.unique([np.bincount(table, minlength=9) for table in fibre], axis=0)
    assert norms(moves(counted, 2))[:3] == (19, 4, 4)


def test_weights_can_make_every_row_change():
    """A = [[1,0,2,3],[1,0,3,2]], t = (5,5): two histograms, 21 ordered tables, a = n."""
    weights = {0: (1, 1), 1: (0, 0), 2: (2, 3), 3: (3, 2)}
    tables = [
        t for t in product(range(4), repeat=5) if tuple(map(sum, zip(*(weights[c] for c in t), strict=True))) == (5, 5)
    ]
    assert len(tables) == 21
    assert max(literal(tables)) == 5
    invariants = LinearInvariant(
        "a4", {"u": dict(zip(x(0, 2, -1), (1, 2, 3), strict=True)), "v": dict(zip(x(0, 2, -1), (1, 3, 2), strict=True))}
    )
    fibre = np.array([[0, 3, 1, 1], [5, 0, 0, 0]])
    assert largest_cost(fibre) == computed(invariants, fibre).a == 5


@pytest.mark.parametrize(
    ("invariants", "tables", "of_each", "a"),
    [
        (Margins("a2", "b2"), [[2, 0, 0, 1], [1, 1, 1, 0]], [2, 3], 3),
        (Occupied("a3"), [[2, 2, 0], [3, 1, 0]], [1, 2], 2),
        (LinearInvariant("a4", {"s": dict(zip(x(1, 2, -1), (1, 2, 3), strict=True))}), None, [2, 3, 4], 4),
    ],
)
def test_a_number_computed_from_the_table_would_tell_about_it(invariants, tables, of_each, a):
    """Tables with equal totals whose literal a(X) differ: only the maximum over all of them may be used."""
    tables = np.array([[3, 0, 0, 1], [2, 1, 1, 0], [1, 3, 0, 0]] if tables is None else tables)
    (fibre,) = [one for one in fibres(invariants, int(tables[0].sum())) if (one == tables[0]).all(axis=1).any()]
    every = {tuple(h): int(cost.max()) for h, cost in zip(fibre.tolist(), costs(fibre), strict=True)}
    assert [every[tuple(table)] for table in tables.tolist()] == of_each
    for table in tables:
        totals = totals_of_counts(invariants, SCHEMA, table)
        assert semi_adjacency(invariants, SCHEMA, totals, totals.rows).a == a


ONE_PARTITION = [
    Totals("a3"),
    Totals("a2", "b2"),
    Totals("a2") + Totals("a2", "b3"),
    Totals("a4", only=x(0, 1)),
    Totals("a3", only=x(0)) + Totals("a3", "b2", only=[x(0, 0), x(1, -1)]),
    Totals("a3", "b2", only=[x(0, 0), x(1, 0)]) + Totals("b2"),
    LinearInvariant("a4", {"old": {"x1": 5, "x2": 5}}),
    LinearInvariant("a4", {"old": {"x0": 1, "x1": 3, "x2": 3, None: 1}}) + Totals("a4", only=x(0)),
    Totals("a2") + Totals("b2") + Impossible("a2", "b2", cells=[x(0, -1)]) + Totals("a2", "b2", only=[x(-1, 0)]),
    Totals("a3") + Impossible("a3", "b2", cells=[x(0, 0), x(-1, -1)]),
    Impossible("a3", cells=x(0)),
]


EXISTENCE = [
    Occupied("a3"),
    Occupied("a2", "b2"),
    Occupied("a3", only=x(0)),
    Occupied("a3", only=x(0, 1)),
    Occupied("a2") + Occupied("a2", "b2"),
    Totals("a2") + Occupied("a2", "b2"),
    Totals("a2") + Occupied("a2", "b3", only=[x(0, 0), x(0, 1), x(-1, -1)]),
    Totals("a3", only=x(0)) + Occupied("a3", only=x(1)),
    Occupied("a3", only=x(0)) + Impossible("a3", cells=x(1)),
    Totals("a2", "b2") + Occupied("a2"),
    Margins("a2", "b2") + Occupied("a2", "b2"),
]


DISJOINT = [
    Margins("a2", "b2"),
    Margins("a2", "b3"),
    Margins("a3", "b3"),
    Margins("a2", "b2", "c2"),
    Margins(["a2", "b2"], ["c2"]),
    Totals("a3", only=x(0)) + Totals("b3", only=x(1)),
    Totals("a2") + Totals("a2", "b2", only=[x(0, 0)]) + Totals("c2"),
    Totals("a2") + LinearInvariant("b3", {"u": {"x0": 2}}),
]


BOUNDS = [
    Margins(["a2", "b2"], ["b2", "c2"]),
    Margins(["a2", "b2"], ["b2", "c2"], ["c2", "d2"]),
    Margins(["a2", "b2"], ["b2", "c2"], ["a2", "c2"]),
    Margins("a3", "b3") + Impossible("a3", "b3", cells=[x(0, 0), x(1, 1)]),
    Margins("a2", "b2", "c2") + Impossible("a2", "b2", "c2", cells=[x(0, 0, 0)]),
    Totals("a2", "b2", only=[x(0, 0), x(-1, 0)]) + Totals("c2", "b2", only=[x(0, 0), x(-1, 0)]),
    Totals("a2", "b2", only=[x(0, 0)]) + Totals("b2", "c2", only=[x(0, 0)]),
    Totals("a2") + Occupied("b3"),
    Occupied("a2") + Occupied("b2"),
    LinearInvariant("a4", {"s": dict(zip(x(1, 2, -1), (1, 2, 3), strict=True))}),
    LinearInvariant("a4", {"s": dict(zip(x(1, 2, -1), (1, 2, 3), strict=True))}) + Totals("b2"),
    LinearInvariant("a4", {"s": dict(zip(x(1, 2, -1), (1, 2, 3), strict=True))}) + Occupied("a4"),
    Margins("a2", "b2") + LinearInvariant(["a2", "b2"], {"s": {x(0, 0): 1, x(-1, 0): 2, x(0, -1): 4}}),
]


def sum_of(column, *coefficients):
    """The sum of these coefficients of the levels x0, x1, …, null of a column."""
    return LinearInvariant(column, {"s": dict(zip(x(*range(len(coefficients) - 1), -1), coefficients, strict=True))})


def sums_by(group, column, *coefficients, groups=2):
    """The same sum for each level of a group."""
    rows = {}
    for number, level in enumerate(x(*range(groups - 1), -1)):
        cells = [(level, label) for label in x(*range(len(coefficients) - 1), -1)]
        rows[f"s{number}"] = dict(zip(cells, coefficients, strict=True))
    return LinearInvariant([group, column], rows)


SUMS = [
    sum_of("a4", 1, 2, 3, 0),
    sum_of("a4", -2, 2, 4, 0),
    sum_of("a4", 3, 4, 5, 0) + Impossible("a4", cells=[None]),
    Totals("b2") + sums_by("b2", "a4", 1, 2, 3, 0),
    Totals("b3") + sums_by("b3", "a3", 1, 2, 0, groups=3),
    Totals("b2", only=["x0"]) + LinearInvariant(["b2", "a3"], {"s": {("x0", "x0"): 1, ("x0", "x1"): 2}}),
]


GAPS = [sum_of("a4", 1, 2, 4, 0), sum_of("a4", 1, 2, 5, 0), Totals("b2") + sums_by("b2", "a4", 1, 2, 5, 0)]


ACROSS = [
    Totals("a2", "b2") + Occupied("a2", "c3"),
    Totals("a2", "b2") + Occupied("a2", "c3", only=[x(0, 0), x(0, 1)]),
    Totals("a2", "b2") + Occupied("a2", "c3", only=[x(0, 0), x(0, 1), x(-1, 0), x(-1, 1)]),
    Totals("a2", "b2") + Occupied("a2", "c4", only=[x(0, 0), x(0, 1), x(0, 2)]),
    Totals("a2", "b3") + Occupied("a2", "c2"),
    Totals("a2", "b2") + Totals("b2") + Occupied("a2", "c3") + Occupied("a2"),
]


WITHIN = [
    Margins("a2", "b2") + Occupied("a2", "b2", only=[x(0, 0)]),
    Margins("a3", "b3") + Occupied("a3", "b3", only=[x(0, 0)]),
    Margins("a3", "b3") + Occupied("a3", "b3", only=[x(0, 0), x(1, 1)]),
    Margins("a2", "b2", "c2") + Occupied("a2", "b2", "c2", only=[x(0, 0, 0)]),
    Margins("a2", "b2") + Occupied("a2", "b2", "c2", only=[x(0, 0, 0), x(-1, 0, -1)]),
    Margins(["a2", "b2"], ["b2", "c2"]) + Occupied("a2", "b2", "c2", only=[x(0, 0, 0)]),
    Margins("a3", "b3") + Impossible("a3", "b3", cells=[x(0, 1)]) + Occupied("a3", "b3", only=[x(0, 0)]),
    sum_of("a4", 1, 2, 3, 0) + Occupied("a4", only=x(0, 2)),
]


def test_one_partition_is_exact():
    """(i), (ii), (v-c), (vi-C): one partition, nested partitions, some groups only, structural zeros."""
    results = [checked(invariants, sizes_for(invariants, 40)) for invariants in ONE_PARTITION]
    assert all(count == exact and not above for count, exact, above in results)
    assert sum(count for count, _, _ in results) > 350


def test_existence_facts_are_exact():
    """(v-a), (v-b), partition + existence."""
    results = [checked(invariants, sizes_for(invariants, 36)) for invariants in EXISTENCE]
    assert all(count == exact and not above for count, exact, above in results)
    assert sum(count for count, _, _ in results) > 400


@pytest.mark.slow
def test_disjoint_margins_are_exact_where_they_say_so():
    """(iii), (iv): K + 1 if and only if the smallest totals are at most n - 1 together."""
    results = [checked(invariants, sizes_for(invariants, 180)) for invariants in DISJOINT]
    assert all(not above for (_, _, above), invariants in zip(results, DISJOINT, strict=True) if len(invariants.parts) < 3)
    assert sum(count for count, _, _ in results) > 900
    assert sum(exact for _, exact, _ in results) > 0.98 * sum(count for count, _, _ in results)


def test_sums_of_a_magnitude_are_exact(monkeypatch):
    """A10: over all rows and within groups; also where few classes would take the Graver basis."""
    monkeypatch.setattr(adjacency, "FEW_CLASSES", 0)
    results = [checked(invariants, sizes_for(invariants, 100)) for invariants in SUMS]
    assert all(count == exact and not above for count, exact, above in results)
    assert sum(count for count, _, _ in results) > 300
    for invariants in GAPS:
        checked(invariants, sizes_for(invariants, 60))


@pytest.mark.parametrize("span", [1, 2, 5, 8])
def test_the_sum_of_a_wide_magnitude_is_exact(span):
    """A10 on its own: every multiset of up to five values 0, …, span; one group, and the same beside a second group."""
    for n in range(1, 6):
        every = np.array([np.bincount(v, minlength=span + 1) for v in combinations_with_replacement(range(span + 1), n)])
        for total in range(n * span + 1):
            fibre = every[every @ np.arange(span + 1) == total]
            group = Magnitude(span, full=True, rows=n, total=total)
            assert rows_of_sums([group]) == (largest_cost(fibre), True)
            # A row of another group, which has one value, can come in: the rows that change for each value, and it.
            changed = np.abs(fibre[:, None] - fibre[None]).sum(axis=2) // 2
            needed = np.where(fibre.T[:, None] > 0, changed[None], n).min(axis=2)[fibre.any(axis=0)]
            other = Magnitude(0, full=True, rows=1, total=0)
            assert rows_of_sums([group, other]) == (1 + max(1, int(needed.max())), True)


@pytest.mark.slow
def test_occupied_cells_across_totals_are_exact():
    """A11."""
    results = [checked(invariants, sizes_for(invariants, 400)) for invariants in ACROSS]
    assert all(count == exact and not above for count, exact, above in results)
    assert sum(count for count, _, _ in results) > 300


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", range(len(WITHIN)))
def test_occupied_cells_within_crossing_totals_are_bounded(number):
    """A12."""
    count, _, above = checked(WITHIN[number], sizes_for(WITHIN[number], 150))
    assert count >= 40
    assert above <= count


@pytest.mark.parametrize("wrong", [2, 3])
def test_fewer_rows_than_a_sum_or_occupied_cells_need_are_noticed(monkeypatch, wrong):
    """Power: a Magnitude that forgets a row, and blocks that always take two, are below the maximum somewhere."""
    monkeypatch.setattr(adjacency, "FEW_CLASSES", 0)
    if wrong == 2:
        monkeypatch.setattr(adjacency, "rows_of_blocks", lambda _: 2)
        case = ACROSS[0]
    else:
        monkeypatch.setattr(adjacency, "rows_of_sums", lambda groups: (rows_of_sums(groups)[0] - 1, True))
        case = SUMS[0]
    with pytest.raises(AssertionError):
        checked(case, sizes_for(case, 400))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("invariants", BOUNDS, ids=lambda one: "+".join(type(part).__name__[:-4] for part in one.parts))
def test_bounds_are_never_below_the_maximum(invariants):
    count, _, above = checked(invariants, sizes_for(invariants, 60))
    assert count >= 5
    assert above <= 2 * count


def random_invariants(rng):
    """Totals, zeros and sums over two or three columns of two or three levels, drawn at random."""
    columns = rng.sample(["a2", "b2", "a3", "b3"], 2)
    cells = list(product(*(levels(SCHEMA[name]) for name in columns)))
    makers = [
        lambda: Totals(rng.choice(columns)),
        lambda: Totals(*columns, only=rng.sample(cells, rng.randint(1, 3))),
        lambda: Totals(columns[0], only=rng.sample(levels(SCHEMA[columns[0]]), 1)),
        lambda: Impossible(*columns, cells=rng.sample(cells, 1)),
        lambda: LinearInvariant(
            columns, {f"s{rng.random()}": {cell: rng.randint(0, 2) for cell in cells[1:]} | {cells[0]: 1}}
        ),
        lambda: Occupied(*columns, only=rng.sample(cells, 1)),
    ]
    invariants = Invariants(())
    for _ in range(rng.randint(1, 3)):
        invariants += rng.choice(makers)()
    return invariants


def random_fibres(seed, wanted):
    """Random descriptions and random tables until so many fibres are checked; refused descriptions are counted."""
    rng = random.Random(seed)  # noqa: S311 (which descriptions are tried)
    fibres_seen = refused = 0
    while fibres_seen < wanted:
        invariants = random_invariants(rng)
        n = rng.randint(1, 4 if domain_size(invariants.columns, SCHEMA) <= 6 else 3)
        try:
            invariants.semi_adjacency(SCHEMA)
        except dp.PlanError:
            refused += 1
            continue
        found = fibres(invariants, n)
        for fibre in rng.sample(found, min(len(found), 12)):
            told, truth = computed(invariants, fibre), largest_cost(fibre)
            assert told.a >= truth, (invariants, fibre[0], told, truth)
            assert told.a == truth or not told.exact, (invariants, fibre[0], told, truth)
            fibres_seen += 1
    return fibres_seen, refused


def test_random_fibres():
    fibres_seen, refused = random_fibres(20201, 400)
    assert fibres_seen >= 400
    assert refused < fibres_seen / 10


@pytest.mark.exhaustive
def test_many_random_fibres():
    for seed in range(20):
        random_fibres(seed, 1000)


@pytest.mark.exhaustive
def test_every_case_on_larger_tables():
    for invariants in ONE_PARTITION + EXISTENCE:
        count, exact, above = checked(invariants, sizes_for(invariants, 2000))
        assert (count, 0) == (exact, above)
    for invariants in DISJOINT + BOUNDS + GAPS + ACROSS + WITHIN:
        checked(invariants, sizes_for(invariants, 2000))


def test_an_oracle_that_uses_the_table_itself_would_be_caught():
    """Power: a(X) of one table, or K instead of K + 1, is below the maximum over the fibre somewhere."""
    below = 0
    for fibre in fibres(Margins("a2", "b2"), 4):
        cost = costs(fibre)
        below += int(cost[0].max()) < int(cost.max())
    assert below > 0
    assert any(largest_cost(fibre) > 2 for fibre in fibres(Margins("a2", "b2"), 4))
