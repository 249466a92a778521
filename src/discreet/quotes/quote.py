"""What a request costs and how exact it will be, in values and in words. Everything in a quote is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Dispersion, LevelCounts, Query, Squares, WeightedSum
from discreet.domain.words import card, one_line, request_text
from discreet.errors import InternalError, unreachable
from discreet.exact.numbers import common_denominator, decimal_text
from discreet.mechanisms import Noise, Sensitivity, law_of_cell, noise_text
from discreet.noise.single.sums import SumOfNoises
from discreet.plan.plan import Plan, resize_of
from discreet.privacy.amounts import amount_text
from discreet.privacy.coordinates import Budget
from discreet.privacy.measures import Target
from discreet.statistics.kinds import (
    Count,
    Histogram,
    Mean,
    Median,
    Quantiles,
    Share,
    Statistic,
    Std,
    Sum,
    Tables,
    Variance,
    levels_of,
)
from discreet.statistics.quantiles import rank_half_width
from discreet.totals.beside import Beside
from discreet.totals.structure import Structure

__all__ = [
    "LEVEL",
    "Alternative",
    "ErrorForm",
    "Line",
    "Measured",
    "Noise",
    "PublicCells",
    "PublicCount",
    "Quote",
    "accuracy_text",
    "error_form",
    "expected_error",
    "interval_ranks",
    "noises_add_up",
    "sum_half_widths",
    "totals_text",
]

LEVEL = Fraction(95, 100)
"""The level of every interval."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A mechanism that would give the same guarantee, and the standard deviation of its noise in a cell."""

    mechanism: str
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One primitive query with its noise.

    Args:
        query: what is asked.
        share: its share of the spend.
        sensitivity: how far the answers of the tables that are compared lie apart: neighbours or, beside exact totals and
            without a resize, semi-adjacent tables.
        ordinary: the same for one replaced row, totals or not: what an ordinary statement would be made with.
        guarantee: what it costs, for those tables.
        law: the noise; of independent cells, or on the lattice that the totals leave free; how quantiles are chosen.
        alternatives: the mechanisms there were, the chosen one first, then from the least noise to the most.
    """

    query: Query
    share: Fraction
    sensitivity: Sensitivity
    ordinary: Sensitivity
    guarantee: Target
    law: Noise
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class PublicCount:
    """A count that needs no noise, because it is public already: the n of ReplaceOne or of a resize."""

    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class PublicCells:
    """Counts that need no noise, because the published totals say them."""

    structure: Structure

    def counts(self) -> NDArray[np.int64]:
        """The counts of all cells.

        Raises:
            InternalError: the totals are not published yet.
        """
        counts = self.structure.counts()
        if counts is None:
            raise InternalError("the totals are not published yet")
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """How one statistic is put together: a mean is origin + unit·(total/count), a sum unit·total + origin·count, and so on.

    Args:
        statistic: what is asked.
        total: the position of the sum among the measured queries.
        count: that of the count, or the public count.
        squares: that of the sum of squares.
        tree: that of the tree of quantiles.
        tables: those of the tables of counts: one for a histogram, one for each margin.
        every: the number of rows of all groups, where it is public and a share is asked.
        unit: what one step of the sum is worth.
        origin: what is added for every row.
        level: each noisy part lies within its half-width with at least this probability, so that all those of a statistic,
            or of the whole release where its intervals hold together, do with probability at least `LEVEL`; see `levels`.
        choice: the position of the choice of quantiles; without one their values are read from the tree.
    """

    statistic: Statistic
    total: int | None
    count: int | PublicCount | PublicCells | None
    squares: int | None
    tree: int | None
    tables: tuple[int, ...]
    every: int | None
    unit: Fraction
    origin: Fraction
    level: Fraction
    choice: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quote:
    """What a request costs and how exact it will be, before anything is read.

    Args:
        plan: the request.
        spend: what it costs, for one person of the original data, in the measure of the budget; beside exact totals the
            effective amount.
        group: how many rows of the table that is asked can differ between the tables that are compared: rows per person,
            times the copies of a resize, or the semi-adjacency beside exact totals.
        measured: the primitive queries with their noise.
        lines: one for each statistic.
        beside: the exact totals, if there are any.
        advertised: what the same noise would be called if nobody counted the totals; the spend where there are none.
        joint: what all queries cost together, relative to one by one: the noise is smaller by that.
    """

    plan: Plan
    spend: Budget
    group: int
    measured: tuple[Measured, ...]
    lines: tuple[Line, ...]
    beside: Beside | None
    advertised: Budget
    joint: Fraction = Fraction(1)

    @property
    def expected(self) -> tuple[tuple[str, float], ...]:
        """For each statistic its name and the half-width of its interval, in a group of 1,000 rows where that matters."""
        return tuple((line.statistic.name, expected_error(self, line, rows=1000)) for line in self.lines)

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} ±{error:.4g}" for name, error in self.expected)
        return one_line("Quote:", f"{amount_text(self.spend)};", f"expected error {errors}")

    def _repr_html_(self) -> str:
        asked = request_text(self.plan.group_by, [statistic.name for statistic in self.plan.statistics])
        noise = [(one.query.words(), f"{decimal_text(100 * one.share, 3)} %", noise_text(one.law)) for one in self.measured]
        errors = [text.strip().split(": ", 1) for text in accuracy_text(self)[1:]]
        facts = [("asks for", asked), ("cost", self.spend.explain())]
        heading = accuracy_text(self)[0].rstrip(":")
        return card("Quote", facts, [("query", "share", "noise"), *noise], [("statistic", heading), *errors])

    def __str__(self) -> str:
        """The quote in words: cost, totals, how the source is read, division of the spend, noise, expected errors."""
        lines = [f"cost: {self.spend.explain()}"]
        resize = resize_of(self.plan)
        if self.beside is not None:
            lines += totals_text(self, self.beside)
        if self.group > 1 and (self.beside is None or resize is not None):
            lines.append(f"one person can move {self.group} rows of the table that is asked; the noise allows for that")
        if resize is not None and resize.proportion < 1 and not self.spend.amplified:
            lines.append("sampling saves nothing in this measure; under PureDP or ApproxDP the noise would be smaller")
        lines.append(str(self.plan.layout))
        for one in self.measured:
            share = decimal_text(100 * one.share, 3)
            lines.append(f"  {one.query.words()}: {share} % of the spend; noise {noise_text(one.law)}")
            lines += [f"    {line}" for line in _choice_text(one)]
        if self.joint < 1:
            together = decimal_text(self.joint, 3)
            lines.append(f"one row cannot do its worst to all of them at once: together they cost {together} of the sum")
        return "\n".join([*lines, *accuracy_text(self)])


def accuracy_text(quote: Quote) -> list[str]:
    """How exact each statistic will be, below a line that says what these numbers mean."""
    together = "; all intervals hold together" if quote.plan.intervals == "simultaneous" else ""
    what = f"half of the 95 % interval; means, variances and shares in a group of 1,000 rows{together}"
    lines = [f"expected error ({what}):"]
    for line, (name, error) in zip(quote.lines, quote.expected, strict=True):
        lines.append(f"  {name}: ±{error:.6g}{_rank_text(quote, line)}")
    return lines


def _rank_text(quote: Quote, line: Line) -> str:
    """What the error of quantiles counts, and what it costs to be sure of it."""
    if not levels_of(line.statistic.kind):
        return ""
    if line.choice is None:
        return " rows in rank"
    ranks = interval_ranks(quote, line)
    certain = f"its interval reaches ±{ranks:.6g} rows" if ranks < float("inf") else "its interval is the whole range"
    return f" rows in rank; {certain}"


def totals_text(quote: Quote, beside: Beside) -> list[str]:
    """What the totals mean for the guarantee."""
    adjacency = beside.adjacency
    bound = "" if adjacency.exact and beside.totals is not None else " at most"
    named = ", ".join(beside.invariants.columns)
    compared = f"tables with the same totals that differ in{bound} a = {adjacency.a} rows ({adjacency.reason})"
    lines = [f"exact totals of {named} stand beside it, unprotected: compared are {compared}"]
    if beside.totals is None:
        later = "once they are, a can only become smaller, and the noise is chosen for them"
        lines.append(f"the totals are not published yet; {later}")
    if quote.advertised != quote.spend:
        lines.append(f"the same noise without counting the totals would be advertised as: {quote.advertised.explain()}")
    if resize_of(quote.plan) is None:
        for one in quote.measured:
            words = quote.spend.totals_words(one.ordinary, one.sensitivity, adjacency.a)
            lines += [f"  {one.query.words()}: {words}"] if words else []
    return lines


def _choice_text(one: Measured) -> list[str]:
    """Why this mechanism: the standard deviations of all that would give the same guarantee."""
    if len(one.alternatives) < 2:
        return []
    shown_ones = "; ".join(f"{other.mechanism} {other.deviation:.4g}" for other in one.alternatives)
    return [f"the least noise of those that give this guarantee (standard deviation in a cell): {shown_ones}"]


def noises_add_up(measured: Sequence[Measured], total: object, count: object) -> bool:
    """Whether a sum is put together from a noisy sum and a noisy count whose noises are independent from cell to cell."""
    return all(isinstance(part, int) and measured[part].law.independent is not None for part in (total, count))


def sum_half_widths(measured: Sequence[Measured], line: Line) -> int | NDArray[Any]:
    """A w with P(|unit·(noise of the sum) + origin·(noise of the count)| ≤ w/scale) ≥ level, as `half_widths` gives it.

    `scale` is the common denominator of unit and origin. Where both noises are independent, w is that of the law of
    their sum; else each of them has to lie within its own half-width.
    """
    scale = common_denominator([line.unit, line.origin])
    factors = {line.total: abs(int(line.unit * scale)), line.count: abs(int(line.origin * scale))}
    laws = {part: measured[part].law for part, factor in factors.items() if isinstance(part, int) and factor}
    if len(laws) < 2 or not noises_add_up(measured, line.total, line.count):
        wide: int | NDArray[Any] = 0
        for part, law in laws.items():
            wide = wide + factors[part] * np.asarray(law.half_widths(line.level), dtype=np.object_)
        return wide
    terms = tuple((factors[part], law_of_cell(law)) for part, law in laws.items())
    # Two bounds of one width: the smaller one is as good as the other, because both are known before anything is drawn.
    apart = sum(factor * law.half_width(1 - (1 - line.level) / 2) for factor, law in terms)
    found = min(apart, SumOfNoises(terms).half_width(line.level))
    for law in laws.values():
        if law.held is not None:
            widths = np.asarray(law.half_widths(line.level), dtype=np.object_)  # 0 where there is no noise
            widths[law.held] = found
            return widths
    return found


@dataclass(frozen=True, slots=True)
class ErrorForm:
    """How an expected error follows from the half-widths of single noises.

    Args:
        terms: positions of measured queries, each with the factor of its half-width; those of public counts are left out.
        take: "sum" or "largest" of the factors times the half-widths.
        root: 1, or 2 where the square root of that is the error.
    """

    terms: tuple[tuple[int, Fraction], ...]
    take: str = "sum"
    root: int = 1


def error_form(quote: Quote, line: Line, *, rows: int) -> ErrorForm | None:
    """The form of a statistic's expected error; None for quantiles, and for sums of two independent noises."""
    kind = line.statistic.kind
    match kind:
        case Median() | Quantiles():
            return None
        case Histogram() | Tables():
            return ErrorForm(tuple((table, Fraction(1)) for table in line.tables), "largest")
        case Count():
            return _summed([(line.count, Fraction(1))])
        case Share():
            return _summed([(line.count, Fraction(1, rows))])
        case Sum():
            form = _summed([(line.total, abs(line.unit)), (line.count, abs(line.origin))])
            added = len(form.terms) > 1 and noises_add_up(quote.measured, line.total, line.count)
            return None if added else form
        case Mean():
            return _summed([(line.total, line.unit / rows)])
        case Variance() | Std():
            return _summed(_spread(quote, line, rows), root=2 if isinstance(kind, Std) else 1)
    raise unreachable(kind)


