"""Coverage and widths of intervals for the table as recorded, over random plans on five data sets.

    python benchmarks/original_intervals.py                     1,000 plans with 200 draws each, as Markdown
    python benchmarks/original_intervals.py --plans 40          fewer
    python benchmarks/original_intervals.py --write             the tables into docs/accuracy.md

Three data sets ship with discreet (acs12, census2000, military); two are made up: lognormal incomes, and incomes of which
the large ones are null more often. The noise is that of a release and falls into many copies of one cell; the ledger is left
out. The oracle knows the number of rows and the mean: its width is that of the noise of Σ(x − mean) with all of the spend.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb, log, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

import discreet as dp
from discreet import datasets
from discreet.engines import open_source
from discreet.engines.base import Engine
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, noisy_answers, run_scans
from discreet.statistics.recipe import Answers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "accuracy.md"
BEGIN, END = "<!-- originals: begin -->", "<!-- originals: end -->"
SKIP: dict[str, Any] = {"nulls": "skip"}

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Data:
    """A column of numbers with its declared bounds; nan where it is null."""

    name: str
    values: Values
    top: int


@dataclass(frozen=True, slots=True)
class Case:
    """A random plan."""

    data: Data
    values: Values
    spend: dp.PureDP | dp.ZCDP
    added: bool
    clamp: int
    imputed: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What the draws of one request showed: how often the interval held the recorded value, and its mean width."""

    inside: dict[str, int]
    width: dict[str, float]


@cache
def data_sets() -> tuple[Data, ...]:
    """The five, the made-up ones always the same."""
    rng = np.random.default_rng(20)
    shipped = {name: pl.read_parquet(datasets.path(name)) for name in datasets.names()}
    made = np.minimum(rng.lognormal(10.5, 0.8, 20_000).round(-1), 450_000)
    informative = np.where(rng.random(20_000) < np.clip(made / 100_000, 0.1, 0.9), np.nan, made)
    return (
        Data("acs12", _floats(shipped["acs12"]["income"]), 450_000),
        Data("census2000", np.minimum(_floats(shipped["census2000"]["weekinc"]), 5000), 5000),
        Data("military", _floats(shipped["military"]["rank"].sample(20_000, seed=1)), 30),
        Data("lognormal", np.where(rng.random(20_000) < 0.1, np.nan, made), 450_000),
        Data("informative nulls", informative, 450_000),
    )


def _floats(column: pl.Series) -> Values:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def cases(plans: int) -> Iterator[Case]:
    """Random plans, always the same ones."""
    rng = np.random.default_rng(7)
    spends: list[dp.PureDP | dp.ZCDP] = [dp.PureDP(one) for one in ("0.5", "1", "2")]
    spends += [dp.ZCDP(one) for one in ("0.05", "0.2", "0.5")]
    for place in range(plans):
        data = data_sets()[place % 5]
        rows = int(rng.integers(500, min(8000, len(data.values)) + 1))
        values = data.values[rng.permutation(len(data.values))[:rows]]
        cut = max(1, round(float(rng.uniform(0.1, 0.9)) * data.top))
        yield Case(data, values, spends[place % 6], bool(rng.random() < 0.5), cut, bool(rng.random() < 0.5))


def table_of(case: Case) -> dp.Table:
    """The table before its steps."""
    schema = dp.Schema(x=dp.Number(0, case.data.top))
    return dp.Table(schema, dp.AddRemove() if case.added else dp.ReplaceOne(rows=len(case.values)))


def prepared(case: Case) -> dp.Table:
    """The table after them."""
    cut = table_of(case).clamp({"x": (0, case.clamp)})
    return cut.impute({"x": dp.Uniform()}) if case.imputed else cut


def truth(values: Values) -> dict[str, float]:
    """The recorded values."""
    known = values[~np.isnan(values)]
    return {"count": len(known), "sum": float(known.sum()), "mean": float(known.mean())}


def identified(case: Case) -> tuple[float, float]:
    """The least and the greatest mean with any answer of those who gave none."""
    known, rows = truth(case.values), len(case.values)
    return known["sum"] / rows, (known["sum"] + case.data.top * (rows - known["count"])) / rows


def least_width(case: Case) -> float:
    """The width below which no interval of a mean can be for every table of so many known rows (O3): a test of the test."""
    count = int(truth(case.values)["count"])
    places = np.arange(1, count + 1)
    if isinstance(case.spend, dp.ZCDP):
        mu, normal = sqrt(2 * case.spend.rho), NormalDist()
        parts = [normal.cdf(normal.inv_cdf(0.95) - k * mu) - 0.05 for k in range(1, min(count, int(8 / mu) + 2) + 1)]
        return case.data.top * sum(max(one, 0.0) for one in parts) / count
    return float(case.data.top * np.maximum(0.95 * np.exp(-places * float(case.spend.epsilon)) - 0.05, 0).sum() / count)


