"""Chosen intervals: the law of the code on whole families of tables, its cost, its coverage, and mutants of both.

The law is taken from the code exactly: what it hands to `choose` has one probability for each interval.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log

import numpy as np
import pytest

from discreet.cube.queries import around
from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.errors import ArgumentError, InternalError
from discreet.mechanisms import interval_choice
from discreet.mechanisms.base import Around
from discreet.mechanisms.interval_choice import ExponentialIntervals, hold_to, intervals_change, intervals_for
from discreet.noise.bits import system_bits
from discreet.noise.single import exponential
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.convert import gaussian_delta

from .literal_intervals import law_of_interval, quantile
from .mutants import Mutant

SIZE, MOST = 4, 3
LEVEL = Fraction(95, 100)
EVERY_Q = tuple(map(Fraction, ("0", "1/10", "1/3", "1/2", "3/4", "1")))
REACHES = (Fraction(1, 2), Fraction(4), Fraction(40))
SMALL = [table for n in range(MOST + 1) for table in combinations_with_replacement(range(SIZE), n)]
WIDE = 40
HEAPS = [
    tuple(code for code, many in zip(codes, counts, strict=True) for _ in range(many))
    for codes in ((0, 1, 2), (3, 20, 39), (19, 20, 21), (0, 38, 39))
    for counts in product((0, 1, 9, 60), repeat=3)
    if sum(counts)
]


def law_of_code(table, size, centre, q, reach, level=LEVEL):  # noqa: PLR0917 (as the literal law)
    """The probability of every interval that the code can choose."""
    seen = []

    def choose(candidates, rate, _bits):
        seen.append((candidates, rate))
        return np.arange(len(candidates.loss))

    law = ExponentialIntervals(size, 1, (q,), reach, level)
    values = around(np.array([[centre]]), np.array(records_of(table), dtype=np.int64).reshape(-1, 3))
    real, exponential.choose = exponential.choose, choose
    try:
        records = interval_choice._Records.of(values[1:], law)
        ends = interval_choice._choose(records, np.array([0]), np.array([centre]), law, q, system_bits())
    finally:
        exponential.choose = real
    ((candidates, rate),) = seen
    least = min(int(loss) for loss in candidates.loss)
    weights = [
        int(m) * exp(-float(rate * (int(loss) - least))) for m, loss in zip(candidates.many, candidates.loss, strict=True)
    ]
    return {tuple(map(int, one)): weight / sum(weights) for one, weight in zip(ends, weights, strict=True)}


def records_of(table):
    return [(0, code, table.count(code)) for code in sorted(set(table))]


def neighbours_of(tables):
    """Every table with each of its records left out, and replaced by every code."""
    for table in tables:
        for i in range(len(table)):
            rest = (*table[:i], *table[i + 1 :])
            yield "removed", table, rest
            for code in {*range(SIZE)} - {table[i]}:
                yield "replaced", table, tuple(sorted((*rest, code)))


# The law ----------------------------------------------------------------------------------------------------------------


@pytest.mark.one_in(4)
@pytest.mark.parametrize("q", EVERY_Q, ids=str)
def test_the_law_is_that_of_the_definition(q: Fraction) -> None:
    for table, centre, reach in product(SMALL, range(SIZE), REACHES):
        found, literal = law_of_code(table, SIZE, centre, q, reach), law_of_interval(table, SIZE, centre, q, reach, LEVEL)
        assert found.keys() == literal.keys()
        assert all(abs(found[one] - literal[one]) < 1e-12 for one in found)


def test_several_cells_and_quantiles_are_drawn_by_their_laws() -> None:
    at, runs = (Fraction(1, 4), Fraction(1, 2)), 20_000
    tables = [((0, 1, 1, 3), (0, 1)), ((), (3, 3))]
    law = ExponentialIntervals(SIZE, 2 * runs, at, Fraction(3))
    cells = [
        (2 * run + cell, code, many)
        for run in range(runs)
        for cell in (0, 1)
        for _, code, many in records_of(tables[cell][0])
    ]
    centres = np.array([tables[cell % 2][1] for cell in range(2 * runs)])
    drawn = law.apply(around(centres, np.array(cells)), system_bits()).reshape(runs, 2, 2, 2)
    for cell, place in product((0, 1), (0, 1)):
        table, own = tables[cell]
        for (low, high), chance in law_of_interval(table, SIZE, own[place], at[place], law.reach, law.level).items():
            share = (drawn[:, cell, place] == (low, high)).all(axis=1).mean()
            # Seven deviations: one interval of them all is as far off with a probability below 1e-9.
            assert abs(share - chance) < 7 * (chance / runs) ** 0.5 + 1e-4


# The cost ---------------------------------------------------------------------------------------------------------------


def worst_range(q: Fraction, reach: Fraction) -> dict[str, float]:
    """By how much a record changes the logarithm of a ratio of two probabilities: removed, and replaced."""
    worst = {"removed": 0.0, "replaced": 0.0}
    laws = {(table, centre): law_of_code(table, SIZE, centre, q, reach) for table in SMALL for centre in range(SIZE)}
    for how, one, other in neighbours_of(SMALL):
        for centre in range(SIZE):
            p, r = laws[one, centre], laws[other, centre]
            losses = [log(p[key] / r[key]) for key in p]
            worst[how] = max(worst[how], max(losses) - min(losses))
    return worst


def costs_hold() -> bool:
    """Whether a record changes a choice by its range at most, and a replaced one by twice that."""
    worst = ((worst_range(q, reach), float(reach)) for q, reach in product(EVERY_Q, (Fraction(12), Fraction(1, 2))))
    return all(one["removed"] <= reach + 1e-9 and one["replaced"] <= 2 * reach + 1e-9 for one, reach in worst)


def test_a_record_changes_a_choice_by_its_range_at_most() -> None:
    assert costs_hold()
    # And by nearly that where it can: the bound of an added record is reached.
    assert worst_range(Fraction(1, 2), Fraction(12))["removed"] > 6


def hockey_stick(p, r, epsilon: float) -> float:
    return sum(max(0.0, p[key] - exp(epsilon) * r[key]) for key in p)


def renyi(p, r, order: int) -> float:
    return log(sum(p[key] ** order / r[key] ** (order - 1) for key in p)) / (order - 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("relation", [AddRemove(), ReplaceOne(rows=MOST)], ids=lambda one: one.word)
def test_every_measure_is_kept(relation) -> None:
    how = "removed" if relation.appears else "replaced"
    change = intervals_change(1, cells=1, skipped=False, neighbours=relation)
    for guarantee in (PureDP(3), ZCDP("0.5"), GDP(1)):
        law = intervals_for(change.within, guarantee, Around(SIZE, 1, (Fraction(1, 2),)))
        for kind, one, other in neighbours_of(SMALL):
            if kind != how:
                continue
            for centre in (0, 2):
                p, r = (law_of_code(table, SIZE, centre, Fraction(1, 2), law.reach) for table in (one, other))
                for first, second in ((p, r), (r, p)):
                    assert hockey_stick(first, second, 3.0) <= 1e-12 or not isinstance(guarantee, PureDP)
                    assert not isinstance(guarantee, ZCDP) or renyi(first, second, 3) <= 1.5 + 1e-12
                    assert not isinstance(guarantee, GDP) or hockey_stick(first, second, 0.5) <= gaussian_delta(1.0, 0.5)


def test_every_choice_is_charged() -> None:
    for quantiles in (1, 3, 8):
        added = intervals_change(quantiles, cells=2, skipped=True, neighbours=AddRemove())
        replaced = intervals_change(quantiles, cells=2, skipped=True, neighbours=ReplaceOne(rows=3))
        assert {(one.l1, one.l2_squared) for one in (added.within, added.across, added.leaves)} == {(quantiles, quantiles)}
        assert (replaced.within.l1, replaced.within.l2_squared) == (2 * quantiles, 4 * quantiles)
        assert (replaced.across.l1, replaced.across.l2_squared) == (2 * quantiles, 2 * quantiles)
        assert (replaced.leaves.l1, replaced.leaves.l2_squared) == (quantiles, quantiles)


def test_next_to_nothing_is_refused() -> None:
    change = intervals_change(1, cells=1, skipped=False, neighbours=AddRemove())
    with pytest.raises(ArgumentError, match="1e-17"):
        intervals_for(change.within, PureDP("1e-200"), Around(SIZE, 1, (Fraction(1, 2),)))


# The coverage -----------------------------------------------------------------------------------------------------------


def coverages(tables, size: int, centres, level: Fraction = LEVEL):
    """Of all tables with a record, centres, quantiles and ranges."""
    for table, centre, q, reach in product(tables, centres, EVERY_Q, REACHES):
        if table:
            true = quantile(table, q)
            law = law_of_code(table, size, centre, q, reach, level)
            yield sum(chance for (low, high), chance in law.items() if low <= true <= high)


def tight() -> list[tuple[int, ...]]:
    """Heaps that leave the intervals that miss no margin by next to nothing, and the others just the wanted one."""
    many = interval_choice.find_margin(Fraction(1, 2), Fraction(1, 20), LEVEL) // 2
    return [(0,) * 2000 + (25,) * (between) + (39,) * (2001 - between) for between in range(many, 2 * many, 8)]


def covers() -> bool:
    small = coverages(SMALL, SIZE, range(SIZE))
    heaps = coverages(HEAPS[::5], WIDE, (0, 20))
    return all(one >= LEVEL - 1e-12 for found in (tight_coverages(), small, heaps) for one in found)


def tight_coverages() -> list[float]:
    laws = [
        (quantile(table, Fraction(1, 2)), law_of_code(table, WIDE, 0, Fraction(1, 2), Fraction(1, 20))) for table in tight()
    ]
    return [sum(chance for (low, high), chance in law.items() if low <= true <= high) for true, law in laws]


@pytest.mark.slow
def test_every_interval_holds_its_quantile_as_often_as_it_says() -> None:
    assert covers()
    assert min(coverages(HEAPS[::4], WIDE, (0, 19, 39))) >= 0.95 - 1e-12
    for level in (Fraction(1, 2), Fraction(999, 1000)):
        assert min(coverages(HEAPS[::9], WIDE, (20,), level)) >= float(level) - 1e-12


def test_the_coverage_is_reached_by_a_table_but_for_rounding() -> None:
    assert min(tight_coverages()) < 0.955


MUTANTS = {
    "the upper side is not looked at": (
        Mutant(interval_choice, "_margins", "np.minimum(above, beneath)", "beneath"), False),
    "the lower side is not looked at": (
        Mutant(interval_choice, "_margins", "np.minimum(above, beneath)", "above"), False),
    "the lower end counts as before": (
        Mutant(interval_choice._Records, "below", "self.size + codes)", "self.size + codes - 1)"), False),
    "ends of the grid are taken for the other side": (
        Mutant(interval_choice, "_margins", "np.where(low == 0, above,", "np.where(low == 0, beneath,"), False),
    "the weights fall": (
        Mutant(interval_choice, "weights", "found[:count]", "found[:count][::-1]"), False),
    "all intervals weigh the same": (
        Mutant(interval_choice, "weights", "-(-found[-1] * 8 // 5)", "1"), False),
    "the margin forgets how many miss": (
        Mutant(interval_choice, "find_margin", "level / (1 - level) / Fraction(3, 2)", "level / (1 - level) / 3"), False),
    "the margin is half as large": (
        Mutant(interval_choice, "find_margin", ") / rate))", ") / rate / 2))"), False),
    "no margin": (
        Mutant(interval_choice, "find_margin", "return max(1, ceil(", "return 0 * max(1, ceil("), False),
    "the change of a loss is halved": (
        Mutant(interval_choice, "_choose", "rate = law.reach / (2 * max(", "rate = law.reach / (max("), True),
    "the smaller factor of a loss counts": (
        Mutant(interval_choice, "_choose", "(2 * max(", "(2 * max(1, 0 * "), True),
    "a loss counts both sides": (
        Mutant(interval_choice, "_losses", "small = wanted - margin", "small = 2 * (wanted - margin)"), True),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, costs = MUTANTS[name]
    mutant.plant(monkeypatch)
    assert not (costs_hold() if costs else covers())


# The rest ---------------------------------------------------------------------------------------------------------------


def test_the_level_of_a_statistic_is_that_of_its_intervals() -> None:
    law = ExponentialIntervals(SIZE, 1, (Fraction(1, 2),), Fraction(1))
    assert hold_to(law, Fraction(999, 1000)).level == Fraction(999, 1000)
    assert hold_to(law, LEVEL) == law
    assert law.rank_error(LEVEL) < hold_to(law, Fraction(999, 1000)).rank_error(LEVEL)
    with pytest.raises(InternalError, match="no additive noise"):
        law.half_widths(LEVEL)


def test_ranks_beyond_64_bits_are_python_integers() -> None:
    q = Fraction(10**29 + 1, 10**30)
    table = (0,) * 30 + (4,) * 30
    found, literal = (one(table, SIZE, 1, q, Fraction(2), LEVEL) for one in (law_of_code, law_of_interval))
    assert all(abs(found[key] - literal[key]) < 1e-12 for key in found)


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**5)], ids=str)
def test_margins_beyond_64_bits_are_python_integers(q: Fraction) -> None:
    least = Fraction(1, 10**17)
    table, level = (0,) * 30 + (3,) * 30, 1 - Fraction(1, 10**9)
    found, literal = (one(table, SIZE, 1, q, least, level) for one in (law_of_code, law_of_interval))
    assert all(abs(found[key] - literal[key]) < 1e-9 for key in found)
    law = ExponentialIntervals(SIZE, 1, (q,), least, level)
    low, high = law.apply(around(np.array([[1]]), np.array(records_of(table))), system_bits())
    assert 0 <= low <= 1 <= high < SIZE


def test_the_weights_of_the_largest_grids_fit_doubles() -> None:
    assert interval_choice.weights(len(interval_choice.distances(2**36)))[-1] < 2**53
