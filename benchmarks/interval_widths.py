"""Widths, errors and coverage of intervals: quantiles and standard deviations, in the form of 0.1.0 and in the new one.

    python benchmarks/interval_widths.py                  the tables, as Markdown
    python benchmarks/interval_widths.py --draws 100      so many releases of each line
    python benchmarks/interval_widths.py --write          the tables into docs/accuracy.md

Two data sets: persons of the census of 2000 by state, which ships with discreet, and incomes of the American Community
Survey of 2019 by state, which does not; without its file, --persons, that table is skipped, and the program says so. The
queries and the noise are those of a release; the ledger is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dp
from discreet import datasets
from discreet.engines import open_source
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers, noisy_answers, run_scans
from discreet.statistics.base import Statistic
from discreet.statistics.recipe import Answers

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "accuracy.md"
BEGIN, END = "<!-- widths: begin -->", "<!-- widths: end -->"
SPENDS: tuple[tuple[str, dp.PureDP | dp.ZCDP], ...] = (("ε = 1", dp.PureDP(1)), ("ρ = 1/2", dp.ZCDP("1/2")))
QUARTERS = ("0.25", "0.5", "0.75")
NAMES = ("", "spend", "interval", "error", "half-width", "half-width over error", "inside", "inside, worst group")
HEAD = f"| {' | '.join(NAMES).strip()} |\n{'|---' * len(NAMES)}|"


@dataclass(frozen=True, slots=True)
class Data:
    """A table with one column of groups, `g`, and one of numbers, `x`."""

    title: str
    frame: pl.DataFrame
    schema: dp.Schema


@dataclass(frozen=True, slots=True)
class Case:
    """A statistic with its intervals in one form, and its true values of a group."""

    what: str
    form: str
    statistic: Statistic
    true: Callable[[np.ndarray[Any, np.dtype[np.float64]]], list[float]]


def quartiles(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """The smallest values that a quarter, a half and three quarters of the rows do not exceed."""
    return [float(np.sort(values)[max(-(-len(values) * k // 4), 1) - 1]) for k in (1, 2, 3)]


CASES = (
    Case("quartiles", "tree of 0.1.0", dp.quantiles("x", QUARTERS, nulls="skip"), quartiles),
    Case("quartiles", "`chosen`", dp.quantiles("x", QUARTERS, interval="chosen", nulls="skip"), quartiles),
    Case("standard deviation", "box of 0.1.0", dp.std("x", nulls="skip"), lambda own: [float(own.std())]),
    Case("standard deviation", "`joint`", dp.std("x", interval="joint", nulls="skip"), lambda own: [float(own.std())]),
)


def shipped() -> Data:
    """Weekly incomes of the census of 2000, up to 2,000 dollars, by state."""
    frame = pl.read_parquet(datasets.path("census2000")).select(g="state", x=pl.col("weekinc").clip(0, 2000).cast(pl.Int64))
    return _data("Weekly income, 51 states of 14 to 2,231 persons, 0 to 2,000 by 1 (`census2000`, shipped)", frame, 2000, 1)


def shared(persons: Path) -> Data:
    """Incomes of the American Community Survey of 2019 in steps of 100 dollars, by state."""
    frame = pl.read_parquet(persons).filter(pl.col("PINCP").is_not_null())
    income = (pl.col("PINCP").clip(0, 200_000) / 100).round().cast(pl.Int64) * 100
    title = "Yearly income, 18 states of 600 to 7,600 persons, 0 to 200,000 by 100 (`acs2019`)"
    return _data(title, frame.select(g="STATE", x=income), 200_000, 100)


def _data(title: str, frame: pl.DataFrame, top: int, step: int) -> Data:
    frame = frame.drop_nulls().with_columns(pl.col("g").cast(pl.String))
    schema = dp.Schema(g=dp.Category(sorted(frame["g"].unique()), required=True), x=dp.Number(0, top, step, required=True))
    return Data(title, frame, schema)


def measured(data: Data, case: Case, spend: dp.PureDP | dp.ZCDP, draws: int) -> tuple[float, float, float, float]:
    """Mean error, mean half-width, how often the true value is inside, and how often in the worst group."""
    quoted = quote(dp.Table(data.schema, dp.AddRemove()).group_by("g").agg(case.statistic), spend)
    engine = open_source(data.frame, data.schema)
    exact = exact_answers(quoted, run_scans(engine, quoted.plan.layout), system_bits())
    engine.close()
    names = sorted(data.frame["g"].unique())
    true = np.array([case.true(data.frame.filter(pl.col("g") == name)["x"].to_numpy().astype(float)) for name in names])
    (line,) = quoted.lines
    cells, noises = quoted.plan.layout.cells, quoted.noises(line)
    errors, halves, inside = [], [], []
    for _ in range(draws):
        noisy = noisy_answers(quoted, [one.copy() for one in exact], system_bits())
        values = {one.asked: answer for one, answer in zip(quoted.measured, noisy, strict=True)}
        for place, found in enumerate(line.recipe.estimates(Answers(noises, values, slice(0, cells)))):
            value, low, high = (part[: len(names)].astype(float) for part in (found.value, found.low, found.high))
            errors.append(np.abs(value - true[:, place]))
            halves.append((high - low) / 2)
            inside.append((low <= true[:, place]) & (true[:, place] <= high))
    held = np.array(inside).mean(axis=0)
    return float(np.mean(errors)), float(np.mean(halves)), float(held.mean()), float(held.min())


def lines(data: Data, draws: int) -> Iterator[str]:
    """The table of a data set."""
    yield f"**{data.title}**\n\n{HEAD}"
    for name, spend in SPENDS:
        for case in CASES:
            # A release with the tree of counts takes seconds, and its widths hardly differ from one to the next.
            many = max(4, draws // 10) if case.form.startswith("tree") else draws
            error, half, inside, worst = measured(data, case, spend, many)
            shown = f"{error:,.3g} | {half:,.3g}" if error < 1000 > half else f"{error:,.0f} | {half:,.0f}"
            yield f"| {case.what} | {name} | {case.form} | {shown} | {half / error:.1f} | {inside:.1%} | {worst:.1%} |"
    yield ""


def main() -> None:
    """Prints the tables, or writes them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--persons", type=Path, default=ROOT.parent / "shared/data/tutorial/acs2019_persons.parquet")
    asked = parser.parse_args()
    every = [shipped()]
    if asked.persons.exists():
        every.append(shared(asked.persons))
    else:
        print(f"skipped: acs2019, because {asked.persons} does not exist")
    table = "\n".join(line for data in every for line in lines(data, asked.draws))
    print(table)
    if asked.write and len(every) > 1:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