def opened(values: Values) -> Engine:
    """The rows as a source."""
    known = [None if np.isnan(one) else int(one) for one in values]
    return open_source(pl.DataFrame({"x": known}, schema={"x": pl.Int64}), dp.Schema(x=dp.Number(0, int(np.nanmax(values)))))


def measured(
    quoted: Quote, rows: tuple[Engine, Values], end: str, draws: int, ends: tuple[float, float] | None = None
) -> Found:
    """How often the intervals of the statistics whose names have this end hold the recorded value, or both `ends`."""
    (engine, values), bits = rows, system_bits()
    exact = exact_answers(quoted, run_scans(engine, quoted.plan.layout), bits)
    # Noise is independent from cell to cell, so that many draws of one cell are one draw of many cells.
    noisy = noisy_answers(quoted, [np.repeat(one, draws) for one in exact], bits)
    answers = {one.asked: answer for one, answer in zip(quoted.measured, noisy, strict=True)}
    inside, width = {}, {}
    for line in quoted.lines:
        word = line.statistic.kind.word
        if line.statistic.name == f"{word}_x{end}":
            (found,) = line.recipe.estimates(Answers(quoted.noises(line), answers, slice(0, draws)))
            low, high = (np.broadcast_to(part.astype(float), draws) for part in (found.low, found.high))
            least, greatest = ends or (truth(values)[word],) * 2
            slack = 1e-9 * (1 + abs(greatest))
            inside[word] = int(((low <= least + slack) & (high >= greatest - slack)).sum())
            width[word] = float((high - low).mean())
    return Found(inside, width)


def oracle(case: Case) -> float:
    """The width of the interval that knows the number of rows and the mean: noise of Σ(x − mean) alone."""
    known, top = truth(case.values), case.data.top
    size = max(known["mean"], top - known["mean"]) if case.added else top
    if isinstance(case.spend, dp.ZCDP):
        return 2 * NormalDist().inv_cdf(0.975) * size / sqrt(2 * case.spend.rho) / known["count"]
    return 2 * log(20) * size / float(case.spend.epsilon) / known["count"]


def is_too_rare(inside: int, draws: int) -> bool:
    """The one-sided binomial test of a coverage of 95 % at 10⁻⁴."""
    missed = draws - inside
    fewer = sum(comb(draws, k) * 0.05**k * 0.95 ** (draws - k) for k in range(missed))
    return 1 - fewer < 1e-4


