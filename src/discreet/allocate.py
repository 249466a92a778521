"""From a plan and a spend to a quote: which queries are asked, how the spend is divided, which noise each one gets.

Pure: it knows the plan and the budget, never a row and no randomness. Everything in a quote is public, and a release does
exactly what its quote says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

from discreet.errors import ArgumentError, InternalError, PlanError
from discreet.exact import decimal_text, exact, rational_gcd, text
from discreet.mechanisms import Sensitivity, law_for, sensitivity_of
from discreet.neighbours import ReplaceOne
from discreet.noise.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.plan import Plan, layout, resize_of, table_facts
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.amplify import Resampling
from discreet.privacy.coordinates import Budget, coordinates, scale
from discreet.queries import NonNullCount, Query, RowCount, WeightedSum, reach, shown
from discreet.schema import Number
from discreet.statistics import Count, Mean, Statistic, Sum
from discreet.steps import NumberFacts, TableFacts, Where, WhereIn

__all__ = ["LEVEL", "Line", "Measured", "PublicCount", "Quote", "expected_error", "law_json", "quote"]

LEVEL = Fraction(95, 100)
"""The level of every interval."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One primitive query with its noise: what it costs is `guarantee`, for one row of the table that is asked."""

    query: Query
    share: Fraction
    sensitivity: Sensitivity
    guarantee: PureDP | ZCDP | GDP
    law: Law


@dataclass(frozen=True, slots=True)
class PublicCount:
    """A count that needs no noise, because it is public already: the n of ReplaceOne or of a resize."""

    rows: int


@dataclass(frozen=True, slots=True)
class Line:
    """How one statistic is put together: value = origin + unit·(sum/count), or unit·sum + origin·count, or the count.

    `total` and `count` are positions among the measured queries; `half_total` and `half_count` bound their noise, together
    with probability at least `LEVEL`.
    """

    statistic: Statistic
    total: int | None
    count: int | PublicCount | None
    unit: Fraction
    origin: Fraction
    half_total: int
    half_count: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What a request costs and how exact it will be, before anything is read.

    Args:
        plan: the request.
        spend: what it costs, for one person of the original data, in the measure of the budget.
        group: how many rows of the table that is asked one person can move: rows per person, times the copies of a resize.
        measured: the primitive queries with their noise.
        lines: one for each statistic.
    """

    plan: Plan
    spend: Budget
    group: int
    measured: tuple[Measured, ...]
    lines: tuple[Line, ...]

    @property
    def expected(self) -> tuple[tuple[str, float], ...]:
        """For each statistic its name and the half-width of its interval, in a group of 1,000 rows where that matters."""
        return tuple((line.statistic.name, expected_error(line, rows=1000)) for line in self.lines)

    def __str__(self) -> str:
        """The quote in words: cost, division of the spend, noise, expected errors."""
        lines = [f"cost: {self.spend.explain()}"]
        if self.group > 1:
            lines.append(f"one person can move {self.group} rows of the table that is asked; the noise allows for that")
        resize = resize_of(self.plan)
        if resize is not None and resize.proportion < 1 and isinstance(self.spend, ZCDP | GDP):
            lines.append("sampling saves nothing in this measure; under PureDP or ApproxDP the noise would be smaller")
        for one in self.measured:
            share = decimal_text(100 * one.share, 3)
            lines.append(f"  {shown(one.query)}: {share} % of the spend; noise {_law_text(one.law)}")
        lines.append("expected error (half of the 95 % interval; means in a group of 1,000 rows):")
        lines += [f"  {name}: ±{error:.6g}" for name, error in self.expected]
        return "\n".join(lines)


def _law_text(law: Law) -> str:
    """The law for people: its parameter exactly when that is short, else to six digits; a release states it exactly."""
    name, parameter = law_json(law).items()
    written = parameter[1] if len(parameter[1]) <= 12 else "about " + decimal_text(exact(parameter[1], parameter[0]))
    return f"{name[1]}, {parameter[0]} {written}"


def expected_error(line: Line, *, rows: int) -> float:
    """The half-width of a statistic's interval; for a mean, at most this in a group of `rows` rows."""
    if isinstance(line.statistic, Count):
        return float(line.half_count)
    reach = line.unit * line.half_total + abs(line.origin) * line.half_count
    return float(reach if isinstance(line.statistic, Sum) else (line.unit * line.half_total) / rows)