def _summed(factors: Sequence[tuple[object, Fraction]], root: int = 1) -> ErrorForm:
    return ErrorForm(tuple((part, factor) for part, factor in factors if isinstance(part, int) and factor), root=root)


def _spread(quote: Quote, line: Line, rows: int) -> list[tuple[object, Fraction]]:
    """The noises behind a variance with their factors."""
    unit, asked = line.unit, None if line.squares is None else quote.measured[line.squares].query
    match asked:
        case Dispersion(coarse=coarse, rows=every):
            return [(line.squares, unit**2 * Fraction(coarse, every**2))]
        case Squares() | None:
            # That of the mean square, and twice the mean (at most half of the range) times its own error.
            mean = 2 * abs(unit) * _reach(quote, line) * unit / rows
            return [(line.squares, unit**2 / rows), (line.total, mean)]
    raise InternalError("a variance needs a sum of squares")


def expected_error(quote: Quote, line: Line, *, rows: int) -> float:
    """The largest half-width of a statistic's interval in any cell; where it depends on a count, in a group of `rows` rows.

    For quantiles it is that of the rank, in rows; of chosen ones that of the value, which is closer than its interval says.
    """
    if levels_of(line.statistic.kind):
        return _rank_error(quote, line)
    form = error_form(quote, line, rows=rows)
    if form is None or isinstance(line.statistic.kind, Sum):
        widest = int(np.max(sum_half_widths(quote.measured, line), initial=0))
        return float(Fraction(widest, common_denominator([line.unit, line.origin])))
    sizes = [factor * _largest(quote, part, line.level) for part, factor in form.terms]
    error = float(max(sizes, default=Fraction(0)) if form.take == "largest" else sum(sizes, Fraction(0)))
    return error if form.root == 1 else error**0.5


def _rank_error(quote: Quote, line: Line) -> float:
    law = None if line.choice is None else quote.measured[line.choice].law
    expected = None if law is None else law.rank_error(LEVEL)
    return interval_ranks(quote, line) if expected is None else expected


def interval_ranks(quote: Quote, line: Line) -> float:
    """The largest half-width, in rows of rank, that the intervals of quantiles invert; infinite if nothing is spent."""
    one = None if line.tree is None else quote.measured[line.tree]
    if one is None or not isinstance(one.query, LevelCounts):
        return float("inf")
    tree, law = one.query.tree, law_of_cell(one.law)
    return max(rank_half_width(tree, law, q, level=line.level) for q in levels_of(line.statistic.kind))


def _largest(quote: Quote, part: int, level: Fraction) -> int:
    return int(np.max(quote.measured[part].law.half_widths(level), initial=0))


def _reach(quote: Quote, line: Line) -> int:
    total = None if line.total is None else quote.measured[line.total].query
    return max(map(abs, total.reach())) if isinstance(total, WeightedSum) else 0
