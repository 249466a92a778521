"""The whole law of what is published, on all tables of a few rows: imputation, copies, samples, fill and noise together.

For every pair of neighbours the two laws of the noisy integers are compared, on all points, with what the quote charges:
the greatest ratio, δ(ε) at several ε, or Rényi divergences. The law of the exact answers is found row by row
(`literal_rows`) and is that of the cube as well; noise is added from its definition (`output_divergences`). Where noise
stands beside exact totals, `test_totals_output_law.py` does the same. That the checks notice planted errors is shown in
`test_output_law_errors.py`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

import discreet as dp
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian

from .literal_rows import Literal, Tables, all_tables
from .output_divergences import distinct, exact_noise, exact_values, far, masses, noisy, within
from .output_law_cases import (
    ALL_PLAIN,
    ALL_RESIZED,
    BEYOND,
    PERSON_CASES,
    PLAIN,
    RECORDS,
    RESIZED,
    SPENDS,
    Case,
    answers_on_the_cube,
    exactly_kept,
    inner_of,
    kept,
    noises_of,
    quote_of,
    resampling_of,
    tables_of,
    with_scaled_noise,
)

FEW_POINTS = 20_000  # of one case in the default run
MANY_POINTS = 30_000_000


@pytest.mark.one_in(27)
@pytest.mark.parametrize("case", [*ALL_PLAIN, *ALL_RESIZED], ids=str)
def test_no_pair_of_tables_exceeds_what_is_charged(case):
    found = [kept(quote_of(case, spend), tables_of(case, spend, 2), FEW_POINTS) for spend in SPENDS]
    assert found[0].points
    assert sum(one.points > 0 for one in found) >= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("case", [*ALL_PLAIN, *ALL_RESIZED], ids=str)
def test_no_pair_of_tables_exceeds_what_is_charged_on_many_points(case, spend):
    """Whatever the default run left out."""
    if kept(quote_of(case, spend), tables_of(case, spend, 2), FEW_POINTS).points:
        return
    if not kept(quote_of(case, spend), tables_of(case, spend, 2), MANY_POINTS).points:
        pytest.skip("more points than can be gone through")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PLAIN)
def test_three_rows(name):
    for neighbours, spend in product([dp.ReplaceOne(rows=3), dp.AddRemove()], SPENDS):
        case = Case(name, neighbours)
        kept(quote_of(case, spend), tables_of(case, spend, 3), MANY_POINTS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("resize", [(1, "1/2"), (2, "2/3"), (4, "3/4"), (2, 1), (4, "4/3"), (5, "3/2"), (5, 3)])
@pytest.mark.parametrize("name", RESIZED)
def test_three_rows_resized(name, resize):
    """All rows where few differ in what they add, else three that lie far apart."""
    for neighbours, spend in product([dp.ReplaceOne(rows=3), dp.AddRemove()], SPENDS):
        case = Case(name, neighbours, resize)
        few = RECORDS if name in ("counts", "a sum", "a median") else [("x", 0), ("y", 3), (None, None)]
        kept(quote_of(case, spend), all_tables(Literal(quote_of(case, spend)), few, 3), 3_000_000)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", PERSON_CASES, ids=str)
def test_a_person_of_two_rows_is_charged_for_both(case):
    found = [kept(quote_of(case, spend), tables_of(case, spend, 3), FEW_POINTS) for spend in SPENDS]
    assert found[0].points


def test_what_is_charged_is_attained():
    """So that noise that is a little too small is noticed: by ratio, by δ(ε), by divergences of both orders."""
    case = Case("an imputed mean", dp.ReplaceOne(rows=2))
    for spend in SPENDS:
        quoted = quote_of(case, spend)
        kept(quoted, tables_of(case, spend, 2))
        with pytest.raises(AssertionError):
            kept(with_scaled_noise(quoted, Fraction(99, 100)), tables_of(case, spend, 2))
    for name in ("counts", "a condition", "a sum"):
        case = Case(name, dp.ReplaceOne(rows=2), (2, "1/2"))
        with pytest.raises(AssertionError):
            kept(with_scaled_noise(quote_of(case, SPENDS[0]), Fraction(99, 100)), tables_of(case, SPENDS[0], 2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", [*ALL_PLAIN, *ALL_RESIZED, *PERSON_CASES], ids=str)
def test_log_ratios_are_at_most_what_is_charged_exactly(case):
    spend = dp.PureDP("0.75")
    assert exactly_kept(quote_of(case, spend), tables_of(case, spend, 2)).points


@pytest.mark.parametrize(
    "case",
    [Case("counts", dp.ReplaceOne(rows=2), (2, "1/2")), Case("a sum of zeros", dp.ReplaceOne(rows=2), (4, 2))]
    + [Case("a sum of zeros", dp.AddRemove(), resize) for resize in [(2, "1/2"), (3, 1), (4, "3/2")]],
    ids=str,
)
def test_what_is_charged_is_attained_exactly(case):
    """Equality: nothing smaller than E e^{εK} would do, for samples and for copies."""
    quoted, tables = quote_of(case, SPENDS[0]), tables_of(case, SPENDS[0], 2)
    inner, moved = inner_of(quoted), resampling_of(quoted.plan).law
    noise = exact_noise([law.scale for law in noises_of(quoted)], inner.epsilon)
    values = [exact_values(pair, noise) for pair in distinct(tables.laws, tables.pairs)]
    most = sum(chance * noise.factor(k) for k, chance in enumerate(moved))
    assert all(within(one, most) for one in values)
    assert not all(within(one, most * (1 - Fraction(1, 10**30))) for one in values)


def test_noise_is_that_of_the_laws():
    """Masses are those that the library certifies, and a mixture is what a sum over its parts is."""
    for law in (DiscreteLaplace(Fraction(7, 3)), RoundedGaussian(Fraction(5, 7)), RoundedGaussian(Fraction(40))):
        for k, mass in zip(range(-9, 10), masses(law, 9), strict=True):
            low, high = law.pmf(k)
            assert low * (1 - 1e-15) <= mass <= high * (1 + 1e-15)
    case = Case("a histogram and a sum", dp.AddRemove(), (3, "3/2"))
    for spend in (SPENDS[0], dp.GDP(4)):
        noises, tables = noises_of(quote_of(case, spend)), tables_of(case, spend, 1)
        pair = max(distinct(tables.laws, tables.pairs), key=lambda one: len(one.first | one.second))
        own = [noises[coordinate] for coordinate in pair.coordinates]
        wide = np.array([far(law, BEYOND) for law in own])
        values = noisy(pair, noises, BEYOND).values.reshape(2, *(pair.hull + 1 + 2 * wide))
        inside = list(product(*(range(1, size - 1) for size in values.shape[1:])))  # the rim stands for all behind it
        for place in inside[:: 1 + len(inside) // 40]:
            for side, law in enumerate((pair.first, pair.second)):
                assert values[(side, *place)] == pytest.approx(probability(place - wide, law, own), rel=1e-12)


def probability(point, law, noises):
    """Of one outcome, summed over the exact answers."""
    total = 0.0
    for answer, chance in law:
        apart = [int(y) - x for y, x in zip(point, answer, strict=True)]
        total += float(chance) * prod(noise.pmf(k)[1] for noise, k in zip(noises, apart, strict=True))
    return total


# The cube has the law of the rows ---------------------------------------------------------------------------------------


def some_tables(tables: Tables, most: int) -> range:
    return range(0, len(tables.laws), -(-len(tables.laws) // most))


ON_CUBE = [*ALL_PLAIN, *ALL_RESIZED, *PERSON_CASES[:8]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", [case for case in ON_CUBE if case.resize in (None, (2, "3/2"))], ids=str)
def test_answers_on_the_cube_have_the_law_of_the_rows(case, monkeypatch):
    spend = dp.PureDP("0.75")
    tables = tables_of(case, spend, 2)
    for table in some_tables(tables, 3)[1:]:
        found = answers_on_the_cube(quote_of(case, spend), tables.source(table), monkeypatch)
        assert found == tables.laws[table]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ON_CUBE, ids=str)
def test_answers_on_the_cube_have_the_law_of_the_rows_of_many_tables(case, monkeypatch):
    for spend in (dp.PureDP("0.75"), dp.ZCDP(2)):
        tables = tables_of(case, spend, 2)
        for table in some_tables(tables, 15):
            found = answers_on_the_cube(quote_of(case, spend), tables.source(table), monkeypatch)
            assert found == tables.laws[table]
