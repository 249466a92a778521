"""Every way to forget a part of the joint norm of a vector is noticed by the law over every query."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import Factor, Part, VectorSum, vector_norms, vectors
from discreet.quotes import one_row

from .every_query import Case, violations
from .every_vector import plans_of_vectors
from .every_vector import vectors as every_vector
from .mutants import Mutant, mutant

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=2)]

NORMS = {
    "squares of a row are forgotten": (
        vector_norms.norms_alone,
        "return l1 + sum(sizes), l2_squared + sum(size**2 for size in sizes)",
        "return l1, l2_squared",
    ),
    "squares between rows are forgotten (ε)": (vector_norms.norms_apart, "sum(one.apart for one in squares)", "0"),
    "squares between rows are forgotten (ρ)": (
        vector_norms.norms_apart,
        "sum(one.apart**2 for one in squares if not one.covered)",
        "0",
    ),
}
MUTANTS = {
    "every square is covered": Mutant(VectorSum, "_square", "any(times >= part.times * high for times in linear)", "True"),
    "a number has one end": Mutant(vectors, "_places", "for code in (0, numbers[0].width)", "for code in (0,)"),
    "all rows are in one category": Mutant(vectors, "_places", "place not in apart[2:]", "place not in apart[1:]"),
    "all categories are alike": Mutant(vectors, "_alike", "_exchanged(column, number, one) for one", "one for one"),
    "replace-one is counted as add-remove": Mutant(one_row, "change_of_vector", "if neighbours.appears:", "if True:"),
    "nulls are forgotten": Mutant(one_row, "change_of_vector", "_larger(apart, alone) if nullable else apart", "apart"),
    "nobody moves": Mutant(one_row, "change_of_vector", "twice if cells > 1 else nothing", "nothing"),
    "nobody leaves": Mutant(one_row, "change_of_vector", "alone if skipped else nothing", "nothing"),
    "two cells count as one": Mutant(
        one_row, "change_of_vector", "2 * alone.l1, 2 * alone.l2_squared", "alone.l1, alone.l2_squared"
    ),
    "a vector is never null": Mutant(VectorSum, "nullable", "any(", "all("),
}


@pytest.fixture(scope="module")
def tried() -> list[Case]:
    found = []
    for relation in RELATIONS:
        for plan in plans_of_vectors(relation, 3):
            found += [Case(plan, query) for query in every_vector(plan)]
    assert not any(map(violations, found[::5]))
    return found


@pytest.mark.parametrize("name", MUTANTS)
def test_the_law_over_every_vector_notices(name: str, monkeypatch: pytest.MonkeyPatch, tried: list[Case]) -> None:
    MUTANTS[name].plant(monkeypatch)
    assert any(map(violations, tried))


@pytest.mark.parametrize("name", NORMS)
def test_the_law_over_every_vector_notices_a_norm(name: str, monkeypatch: pytest.MonkeyPatch, tried: list[Case]) -> None:
    cached, old, new = NORMS[name]
    monkeypatch.setattr(vectors, cached.__name__, mutant(cached.__wrapped__, old, new))
    assert any(map(violations, tried))


def test_without_corners_the_bounds_are_wider_and_still_hold(monkeypatch: pytest.MonkeyPatch, tried: list[Case]) -> None:
    monkeypatch.setattr(vector_norms, "_MOST_CORNERS", 0)
    for name in ("norms_alone", "norms_apart"):
        monkeypatch.setattr(vectors, name, getattr(vector_norms, name).__wrapped__)
    assert not any(map(violations, tried[::3]))


@pytest.mark.parametrize("times", [1, 10**5, 10**9 + 7, 10**30])
def test_large_multipliers_are_rounded_outwards_and_by_little(times: int) -> None:
    v, w = Factor("v", 0, -7, 2, 7, 1), Factor("w", 0, -3, 1, 5, 1)
    query = VectorSum((Part((), times), Part((v,), 3 * times), Part((w,), 1), Part((v, w), times)), ("v", "w"))
    rows = [(times, 3 * times * a, b, times * a * b) for a, b in product((-7, 7), (-3, 2))]
    alone, apart = query.norms(frozenset())
    exact = [max(map(size, rows)) for size in (l1, l2_squared)]
    between = [[one - other for one, other in zip(x, y, strict=True)] for x, y in product(rows, rows)]
    exact += [max(map(size, between)) for size in (l1, l2_squared)]
    for found, least in zip((*alone, *apart), exact, strict=True):
        assert least <= found <= least * (1 + 1e-6) if times > 10**6 else found == least


def l1(vector: Any) -> int:
    return sum(map(abs, vector))


def l2_squared(vector: Any) -> int:
    return sum(one**2 for one in vector)


def test_an_answer_of_large_multipliers_does_not_overflow() -> None:
    from discreet.engines.reference import ReferenceEngine
    from discreet.noise.bits import system_bits
    from discreet.quotes.allocate import quote
    from discreet.releases.evaluate import exact_answers

    schema = dp.Schema(v=dp.Number(0, 10**6), w=dp.Number(0, 10**6))
    asked = quote(dp.Table(schema, dp.ReplaceOne(rows=5)).agg(dp.correlations(["v", "w"], nulls="skip")), dp.ZCDP(1))
    rows = [(10**6, 10**6)] * 3 + [(0, 10**6), (None, 5)]
    (scan,) = asked.plan.layout.scans
    engine = ReferenceEngine({"v": "BIGINT", "w": "BIGINT"}, rows)
    (found,) = exact_answers(asked, [engine.aggregate(scan.axes, scan.moments)], system_bits())
    query: Any = asked.measured[0].query
    half = 5 * 10**5
    for part, own in zip(query.parts, found, strict=True):
        powers = {one.column: one.power for one in part.factors}
        truth = sum((v - half) ** powers.get("v", 0) * (w - half) ** powers.get("w", 0) for v, w in rows if v is not None)
        assert int(own) == part.times * truth
    assert isinstance(found, np.ndarray)
