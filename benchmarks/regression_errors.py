"""Regression on K factors whose joint counts are published exactly, in the set-up of the authors of semi-DP.

512 rows, balanced over K factors at -1 and 1; y has a range of 1; features are divided by √(K + 1), so that their vector
has length 1. The error is the mean length of the error of all K + 1 coefficients at μ = 1. With exact totals nothing is
simulated: it is the mean length of a Gaussian vector whose variance a quote states. Without the totals it is simulated.

    python benchmarks/regression_errors.py
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import gamma, sqrt

import numpy as np

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.statistics.recipe import Answers
from discreet.totals.exact_totals import ExactTotals, exact_totals_of
from discreet.totals.given import read_totals

ROWS, STEP, RUNS = 512, Fraction(1, 1000), 20_000
FACTORS = (1, 2, 3, 4)


def table_of(factors: int) -> tuple[dp.Schema, dp.Table, list[str]]:
    """K factors of two values and y in [0, 1], whose nulls are filled."""
    names = [f"x{one}" for one in range(factors)]
    columns = {**{name: dp.Category(["low", "high"]) for name in names}, "y": dp.Number(0, 1, STEP)}
    schema = dp.Schema(columns)
    return schema, dp.Table(schema, dp.ReplaceOne(rows=ROWS)).impute({"y": dp.Uniform()}), names


def totals_of(schema: dp.Schema, names: list[str]) -> ExactTotals:
    """The totals of all combinations, published."""
    declared = dp.Totals(*names)
    each = ROWS // 2 ** len(names)
    known = dict.fromkeys(product(["low", "high"], repeat=len(names)), each)
    cells = {(key if len(names) > 1 else key[0]): count for key, count in known.items()}
    written = {tuple(names) if len(names) > 1 else names[0]: cells}
    return exact_totals_of(declared, schema, read_totals(declared, schema, written), ROWS)


def length(size: int) -> float:
    """The mean length of a standard Gaussian vector."""
    return sqrt(2) * gamma((size + 1) / 2) / gamma(size / 2)


def as_a_vector(factors: int) -> float:
    """All sums of y and y times a factor at once."""
    schema, table, names = table_of(factors)
    (measured,) = quote(table.agg(dp.regression("y", names, nulls="skip")), dp.GDP(1), totals_of(schema, names)).measured
    if len(measured.query.parts) != factors + 1:
        raise SystemExit("the matrix is not exact")
    spread = sqrt(measured.law.variance()) / measured.query.parts[0].times * float(STEP)
    return error_of(spread, factors)


def cell_by_cell(factors: int) -> float:
    """The sum of y in each combination of the factors: y times a factor is a sum of these with signs."""
    schema, table, names = table_of(factors)
    (measured,) = quote(table.group_by(*names).agg(dp.mean("y")), dp.GDP(1), totals_of(schema, names)).measured
    spread = sqrt(measured.law.variance() * 2**factors) * float(STEP)
    return error_of(spread, factors)


def error_of(spread: float, factors: int) -> float:
    """The error of all coefficients, from the standard deviation of the noise of a sum of y times a factor."""
    return spread * sqrt(factors + 1) / ROWS * length(factors + 1)


def without_totals(factors: int) -> float:
    """A regression that does not use the totals, made for two rows: the matrix has noise too."""
    _, table, names = table_of(factors)
    return simulated(quote(table.agg(dp.regression("y", names, nulls="skip")), dp.GDP("1/2")), factors)


def pairs_of(schema: dp.Schema, names: list[str]) -> ExactTotals:
    """The totals of all pairs of factors, published: they say the whole matrix."""
    pairs = list(combinations(names, 2))
    declared = dp.Margins(*map(list, pairs))
    known = {pair: dict.fromkeys(product(["low", "high"], repeat=2), ROWS // 4) for pair in pairs}
    return exact_totals_of(declared, schema, read_totals(declared, schema, known), ROWS)


def beside_pairs(factors: int) -> tuple[int, float, float]:
    """a(t), the least error of any Gaussian for the sums of y and y times a factor, and the error as they are measured.

    All a rows may be in one cell and change y by its range, so that the sums move by a√(K + 1), and noise with one variance
    in all directions has to hide that.
    """
    schema, table, names = table_of(factors)
    totals = pairs_of(schema, names)
    a = totals.adjacency.a
    asked = quote(table.agg(dp.regression("y", names, nulls="skip")), dp.GDP(1), totals)
    return a, error_of(a * sqrt(factors + 1), factors), simulated(asked, factors)


def simulated(asked: Quote, factors: int) -> float:
    """The error of a regression whose matrix has noise too. High factors add 0.1 to y."""
    (measured,), (line,) = asked.measured, asked.lines
    rows = np.array(list(product([-1, 1], repeat=factors)) * (ROWS // 2**factors))
    y = 0.1 * (rows > 0).sum(axis=1) + 0.2
    values = {"y": 2 * y - 1, **{f"x{one}": rows[:, one] for one in range(factors)}}
    exact = []
    for part in measured.query.parts:
        size = np.prod([max(map(abs, one.reach)) for one in part.factors], initial=1)
        added = np.ones(ROWS)
        for one in part.factors:
            added = added * values[one.column]
        exact.append(part.times * size * added.sum())
    rng = np.random.default_rng(1)
    noisy = np.array(exact)[:, None] + rng.normal(0, sqrt(measured.law.variance()), (len(exact), RUNS))
    found = line.recipe.estimates(
        Answers(replace(asked.noises(line), cells=RUNS), {measured.asked: noisy.ravel()}, slice(0, RUNS))
    )
    truth = np.array([0.2, *[0.1] * factors])
    off = np.array([one.value for one in found]).T - truth
    # From differences between high and low to coefficients at -1 and 1, of features divided by √(K + 1).
    off[:, 0] += off[:, 1:].sum(axis=1) / 2
    off[:, 1:] /= 2
    return float(np.mean(np.sqrt((off**2).sum(axis=1)))) * sqrt(factors + 1)


def main() -> None:
    print("| K | as a vector | cell by cell | without the totals |\n|---|---|---|---|")
    for factors in FACTORS:
        errors = as_a_vector(factors), cell_by_cell(factors), without_totals(factors)
        print(f"| {factors} | " + " | ".join(f"{one:.4f}" for one in errors) + " |")
    print("\n| K | a beside all pairs | least error | as measured |\n|---|---|---|---|")
    for factors in FACTORS[2:]:
        a, least, found = beside_pairs(factors)
        print(f"| {factors} | {a} | {least:.4f} | {found:.4f} |")


if __name__ == "__main__":
    main()
