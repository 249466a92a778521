"""The laws that an audit counts by are those of the definitions, and the tables of choices are neighbours."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import discreet as dp
from discreet.audit import Check
from discreet.audit.canaries import count_law
from discreet.audit.checks import Counted, bound_events
from discreet.audit.choice_law import law_of_choices
from discreet.audit.choices import choice_pairs
from discreet.audit.draws import KERNEL
from discreet.domain.steps import Resize
from discreet.mechanisms import ExponentialQuantiles
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def literal(resize, rows, canaries, share, *, public, drawn):
    """The law of the number of rows with the value, row by row: which canaries draw it, which copies stay, what fills up."""
    copies = [row for row in range(rows) for _ in range(resize.copies)]
    found = Counter()
    for draws in product((True, False), repeat=canaries if drawn else 0):
        chance = Fraction(1)
        for hit in draws:
            chance *= share if hit else 1 - share
        has = [(draws[row] if drawn else True) if row < canaries else False for row in copies]
        for kept, weight in subsets(resize, rows, len(copies), public=public):
            filled = resize.rows - len(kept)
            for fills in product((True, False), repeat=filled):
                own = chance * weight
                for hit in fills:
                    own *= share if hit else 1 - share
                found[sum(has[place] for place in kept) + sum(fills)] += own
    return {number: chance for number, chance in found.items() if chance}


def subsets(resize, rows, copies, *, public):
    """Which copies stay, with their chances."""
    if public:
        every = list(combinations(range(copies), min(int(resize.proportion * rows), resize.rows)))
        yield from ((kept, Fraction(1, len(every))) for kept in every)
        return
    for coins in product((True, False), repeat=copies):
        there = [place for place, coin in enumerate(coins) if coin]
        chance = resize.rate ** len(there) * (1 - resize.rate) ** (copies - len(there))
        every = list(combinations(there, min(len(there), resize.rows)))
        yield from ((kept, chance / len(every)) for kept in every)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize(
    ("resize", "rows", "canaries", "drawn"),
    [
        (Resize(2, Fraction(3, 2)), 2, 1, True),
        (Resize(3, Fraction(3, 2)), 2, 1, False),
        (Resize(4, Fraction(2)), 2, 1, True),
        (Resize(2, HALF), 4, 2, False),
        (Resize(3, Fraction(3, 4)), 4, 1, True),
        (Resize(2, Fraction(1)), 3, 2, False),
    ],
)
def test_canaries_are_found_as_often_as_row_by_row(resize, rows, canaries, drawn, public):
    found = count_law(resize, rows, canaries, THIRD, public=public, drawn=drawn)
    assert found == literal(resize, rows, canaries, THIRD, public=public, drawn=drawn)
    assert sum(found.values()) == 1


def test_values_imputed_for_each_copy_would_have_another_law():
    shared = count_law(Resize(4, Fraction(2)), 2, 1, HALF, public=True, drawn=True)
    assert shared == {0: HALF, 2: HALF}  # apart, one copy of two would have it half of the time


def test_without_a_resize_every_null_is_drawn_once():
    assert count_law(None, 3, 2, THIRD, public=True, drawn=True) == {0: Fraction(4, 9), 1: Fraction(4, 9), 2: Fraction(1, 9)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("at", [(HALF,), (Fraction(1, 10), HALF, Fraction(9, 10)), (Fraction(0), Fraction(1))])
def test_the_law_of_choices_is_that_of_the_draws(at):
    """Each of at most 125 probabilities within six standard deviations: wrong once in a million runs of this test."""
    law = ExponentialQuantiles(5, 40_000, at, Fraction(1))
    counts = (3, 1, 0, 0, 2)
    expected = law_of_choices(law, counts)
    assert sum(expected.values()) == pytest.approx(1)
    values = [(cell, code, count) for cell in range(law.cells) for code, count in enumerate(counts) if count]
    chosen = law.apply(np.array(values, dtype=np.int64), system_bits()).reshape(law.cells, -1)
    seen = Counter(map(tuple, chosen.tolist()))
    for codes, chance in expected.items():
        assert abs(seen[codes] - law.cells * chance) < 6 * (law.cells * chance * (1 - chance)) ** 0.5 + 6, codes


def test_a_probability_outside_of_its_bounds_is_refuted():
    near, far = bound_events([Counted("near", 500, 1000, (0.52, 0.52)), Counted("far", 500, 1000, (0.65, 0.66))], 1e-9)
    assert not near.refuted
    assert far.refuted
    assert far.declared == 0.65  # the end of the declared probability that is nearer to what was seen
    assert Check("never", 0.0, 0.0, 0.1, 10).refuted is False
    assert Check("never", 0.0, 0.01, 0.1, 10).refuted


# Tables of choices ------------------------------------------------------------------------------------------------------

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]), v=dp.Number(0, 10))
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=60))
CHOSEN = {"nulls": "skip", "interval": 0}
KNOWN = exact_totals_of(dp.Totals("g"), SCHEMA, read_totals(dp.Totals("g"), SCHEMA, {"g": {"x": 40, "y": 20}}, 60), 60)
LAWS = {"g": dp.Weights({"x": 1, "y": 1}), "v": dp.Uniform()}
ASKED = {
    "added": (dp.Table(SCHEMA, dp.AddRemove(2)).agg(dp.quantiles("v", ["0.1", "0.5", "0.8"], **CHOSEN)), None, 2),
    "replaced": (REPLACED.group_by("g").agg(dp.quantiles("v", ["0.25", "0.5", "0.75"], **CHOSEN)), None, 1),
    "ends": (REPLACED.agg(dp.quantiles("v", ["0", "1"], **CHOSEN)), None, 1),
    "totals": (REPLACED.group_by("f").agg(dp.median("v", **CHOSEN)), exact_totals_of(dp.Totals("g"), SCHEMA, None, 60), 2),
    "known totals": (REPLACED.group_by("g").agg(dp.median("v", **CHOSEN)), KNOWN, 2),
    "sampled": (REPLACED.impute(LAWS).resize(20, proportion="0.5").agg(dp.median("v", interval=0)), None, 1),
}


@pytest.mark.parametrize("name", ASKED)
def test_tables_of_choices_are_compared_by_the_guarantee(name):
    request, totals, most = ASKED[name]
    asked = quote(request, dp.PureDP(1), totals)
    pairs = choice_pairs(KERNEL, asked, asked.measured[0])
    assert len(pairs) > 5
    for pair in pairs:
        first, second = Counter(dict(pair.first)), Counter(dict(pair.second))
        assert 1 <= (second - first).total() <= most
        if isinstance(request.neighbours, dp.ReplaceOne):
            assert first.total() == second.total() == 60
            assert (first - second).total() == (second - first).total()
        else:
            assert not first - second
        if totals is not None:
            place = pair.columns.index("g")
            sums = [
                Counter({code: sum(n for row, n in t.items() if row[place] == code) for code in (0, 1, None)})
                for t in (first, second)
            ]
            assert sums[0] == sums[1]
            assert name != "known totals" or +sums[0] == Counter({0: 40, 1: 20})


def test_several_quantiles_are_attacked_one_by_one_and_jointly():
    request, totals, _ = ASKED["replaced"]
    asked = quote(request, dp.PureDP(1), totals)
    paths = {pair.path for pair in choice_pairs(KERNEL, asked, asked.measured[0])}
    assert {(1,), (1, 0), (1, 2), (0, 1, 2)} <= paths
