"""Statistics of a release from its noisy integers, beside the same statistics without intervals in plain NumPy.

    python benchmarks/bench_statistics.py

10,000 groups of a table with 32 numeric columns, one of ten values among others; the noisy integers are given. The bound is
2 s for the estimates of 100 statistics. Runs alternate, medians of processor time are compared: the time that a process has
for itself, however busy the machine is.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.cube.queries import Query
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.assemble import estimate_statistics, frames
from discreet.statistics.means import MeanRecipe
from discreet.statistics.own_counts import OwnCountsRecipe
from discreet.statistics.quantile import QuantileRecipe
from discreet.statistics.sums import SumRecipe
from discreet.statistics.variances import VarianceRecipe

RUNS = 5
BOUND = 2.0
ROWS = 1_000_000
NAMES = tuple(f"v{place:02d}" for place in range(32))
SKIP = {"nulls": "skip"}


def schema() -> dp.Schema:
    groups = dp.Category([f"{place:02d}" for place in range(99)])  # and a group for null
    numbers = {name: dp.Number(0, 1000 + 7 * place) for place, name in enumerate(NAMES)}
    return dp.Schema({"a": groups, "b": groups, "k": dp.Number(0, 9), "l": dp.Number(0, 49), **numbers})


def requests() -> dict[str, Plan]:
    """Two requests of 100 statistics: sums, means and counts of many columns; and whatever needs the values themselves."""
    table = dp.Table(schema(), dp.ReplaceOne(rows=ROWS)).group_by("a", "b")
    moments = [dp.count(), dp.share(), dp.std("k", **SKIP), dp.median("k", **SKIP)]
    for name in NAMES:
        moments += [dp.count(name), dp.sum(name, **SKIP), dp.mean(name, **SKIP)]
    edges = [[0, edge, 49] for edge in range(1, 16)]
    values: list[Any] = [dp.histogram("l", edge).alias(f"h{place}") for place, edge in enumerate(edges)]
    for place in range(17):
        at = [Fraction(place + 1, 21), Fraction(1, 2)]
        values += [dp.mean("l", **SKIP), dp.variance("l", **SKIP), dp.std("k", **SKIP), dp.median("k", **SKIP)]
        values[-4:] = [one.alias(f"{one.name}_{place}") for one in values[-4:]]
        values.append(dp.quantiles("l", at, **SKIP).alias(f"q_{place}"))
    return {"moments": table.agg(*moments), "values": table.agg(*values)}


def noisy_answers(asked: Quote) -> list[NDArray[Any]]:
    """Integers of the shapes of the answers: counts of about 100 rows, and sums that fit them."""
    generator, cells = np.random.default_rng(1), asked.plan.layout.cells
    return [generator.integers(50, 150, cells * sum(one.query.widths())) for one in asked.measured]


def plain(asked: Quote, noisy: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The same values without intervals, as a program would write them that has only these statistics to give."""
    found = []
    cells = asked.plan.layout.cells
    answers = {one.asked: answer for one, answer in zip(asked.measured, noisy, strict=True)}
    for line in asked.lines:
        recipe = getattr(line.recipe, "variance", line.recipe)
        if isinstance(recipe, OwnCountsRecipe):
            found += [np.maximum(answers[query], 0) for query in recipe.asked]
        elif isinstance(recipe, QuantileRecipe):
            prefix = np.cumsum(np.ones((cells, recipe.grid.size), dtype=np.int64), axis=1)  # of some noisy histogram
            found += [np.argmax(prefix >= float(q) * prefix[:, -1:], axis=1) for q in recipe.at]
        else:
            found.append(_divided(recipe, answers, cells))
    return found


def _divided(recipe: Any, answers: Mapping[Query, NDArray[Any]], cells: int) -> NDArray[Any]:
    """A count, mean or variance; a count has no total."""
    count = answers[recipe.count.query] if recipe.count.queries else np.full(cells, ROWS)
    if not isinstance(recipe, MeanRecipe | SumRecipe | VarianceRecipe):
        return np.clip(count * 0.0, 0, 10_000)
    total = recipe.total
    mean = answers[total.queries[0]].astype(np.float64) / np.maximum(count, 1)
    if isinstance(recipe, VarianceRecipe):
        return np.maximum(answers[total.squares[0]] / np.maximum(count, 1) - mean**2, 0)
    return np.clip(float(total.origin) + float(total.unit) * mean, 0, 10_000)


def timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def compare(name: str, request: Plan) -> bool:
    """Whether the estimates of a request stay below the bound; what was measured is printed."""
    asked = quote(request, dp.ZCDP(1))
    noisy = noisy_answers(asked)
    first = timed(lambda: (estimate_statistics(asked, noisy), frames(asked, noisy)))  # with the laws of the intervals
    pairs = [
        (timed(lambda: (estimate_statistics(asked, noisy), frames(asked, noisy))), timed(lambda: plain(asked, noisy)))
        for _ in range(RUNS)
    ]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    quoted = timed(lambda: str(quote(request, dp.ZCDP("0.9"))))
    print(f"{name}: {len(request.statistics)} statistics, {request.layout.cells:,} groups")
    print(f"  estimates with intervals {ours:.3f} s ({first:.3f} s the first time; bound {BOUND:g})")
    print(f"  plain NumPy, values only {theirs:.3f} s   ratio {ours / theirs:.1f}   a quote in words {quoted:.3f} s")
    return first < BOUND


def main() -> int:
    """Both requests; 1 if one of them misses the bound."""
    missed = [name for name, request in requests().items() if not compare(name, request)]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
