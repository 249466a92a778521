"""Every way to forget a part of a sensitivity is noticed by the law over every query, or by that over persons and copies.

Each mutant is the library with one line changed. The first one gave a quantile tree of d levels the noise of one, so that ε
was d times the claim, and passed every test there was.
"""

from __future__ import annotations

from itertools import islice

import pytest

import discreet as dp
from discreet.cube.queries import (
    Dispersion,
    Excess,
    ImputedSum,
    LevelCounts,
    NonNullCount,
    NullCount,
    PairSum,
    ProductSum,
    QuantileCodes,
    QuantileIntervals,
    RowCount,
    Squares,
    TableCounts,
    WeightedSum,
)
from discreet.domain.steps import TableFacts
from discreet.mechanisms import quantile_choice as selection
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.amplify import Resampling
from discreet.quotes import allocate, one_row

from . import test_losses_of_persons as persons
from . import test_sensitivity as requests
from .every_query import cases, violations
from .mutants import Mutant

RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=2)]

OF_ROWS = {
    "the levels of a tree are counted once": Mutant(
        one_row,
        "change_of",
        "Sensitivity(at_once * largest, at_once * largest**2)",
        "Sensitivity(largest, largest**2)",
    ),
    "replace-one is counted as add-remove": Mutant(one_row, "change_of", "if neighbours.appears:", "if True:"),
    "the smallest value counts": Mutant(one_row, "change_of", "largest = max(", "largest = min("),
    "squares are not squared": Mutant(one_row, "change_of", "at_once * largest**2)", "at_once * largest)"),
    "two cells count as one": Mutant(
        one_row, "change_of", "2 * alone.l1, 2 * alone.l2_squared", "alone.l1, alone.l2_squared"
    ),
    "nulls are forgotten": Mutant(
        one_row, "change_of", "(min(least, 0), max(most, 0)) if nullable else (least, most)", "(least, most)"
    ),
    "one coordinate is enough": Mutant(one_row, "change_of", "same if parts == 1 else _larger(same, twice)", "same"),
    "nobody moves": Mutant(one_row, "change_of", "twice if cells > 1 else nothing", "nothing"),
    "nobody leaves": Mutant(one_row, "change_of", "alone if skipped else nothing", "nothing"),
    **{
        f"a count reaches 0: {query.__name__}": Mutant(query, "reach", "return 1, 1", "return 0, 0")
        for query in (RowCount, NonNullCount, TableCounts, LevelCounts)
    },
    "the reach of a sum is one too small": Mutant(
        WeightedSum, "reach", "return min(ends), max(ends)", "return min(ends), max(ends) - 1"
    ),
    "the reach of a square is one too small": Mutant(
        Squares, "reach", "max(low**2, high**2) -", "max(low**2, high**2) - 1 -"
    ),
    "the least square is one too large": Mutant(Squares, "reach", "return nearest**2 -", "return nearest**2 + 1 -"),
    "only the lower end is squared": Mutant(Squares, "reach", "max(low**2, high**2)", "low**2"),
    "a product reaches its first corner only": Mutant(
        PairSum, "reach", "return min(corners) - self.shift, max(corners)", "return corners[0] - self.shift, corners[0]"
    ),
    "a product reaches its last corner only": Mutant(
        PairSum, "reach", "return min(corners) - self.shift, max(corners)", "return corners[-1] - self.shift, corners[-1]"
    ),
    "the greatest product is one too small": Mutant(PairSum, "reach", "max(corners) -", "max(corners) - 1 -"),
    "the shift of a product is forgotten": Mutant(PairSum, "reach", "min(corners) - self.shift", "min(corners)"),
    "a product of three reaches its first corner only": Mutant(
        ProductSum, "reach", "return min(corners), max(corners)", "return corners[0], corners[0]"
    ),
    "the greatest product of three is one too small": Mutant(ProductSum, "reach", "max(corners)", "max(corners) - 1"),
    "the power of a third factor is forgotten": Mutant(
        ProductSum, "reach", "*(one.reach for one in self.factors)", "*(one.ends for one in self.factors)"
    ),
    "no product of three is null": Mutant(ProductSum, "nullable", "any(", "all("),
    "no pair is null": Mutant(PairSum, "nullable", "any(", "all("),
    "the widths of a tree are forgotten": Mutant(LevelCounts, "widths", "return self.tree.level_sizes", "return (1,)"),
    "the widths of a table are forgotten": Mutant(TableCounts, "widths", "return (prod(self.sizes),)", "return (1,)"),
    **{
        f"no value is null: {query.__name__}": Mutant(
            query, "nullable", "return facts[self.column].nullable", "return False"
        )
        for query in (NonNullCount, WeightedSum, Squares, QuantileCodes)
    },
    "every row is in some group": Mutant(
        TableCounts, "nullable", "return not all(is_complete(group, facts) for group in self.groups)", "return False"
    ),
    "a resized table has the relation of the source": Mutant(
        TableFacts, "compared", "if self.rows is None else ReplaceOne(self.rows)", ""
    ),
    "there is one cell to count in": Mutant(one_row._OneRow, "adds", "cells=self.cells,", "cells=1,"),
    "every row counts": Mutant(one_row, "row_of", "compared.vanishes or not counts_every_row(plan)", "compared.vanishes"),
    "an excess has no negative part": Mutant(Excess, "change", "self.least, self.most", "0, self.most"),
    "a value that is cut is never null": Mutant(Excess, "nullable", "facts[self.recorded.column].nullable", "False"),
    "what is imputed is never below 0": Mutant(ImputedSum, "change", "row.adds(least, most", "row.adds(max(least, 0), most"),
    "a null is counted where the column is known": Mutant(NullCount, "change", "nullable=True", "nullable=False"),
    "nothing is null": Mutant(NullCount, "change", "if facts[self.column]", "if not facts[self.column]"),
    "everything is imputed": Mutant(ImputedSum, "change", "nullable=True", "nullable=False"),
    "every row is chosen from": Mutant(
        one_row._OneRow, "chooses", "skipped = self.skipped or nullable", "skipped = self.skipped"
    ),
    "conditions are forgotten": Mutant(one_row, "counts_every_row", "and all(", "or all("),
    "squared distances of one row less": Mutant(Dispersion, "most", "(self.rows - 1)", "(self.rows - 2)"),
    "squared distances are not squared": Mutant(Dispersion, "most", "self.width**2", "self.width"),
    "all intervals are one choice": Mutant(one_row, "intervals_change", "levels_change(quantiles,", "levels_change(1,"),
    "intervals are chosen level by level": Mutant(
        one_row, "intervals_change", "levels_change(quantiles,", "levels_change(quantiles.bit_length(),"
    ),
    "every row is around intervals": Mutant(
        one_row._OneRow, "surrounds", "skipped = self.skipped or nullable", "skipped = self.skipped"
    ),
    "no value of an interval is null": Mutant(
        QuantileIntervals, "nullable", "return self.centres.nullable(facts)", "return False"
    ),
    "all quantiles are one choice": Mutant(selection, "_levels", "quantiles.bit_length()", "1"),
    "choices of a replaced row as of an added one": Mutant(selection, "levels_change", "if neighbours.appears:", "if True:"),
    "the range of a replaced row is not squared": Mutant(
        selection, "levels_change", "2 * levels, 4 * levels", "2 * levels, 2 * levels"
    ),
    "choices in two cells count as one": Mutant(selection, "levels_change", "Sensitivity(2 * levels, 2 * levels)", "alone"),
}