def law_json(law: Law) -> dict[str, str]:
    """The law of a noise as canonical JSON values: its name and its exact parameter."""
    match law:
        case DiscreteLaplace(scale=parameter):
            return {"noise": "discrete Laplace", "scale": text(parameter)}
        case RoundedGaussian(sigma2=parameter):
            return {"noise": "rounded Gaussian", "variance": text(parameter)}
    raise InternalError("a noise law without a name")


def quote(plan: Plan, spend: Budget) -> Quote:
    """The quote of a plan: its queries, the division of the spend in proportion to the weights, and the noise of each.

    Raises:
        PlanError: the request asks only for what is public already.
    """
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    weights = _weights(plan, facts)
    if not weights:
        raise PlanError("the request asks only for numbers that are public already; nothing needs to be released")
    # A target of 0 (Laplace noise at ε = 0, Gaussian noise at a δ below every double) is no candidate.
    targets = [target for target in _row_targets(plan, spend) if any(coordinates(target))]
    if not targets:
        raise PlanError("spend: is nothing; spend more than 0")
    candidates = [_measured(plan, facts, weights, target) for target in targets]
    measured = min(candidates, key=_spread)
    lines = tuple(_line(plan, facts, statistic, measured) for statistic in plan.statistics)
    return Quote(plan, spend, _moved_rows(plan), measured, lines)


def _row_targets(plan: Plan, spend: Budget) -> tuple[PureDP | ZCDP | GDP, ...]:
    """Guarantees for one row of the table that is asked that give `spend` to one person of the original data.

    After a resize they are the functional parameters of the whole release (Theorems R1 to R3): everything that reads the
    sample is composed inside and converted once. Otherwise group privacy over the rows of a person, inverted exactly.
    Under ApproxDP there are two, and the less noisy mechanism is taken.
    """
    sampled = _resampling(plan)
    if isinstance(spend, ApproxDP):
        pure = _row_targets(plan, PureDP(spend.epsilon))
        if not spend.delta > 0:
            return pure
        rows = plan.neighbours.rows_per_person
        gaussian = GDP(GDP.for_approx(spend.epsilon, spend.delta).mu / rows) if sampled is None else sampled.gaussian(spend)
        return (*pure, gaussian)
    match spend:
        case PureDP(epsilon=epsilon):
            return (PureDP(epsilon / plan.neighbours.rows_per_person) if sampled is None else sampled.functional(spend),)
        case ZCDP(rho=rho):
            return (ZCDP(rho / plan.neighbours.rows_per_person**2) if sampled is None else sampled.functional(spend),)
        case GDP(mu=mu):
            return (GDP(mu / plan.neighbours.rows_per_person) if sampled is None else sampled.functional(spend),)


def _resampling(plan: Plan) -> Resampling | None:
    resize = resize_of(plan)
    return None if resize is None else Resampling(resize.rows, resize.proportion, plan.neighbours)


def _moved_rows(plan: Plan) -> int:
    """How many rows of the table that is asked one person can move at most."""
    sampled = _resampling(plan)
    return plan.neighbours.rows_per_person if sampled is None else sampled.most


def _spread(measured: Sequence[Measured]) -> float:
    """The sum of the logarithms of the noises' standard deviations: smaller is better, whatever the units."""
    return sum(log(max(one.law.variance(), 1e-300)) for one in measured)


def _measured(
    plan: Plan, facts: TableFacts, weights: dict[Query, Fraction], target: PureDP | ZCDP | GDP
) -> tuple[Measured, ...]:
    cells = layout(plan).cells
    # After a resize n is fixed: sensitivities on the resized table are those of replace-one, whatever the outer relation.
    neighbours = plan.neighbours if facts.rows is None else ReplaceOne(facts.rows)
    total = sum(weights.values())
    measured = []
    for query, weight in weights.items():
        least, most = reach(query)
        may_skip = _may_skip(plan, facts, query)
        sensitivity = sensitivity_of(least, most, cells=cells, may_skip=may_skip, neighbours=neighbours)
        share = weight / total
        part = scale(target, share)
        if isinstance(part, ApproxDP):
            raise InternalError("a mechanism guarantees no approximate DP by itself")
        try:
            law = law_for(sensitivity, part)
        except ArgumentError:
            raise PlanError(
                f"spend: leaves a share of {decimal_text(share, 3)} for '{shown(query)}', which is too little: the noise "
                "would be beyond 1e17 steps of the grid; spend more, or take a coarser step or tighter bounds"
            ) from None
        measured.append(Measured(query, share, sensitivity, part, law))
    return tuple(measured)


