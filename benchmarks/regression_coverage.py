"""How often each interval of a regression holds, and how wide they are, in simulated releases of one made-up table.

Income on age, sex and a category of three: five coefficients. Each release draws the noise of the quote anew; the law of the
noise is that of the library, drawn by NumPy.

    python benchmarks/regression_coverage.py
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.cube.queries import Factor
from discreet.privacy import ZCDP, PureDP
from discreet.quotes.allocate import quote
from discreet.statistics.recipe import Answers

RUNS = 20_000
CASES = (
    (500, ZCDP("0.1")),
    (1_000, ZCDP("0.1")),
    (1_500, ZCDP("0.1")),
    (5_000, ZCDP("0.1")),
    (20_000, ZCDP("0.1")),
    (10_000, PureDP(1)),
    (40_000, PureDP(1)),
)
SCHEMA = dp.Schema(
    age=dp.Number(18, 90), sex=dp.Category(["m", "f"]), place=dp.Category(["a", "b", "c"]), income=dp.Number(0, 100_000, 100)
)
Codes = dict[str, NDArray[np.int64]]


def table_of(rows: int) -> Codes:
    """The codes of made-up rows."""
    rng = np.random.default_rng(3)
    age, sex, place = (rng.integers(0, size, rows) for size in (73, 2, 3))
    income = 20_000 + 300 * (age - 32) + 5_000 * sex + 3_000 * (place == 1) + rng.normal(0, 8_000, rows)
    return {"age": age, "sex": sex, "place": place, "income": np.clip(np.round(income / 100), 0, 1000).astype(np.int64)}


def truth_of(codes: Codes) -> NDArray[np.float64]:
    """The coefficients by dense least squares."""
    place = codes["place"]
    columns = [np.ones(len(place)), codes["age"] + 18, codes["sex"], place == 1, place == 2]
    matrix = np.column_stack(columns).astype(np.float64)
    return np.asarray(np.linalg.lstsq(matrix, 100.0 * codes["income"], rcond=None)[0])


def simulate(rows: int, spend: ZCDP | PureDP) -> tuple[float, float, float]:
    """How often the interval of age holds, how often there is one, and its half-width in standard deviations."""
    codes = table_of(rows)
    asked = quote(
        dp.Table(SCHEMA, dp.AddRemove()).agg(dp.regression("income", ["age", "sex", "place"], nulls="skip")), spend
    )
    (measured,), (line,) = asked.measured, asked.lines
    exact = []
    for part in measured.query.parts:
        added = np.full(rows, float(part.times))
        for one in part.factors:
            own = codes[one.column]
            if isinstance(one, Factor):
                added = added * (one.first + one.slope * own).astype(np.float64) ** one.power
            else:
                added = added * np.array([one.of(code) for code in range(3)])[own]
        exact.append(added.sum())
    rng = np.random.default_rng(4)
    shape, law = (len(exact), RUNS), measured.law
    deviation = sqrt(law.variance())
    if isinstance(spend, ZCDP):
        noise = rng.normal(0, deviation, shape)
    else:  # the cube of a radius, whose law is nearly a gamma law at such a scale
        noise = rng.gamma(len(exact) + 1, float(law.scale), RUNS) * rng.uniform(-1, 1, shape)
    noisy = (np.array(exact)[:, None] + np.rint(noise)).ravel()
    answers = Answers(replace(asked.noises(line), cells=RUNS), {measured.asked: noisy}, slice(0, RUNS))
    found = line.recipe.estimates(answers)
    age, own = found[1], truth_of(codes)[1]
    held = (age.low <= own) & (own <= age.high)
    half = (age.high - age.low) / 2
    known = half < float(line.recipe.limit) * 0.99
    return float(held.mean()), float(known.mean()), float(np.median(half)) / float(np.std(age.value))


def main() -> None:
    wide = "half-width for age, in standard deviations of its noise"
    print(f"| rows | spend | that of age holds | it is given | {wide} |")
    print("|---|---|---|---|---|")
    for rows, spend in CASES:
        held, known, width = simulate(rows, spend)
        named = f"ρ = {float(spend.rho)}" if isinstance(spend, ZCDP) else f"ε = {float(spend.epsilon)}"
        print(f"| {rows:,} | {named} | {100 * held:.2f} % | {100 * known:.2f} % | {width:.2f} |")


if __name__ == "__main__":
    main()