@pytest.fixture(scope="module")
def tried():
    """What rows do to answers is found once, as no mutant changes it: only what is declared is asked again."""
    return [case for relation in RELATIONS for case in cases(relation, 3)]


@pytest.mark.one_in(30)
@pytest.mark.parametrize("name", OF_ROWS)
def test_the_law_over_every_query_notices(name, monkeypatch, tried):
    OF_ROWS[name].plant(monkeypatch)
    assert any(map(violations, tried))


def test_without_a_mutant_the_law_notices_nothing(tried):
    """So that what the mutants share does not accuse them all."""
    assert not any(map(violations, tried[::9]))


OF_PERSONS = {
    "rows per person are forgotten (ε)": Mutant(PureDP, "each_of", "self.epsilon / rows", "self.epsilon"),
    "rows per person are not squared (ρ)": Mutant(ZCDP, "each_of", "rows**2", "rows"),
    "rows per person are forgotten (μ)": Mutant(GDP, "each_of", "self.mu / rows", "self.mu"),
    "copies are forgotten": Mutant(Resampling, "copies", "ceil(self.proportion)", "1"),
    "copies are as many as the proportion says": Mutant(
        Resampling, "copies", "ceil(self.proportion)", "max(1, int(self.proportion))"
    ),
    "rows per person are forgotten in a resize": Mutant(
        Resampling, "law", "self.group * self.neighbours.rows_per_person", "self.group"
    ),
    "most copies are one less (ρ)": Mutant(ZCDP, "functional", "len(copies) - 1", "len(copies) - 2"),
    "most copies are one less (μ)": Mutant(GDP, "functional", "len(copies) - 1", "len(copies) - 2"),
    "the most copies are not squared": Mutant(ZCDP, "functional", "len(copies) - 1) ** 2", "len(copies) - 1)"),
    "the rate of the sample is that of the table": Mutant(
        Resampling, "rate", "self.proportion / self.copies", "self.proportion / 4"
    ),
    "a sample of known size is one row smaller": Mutant(Resampling, "law", "self.sampled or 0", "(self.sampled or 1) - 1"),
}


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize("name", OF_PERSONS)
def test_the_law_over_persons_and_copies_notices(name, monkeypatch):
    OF_PERSONS[name].plant(monkeypatch)
    assert any(too_much())


deep = persons.deep


def too_much():
    """Whether a person loses more than the spend, one request after the other."""
    for word in ("add-remove", "replace-one"):
        yield from (one > 1 for one in persons.spent(word, 2))
        yield from (one > 1 + 1e-12 for resize in persons.RESIZES for one in persons.resized_losses(resize, word, 2))


OF_REQUESTS = {
    "the worst move is staying": Mutant(
        allocate, "worst", "_larger(_larger(change.within, change.across), change.leaves)", "change.within"
    ),
    "the worst move is moving": Mutant(
        allocate, "worst", "_larger(_larger(change.within, change.across), change.leaves)", "change.across"
    ),
}


@pytest.mark.parametrize("name", OF_REQUESTS)
def test_the_law_over_requests_notices(name, monkeypatch):
    OF_REQUESTS[name].plant(monkeypatch)
    some = islice(requests.requests(requests.number(0, 7), dp.ReplaceOne(rows=2)), 0, None, 7)
    with pytest.raises(AssertionError):
        requests.check(some)
