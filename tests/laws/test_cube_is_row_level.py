"""Resampling drawn on the cube has the law of resampling row by row: both laws enumerated exactly, as rationals.

The cube's samplers are replaced by ones that branch over all their outcomes; their own laws are tested with the noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, factorial, prod

import numpy as np
import pytest

import discreet as dp
import discreet.cube.resample as module
from discreet.cube.queries import LevelCounts, RowCount, Squares, TableCounts, WeightedSum
from discreet.cube.resample import resample
from discreet.domain.steps import facts_of
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.plan.layout import drawing_of
from discreet.plan.plan import Plan, resize_of
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers

TEXT = ColumnType("text", "text")
NUMBER = ColumnType("integer", "BIGINT")
Law = dict[object, Fraction]


class Branches:
    """A script of choices: every run takes the next path through the tree of outcomes."""

    def __init__(self) -> None:
        self.script: list[int] = []
        self.sizes: list[int] = []
        self.depth = 0
        self.weight = Fraction(1)

    def choose(self, outcomes: list[tuple[Fraction, object]]) -> object:
        if self.depth == len(self.script):
            self.script.append(0)
        self.sizes[self.depth :] = [len(outcomes)]
        weight, outcome = outcomes[self.script[self.depth]]
        self.depth += 1
        self.weight *= weight
        return outcome

    def next_path(self) -> bool:
        del self.script[self.depth :]
        while self.script and self.script[-1] + 1 == self.sizes[len(self.script) - 1]:
            self.script.pop()
        if not self.script:
            return False
        self.script[-1] += 1
        self.depth, self.weight = 0, Fraction(1)
        return True


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


@cache
def multinomial_law(n: int, weights: tuple[int, ...]) -> list[tuple[Fraction, tuple[int, ...]]]:
    whole = sum(weights)
    return [
        (
            Fraction(factorial(n), prod(map(factorial, counts)))
            * prod(Fraction(w, whole) ** c for w, c in zip(weights, counts, strict=True)),
            counts,
        )
        for counts in compositions(n, len(weights))
    ]


@cache
def binomial_law(n: int, rate: Fraction) -> list[tuple[Fraction, int]]:
    return [(comb(n, j) * rate**j * (1 - rate) ** (n - j), j) for j in range(n + 1)]


def enumerated(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Law:
    """The law of `run` when the samplers of the cube branch over everything."""
    tree = Branches()

    def each(laws: list[list[tuple[Fraction, object]]]) -> list[object]:
        return [tree.choose(law) for law in laws]

    def multinomial_rows(n, weights, bits):
        drawn = each([multinomial_law(int(one), tuple(weights)) for one in n])
        return np.array(drawn, dtype=np.int64).reshape(len(n), len(weights))

    def binomial(n, rate, bits):
        return np.array(each([binomial_law(int(one), rate) for one in n]), dtype=np.int64)

    def hypergeometric(counts, m, bits):
        options = [c for c in compositions(int(m), len(counts)) if all(a <= b for a, b in zip(c, counts, strict=True))]
        total = comb(int(counts.sum()), int(m))
        law = [(Fraction(prod(comb(int(b), a) for a, b in zip(c, counts, strict=True)), total), c) for c in options]
        return np.array(tree.choose(law), dtype=np.int64)

    monkeypatch.setattr(module, "multinomial_rows", multinomial_rows)
    monkeypatch.setattr(module, "binomial", binomial)
    monkeypatch.setattr(module, "multivariate_hypergeometric", hypergeometric)
    law: Law = {}
    while True:
        outcome = run()
        law[outcome] = law.get(outcome, Fraction(0)) + tree.weight
        if not tree.next_path():
            return {key: weight for key, weight in law.items() if weight}


def row_level(rows: list[tuple], laws: list[dict], plan: Plan) -> Law:
    """The law of the multiset of rows of X′, straight from seed 001 as corrected: impute, copy, sample, fill."""
    resize = resize_of(plan)
    total: Law = {}
    per_row = []
    for row in rows:
        cells = [law.items() if value is None else [(value, Fraction(1))] for value, law in zip(row, laws, strict=True)]
        per_row.append(list(product(*cells)))
    fill = [(tuple(v for v, _ in cells), prod(w for _, w in cells)) for cells in product(*(law.items() for law in laws))]
    for imputed in product(*per_row):
        weight = prod((w for cells in imputed for _, w in cells), start=Fraction(1))
        table = [tuple(v for v, _ in cells) for cells in imputed]
        for kept, chance in _samples(table, resize, plan):
            missing = 0 if resize is None else resize.rows - len(kept)
            for extra in product(fill, repeat=missing):
                outcome = frozenset(Counter([*kept, *(row for row, _ in extra)]).items())
                chance_of = weight * chance * prod((w for _, w in extra), start=Fraction(1))
                total[outcome] = total.get(outcome, Fraction(0)) + chance_of
    return {key: weight for key, weight in total.items() if weight}


def _samples(table, resize, plan):
    if resize is None:
        yield table, Fraction(1)
        return
    copies = table * resize.copies
    known = facts_of(plan.schema, plan.neighbours).rows
    if known is not None:
        size = min(int(resize.proportion * known), resize.rows)
        subsets = list(combinations(copies, size))
        yield from ((list(subset), Fraction(1, len(subsets))) for subset in subsets)
        return
    for mask in product([False, True], repeat=len(copies)):
        weight = prod((resize.rate if one else 1 - resize.rate for one in mask), start=Fraction(1))
        if not weight:
            continue
        kept = [row for row, one in zip(copies, mask, strict=True) if one]
        size = min(len(kept), resize.rows)
        subsets = list(combinations(kept, size))
        yield from ((list(subset), weight / len(subsets)) for subset in subsets)


SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Number(0, 2))
DATA = [("x", None), (None, 1), ("y", 0)]
# Uniform on [0, 2] put on the grid: the ends have half the weight.
LAWS = [{"x": Fraction(1, 3), "y": Fraction(2, 3)}, {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}]


def plan_of(neighbours, resize, statistic=dp.count) -> Plan:
    table = dp.Table(SCHEMA, neighbours).impute({"a": dp.Weights({"x": 1, "y": 2}), "b": dp.Uniform()})
    if resize is not None:
        table = table.resize(resize[0], proportion=resize[1])
    return table.group_by("a").agg(dp.count(), dp.mean("b"))


def as_rows(cube) -> frozenset:
    labels = ["x", "y"]
    return frozenset({((labels[k[0]], int(k[1])), int(n)) for k, n in zip(cube.keys, cube.rows, strict=True)})


RESIZES = [None, (1, 1), (2, "1/2"), (3, "3/4"), (4, 1), (2, "3/2"), (4, "3/2"), (3, 2), (5, 2)]


@pytest.mark.one_in(15)
@pytest.mark.parametrize("resize", RESIZES)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_joint_cube_has_the_law_of_the_rows(relation, resize, monkeypatch):
    data = DATA[:2] if resize and Fraction(resize[1]) > 1 else DATA
    neighbours = dp.AddRemove() if relation == "add-remove" else dp.ReplaceOne(rows=len(data))
    plan = plan_of(neighbours, resize)
    engine = ReferenceEngine({"a": TEXT, "b": NUMBER}, data)
    (brought,) = plan.layout.scans
    cube = engine.aggregate(brought.axes, brought.moments)
    known = facts_of(plan.schema, plan.neighbours).rows
    law = enumerated(
        lambda: as_rows(resample(cube, brought.axes, brought.moments, drawing=drawing_of(plan), rows=known, bits=None)),
        monkeypatch,
    )
    expected = row_level(data, LAWS, plan)
    assert sum(law.values()) == 1
    assert law == expected


@pytest.mark.parametrize("resize", [None, (3, 1), (5, 1), (7, 2)])
def test_sums_per_cell_have_the_law_of_the_rows_when_copies_are_constant(resize, monkeypatch):
    data = [("x", None), ("y", 2), ("x", 0)]
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).impute({"a": dp.Weights({"x": 1, "y": 2}), "b": dp.Uniform()})
    if resize is not None:
        table = table.resize(resize[0], proportion=resize[1])
    plan = table.agg(dp.sum("b"))
    (brought,) = plan.layout.scans
    assert not brought.axes
    assert [moment.name for moment in brought.moments] == ["b"]
    cube = ReferenceEngine({"a": TEXT, "b": NUMBER}, data).aggregate(brought.axes, brought.moments)

    def run():
        asked = resample(cube, brought.axes, brought.moments, drawing=drawing_of(plan), rows=3, bits=None)
        return int(asked.rows.sum()), int(asked.nonnull.sum()), int(asked.sums.sum())

    law = enumerated(run, monkeypatch)
    expected: Law = {}
    for table_rows, weight in row_level(data, LAWS, plan).items():
        count = sum(n for _, n in table_rows)
        total = sum(row[1] * n for row, n in table_rows)
        key = (count, count, total)
        expected[key] = expected.get(key, Fraction(0)) + weight
    assert law == expected


@pytest.mark.parametrize("resize", [None, (1, 1), (3, "3/4"), (3, "3/2"), (2, 2)])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_answers_have_the_joint_law_of_the_rows(relation, resize, monkeypatch):
    """Counts, sums, squares, bins and trees of the same imputed, clamped and resized rows, all together."""
    data = DATA[:2] if resize else DATA
    neighbours = dp.AddRemove() if relation == "add-remove" else dp.ReplaceOne(rows=len(data))
    table = dp.Table(SCHEMA, neighbours).impute({"a": dp.Weights({"x": 1, "y": 2}), "b": dp.Uniform()}).clamp({"b": (0, 1)})
    if resize is not None:
        table = table.resize(resize[0], proportion=resize[1])
    plan = table.group_by("a").agg(dp.std("b"), dp.median("b", interval=1), dp.histogram("b", [1, 2]))
    asked = quote(plan, dp.PureDP(1))
    queries = [one.query for one in asked.measured]
    assert {type(query) for query in queries} == {RowCount, WeightedSum, Squares, LevelCounts, TableCounts}
    (brought,) = plan.layout.scans
    cube = ReferenceEngine({"a": TEXT, "b": NUMBER}, data).aggregate(brought.axes, brought.moments)
    law = enumerated(lambda: tuple(tuple(map(int, one)) for one in exact_answers(asked, [cube], None)), monkeypatch)
    expected: Law = {}
    for rows, weight in row_level(data, LAWS, plan).items():
        clamped = [((a, min(b, 1)), n) for (a, b), n in rows]
        key = tuple(answer_of(query, clamped) for query in queries)
        expected[key] = expected.get(key, Fraction(0)) + weight
    assert law == expected


def answer_of(query, rows):
    """The answer by groups x and y, straight from the rows: pairs of values and how many rows have them."""
    match query:
        case TableCounts():
            parts = [lambda b: int(b == 1)]
        case LevelCounts(tree=tree):
            assert (tree.depth, tree.width) == (1, 1)
            return tuple(sum(n for (a, b), n in rows if (a, b) == (of, code)) for of in "xy" for code in (0, 1))
        case Squares(first=first, slope=slope, shift=shift):
            parts = [lambda b: (first + slope * b) ** 2 - shift]
        case WeightedSum(first=first, slope=slope):
            parts = [lambda b: first + slope * b]
        case RowCount():
            parts = [lambda b: 1]
    return tuple(sum(part(b) * n for (a, b), n in rows if a == of) for of in "xy" for part in parts)


def test_a_wrong_order_of_copying_and_imputing_would_be_noticed(monkeypatch):
    """The mutant that imputes each copy afresh has another law (soundness 1); the comparison above sees it."""
    plan = plan_of(dp.AddRemove(), (4, 2))
    expected = row_level([("x", None)], LAWS, plan)
    mutant = row_level([("x", None), ("x", None)], LAWS, plan_of(dp.AddRemove(), (4, 1)))
    assert expected != mutant
