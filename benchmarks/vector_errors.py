"""Counts and sums as one vector beside exact totals, against separate queries: the noise of a count and of a sum under ε.

Ten groups with exact totals, two cells in each; K columns with values from -1 to 1 in steps of 0.5, all known. A deviation
is stated in rows for the count and in units of half a range for a sum, at ε = 1. Nothing is simulated.

    python benchmarks/vector_errors.py
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

ROWS = 10_000


def quoted(columns: int, *, joint: bool) -> Any:
    """The quote of the means of so many columns by group and a free column."""
    names = [f"x{one}" for one in range(columns)]
    numbers = {name: dp.Number(-1, 1, "0.5") for name in names}
    schema = dp.Schema(g=dp.Category(list(map(str, range(10)))), s=dp.Category(["a", "b"]), **numbers)
    table = dp.Table(schema, dp.ReplaceOne(rows=ROWS)).impute(
        {**{name: dp.Uniform() for name in names}, "s": dp.Weights({"a": 1, "b": 1})}
    )
    asked = [dp.means(names)] if joint else [dp.mean(name) for name in names]
    return quote(table.group_by("g", "s").agg(*asked), dp.PureDP(1), exact_totals_of(dp.Totals("g"), schema, None, ROWS))


def as_a_vector(columns: int) -> tuple[float, float]:
    """The deviations of a count and of a sum."""
    (measured,) = quoted(columns, joint=True).measured
    spread = sqrt(measured.law.variance())
    count, first, *_ = measured.query.parts
    return spread / count.times, spread / max(map(abs, first.reach))


def one_by_one(columns: int) -> tuple[float, float]:
    """The same where the count and each sum have a share of their own."""
    found = quoted(columns, joint=False).measured
    alone = [sqrt(one.law.variance()) / max(map(abs, one.query.reach())) for one in found if hasattr(one.query, "reach")]
    (count,) = (sqrt(one.law.variance()) for one in found if not hasattr(one.query, "reach") or one.query.words() == "rows")
    return count, max(alone)


def main() -> None:
    """Prints a line for each number of columns."""
    print("| K | count, as a vector | count, by itself | sum, as a vector | sum, by itself |\n|---|---|---|---|---|")
    for columns in (2, 3, 5):
        (count, total), (alone, apart) = as_a_vector(columns), one_by_one(columns)
        print(f"| {columns} | {count:.1f} | {alone:.1f} | {total:.1f} | {apart:.1f} |")


if __name__ == "__main__":
    main()
