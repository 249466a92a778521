"""U4 of docs/proofs/persons.md: no two states of one person are further apart than the norms, over all small ones.

The vectors of U2 are written down a second time for the maxima; the reference engine gives those of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.cube import weights
from discreet.cube.weights import WEIGHTINGS, Norms, Weighting, norms_apart, norms_of, weight
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms import Sensitivity
from discreet.noise.bits import system_bits
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, run_scans

from .visits import HEADER, SCHEMA, SHOPS

PARTS = dp.AddRemove(person="visitor", part=True)
Row = tuple[object, str, object]

OTHER: list[Row] = [(2, "a", 1), (2, "b", -2), (None, "a", 2)]
"""Rows that are in both tables."""
STATES: list[tuple[Row, ...]] = [
    rows
    for size in range(4)
    for rows in combinations_with_replacement([(1, shop, amount) for shop, amount in product(SHOPS, (None, -2, 2))], size)
]


# The maxima over all vectors ----------------------------------------------------------------------------------------------


def vectors(weighting: Weighting, groups: int, cells: int, low: int, high: int) -> Iterator[tuple[int, ...]]:
    """All vectors of one person, from the words of U2, of the extreme x and 0."""
    for count in range(cells + 1):
        for inside in combinations(range(cells), count):
            for xs in product({low, 0, high}, repeat=count):
                own = dict(zip(inside, xs, strict=True))
                yield tuple(weight(weighting, count, groups, cells) * own.get(cell, 0) for cell in range(cells))


def furthest(weighting: Weighting, groups: int, cells: int, low: int, high: int) -> Norms:
    every = np.array(sorted(set(vectors(weighting, groups, cells, low, high))), dtype=np.int64)
    apart = np.abs(every[:, None, :] - every[None, :, :])
    return Norms(int(apart.sum(axis=2).max()), int((apart**2).sum(axis=2).max()))


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 3), (-2, 0), (-1, 1), (-1, 3)])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_norms_apart_are_the_maxima(cells: int, low: int, high: int, weighting: Weighting) -> None:
    for groups in (1, 2, 3, 4):
        assert norms_apart(weighting, groups, cells, low, high) == furthest(weighting, groups, cells, low, high)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 0), (-1, 1), (-1, 3)])
@pytest.mark.parametrize(("groups", "cells"), [(1, 65), (8, 65), (64, 65), (100, 65), (3, 5000), (5000, 6000)])
def test_norms_in_many_cells_are_those_of_the_theorem(
    groups: int, cells: int, low: int, high: int, weighting: Weighting
) -> None:
    """Never below what some pair of states reaches: the least and the greatest overlap of the same number of cells."""
    found, alone = norms_apart(weighting, groups, cells, low, high), norms_of(weighting, groups, cells, max(-low, high))
    assert found.l1 <= 2 * alone.l1
    assert found.l2_squared <= (4 if low and high else 2) * alone.l2_squared or groups >= cells
    most = max(-low, high)
    for g in {1, 2, groups // 2 or 1, min(groups, cells), (cells + 1) // 2, cells} - {0}:
        if g <= 4096:
            v = weight(weighting, g, groups, cells)
            for k in (max(0, 2 * g - cells), g):
                assert 2 * (g - k) * v * most + k * v * (high - low) <= found.l1
                assert 2 * (g - k) * (v * most) ** 2 + k * (v * (high - low)) ** 2 <= found.l2_squared


@pytest.mark.parametrize("wrong", ["once", "one sign"])
def test_norms_that_are_too_small_are_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    literal = weights._norms_of_pairs

    def less(weighting: Weighting, groups: int, cells: int, low: int, high: int) -> Norms:
        if wrong == "once":
            return norms_of(weighting, groups, cells, max(-low, high))
        return literal(weighting, groups, cells, 0, max(-low, high))

    monkeypatch.setattr(weights, "_norms_of_pairs", less)
    with pytest.raises(AssertionError):
        test_norms_apart_are_the_maxima(3, -1, 1, "squares")


# Requests -----------------------------------------------------------------------------------------------------------------


def asked(groups: int, spend: dp.PureDP | dp.ZCDP | dp.GDP) -> Quote:
    table = dp.Table(SCHEMA, PARTS).bound(groups=groups, rows=2).group_by("shop")
    bounds = {"per_person": (-4, 2)}
    wanted = (dp.persons(), dp.count(), dp.sum("amount", **bounds), dp.mean("amount", **bounds))
    return quote(table.agg(*wanted), spend)


def answers(quoted: Quote, rows: Sequence[Row]) -> list[np.ndarray]:
    engine = ReferenceEngine(HEADER, rows)
    return [one.astype(np.int64) for one in exact_answers(quoted, run_scans(engine, quoted.plan.layout), system_bits())]


@pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1), GDP(1)])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_any_two_states_of_a_person_are_at_most_the_sensitivity_apart(
    groups: int, spend: dp.PureDP | dp.ZCDP | dp.GDP
) -> None:
    quoted = asked(groups, spend)
    tables = [answers(quoted, [*OTHER, *rows]) for rows in STATES]
    for place, one in enumerate(quoted.measured):
        every = np.stack([found[place] for found in tables])
        apart = np.abs(every[:, None, :] - every[None, :, :])
        assert apart.sum(axis=2).max() <= one.sensitivity.l1
        assert (apart**2).sum(axis=2).max() <= one.sensitivity.l2_squared
        whole = np.abs(every - every[0])  # with a person's rows, and without any
        assert one.sensitivity.l1 > whole.sum(axis=1).max() or groups == 3


def test_one_count_of_persons_changes_by_one_person() -> None:
    """In one cell a person is there, or is not: no state of this person is two steps from another."""
    (one,) = quote(dp.Table(SCHEMA, PARTS).agg(dp.persons()), PureDP(1)).measured
    assert one.sensitivity == Sensitivity(1, 1)
    (two,) = quote(dp.Table(SCHEMA, PARTS).agg(dp.sum("amount", per_person=(-3, 5))), PureDP(1)).measured
    assert two.sensitivity == Sensitivity(8, 64)


def test_a_row_of_each_person_may_be_replaced() -> None:
    """Two steps of adding or removing a row: twice the ε, four times the ρ of one."""
    made = {"visits": dp.rows(0, 9)}
    for spend, times in ((PureDP(1), Fraction(2)), (ZCDP(1), Fraction(4))):
        parts, whole = (
            quote(dp.Table(SCHEMA, relation).per_person(**made).agg(dp.count(), dp.mean("visits", nulls="skip")), spend)
            for relation in (PARTS, dp.AddRemove(person="visitor"))
        )
        for one, other in zip(parts.measured, whole.measured, strict=True):
            assert one.sensitivity == other.sensitivity
            (spent,), (less,) = other.guarantee.coordinates, one.guarantee.coordinates
            assert spent / times * (1 - Fraction(1, 10**9)) < less <= spent / times
