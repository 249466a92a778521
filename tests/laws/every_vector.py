"""Vectors of sums on tiny tables, for the law over every query."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import discreet as dp
from discreet.cube.queries import Contrast, Factor, Part, VectorSum
from discreet.plan.plan import Plan


def plans_of_vectors(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Plan]:
    """A category of four, one of two and two numbers: all may be null, some, or none; in groups or not."""
    columns = {"v": dp.Number(0, upper), "w": dp.Number(0, 2)}
    names = {"g": dp.Category(["x", "y"]), "h": dp.Category(["a", "b", "c", "d"])}
    table = dp.Table(dp.Schema(names | columns), neighbours)
    laws = {"v": dp.Uniform(), "g": dp.Weights({"x": 1, "y": 2}), "w": dp.Uniform(), "h": dp.Weights({"a": 1, "b": 1})}
    full = table.impute(laws)
    some = (table, table.impute({"w": dp.Uniform()}), full, full.where({"g": ["x"]}), table.clamp({"h": ["a", "b", "c"]}))
    for one, by in product(some, ([], ["g"])):
        yield one.group_by(*by).agg(dp.count())


def vectors(plan: Plan) -> Iterator[VectorSum]:
    """Sums and products of numbers and of categories, in the same vector; squares; more than one scale."""

    def factor(column: str, first: int, slope: int, power: int = 1) -> Factor:
        known = plan.facts[column]
        return Factor(column, known.low, first, slope, known.high - known.low, power)

    width = plan.facts["v"].high - plan.facts["v"].low
    signs = Contrast("g", ((0, -1), (1, 1)), (0, 1))
    levels = plan.facts["h"].kept
    dummies = [Contrast("h", ((code, 1),), levels) for code in levels[1:]]
    for (first, slope), (other, rise) in (((-width, 2), (-2, 2)), ((1, -3), (3, 1))):
        v, w = factor("v", first, slope), factor("w", other, rise)
        one, each = Part((), 3), Part((v,), 2)
        yield VectorSum((one, each, Part((w,), 1), Part((v, w), 1)), ("v", "w"))
        if not plan.group_by:
            yield VectorSum((one, each, Part((signs,), 3), Part((signs, v), 1)), ("g", "v"))
        yield VectorSum((each, *(Part((d, v), 2) for d in dummies), *(Part((d,), 1) for d in dummies)), ("h", "v"))
        yield VectorSum((each, *(Part((d, v), 1 + n) for n, d in enumerate(dummies))), ("h", "v"))
        most = max(abs(first), abs(first + slope * width))
        for times in (1, 2):
            square = Part((factor("v", first, slope, 2),), times)
            yield VectorSum((one, Part((v,), most * times), square), ("v",))
            yield VectorSum((Part((v,), 1), square, Part((v, w), times * most)), ("v", "w"))
            yield VectorSum((Part((v,), 1), square), ("v",))
