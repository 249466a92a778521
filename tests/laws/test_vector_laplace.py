"""Laplace noise for vectors: the law, by enumeration and by draws; the body of counts and sums, as a hull; the charge.

Nothing of the quote is used for the truth: every table of a few rows is made, and its answer is added up row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import chisquare

import discreet as dp
from discreet.domain.steps import conditions_of
from discreet.mechanisms.vector_laplace import VectorLaplace
from discreet.noise.bits import system_bits
from discreet.noise.lattice import vector_laplace as sampler
from discreet.noise.lattice.vector_laplace import vector_laplace
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.quotes import vectors as bounds
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

from . import literal_rows
from .mutants import mutant

DRAWS = 40_000
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 2), w=dp.Number(0, 1))


# The sampler ------------------------------------------------------------------------------------------------------------


def p_value(scale: Fraction, parts: int) -> float:
    """That of draws against the enumerated law: each vector near 0 by itself, all others together."""
    reach = 2
    near = np.array(list(product(range(-reach, reach + 1), repeat=parts)))
    sizes = np.arange(400)
    of_size = ((2 * sizes + 1.0) ** parts - np.maximum(2 * sizes - 1.0, 0.0) ** parts) * np.exp(-sizes / float(scale))
    chances = np.exp(-np.abs(near).max(axis=1) / float(scale)) / of_size.sum()
    drawn = vector_laplace(scale, parts, DRAWS, system_bits())
    inside = np.abs(drawn).max(axis=1) <= reach
    places = (drawn[inside] + reach) @ (2 * reach + 1) ** np.arange(parts)[::-1]
    seen = np.bincount(places.astype(np.int64), minlength=len(near))
    return float(chisquare([*seen, DRAWS - inside.sum()], [*(chances * DRAWS), (1 - chances.sum()) * DRAWS]).pvalue)


@pytest.mark.parametrize(("scale", "parts"), [(Fraction(1), 2), (Fraction(3, 2), 3), (Fraction(1, 2), 2)], ids=str)
def test_draws_have_the_law(scale: Fraction, parts: int) -> None:
    """Each of three fails once in 10^7 runs."""
    assert p_value(scale, parts) > 1e-7


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("_draw_radii", "parts + 1) * left.size", "parts) * left.size"),
        ("_accept", "2 * own + 2 * place", "2 * own + 2 * place - 1"),
        ("vector_laplace", "2 * spread + 1", "2 * spread + 2"),
    ],
)
def test_another_law_is_noticed(name: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = mutant(getattr(sampler, name), old, new)
    if name == "_draw_radii":
        planted = mutant(
            getattr(sampler, name), "(parts + 1) * left.size, bits), parts + 1", "parts * left.size, bits), parts"
        )
    monkeypatch.setattr(sampler, name, planted)
    monkeypatch.setitem(globals(), "vector_laplace", sampler.vector_laplace)
    assert p_value(Fraction(1), 2) < 1e-7


def test_sums_beyond_64_bits_are_python_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "_WIDE", 8)
    drawn = vector_laplace(Fraction(3), 2, 2000, system_bits())
    assert drawn.dtype == object
    assert abs(np.mean(drawn.astype(float) ** 2) - 36) < 36 * 7 * (5 / 2000) ** 0.5


# What is said of it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "parts"), [(Fraction(2), 1), (Fraction(2), 2), (Fraction(1), 3)], ids=str)
def test_means_over_the_radius_are_enclosed(scale: Fraction, parts: int) -> None:
    cell, reach = VectorLaplaceCell(scale, parts), 400
    sizes = np.arange(reach, dtype=float)
    chances = (2 * sizes + 1) ** parts * np.exp(-sizes / float(scale))
    chances /= chances.sum()
    for k in (0, 1, 5, 20):
        truth = float(chances @ np.maximum(0, (2 * sizes - 2 * k) / (2 * sizes + 1)))
        low, high = cell.tail(k)
        assert low <= truth * (1 + 1e-9)
        assert truth <= high * (1 + 1e-9)
        assert high - low <= 1e-6
    variance = float(chances @ (sizes * (sizes + 1) / 3))
    assert variance <= cell.variance() <= variance * (1 + 1e-6)
    assert chances @ (sizes + 0.5 > cell.largest(Fraction(1, 100))) <= 0.01 + 1e-12


@pytest.mark.parametrize("parts", [1, 4, 30])
def test_at_a_large_scale_the_blocks_are_fine_enough(parts: int) -> None:
    """A number of a large scale is one of J exponential numbers, J uniform on 1 … m: tails by the closed form."""
    scale = Fraction(10**9)
    cell = VectorLaplaceCell(scale, parts)
    for x in (0.5, 2.0, 3.0 * parts):
        terms = [np.exp(-x) * np.prod([x / one for one in range(1, k + 1)]) * (1 - k / parts) for k in range(parts)]
        low, high = cell.tail(round(x * 10**9))
        assert low <= sum(terms) <= high
        assert high <= low * 1.02 + 1e-12


def test_combinations_are_seldom_beyond_their_spread() -> None:
    """10 numbers in many directions; at most 5 % are beyond, and 6 standard errors are allowed for what is drawn."""
    scale, parts = Fraction(40), 10
    drawn = vector_laplace(scale, parts, 20_000, system_bits()).astype(float)
    rng = np.random.default_rng(5)
    spread = VectorLaplaceCell(scale, parts).spread(Fraction(1, 20))
    for direction in (np.eye(parts)[0], np.ones(parts), *rng.normal(size=(4, parts))):
        wide = spread * np.linalg.norm(direction) + np.abs(direction).sum() / 2
        beyond = float((np.abs(drawn @ direction) > wide).mean())
        assert beyond <= 0.05 + 6 * (0.05 * 0.95 / 20_000) ** 0.5
        assert (np.abs(drawn @ direction) > wide * 0.6).mean() > 0.05


def test_a_radius_that_is_seldom_taken_is_not_offered() -> None:
    assert VectorLaplaceCell(Fraction(64), 60).is_drawn_soon()
    assert not VectorLaplaceCell(Fraction(1), 60).is_drawn_soon()
    names = dp.Schema({f"v{one}": dp.Number(0, 1) for one in range(5)})
    asked = dp.Table(names, dp.AddRemove()).agg(dp.means([f"v{one}" for one in range(5)], nulls="skip"))
    assert isinstance(quote(asked, dp.PureDP(1)).measured[0].law, VectorLaplace)
    assert not isinstance(quote(asked, dp.PureDP(10**4)).measured[0].law, VectorLaplace)
    assert not isinstance(quote(asked, dp.ZCDP(1)).measured[0].law, VectorLaplace)


# The body ---------------------------------------------------------------------------------------------------------------


def changes(cells: int, most: int, a: int, *, sums: int) -> np.ndarray:
    """All changes of (counts, sums) by a rows that leave one cell with their numbers and come to one, in one block."""
    values = list(product((-most, most), repeat=sums))
    moves = []
    for (c, y), (d, z) in product(product(range(cells), values), repeat=2):
        move = np.zeros((cells, 1 + sums))
        move[c] -= (1, *y)
        move[d] += (1, *z)
        moves.append(move.ravel())
    once = np.unique(np.array(moves), axis=0)
    return np.unique(sum_of(once, a), axis=0)


def sum_of(once: np.ndarray, a: int) -> np.ndarray:
    return once if a == 1 else np.unique((once[:, None] + sum_of(once, a - 1)[None]).reshape(-1, once.shape[1]), axis=0)


def norm(points: np.ndarray, cells: int, most: int) -> np.ndarray:
    parts = points.reshape(len(points), cells, -1) / ([1] + [most] * (points.shape[1] // cells - 1))
    return np.asarray(np.abs(parts).max(axis=2).sum(axis=1))


@pytest.mark.parametrize(("cells", "sums", "a"), [(2, 1, 1), (2, 1, 2), (3, 1, 1), (2, 2, 1)])
def test_the_hull_of_counts_and_sums_is_the_ball_of_the_norm(cells: int, sums: int, a: int) -> None:
    """Every change has norm 2a at most, and every direction in which counts add up to 0 meets the hull at norm 2a."""
    points = changes(cells, 3, a, sums=sums)
    assert norm(points, cells, 3).max() == 2 * a
    rng = np.random.default_rng(1)
    for _ in range(20):
        way = rng.normal(size=(cells, 1 + sums))
        way[:, 0] -= way[:, 0].mean()
        direction = way.ravel() / norm(way.reshape(1, -1), cells, 3)
        # The largest t with t·direction in the hull.
        equations = np.vstack([np.hstack([points.T, -direction[:, None]]), [*np.ones(len(points)), 0]])
        found = linprog([*np.zeros(len(points)), -1], A_eq=equations, b_eq=[*np.zeros(len(direction)), 1])
        assert -found.fun == pytest.approx(2 * a, abs=1e-7)


# The charge -------------------------------------------------------------------------------------------------------------

FILLED = {"v": dp.Uniform(), "w": dp.Uniform()}
ASKED: dict[str, Any] = {
    "means": dp.means(["v", "w"], nulls="skip"),
    "correlations": dp.correlations(["v", "w"], nulls="skip"),
    "regression": dp.regression("v", ["w", "g"], nulls="skip"),
}


def tables(table: Any) -> Iterator[tuple[Any, Any]]:
    for name, by in product(ASKED, ([], ["g"])):
        if not (by and name == "regression"):
            yield f"{name} {by}", table.group_by(*by).agg(ASKED[name])
    yield "beside a count", table.group_by("g").agg(ASKED["means"], dp.count())
    yield "some, beside a count", table.where({"g": ["x"]}).agg(ASKED["means"], dp.count())


def added_by(plan: Any, query: Any, parts: int) -> tuple[list[Any], np.ndarray]:
    """Every row there can be, and what it adds to the vector of each cell: shape (rows, cells, parts)."""
    values = {"g": ["x", "y", None], "v": [0, 1, 2, None], "w": [0, 1, None]}
    kinds = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    kinds = [one for one in kinds if all(one[name] is not None or plan.facts[name].nullable for name in one)]
    found = np.zeros((len(kinds), plan.layout.cells, parts))
    for number, row in enumerate(kinds):
        if conditions_of(plan.steps) and row["g"] != "x":
            continue
        cell = ["x", "y", None].index(row["g"]) if plan.group_by else 0
        for level, _, amount in literal_rows.parts(query, plan, row):
            found[number, cell, level] += amount
    return kinds, found


def farthest(plan: Any, relation: Any, measured: Any) -> float:
    """The largest Σ max|u| over the cells that a row can make, in units of the noise's scale."""
    _, found = added_by(plan, measured.query, len(measured.query.parts))
    nothing = np.zeros_like(found[0])
    pairs = [(one, nothing) for one in found] if relation.appears else list(combinations(found, 2))
    return max(float(np.abs(one - other).max(axis=1).sum()) for one, other in pairs) / float(measured.law.scale)


