"""The error of statistics beside exact totals: the noise a session chooses, naive a-fold noise, and ordinary noise.

    python benchmarks/semi_dp_errors.py                    the whole table, as Markdown
    python benchmarks/semi_dp_errors.py --row NAME         one of its lines for each guarantee; several --row are allowed
    python benchmarks/semi_dp_errors.py --write            the whole table into docs/semi-dp-errors.md

Nothing is simulated: standard deviations and 95 % half-widths are those of the laws in the quote of the request. The totals
count as published, with rows in every level but null.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isqrt, sqrt
from pathlib import Path

import numpy as np

import discreet as dp
from discreet.mechanisms import Noise, Sensitivity, noise_for
from discreet.quotes.allocate import quote
from discreet.quotes.quote import LEVEL, Measured, Quote
from discreet.statistics import Count, Statistic
from discreet.totals.cells import shape_of
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

PAGE = Path(__file__).resolve().parents[1] / "docs" / "semi-dp-errors.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
GROUP_ROWS = 1000
AGE = dp.Number(0, 110)
Spend = dp.PureDP | dp.ZCDP | dp.GDP
GUARANTEES: tuple[tuple[str, str, Spend], ...] = (
    ("ε", "ε-semi-DP, ε = 1", dp.PureDP(1)),
    ("ρ", "ρ-semi-zCDP, ρ = 1/2", dp.ZCDP("1/2")),
    ("μ", "μ-semi-GDP, μ = 1", dp.GDP(1)),
)
HEAD = (
    "| exact totals and request | a | noise that is chosen | its error | naive a-fold | ordinary | naive / chosen "
    "| ordinary noise costs | command: … |\n|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True)
class Case:
    """A statistic for every cell of `columns`, whose numbers of levels are given, beside exact totals."""

    title: str
    invariants: dp.Invariants
    columns: dict[str, int]
    statistic: Statistic


def blocks(size: int) -> Case:
    return Case(
        f"totals of 10 groups, {size} cells in each group", dp.Totals("group"), {"group": 10, "level": size}, dp.count()
    )


def nested(title: str, counties: dp.Invariants) -> Case:
    columns = {"state": 5, "county": 10, "sex": 2}
    return Case(f"{title}, 2 cells in each county", dp.Totals("state") + counties, columns, dp.count())


def margins(*levels: int, beside: int = 1) -> Case:
    """Exact one-way margins of every axis, and `beside` cells that they do not tell apart."""
    columns = {f"axis {i}": size for i, size in enumerate(levels, start=1)}
    shown = " × ".join(map(str, levels)) if len(set(levels)) > 1 or len(levels) < 4 else f"{levels[0]}^{len(levels)}"
    free = {} if beside == 1 else {"free": beside}
    title = f"one-way margins of a {shown} table" + (f", {beside} cells at each place" if free else "")
    return Case(title, dp.Margins(*columns), columns | free, dp.count())


def areas() -> Case:
    columns = {"area": 15, "race": 9, "age": 24}
    return Case(
        "area × race and area × age, 15 × 9 × 24", dp.Margins(("area", "race"), ("area", "age")), columns, dp.count()
    )


def pairs() -> Case:
    columns = {"a": 3, "b": 3, "c": 3}
    return Case(
        "all two-way margins of a 3 × 3 × 3 table", dp.Margins(("a", "b"), ("a", "c"), ("b", "c")), columns, dp.count()
    )


def ranges(title: str, invariants: dp.Invariants) -> Case:
    """Ten groups with three cells in each, beside ranges of counts."""
    return Case(title, invariants, {"group": 10, "level": 3}, dp.count())


def suppressed_margins() -> Case:
    columns = {"axis 1": 3, "axis 2": 3}
    invariants = dp.Margins(*columns) + dp.Suppressed(*columns, below=2 * GROUP_ROWS)
    return Case("one-way margins of a 3 × 3 table, and its suppressed cells", invariants, columns, dp.count())


def overlap() -> Case:
    columns = {"state": 5, "county": 4, "type": 3}
    invariants = dp.Totals("state", "county") + dp.Occupied("state", "type")
    return Case("totals of counties of 5 states, and which types are in each state", invariants, columns, dp.count())


def ages() -> Case:
    invariants = dp.Totals("group") + dp.Sums("age", dp.Schema(age=AGE))
    title = "totals of 10 groups and the total of age, 0 to 110, 3 cells in each group"
    return Case(title, invariants, {"group": 10, "level": 3}, dp.count())


def means() -> Case:
    title = f"totals of 10 groups, means of numbers up to 100,000 in groups of {GROUP_ROWS:,} rows"
    return Case(title, dp.Totals("group"), {"group": 10}, dp.mean("wage"))


CASES: dict[str, Callable[[], Case]] = {
    **{f"totals-{size}": partial(blocks, size) for size in (2, 3, 10, 100)},
    "nested": partial(nested, "states and all their counties", dp.Totals("state", "county")),
    "nested-some": partial(
        nested,
        "5 states and the counties of one",
        dp.Totals("state", "county", only=[("1", str(county)) for county in range(1, 11)]),
    ),
    **{
        f"margins-{rows}x{columns}": partial(margins, rows, columns)
        for rows, columns in ((2, 2), (2, 3), (3, 3), (3, 4), (5, 5), (10, 10), (50, 50))
    },
    **{
        f"margins-{size}x{size}-by-{beside}": partial(margins, size, size, beside=beside)
        for size, beside in ((2, 3), (3, 2), (5, 2), (10, 5))
    },
    "areas-15x9x24": areas,
    "margins-3x3x1": partial(margins, 3, 3, 1),
    "margins-2^3": partial(margins, 2, 2, 2),
    "margins-2^6": partial(margins, *(2,) * 6),
    "pairs-3x3x3": pairs,
    "rounded-3": partial(ranges, "rounded totals of 10 groups, 3 cells in each group", dp.Rounded("group", base=5)),
    "suppressed-3": partial(
        ranges,
        "totals of 10 groups, and their 3 cells suppressed",
        dp.Totals("group") + dp.Suppressed("group", "level", below=2 * GROUP_ROWS),
    ),
    "margins-3x3-suppressed": suppressed_margins,
    "at-least-3": partial(
        ranges, "at least 500 rows in each of 10 groups, 3 cells in each group", dp.AtLeast("group", rows=500)
    ),
    "overlap": overlap,
    "ages": ages,
    "means": means,
}


def quoted(case: Case, spend: Spend) -> Quote:
    """The quote of a session whose totals are published."""
    categories = {name: dp.Category([str(level) for level in range(1, size + 1)]) for name, size in case.columns.items()}
    known = case.invariants.columns
    summed = {"age": AGE} if "age" in known and "age" not in categories else {}
    schema = dp.Schema({**categories, **summed, "wage": dp.Number(0, 100_000, 100)})
    counts = np.zeros(shape_of(known, schema), dtype=np.int64)
    counts[(slice(-1),) * len(known)] = GROUP_ROWS
    totals = totals_of_counts(case.invariants, schema, counts)
    rows = int(counts.sum())
    # Columns beside the totals are imputed, so that null is a cell nowhere.
    uniform = {name: dp.Weights(dict.fromkeys(one.values, 1)) for name, one in categories.items() if name not in known}
    table = dp.Table(schema, dp.ReplaceOne(rows=rows)).impute({**uniform, "wage": dp.Uniform()})
    plan = table.group_by(*case.columns).agg(case.statistic)
    return quote(plan, spend, exact_totals_of(case.invariants, schema, totals, rows))


def row(name: str, symbol: str, spend: Spend) -> str:
    """The line of the table."""
    case = CASES[name]()
    found = quoted(case, spend)
    (one,), (line,) = found.measured, found.lines
    unit = 1.0 if isinstance(case.statistic.kind, Count) else float(line.recipe.total.unit) / GROUP_ROWS
    a, chosen = found.group, unit * sqrt(one.law.variance())
    naive = noise_for(Sensitivity(a * one.ordinary.l1, a * a * one.ordinary.l2_squared), one.guarantee)
    ordinary = noise_for(one.ordinary, one.guarantee)
    columns = (
        case.title,
        str(a),
        one.alternatives[0].mechanism + ("" if one.law.keeps_totals else ", cell by cell"),
        error(chosen, dict(found.expected)[case.statistic.name]),
        plain(naive, unit),
        plain(ordinary, unit),
        f"{unit * sqrt(naive.variance()) / chosen:.2f}",
        cost(one, a, symbol),
        f"`--row {name}`",
    )
    return f"| {' | '.join(columns)} |"


def plain(law: Noise, unit: float) -> str:
    return error(unit * sqrt(law.variance()), unit * int(np.max(law.half_widths(LEVEL))))


def error(deviation: float, half_width: float) -> str:
    return f"{deviation:.3g} (±{half_width:.3g})"


def cost(one: Measured, a: int, symbol: str) -> str:
    """What ordinary noise guarantees to semi-adjacent tables, and what the naive bound would say."""
    if isinstance(one.guarantee, dp.PureDP):
        factor, naive = Fraction(one.sensitivity.l1, one.ordinary.l1), a
    else:
        factor, naive = Fraction(one.sensitivity.l2_squared, one.ordinary.l2_squared), a * a
    if isinstance(one.guarantee, dp.GDP):
        root = isqrt(int(factor))
        shown = str(root) if root * root == factor else f"√{factor}"
        return f"{shown} {symbol}" + ("" if factor == naive else f", not {a} {symbol}")
    return f"{factor} {symbol}" + ("" if factor == naive else f", not {naive} {symbol}")


def table(names: Sequence[str]) -> str:
    """The lines of these rows, one table for each guarantee."""
    parts = []
    for symbol, title, spend in GUARANTEES:
        lines = [row(name, symbol, spend) for name in names]
        parts.append("\n".join([f"**{title}**", "", HEAD, *lines]))
    return "\n\n".join(parts)


def written(page: str) -> str:
    """The page with the whole table, as it is now, between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table(list(CASES))}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description="The error of statistics beside exact totals.")
    parser.add_argument("--row", action="append", choices=CASES, metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--write", action="store_true", help="put the table into docs/semi-dp-errors.md")
    asked = parser.parse_args()
    if asked.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(table(asked.row or list(CASES)))


if __name__ == "__main__":
    main()
