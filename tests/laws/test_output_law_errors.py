"""Planted errors in what is published, each noticed by the checks of `test_output_law.py`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
from discreet.cube.queries import QUERIES
from discreet.mechanisms import Sensitivity, worst
from discreet.quotes import allocate

from .literal_rows import Literal, all_tables
from .output_law_cases import (
    PERSONS,
    RECORDS,
    RELATIONS,
    SPENDS,
    Case,
    answers_on_the_cube,
    exactly_kept,
    kept,
    quote_of,
    with_scaled_noise,
)

REPLACED, APPEARED = RELATIONS


def one_less(change):
    found = worst(change)
    return Sensitivity(max(1, found.l1 - 1), max(1, found.l2_squared - 1))


def quoted_for(case: Case, spend, other: Case):
    """The noise that `other` would get, for the tables of `case`."""
    return replace(other.quoted(spend), plan=case.plan)


def assert_refuted(quoted):
    """By the same checks that every quote passes."""
    tables = all_tables(Literal(quoted), RECORDS, 2)
    with pytest.raises(AssertionError):
        kept(quoted, tables)
    if isinstance(quoted.spend, dp.PureDP):
        with pytest.raises(AssertionError):
            exactly_kept(quoted, tables)


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize(
    "case",
    [
        *[Case(name, REPLACED) for name in ("counts", "a sum away from 0", "a median", "imputed")],
        Case("a sum away from 0", APPEARED),
        Case("counts", REPLACED, (2, 1)),
        Case("counts of zeros", APPEARED, (3, 1)),
    ],
    ids=str,
)
def test_a_sensitivity_one_too_small_is_noticed(case, spend, monkeypatch):
    monkeypatch.setattr(allocate, "worst", one_less)
    assert_refuted(case.quoted(spend))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_noise_for_other_neighbours_is_noticed(spend):
    case = Case("counts", REPLACED)
    assert_refuted(quoted_for(case, spend, Case("counts", APPEARED)))
    for person, row in zip(PERSONS, (dp.ReplaceOne(rows=3), APPEARED), strict=True):
        case = Case("counts", person)
        assert_refuted(quoted_for(case, spend, Case("counts", row)))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_forgotten_copies_are_noticed(relation, spend):
    """Two copies of every row with the noise for one."""
    case = Case("a sum of zeros", relation, (4, 2))
    assert_refuted(quoted_for(case, spend, Case("a sum of zeros", relation, (4, 1))))


@pytest.mark.parametrize("spend", SPENDS[:3], ids=str)
@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_a_sample_that_is_promised_and_not_taken_is_noticed(relation, spend):
    case = Case("a sum of zeros", relation, (2, 1))
    assert_refuted(quoted_for(case, spend, Case("a sum of zeros", relation, (2, "1/2"))))


def test_concentrated_privacy_that_is_amplified_is_noticed():
    """Samples of half of the rows do not halve ρ: what is rare counts in the higher orders."""
    case = Case("a sum", REPLACED, (2, "1/2"))
    assert_refuted(replace(case.quoted(dp.ZCDP(4)), spend=dp.ZCDP(2)))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_nulls_that_are_left_out_are_noticed(spend, monkeypatch):
    for query in QUERIES:
        monkeypatch.setattr(query, "nullable", lambda _query, _facts: False)
    case = Case("a sum away from 0", REPLACED)
    assert_refuted(case.quoted(spend))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_queries_that_are_not_added_up_are_noticed(spend, monkeypatch):
    """As if the groups, or the queries, of one request were releases about different people."""
    monkeypatch.setattr(allocate, "_joint", lambda *_: Fraction(1, 2))
    for name in ("imputed", "a histogram"):
        case = Case(name, APPEARED)
        assert_refuted(replace(case.quoted(spend), joint=Fraction(1)))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_noise_of_a_twentieth_less_is_noticed(spend):
    case = Case("an imputed mean", REPLACED)
    assert_refuted(with_scaled_noise(quote_of(case, spend), Fraction(19, 20)))


def test_a_wrong_law_of_the_rows_is_noticed(monkeypatch):
    """Copies imputed one by one, rows with nulls dropped, a sample that is not taken: none is the law of the cube."""
    case, spend = Case("a sum", APPEARED, (3, 2)), dp.PureDP(1)
    quoted, rows = case.quoted(spend), [("x", None), ("y", 1)]
    on_cube = answers_on_the_cube(quoted, rows, monkeypatch)
    literal, swapped = Literal(quoted), Literal(quoted, impute_copies=True)
    assert on_cube == literal.table([literal.row(row) for row in rows])
    assert on_cube != swapped.table([swapped.row(row) for row in rows])
    assert on_cube != literal.table([literal.row(row) for row in rows if None not in row])
    every = Literal(Case("a sum", APPEARED, (4, 2)).quoted(spend))
    sampled = Case("a sum", APPEARED, (4, "3/2")).quoted(spend)
    assert answers_on_the_cube(sampled, rows, monkeypatch) != every.table([every.row(row) for row in rows])