def loss(plan: Any, relation: Any, epsilon: int) -> float:
    """The largest loss of one row over all queries, where each has noise of its own."""
    (first, *others) = quote(plan, dp.PureDP(epsilon)).measured
    if not isinstance(first.law, VectorLaplace):
        return 0.0  # independent noise is held to its law elsewhere
    if not others:
        return farthest(plan, relation, first)
    _, vectors = added_by(plan, first.query, len(first.query.parts))
    _, counts = added_by(plan, others[0].query, 1)
    nothing = np.zeros_like(vectors[0]), np.zeros_like(counts[0])
    each = list(zip(vectors, counts, strict=True))
    pairs = [(one, nothing) for one in each] if relation.appears else list(combinations(each, 2))
    rates = 1 / float(first.law.scale), 1 / float(others[0].law.independent.scale)
    return max(
        rates[0] * np.abs(one[0] - other[0]).max(axis=1).sum() + rates[1] * np.abs(one[1] - other[1]).sum()
        for one, other in pairs
    )


@pytest.mark.parametrize("filled", [False, True], ids=["null", "known"])
@pytest.mark.parametrize("relation", [dp.AddRemove(), dp.ReplaceOne(rows=3)], ids=lambda one: type(one).__name__)
def test_no_row_costs_more_than_the_spend_and_some_row_as_much(relation: Any, filled: bool) -> None:
    table = dp.Table(SCHEMA, relation)
    for name, plan in tables(table.impute(FILLED) if filled else table):
        found = loss(plan, relation, 2)
        assert found <= 2 * (1 + 1e-12), name
        if name.startswith("means") or name == "beside a count":
            assert found == pytest.approx(2), name


