"""Intervals cover the value of the table that was asked, X′, at least as often as they say; seen through the test seam."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import discreet as dp
from discreet import datasets
from discreet.engines import open_source
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import system_bits
from discreet.noise.single.sums import SumOfNoises
from discreet.quotes.allocate import quote
from discreet.quotes.quote import LEVEL
from discreet.releases import assemble
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.releases.labels import all_rows, find_printed
from discreet.statistics import Count, Mean, Share, Std, Sum, sums

ACS = dp.Schema(
    gender=dp.Category(["female", "male"]),
    employment=dp.Category(["employed", "unemployed", "not in labor force"]),
    race=dp.Category(["asian", "black", "other", "white"]),
    age=dp.Number(0, 110),
    income=dp.Number(0, 500_000, 100),
    hrs_work=dp.Number(0, 99),
)
SKIP = {"nulls": "skip"}


class Drawn:
    """A request whose exact answers are known, to be released as often as is wanted."""

    def __init__(self, request, spend, source):
        self.quote, self.bits = quote(request, spend), system_bits()
        engine = open_source(source, request.schema)
        self.cubes = [engine.aggregate(part.axes, part.moments) for part in request.layout.scans]
        engine.close()

    def release(self):
        """The exact answers of X′, and every estimate by name: of the table and of the frames beside it."""
        exact = exact_answers(self.quote, self.cubes, self.bits)
        noisy = noisy_answers(self.quote, exact, self.bits)
        found = {columns.name: columns.estimate for columns in assemble.estimate_statistics(self.quote, noisy)}
        return exact, found | {frame.name: frame.counts.estimate for frame in assemble.frames(self.quote, noisy)}


def held(estimate, truth, there):
    """How many intervals hold the true value, of those where there is one."""
    inside = (estimate.low <= truth) & (truth <= estimate.high)
    return np.array([int(inside[there].sum()), int(there.sum())])


ALARM = 1e-9
"""The chance that a statistic whose intervals hold with 95 % fails, by the binomial law: of few pairs it has a long tail."""


def assert_covered(found):
    for name, (inside, of) in found.items():
        assert inside >= binom.ppf(ALARM, of, 0.95), (name, inside, of)


# Resized tables: X′ is drawn anew each time, and its statistics are put together from the exact answers ----------------


def coverage(request, spend, source, repetitions):
    """Per statistic: pairs (cell, release) whose interval holds the X′ value, of all pairs where X′ has that value."""
    drawn = Drawn(request, spend, source)
    cells, pairs = request.layout.cells, defaultdict(lambda: np.zeros(2, dtype=np.int64))
    for _ in range(repetitions):
        exact, found = drawn.release()
        for line in drawn.quote.lines:
            pairs[line.statistic.name] += held(found[line.statistic.name], *truth_at(drawn.quote, line, exact, cells))
    return pairs


def truth_at(asked, line, exact, cells):
    """The value of the statistic on X′ itself, and where it is defined."""
    recipe, everywhere = line.recipe, np.ones(cells, dtype=bool)
    answers = {one.asked: values for one, values in zip(asked.measured, exact, strict=True)}
    if isinstance(line.statistic.kind, Std):
        recipe = recipe.variance
    if isinstance(line.statistic.kind, Sum | Mean | Std):
        unit, origin = float(recipe.total.unit), float(recipe.total.origin)
        total = answers[recipe.total.queries[0]].astype(float)
    count = answers[recipe.count.query] if recipe.count.queries else np.full(cells, recipe.count.rows)
    if isinstance(line.statistic.kind, Count):
        return count, everywhere
    if isinstance(line.statistic.kind, Share):
        return count / max(int(count.sum()), 1), everywhere & (count.sum() > 0)
    if isinstance(line.statistic.kind, Sum):
        return unit * total + origin * count, everywhere
    mean, there = total / np.maximum(count, 1), count > 0
    if isinstance(line.statistic.kind, Mean):
        return origin + unit * mean, there
    assert isinstance(line.statistic.kind, Std)
    square = answers[recipe.total.squares[0]] / np.maximum(count, 1) + recipe.total.shift
    return unit * np.sqrt(np.maximum(square - mean**2, 0)), there


def request_on_acs(neighbours):
    return (
        dp.Table(ACS, neighbours)
        .clamp({"income": (0, 150_000)})
        .impute(
            {
                "gender": dp.Weights({"female": 1, "male": 1}),
                "employment": dp.Weights({"employed": 6, "unemployed": 1, "not in labor force": 3}),
                "race": dp.Weights({"white": 7, "black": 1, "asian": 1, "other": 1}),
                "age": dp.Normal(40, 20),
                "income": dp.Uniform(0, 50_000),
                "hrs_work": dp.Uniform(0, 80),
            }
        )
        .where({"age": (16, 110)})
        .resize(2000, proportion="0.9")
        .group_by("gender", "employment", "race")
        .agg(dp.count(), dp.mean("income"), dp.sum("hrs_work"), dp.std("hrs_work"), dp.share())
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", [dp.PureDP(2), dp.ZCDP("0.5"), dp.ApproxDP(1, "1e-6")], ids=lambda s: type(s).__name__)
def test_intervals_hold_the_value_of_the_resized_table(spend):
    """24 cells × 5 statistics; small groups of fewer than 10 persons are among them."""
    found = coverage(request_on_acs(dp.AddRemove()), spend, datasets.path("acs12"), 65)
    inside, pairs = sum(found.values())
    assert pairs > 7_000
    assert inside / pairs >= float(LEVEL) - 0.005
    assert_covered(found)


def personnel():
    branches = ["air force", "army", "marine corps", "navy"]
    schema = dp.Schema(branch=dp.Category(branches), rank=dp.Category(list(range(1, 12))))
    return dp.Table(schema, dp.ReplaceOne(rows=1_414_593)).group_by("branch", "rank").agg(dp.count())


def test_counts_are_covered_at_the_level_and_not_much_more():
    inside, pairs = coverage(personnel(), dp.ZCDP("0.001"), datasets.path("military"), 900)["count"]
    assert pairs >= 50_000
    assert 0.945 <= inside / pairs <= 0.965


def test_a_half_width_of_another_level_would_be_noticed(monkeypatch):
    """The mutant whose intervals hold 90 % fails the tests above."""
    import discreet.quotes.certainty as module

    monkeypatch.setattr(module, "LEVEL", Fraction(90, 100))
    inside, pairs = coverage(personnel(), dp.ZCDP("0.001"), datasets.path("military"), 200)["count"]
    assert inside / pairs < 0.945


def summed(spend):
    """Sums of two noises of about one size: a sum around the midpoint, and midpoint times count; 500 groups of 4 rows."""
    schema = dp.Schema(g=dp.Category(list(range(500))), v=dp.Number(0, 20))
    rows = pl.DataFrame({"g": [i % 500 for i in range(2000)], "v": [i % 21 for i in range(2000)]})
    request = dp.Table(schema, dp.AddRemove()).impute({"v": dp.Uniform()}).group_by("g").agg(dp.count(), dp.sum("v"))
    return coverage(request, spend, rows, 250)["sum_v"]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("spend", [dp.PureDP("0.1"), dp.ZCDP("0.001")], ids=lambda s: type(s).__name__)
def test_sums_of_two_noises_are_covered_at_the_level_and_not_much_more(spend, monkeypatch):
    """The mutant lets each of the two noises lie within a half-width of its own, and is too wide."""
    inside, pairs = summed(spend)
    deviation = (0.95 * 0.05 / pairs) ** 0.5
    assert pairs >= 100_000
    assert abs(inside / pairs - 0.95) <= 6 * deviation
    monkeypatch.setattr(sums, "noises_add_up", lambda *_: False)
    inside, pairs = summed(spend)
    assert inside / pairs > 0.95 + 6 * deviation


# Tables as they are: every statistic by a plain loop over the rows of its group ----------------------------------------

AGES = [0, 18, 65, 110]
LEVELS = [Fraction(0), Fraction(1, 4), Fraction(9, 10), Fraction(1)]


def request_on_groups(neighbours):
    """Groups of 0 to 380 persons, one in three of them with fewer than 10; half of all hours are null."""
    return (
        dp.Table(ACS, neighbours)
        .group_by("gender", "race", "employment")
        .agg(
            dp.count(),
            dp.count("hrs_work"),
            dp.share(),
            dp.sum("age", **SKIP),
            dp.mean("hrs_work", **SKIP),
            dp.variance("hrs_work", **SKIP),
            dp.std("age", weight=4, **SKIP),
            dp.median("age", weight=3, **SKIP),
            dp.quantiles("hrs_work", LEVELS, weight=3, **SKIP),
            dp.histogram("age", AGES),
        )
    )


def groups(frame, request):
    """For every cell of the release the ages and hours of its rows, nulls left out, and how many rows it has."""
    rows = defaultdict(list)
    for row in frame.select("gender", "race", "employment", "age", "hrs_work").iter_rows():
        rows[row[:3]].append(row[3:])
    drawn = Drawn(request, dp.ZCDP(1), frame)
    columns = assemble.group_columns(drawn.quote)
    every = all_rows(columns)
    names = zip(*(one.values(every, find_printed(columns, every)) for one in columns), strict=True)
    cells = [rows[name] for name in names]
    assert sum(map(len, cells)) == len(frame)
    return [
        ([age for age, _ in cell if age is not None], [h for _, h in cell if h is not None], len(cell)) for cell in cells
    ]


def spread(values):
    """The variance, exactly."""
    return Fraction(len(values) * sum(v * v for v in values) - sum(values) ** 2, len(values) ** 2) if values else 0


def quantile(values, q):
    return sorted(values)[max(ceil(q * len(values)), 1) - 1] if values else 0


def truths(cells):
    """For each statistic the true value of each cell and where there is one."""
    total = sum(count for _, _, count in cells)
    hours_there = [bool(hours) for _, hours, _ in cells]
    ages_there = [bool(ages) for ages, _, _ in cells]
    everywhere = [True] * len(cells)
    edges = list(pairwise(AGES))
    found = {
        "count": ([count for _, _, count in cells], everywhere),
        "count_hrs_work": ([len(hours) for _, hours, _ in cells], everywhere),
        "share": ([count / total for _, _, count in cells], everywhere),
        "sum_age": ([sum(ages) for ages, _, _ in cells], everywhere),
        "mean_hrs_work": ([sum(hours) / max(len(hours), 1) for _, hours, _ in cells], hours_there),
        "variance_hrs_work": ([float(spread(hours)) for _, hours, _ in cells], hours_there),
        "std_age": ([sqrt(spread(ages)) for ages, _, _ in cells], ages_there),
        "median_age": ([quantile(ages, Fraction(1, 2)) for ages, _, _ in cells], ages_there),
        "histogram_age": (
            [
                number
                for ages, _, count in cells
                for number in [*(sum(low <= age < high for age in ages) for low, high in edges), count - len(ages)]
            ],
            everywhere * 4,
        ),
    }
    for q, name in zip(LEVELS, ("0", "25", "90", "100"), strict=True):
        found[f"hrs_work_p{name}"] = ([quantile(hours, q) for _, hours, _ in cells], hours_there)
    return {name: (np.array(values), np.array(there)) for name, (values, there) in found.items()}


def tally(frame, neighbours, spend, repetitions):
    """For each statistic how many intervals hold the value, of how many; and the same for groups of fewer than 10 rows."""
    request = request_on_groups(neighbours)
    cells, drawn = groups(frame, request), Drawn(request, spend, frame)
    small, known = np.array([count < 10 for _, _, count in cells]), truths(cells)
    every = {name: np.zeros(2, dtype=np.int64) for name in known}
    few = {name: np.zeros(2, dtype=np.int64) for name in every}
    for _ in range(repetitions):
        _, found = drawn.release()
        assert set(found) == set(every)
        for name, (truth, there) in known.items():
            every[name] += held(found[name], truth, there)
            few[name] += held(found[name], truth, there & np.repeat(small, len(there) // len(small)))
    return every, few


ADDED, REPLACED = dp.AddRemove(), dp.ReplaceOne(rows=2000)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("neighbours", "spend"),
    [(ADDED, dp.PureDP(8)), (REPLACED, dp.ZCDP("0.5")), (REPLACED, dp.PureDP(15)), (ADDED, dp.GDP("0.1"))],
    ids=["pure", "zcdp", "little noise", "much noise"],
)
def test_intervals_hold_the_value_of_groups_of_every_size(neighbours, spend):
    every, few = tally(pl.read_parquet(datasets.path("acs12")), neighbours, spend, 25)
    assert min(of for _, of in few.values()) >= 150
    assert_covered(every)
    assert_covered(few)


def test_intervals_of_a_sixth_of_the_width_would_be_noticed(monkeypatch):
    """The mutant fails for every statistic whose half-widths are put together here; quantiles have their own."""
    for noise in (LaplaceNoise, GaussianNoise):
        whole = noise.half_widths
        monkeypatch.setattr(noise, "half_widths", lambda law, level, whole=whole: whole(law, level) // 6)
    monkeypatch.setattr(SumOfNoises, "half_width", lambda self, level: 0)
    every, _ = tally(pl.read_parquet(datasets.path("acs12")), ADDED, dp.PureDP(8), 25)
    for name, (inside, of) in every.items():
        if not name.startswith(("median", "hrs_work_p")):
            assert inside / of < 0.945, name


@pytest.mark.exhaustive
def test_a_hundred_thousand_pairs_are_covered(capsys):
    """At least 10^5 (cell, release) pairs: of resized tables altogether, of tables as they are for every statistic."""
    resized = coverage(request_on_acs(dp.AddRemove()), dp.PureDP(2), datasets.path("acs12"), 1_200)
    every, few = tally(pl.read_parquet(datasets.path("acs12")), REPLACED, dp.ZCDP("0.5"), 4_500)
    for found in (resized, every, few):
        assert_covered(found)
    assert sum(of for _, of in resized.values()) >= 100_000
    assert min(of for _, of in every.values()) >= 100_000
    with capsys.disabled():
        shown = {name: round(inside / of, 4) for found in (resized, every) for name, (inside, of) in found.items()}
        print(
            f"\nX' inside the interval: {shown}; in groups of fewer than 10:",
            {k: round(a / b, 4) for k, (a, b) in few.items()},
        )