def retried(
    quoted: Quote, rows: tuple[Engine, Values], end: str, draws: int, ends: tuple[float, float] | None = None
) -> Found:
    """What the draws show; a plan that seems to cover too rarely is drawn again, a hundred times as often."""
    found = measured(quoted, rows, end, draws, ends)
    if any(is_too_rare(one, draws) for one in found.inside.values()):
        again = measured(quoted, rows, end, 20_000, ends)
        if any(is_too_rare(one, 20_000) for one in again.inside.values()):
            raise SystemExit(f"{quoted.plan}: covers too rarely, {again.inside} of 20,000")
        return Found({word: one * draws // 20_000 for word, one in again.inside.items()}, again.width)
    return found


class Tally:
    """The numbers of one form, by measure."""

    def __init__(self) -> None:
        self.covered: list[float] = []
        self.ratios: dict[str, list[float]] = {"PureDP": [], "ZCDP": []}

    def add(self, case: Case, covered: float, ratio: float) -> None:
        """One plan."""
        self.covered.append(covered)
        self.ratios[type(case.spend).__name__].append(ratio)

    def line(self, name: str, of: str) -> str:
        """A line of the table."""
        shown = [f"{np.mean(one):.2f} (at most {max(one):.2f})" if one else "–" for one in self.ratios.values()]
        return f"| {name} | {np.mean(self.covered):.1%} | {min(self.covered):.1%} | {of} | {shown[0]} | {shown[1]} |"


NAMES = ("form", "coverage of the value as recorded", "least plan", "width against", "pure", "zCDP")


def lines(plans: int, draws: int) -> Iterator[str]:
    """The table over all plans."""
    today, alone, both, changed, same, sums, anywhere = (Tally() for _ in range(7))
    mean, total = dp.mean("x", **SKIP), dp.sum("x", **SKIP)
    for case in cases(plans):
        table, raw, spend = prepared(case), table_of(case), case.spend
        engine = opened(case.values)
        rows = engine, case.values
        before = measured(quote(table.agg(mean), spend), rows, "", draws)
        own = retried(quote(table.agg(mean).original(prepared=False), spend), rows, "_original", draws)
        beside = quote(table.agg(mean).original(), spend)
        two, cut = retried(beside, rows, "_original", draws), measured(beside, rows, "", draws)
        box, tilt = (measured(quote(one, spend), rows, "", draws) for one in (raw.agg(mean), raw.agg(mean).original()))
        plain = measured(quote(raw.agg(total), spend), rows, "", draws)
        adds = retried(quote(table.agg(dp.count("x"), total).original(prepared=False), spend), rows, "_original", draws)
        one = retried(quote(table.agg(total).original(prepared=False), spend), rows, "_original", draws)
        worst = identified(case)
        open_ends = quote(table.agg(mean).original("anywhere", prepared=False), spend)
        every = retried(open_ends, rows, "_original", draws, worst)
        engine.close()
        beyond = every.width["mean"] - (worst[1] - worst[0])
        anywhere.add(case, every.inside["mean"] / draws, beyond / oracle(case))
        if own.width["mean"] < least_width(case):
            raise SystemExit(f"{case.data.name}, {case.spend}: narrower than any interval can be for every table")
        today.add(case, before.inside["mean"] / draws, before.width["mean"] / oracle(case))
        alone.add(case, own.inside["mean"] / draws, own.width["mean"] / oracle(case))
        both.add(case, two.inside["mean"] / draws, two.width["mean"] / oracle(case))
        changed.add(case, 1.0, cut.width["mean"] / before.width["mean"])
        same.add(case, tilt.inside["mean"] / draws, tilt.width["mean"] / box.width["mean"])
        sums.add(case, min(adds.inside.values()) / draws, one.width["sum"] / plain.width["sum"])
    yield f"| {' | '.join(NAMES)} |\n{'|---' * len(NAMES)}|"
    yield today.line("mean before: the prepared table alone", "oracle")
    yield alone.line("mean, `original(prepared=False)`", "oracle")
    yield both.line("mean, `original()`, as recorded", "oracle")
    yield changed.line("mean, `original()`, the prepared one", "the form before").replace("100.0% | 100.0%", "– | –")
    yield same.line("mean, nothing prepared, `original()`", "the form before")
    yield sums.line("sum, `prepared=False`; coverage: the worse of sum and count", "nothing prepared, before")
    yield anywhere.line('mean, `original("anywhere")`: width beyond all answers; coverage: both ends', "oracle")
    yield ""


# Four plans of a beginner ---------------------------------------------------------------------------------------------


def beginners(draws: int) -> Iterator[str]:
    """Incomes of acs12, cut and filled and resized, and how often intervals hold the mean that was recorded."""
    data = data_sets()[0]
    case = Case(data, data.values, dp.ZCDP("0.5"), added=False, clamp=0, imputed=True)
    rows = opened(data.values), data.values
    start, recorded = table_of(case), truth(data.values)["mean"]
    head = "before: interval | holds it | `original(prepared=False)` | holds it"
    yield f"| plan (the mean as recorded is {recorded:,.0f}) | {head} |"
    yield "|---|---|---|---|---|"
    for top in (80_000, 200_000):
        for resized in (False, True):
            table = start.clamp({"x": (0, top)}).impute({"x": dp.Uniform()})
            request = (table.resize(len(data.values)) if resized else table).agg(dp.mean("x"))
            before = [_released(quote(request, case.spend), rows[0]) for _ in range(draws)]
            held = sum(low <= recorded <= high for low, high in before)
            after = measured(quote(request.original(prepared=False), case.spend), rows, "_original", draws)
            middle, half = np.mean([sum(one) / 2 for one in before]), np.mean([(b - a) / 2 for a, b in before])
            name = f"clamp to {top:,}, uniform imputation{', resize' if resized else ''}"
            own = f"{recorded:,.0f} ± {after.width['mean'] / 2:,.0f}"
            yield f"| {name} | {middle:,.0f} ± {half:,.0f} | {held} of {draws} | {own} | {after.inside['mean']} of {draws} |"
    yield ""


def _released(quoted: Quote, engine: Engine) -> tuple[float, float]:
    """The interval of one release: with its own draws of what is imputed and sampled."""
    bits = system_bits()
    noisy = noisy_answers(quoted, exact_answers(quoted, run_scans(engine, quoted.plan.layout), bits), bits)
    answers = {one.asked: answer for one, answer in zip(quoted.measured, noisy, strict=True)}
    (line,) = quoted.lines
    (found,) = line.recipe.estimates(Answers(quoted.noises(line), answers, slice(0, 1)))
    return float(found.low[0]), float(found.high[0])


def main() -> None:
    """Prints the tables, or writes them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    table = "\n".join([*beginners(given.draws), *lines(given.plans, given.draws)])
    print(table)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