def _may_skip(plan: Plan, facts: TableFacts, query: Query) -> bool:
    """Whether a row can contribute nothing at all: filtered out, in none of the bins, or null."""
    if any(isinstance(step, Where | WhereIn) for step in plan.steps) or plan.group_by:
        # With groups a row may lie outside all bins; where it cannot, the cross-cell bound is the larger one anyway.
        return True
    return not isinstance(query, RowCount) and facts[query.column].nullable


def _weights(plan: Plan, facts: TableFacts) -> dict[Query, Fraction]:
    """The distinct primitive queries, each with the greatest weight of the statistics that share it."""
    weights: dict[Query, Fraction] = {}
    for statistic in plan.statistics:
        for query in _queries(plan, facts, statistic):
            weights[query] = max(weights.get(query, Fraction(0)), statistic.weight)
    return weights


def _queries(plan: Plan, facts: TableFacts, statistic: Statistic) -> list[Query]:
    needed: list[Query] = []
    counted = _count_query(facts, statistic.column)
    centred = isinstance(statistic, Count | Mean) or _counts_anyway(plan, facts, counted)
    if centred and _public_rows(plan, facts, counted) is None:
        needed.append(counted)
    if not isinstance(statistic, Count):
        total = _sum_query(facts, statistic.column, centred=centred)
        if total[0] is not None:
            needed.append(total[0])
    return needed


def _counts_anyway(plan: Plan, facts: TableFacts, counted: Query) -> bool:
    """Whether the count behind a sum is public, or asked by another statistic of the request at no extra cost."""
    if _public_rows(plan, facts, counted) is not None:
        return True
    others = (s for s in plan.statistics if isinstance(s, Count | Mean))
    return any(_count_query(facts, other.column) == counted for other in others)


def _count_query(facts: TableFacts, column: str | None) -> Query:
    return NonNullCount(column) if column is not None and facts[column].nullable else RowCount()


def _public_rows(plan: Plan, facts: TableFacts, counted: Query) -> int | None:
    """The count, if it is public: all rows of a table whose n is public (soundness 6)."""
    filtered = any(isinstance(step, Where | WhereIn) for step in plan.steps)
    whole = not plan.group_by and not filtered and isinstance(counted, RowCount)
    return facts.rows if whole else None


def _sum_query(facts: TableFacts, column: str, *, centred: bool) -> tuple[WeightedSum | None, Fraction, Fraction]:
    """The integer query behind a sum, with unit and origin: Σx = unit·query + origin·count. None when it is always 0.

    Centred at the midpoint of the bounds, which halves the reach of a record (soundness 7), when a count is at hand to
    move it back; otherwise taken from 0.
    """
    known = facts[column]
    if not isinstance(known, NumberFacts) or not isinstance(known.column, Number):
        raise InternalError(f"column '{column}' has no sum")
    lower, upper = known.column.value(known.low), known.column.value(known.high)
    origin = (lower + upper) / 2 if centred else Fraction(0)
    unit = rational_gcd(lower - origin, known.column.step if known.high > known.low else Fraction(0))
    if unit == 0:
        return None, Fraction(1), origin
    slope = int(known.column.step / unit) if known.high > known.low else 0
    return WeightedSum(column, int((lower - origin) / unit), slope, known.high - known.low), unit, origin


def _line(plan: Plan, facts: TableFacts, statistic: Statistic, measured: tuple[Measured, ...]) -> Line:
    places = {one.query: position for position, one in enumerate(measured)}
    counted = _count_query(facts, statistic.column)
    public = _public_rows(plan, facts, counted)
    count: int | PublicCount | None = PublicCount(public) if public is not None else places.get(counted)
    if isinstance(statistic, Count):
        return Line(statistic, None, count, Fraction(1), Fraction(0), 0, _half(measured, [count])[0])
    centred = isinstance(statistic, Mean) or _counts_anyway(plan, facts, counted)
    query, unit, origin = _sum_query(facts, statistic.column, centred=centred)
    total = None if query is None else places[query]
    if isinstance(statistic, Sum) and origin == 0:
        count = None
    half_total, half_count = _half(measured, [total, count])
    return Line(statistic, total, count, unit, origin, half_total, half_count)


def _half(measured: tuple[Measured, ...], parts: Sequence[int | PublicCount | None]) -> list[int]:
    """Half-widths for the noisy parts, at a level that makes all of them hold together with `LEVEL` (union bound)."""
    noisy = sum(isinstance(part, int) for part in parts)
    level = 1 - (1 - LEVEL) / max(noisy, 1)
    return [measured[part].law.half_width(level) if isinstance(part, int) else 0 for part in parts]