@pytest.mark.parametrize("new", ["max(alone) // 2", "max(alone) - 1", "max(alone[1:]) or max(alone) // 2"])
def test_a_bound_that_is_too_small_or_forgets_a_move_would_be_noticed(new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "max(alone) if joint == 1 else max(map(ceil, shares))"
    monkeypatch.setattr(bounds, "_largest", mutant(bounds._largest, old, new))
    found = [
        loss(plan, relation, 2)
        for relation in (dp.AddRemove(), dp.ReplaceOne(rows=3))
        for filled in ({}, FILLED)
        for _, plan in tables(dp.Table(SCHEMA, relation).impute(filled) if filled else dp.Table(SCHEMA, relation))
    ]
    assert max(found) > 2 * (1 + 1e-9)


def beside(totals: Any, name: str, by: list[str]) -> tuple[Any, Any, int]:
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).impute(FILLED)
    exact = exact_totals_of(totals, SCHEMA, None, 3)
    return table.group_by(*by).agg(ASKED[name]), exact, exact.adjacency.a


CASES = [("means", []), ("means", ["g"]), ("regression", [])]


def loss_beside(name: str, by: list[str]) -> float:
    """The largest loss between any two tables of three rows with equal totals that differ in at most a rows."""
    plan, exact, a = beside(dp.Totals("g"), name, by)
    (measured,) = quote(plan, dp.PureDP(2), exact).measured
    assert isinstance(measured.law, VectorLaplace)
    kinds, added = added_by(plan, measured.query, len(measured.query.parts))
    groups: dict[Any, list[Any]] = {}
    for table in combinations_with_replacement(range(len(kinds)), 3):
        key = tuple(sorted(str(kinds[one]["g"]) for one in table))
        counts = np.bincount(np.array(table), minlength=len(kinds))
        groups.setdefault(key, []).append((counts, added[list(table)].sum(axis=0)))
    most = 0.0
    for tables_ in groups.values():
        counts, sums = np.array([one for one, _ in tables_]), np.array([one for _, one in tables_])
        for own, total in zip(counts, sums, strict=True):
            near = np.abs(counts - own).sum(axis=1) // 2 <= a
            most = max(most, float(np.abs(sums[near] - total).max(axis=2).sum(axis=1).max()))
    return most / float(measured.law.scale)


@pytest.mark.parametrize(("name", "by"), CASES)
def test_beside_totals_no_pair_of_tables_costs_more(name: str, by: list[str]) -> None:
    found = loss_beside(name, by)
    assert found <= 2 * (1 + 1e-12)
    if name == "means":
        assert found == pytest.approx(2)


def test_one_row_less_than_a_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = bounds._largest
    monkeypatch.setattr(bounds, "_largest", lambda *given: real(*given) // 2)
    assert loss_beside("means", ["g"]) > 2 * (1 + 1e-9)
