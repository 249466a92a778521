"""Requests on tables of a few rows, and the two checks that every quote of them has to pass.

`kept` compares all pairs of neighbours in doubles, with everything that is rounded or left out counted against the claim;
`exactly_kept` compares Laplace noise in rationals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, product

import numpy as np

import discreet as dp
from discreet.domain.row_samples import sampling_step
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.plan.plan import resize_of
from discreet.privacy.amplify import Resampling
from discreet.privacy.coordinates import from_coordinates
from discreet.privacy.subsample import Subsample, subsample_of
from discreet.quotes import allocate
from discreet.releases.evaluate import exact_answers

from .literal_rows import Literal, Tables, all_tables
from .output_divergences import (
    distinct,
    exact_noise,
    exact_values,
    far,
    greatest_ratio,
    hockey_stick,
    noisy,
    renyi,
    within,
)
from .test_cube_is_row_level import enumerated

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 3))
HEADER = {"g": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}
RECORDS = list(product(["x", "y", None], [0, 1, 2, 3, None]))
LAWS = {"g": dp.Weights({"x": 1, "y": 2}), "v": dp.Uniform()}
SKIP = {"nulls": "skip"}
PARTS = dp.bins("v", [0, 2, 3])

EPSILONS = (0.0, 0.5, 1.5)
ORDERS = (2, 3)
BEYOND = 1e-12
# A claim that is attained is met but for what is added to a divergence against it: roundings and mass beyond the box.
TIGHT = 1 + 1e-11
ADDED = 2e-11


# Requests ---------------------------------------------------------------------------------------------------------------

PLAIN = {
    "counts": lambda t: t.group_by("g").agg(dp.count()),
    "a condition": lambda t: t.where({"v": (1, 2)}).group_by("g").agg(dp.count()),
    "two conditions": lambda t: t.where({"v": (1, 3), "g": ["x"]}).agg(dp.count()),
    "non-null values": lambda t: t.agg(dp.count(), dp.count("v")),
    "a sum by group": lambda t: t.group_by("g").agg(dp.sum("v", **SKIP)),
    "a sum away from 0": lambda t: t.clamp({"v": (2, 3)}).agg(dp.sum("v", **SKIP)),
    "a mean": lambda t: t.agg(dp.mean("v", **SKIP)),
    "a mean by group": lambda t: t.clamp({"v": (1, 2)}).group_by("g").agg(dp.mean("v", **SKIP)),
    "a variance": lambda t: t.clamp({"v": (0, 2)}).agg(dp.variance("v", **SKIP)),
    "a histogram": lambda t: t.agg(dp.count(), dp.histogram("v", [0, 1, 3])),
    "a table": lambda t: t.agg(dp.tables(["g"], [PARTS])),
    "a median": lambda t: t.agg(dp.median("v", **SKIP, interval=1)),
    "quantiles by group": lambda t: (
        t.where({"g": ["x"]}).group_by(PARTS).agg(dp.quantiles("v", ["0.25"], **SKIP, interval=1))
    ),
    "imputed": lambda t: t.impute(LAWS).clamp({"v": (1, 2)}).group_by("g").agg(dp.count(), dp.sum("v")),
    "an imputed mean": lambda t: t.impute(LAWS).agg(dp.mean("v")),
    "imputed, then clamped": lambda t: t.impute(LAWS).clamp({"g": ["x"]}).group_by("g").agg(dp.count()),
    "clamped, then imputed": lambda t: t.clamp({"g": ["x"], "v": (1, 2)}).impute({"v": dp.Uniform()}).agg(dp.sum("v")),
    "imputed quantiles": lambda t: t.impute(LAWS).agg(dp.median("v", interval=1), dp.count()),
}
# With laws that draw one end of the range, rows that fill the table up are as far as can be from those that are real.
ENDS = {"g": dp.Weights({"x": 1}), "v": dp.Uniform(0, 0)}
DRAWN = {
    "imputed": lambda t: t.impute(LAWS),
    "at an end": lambda t: t.impute(ENDS),
    "clamped again": lambda t: t.impute(LAWS).clamp({"g": ["x"], "v": (1, 2)}),
}
RESIZED = {
    "counts": ("imputed", lambda t: t.group_by("g").agg(dp.count())),
    "counts of zeros": ("at an end", lambda t: t.group_by("g").agg(dp.count())),
    "counts and nulls": ("clamped again", lambda t: t.group_by("g").agg(dp.count())),
    "a condition": ("imputed", lambda t: t.where({"v": (1, 2)}).group_by("g").agg(dp.count())),
    "a sum": ("imputed", lambda t: t.agg(dp.sum("v"))),
    "a sum of zeros": ("at an end", lambda t: t.agg(dp.sum("v"))),
    "a mean of some": ("imputed", lambda t: t.where({"v": (2, 3)}).agg(dp.mean("v"))),
    "a variance": ("clamped again", lambda t: t.agg(dp.variance("v"), dp.mean("v"))),
    "a median": ("imputed", lambda t: t.agg(dp.median("v", interval=1))),
    "a histogram and a sum": ("imputed", lambda t: t.agg(dp.histogram("v", [0, 2, 3]), dp.sum("v"))),
}
RESIZES = [(2, "1/2"), (2, "3/4"), (3, 1), (2, "3/2"), (3, 2)]
RELATIONS = [dp.ReplaceOne(rows=2), dp.AddRemove()]
PERSONS = [dp.ReplaceOne(rows=3, rows_per_person=2), dp.AddRemove(rows_per_person=2)]
SPENDS = [dp.PureDP("0.75"), dp.ApproxDP(1, "0.1"), dp.ApproxDP("0.5", "1e-9"), dp.ZCDP(2), dp.GDP(2)]


@dataclass(frozen=True)
class Case:
    """A request, without a resize or with one, or of a sample, and who is compared."""

    name: str
    neighbours: object
    resize: tuple | None = None
    sample: str | int | None = None

    def __str__(self) -> str:
        resize = "" if self.resize is None else f", {self.resize[0]} rows at {self.resize[1]}"
        sample = "" if self.sample is None else f", sample {self.sample}"
        return f"{self.name}{resize}{sample}, {self.neighbours}"

    @property
    def plan(self):
        table = dp.Table(SCHEMA, self.neighbours)
        if self.sample is not None:
            whole = isinstance(self.sample, int)
            # The sample is the last step that changes rows, whatever the request asks of them afterwards.
            steps = PLAIN[self.name](table).steps
            step = sampling_step(None if whole else self.sample, self.sample if whole else None)
            return replace(PLAIN[self.name](table), steps=(*steps, step))
        if self.resize is None:
            return PLAIN[self.name](table)
        prepared, request = RESIZED[self.name]
        return request(DRAWN[prepared](table).resize(self.resize[0], proportion=self.resize[1]))

    def quoted(self, spend):
        return allocate.quote(self.plan, spend)


ALL_PLAIN = [Case(*one) for one in product(PLAIN, RELATIONS)]
ALL_RESIZED = [Case(*one) for one in product(RESIZED, RELATIONS, RESIZES)]
PERSON_CASES = [
    *[Case(name, one) for one in PERSONS for name in ("counts", "a sum away from 0", "a mean", "imputed, then clamped")],
    *[Case("counts", one, resize) for one in PERSONS for resize in [(2, "2/3"), (3, 1), (3, "4/3")]],
]


SAMPLES = ["1/2", "1/4", 1, 2]
ALL_SAMPLED = [Case(name, one, None, sample) for name, one, sample in product(PLAIN, RELATIONS, SAMPLES)]
SAMPLED_PERSONS = [
    Case(name, one, None, sample)
    for name, one, sample in product(("counts", "a sum away from 0", "a mean"), PERSONS, ["1/2", 1, 2])
]


@cache
def quote_of(case: Case, spend):
    return case.quoted(spend)


@cache
def tables_of(case: Case, spend, most: int) -> Tables:
    """All tables of a case; of quantiles the tree, and so the answers, depend on the spend."""
    return all_tables(Literal(quote_of(case, spend)), RECORDS, most)


# What a quote claims ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """How much was compared: ordered pairs of tables, those that are no moved copies of others, points of these."""

    pairs: int
    distinct: int
    points: int


def inner_of(quoted):
    """What all noise together guarantees for one row of the table that is asked: Laplace noise, or Gaussian."""
    made = [one.guarantee for one in quoted.measured]
    if isinstance(made[0], dp.PureDP):
        return dp.PureDP(quoted.joint * sum(one.epsilon for one in made))
    squared = sum((2 * one.rho if isinstance(one, dp.ZCDP) else one.mu**2 for one in made), start=Fraction(0))
    return from_coordinates(dp.GDP, (quoted.joint * squared,))


def resampling_of(plan) -> Resampling | Subsample | None:
    resize, drawn = resize_of(plan), plan.facts.drawn
    if drawn is not None and resize is None:
        return subsample_of(drawn, plan.neighbours)
    return None if resize is None else Resampling(resize.rows, resize.proportion, plan.neighbours)


def allowed(quoted) -> Callable[[float], float]:
    """δ(ε) that the quote allows for, rounded up: of its measure and, where it samples, of the theorem it relies on."""
    sampled, inner = resampling_of(quoted.plan), inner_of(quoted)
    rows = quoted.plan.neighbours.rows_per_person
    known = inner.group(rows) if sampled is None else sampled.profile(inner)
    return lambda epsilon: min(delta_of(quoted.spend, epsilon), delta_of(known, epsilon))


@cache
def delta_of(profile, epsilon: float) -> float:
    return profile.delta_at(Fraction(epsilon))


def kept(quoted, tables: Tables, most: float = float("inf")) -> Compared:
    """How much was compared, none where that were more than `most` points: nothing exceeds what the quote claims.

    Raises:
        AssertionError: a divergence is larger, or may be.
    """
    noises = noises_of(quoted)
    found = distinct(tables.laws, tables.pairs)
    wide = np.array([far(law, BEYOND) for law in noises])
    points = sum(float(np.prod(1.0 + pair.hull + 2 * wide[list(pair.coordinates)])) for pair in found)
    if points > most:
        return Compared(0, 0, 0)
    delta, shifts = allowed(quoted), farthest(tables, quoted.group)
    epsilons = {*EPSILONS, float(getattr(quoted.spend, "epsilon", 0))}
    for pair in found:
        both = noisy(pair, noises, BEYOND)
        if isinstance(quoted.spend, dp.PureDP):
            assert greatest_ratio(both) <= float(quoted.spend.epsilon) * TIGHT
        for epsilon in epsilons:
            assert hockey_stick(both, epsilon) <= delta(epsilon) * TIGHT + ADDED
        if isinstance(quoted.spend, dp.ZCDP) and len(pair.coordinates) <= 2:
            for order, most_at in curve_of(quoted):
                assert renyi(pair, noises, order, shifts) <= most_at * TIGHT
    return Compared(sum(found.values()), len(found), int(points))


def curve_of(quoted) -> list[tuple[int, float]]:
    """D_α that the quote allows for at some orders: ρα, and where it samples that of Theorem Y1."""
    line = [float(quoted.spend.rho * order) for order in ORDERS]
    sampled = resampling_of(quoted.plan)
    if not isinstance(sampled, Resampling):
        return list(zip(ORDERS, line, strict=True))
    inner = quoted.joint * sum(one.guarantee.rho for one in quoted.measured)
    curve = sampled.renyi(dp.ZCDP(inner), ORDERS).curve
    return [(order, min(one, float(tau))) for order, one, (_, tau) in zip(ORDERS, line, curve, strict=True)]


def noises_of(quoted) -> list:
    """The law of the noise of each coordinate of the answers."""
    return [quoted.measured[owner].law.independent for owner in Literal(quoted).owner]


def farthest(tables: Tables, rows: int) -> list[int]:
    """How far each answer moves, at most, when so many rows appear, vanish or are replaced."""
    added = np.array([answer for law in tables.contributions for answer in law])
    added = np.concatenate([added, 0 * added[:1]])
    return (rows * (added.max(axis=0) - added.min(axis=0))).tolist()


# Laplace noise in rationals ---------------------------------------------------------------------------------------------


def exactly_kept(quoted, tables: Tables) -> Compared:
    """The same for the greatest ratio, without any rounding: for an ε at which all probabilities are rational.

    The bound is E e^{εK}, with K rows of the table that is asked that one person moves (Theorem R3); that the quote takes
    no more than that from the spend is decided in rationals as well.
    """
    sampled, inner = resampling_of(quoted.plan), inner_of(quoted)
    rows = quoted.plan.neighbours.rows_per_person
    moved = (*[Fraction(0)] * rows, Fraction(1)) if sampled is None else sampled.law
    assert (inner.group(rows) if sampled is None else inner.through(sampled.law)).epsilon <= quoted.spend.epsilon
    noise = exact_noise([law.scale for law in noises_of(quoted)], inner.epsilon)
    most = sum(chance * noise.factor(k) for k, chance in enumerate(moved))
    found = distinct(tables.laws, tables.pairs)
    points = 0
    for pair in found:
        values = exact_values(pair, noise)
        points += values.shape[1]
        assert within(values, most)
    return Compared(sum(found.values()), len(found), points)


# Other noise, and the cube ----------------------------------------------------------------------------------------------


def with_scaled_noise(quoted, factor: Fraction):
    """The quote with noise of `factor` times the standard deviation, unchanged otherwise."""

    def scaled(law):
        if isinstance(law, LaplaceNoise):
            return replace(law, scale=law.scale * factor)
        return replace(law, sigma2=law.sigma2 * factor**2)

    return replace(quoted, measured=tuple(replace(one, law=scaled(one.law)) for one in quoted.measured))


def answers_on_the_cube(quoted, rows, monkeypatch):
    """The law of the exact answers as a release computes them, over all outcomes of the samplers."""
    (brought,) = quoted.plan.layout.scans
    cube = ReferenceEngine(HEADER, rows).aggregate(brought.axes, brought.moments)
    return enumerated(lambda: tuple(map(int, chain(*exact_answers(quoted, [cube], None)))), monkeypatch)
