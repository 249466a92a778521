"""The cost of a request and its expected errors, in values and in words. Everything in a quote is public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from discreet.cube.queries import Query
from discreet.domain.neighbours import said_of
from discreet.domain.steps import Resize
from discreet.domain.words import card, one_line, request_text
from discreet.exact.numbers import decimal_text
from discreet.mechanisms import Noise, Sensitivity, noise_text, trials_text
from discreet.mechanisms.part_costs import advertised_part
from discreet.plan.layout import drawing_of
from discreet.plan.plan import Plan, resize_of
from discreet.plan.recorded import target_words
from discreet.privacy.amounts import amount_text
from discreet.privacy.coordinates import Budget
from discreet.privacy.measures import Target
from discreet.quotes.groups import middle, percentile_words, size_words, sizes_of
from discreet.quotes.keys import key_text
from discreet.quotes.sampling import cost_of_sample
from discreet.statistics.base import UNBIASED, Statistic
from discreet.statistics.quantile import orders_of
from discreet.statistics.recipe import LEVEL, GroupSize, Noises, Recipe
from discreet.totals.exact_totals import ExactTotals
from discreet.totals.words import comparison_words, published_words

if TYPE_CHECKING:
    # Loaded where somebody assumes something.
    from discreet.quotes.assumptions import Given
    from discreet.quotes.bounds import BoundErrors
    from discreet.quotes.whole import AssumedErrors

    Assumption = Given | Mapping[str, Given] | None

__all__ = [
    "BOUND",
    "EXACT",
    "LEVEL",
    "Alternative",
    "Line",
    "Measured",
    "Noise",
    "Quote",
    "accuracy_text",
    "charge_text",
    "expected_error",
    "joint_text",
    "noises_behind",
    "population_text",
    "sample_text",
    "totals_text",
]

EXACT, BOUND = "exact", "upper bound"

_EACH_ALONE = 12
"""How many queries are named of which the same is said."""

_POPULATION_DELTA = Fraction(1, 10**9)
"""The δ at which a quote states ε for a population under ZCDP and GDP."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A mechanism that would give the same guarantee, and the standard deviation of its noise in a cell."""

    mechanism: str
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One primitive query with its noise.

    Args:
        query: the primitive query.
        share: its share of the spend.
        sensitivity: how far the answers of the compared tables can differ: neighbours or, with exact totals and
            without a resize, semi-adjacent tables.
        ordinary: the same for one replaced row, totals or not: what an ordinary statement would be made with.
        guarantee: what it costs, for those tables.
        law: the noise; of independent cells, or on the lattice that the totals leave free; how quantiles are chosen.
        asked: the query as recipes name it, before it took the shape that fits its noise.
        alternatives: the mechanisms there were, the chosen one first, then from the least noise to the most.
    """

    query: Query
    share: Fraction
    sensitivity: Sensitivity
    ordinary: Sensitivity
    guarantee: Target
    law: Noise
    asked: Query
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One statistic of a quote.

    Args:
        statistic: the requested statistic.
        recipe: how the statistic is computed from noisy answers.
        level: each noisy part is within its half-width with at least this probability. So all parts of a statistic, or of
            the whole release if its intervals hold together, are within theirs with probability at least `LEVEL`; see
            `certainty`.
    """

    statistic: Statistic
    recipe: Recipe
    level: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Quote:
    """The cost of a request and its expected errors, before anything is read.

    Args:
        plan: the request.
        spend: what it costs, for one person of the original data, in the measure of the budget; with exact totals the
            effective amount.
        group: the number of rows of the prepared table that can differ between the compared tables: rows per person,
            times the copies of a resize, or the semi-adjacency with exact totals.
        measured: the primitive queries with their noise.
        lines: one for each statistic.
        beside: the exact totals, if there are any.
        advertised: the amount that describes the same noise without counting the totals; the spend if there are none.
        joint: the joint cost of all queries, relative to their sum one by one: the noise is smaller by this factor.
        expect: the numbers of rows, null ones aside, that groups are expected to have, ascending, if they were given.
        unsampled: the quote of the same request and spend without the sample of rows, where there is one.
        charge: of effects, whether what they cost together is `EXACT` or a `BOUND`; empty without any.
    """

    plan: Plan
    spend: Budget
    group: int
    measured: tuple[Measured, ...]
    lines: tuple[Line, ...]
    beside: ExactTotals | None
    advertised: Budget
    joint: Fraction = Fraction(1)
    expect: tuple[int, ...] = ()
    unsampled: Quote | None = None
    charge: str = ""

    @property
    def expected(self) -> tuple[tuple[str, float], ...]:
        """For each statistic its name and the half-width of its interval, in a group of 1,000 rows where that matters."""
        return tuple((line.statistic.name, expected_error(self, line, rows=1000)) for line in self.lines)

    @property
    def sizes(self) -> tuple[GroupSize, ...]:
        """The sizes of groups that its errors are stated for."""
        return sizes_of(self.plan, self.expect)

    def errors(self, size: GroupSize) -> dict[str, float]:
        """For each statistic a bound of the half-width of its intervals in a group of this size, whatever its rows are.

        The size counts the rows in which the column of the statistic is not null. The bound holds where the noise is
        within what the intervals allow for. For quantiles it is about the error of the rank; for correlations it is the
        error of a group whose rows are spread evenly over the bounds.
        """
        return {line.statistic.name: line.recipe.widest(self.noises(line), size) for line in self.lines}

    def noises(self, line: Line) -> Noises:
        """The noise behind a line, at its level of certainty."""
        return self.noises_at(line.level)

    def noises_at(self, level: Fraction) -> Noises:
        """The noise behind the statistics, each part of it within its half-width with at least this probability."""
        return noises_behind(self.plan, self.measured, level)

    def assuming(
        self,
        *,
        nulls: Assumption = None,
        above: Assumption = None,
        below: Assumption = None,
        mean: Assumption = None,
        mean_above: Assumption = None,
        mean_below: Assumption = None,
        rows: Given | None = None,
    ) -> AssumedErrors:
        """The whole error of each statistic against the table as recorded, if what is assumed of each group is true.

        That is the noise, the difference that clamp, imputation and resize make, and what draws add by chance: at least 95 %
        of releases are this close (O6 of docs/proofs/original.md). Give public or released numbers only: **a share that was
        read off the data is a disclosure.** Each is a number or a pair (least, greatest), such as the interval of a release,
        for the only column it can be about, or for each column by its name. What is not given is taken to be at its worst.

        Args:
            nulls: the share of rows in which a column is null; a single one is about all columns.
            above: the share of the known values above the clamp.
            below: the share of the known values below it.
            mean: the mean of the known values.
            mean_above: the mean of the values above the clamp.
            mean_below: the mean of the values below it.
            rows: the number of rows: of the table before a resize, which needs it where that is private; else of a group.

        Raises:
            ArgumentError: a share outside [0, 1], a mean outside what is possible, or a column that no step changes so.
            PlanError: groups or conditions on a changed column, or a sample of rows.
        """
        from discreet.quotes.whole import whole_errors

        given = {"nulls": nulls, "above": above, "below": below, "mean": mean}
        return whole_errors(self, {**given, "mean_above": mean_above, "mean_below": mean_below}, rows)

    def left_out(self, groups: object) -> BoundErrors:
        """What the bound on groups leaves out of `persons()`, beside its noise (U9 of docs/proofs/persons.md).

        Args:
            groups: in how many groups of the request persons are: a release of one histogram of `distinct(column, most=…)`
                on a table with one row of each person, or public numbers such as `{1: 800, (2, 5): (150, 170)}`. **A number
                that was read off the data is a disclosure.**

        Raises:
            ArgumentError: another form, or a release about other groups or other rows than the request.
            PlanError: the request does not count persons in groups that are listed.
        """
        from discreet.quotes.bounds import bound_errors, read_groups

        return bound_errors(self, read_groups(groups, self.plan))

    def __repr__(self) -> str:
        size = middle(self.sizes)
        errors = ", ".join(f"{name} ±{error:.4g}" for name, error in self.errors(size).items())
        return one_line("Quote:", f"{amount_text(self.spend)};", f"expected error {size_words([size])} {errors}")

    def _repr_html_(self) -> str:
        asked = request_text(self.plan.group_by, [statistic.name for statistic in self.plan.statistics])
        noise = [(one.query.words(), f"{decimal_text(100 * one.share, 3)} %", noise_text(one.law)) for one in self.measured]
        errors = [text.strip().split(": ", 1) for text in accuracy_text(self)[1:]]
        facts = [("asks for", asked), ("cost", said_of(self.plan.neighbours.word, self.spend.explain()))]
        facts += [("groups", one.strip()) for one in key_text(self.plan, self.spend)]
        heading = accuracy_text(self)[0].rstrip(":")
        return card("Quote", facts, [("query", "share", "noise"), *noise], [("statistic", heading), *errors])

    def __str__(self) -> str:
        """The quote in words: cost, totals, how the source is read, division of the spend, noise, expected errors."""
        lines = [f"cost: {said_of(self.plan.neighbours.word, self.spend.explain())}", *population_text(self)]
        resize = resize_of(self.plan)
        if self.beside is not None:
            lines += totals_text(self, self.beside)
        if self.group > 1 and (self.beside is None or drawing_of(self.plan) is not None):
            lines.append(f"one person can move {self.group} rows of the prepared table; the noise allows for that")
        if resize is not None and resize.proportion < 1 and not self.spend.amplified:
            lines.append("sampling saves nothing in this measure; under PureDP or ApproxDP the noise would be smaller")
        lines += sample_text(self)
        lines.append(str(self.plan.layout))
        lines += key_text(self.plan, self.spend)
        for one in self.measured:
            share = decimal_text(100 * one.share, 3)
            lines.append(f"  {one.query.words()}: {share} % of the spend; noise {noise_text(one.law)}")
            lines += [f"    {line}" for line in (*trials_text(one.law), *_choice_text(one))]
        if self.joint < 1:
            together = decimal_text(self.joint, 3)
            lines.append(
                f"one row cannot have its largest effect on all queries at once: together they cost {together} of the sum "
                "of their costs"
            )
        lines += charge_text(self)
        return "\n".join([*lines, *accuracy_text(self)])


def charge_text(quote: Quote) -> list[str]:
    """A line where the charge for effects is no more than known to be enough; none where it is exact, or there are none."""
    return ["what the effects cost together is charged by an upper bound"] if quote.charge == BOUND else []


def accuracy_text(quote: Quote) -> list[str]:
    """The expected error of each statistic, below a line that explains these numbers; where it matters for several sizes."""
    sizes, counted = quote.sizes, ""
    if any(_leaves_nulls_out(quote, line) for line in quote.lines):
        counted = "; rows of a group in which the column is null do not count"
    lines = [f"expected error (at most, as half of the 95 % interval{joint_text(quote)}{counted}):"]
    by_size = [quote.errors(size) for size in sizes]
    for line in quote.lines:
        shown = [f"±{found[line.statistic.name]:.6g}" for found in by_size]
        error = f"{' / '.join(shown)} {size_words(sizes)}" if _depends(line) else shown[0]
        ranks = percentile_words(orders_of(line.statistic), [found[line.statistic.name] for found in by_size], sizes)
        lines.append(f"  {line.statistic.name}: {error}{line.recipe.accuracy(quote.noises(line))}{ranks}")
    return lines + target_words(quote.plan)


def _depends(line: Line) -> bool:
    """True if the error depends on the size of the group."""
    return bool(line.recipe.unit(1)) and line.recipe.unit(1) != line.recipe.unit(2)


def _leaves_nulls_out(quote: Quote, line: Line) -> bool:
    """True if the error is stated for groups of which some rows may not count, because a column is null in them."""
    one, facts = line.statistic, quote.plan.facts
    matters = _depends(line) or bool(orders_of(one))
    return matters and one.skip_nulls and any(facts[column].nullable for column in one.kind.reads.columns(one))


def sample_text(quote: Quote) -> list[str]:
    """The gain and the cost of the sample of rows (W6 of docs/proofs/samples.md); empty without a sample."""
    drawn, direct = quote.plan.facts.drawn, quote.unsampled
    if drawn is None or direct is None or isinstance(drawn, Resize):
        return []
    rate = drawn.rate_of(quote.plan.neighbours)
    none = "sampling saves nothing in this measure; under PureDP or ApproxDP the noise would be smaller"
    lines = [] if quote.spend.amplified else [none]
    if rate is None:
        lines = ["sampling saves nothing: a table with a private number of rows may have no more than are sampled"]
    size = middle(direct.sizes)
    return [*lines, *cost_of_sample(direct.errors(size), None if rate is None else _scale_up(quote, size, rate), size)]


def _scale_up(quote: Quote, size: GroupSize, rate: Fraction) -> dict[str, float]:
    """The half-widths of the noise for a group of the table: totals of its sample are divided by the rate."""
    kept = max(1, floor(size.rows * rate))
    found = quote.errors(GroupSize(kept, max(kept, floor(size.every * rate))))
    totals = {line.statistic.name for line in quote.lines if line.statistic.kind.view == UNBIASED}
    return {name: error / float(rate) if name in totals else error for name, error in found.items()}


def joint_text(quote: Quote) -> str:
    """The end of a line about intervals, where all of them hold together."""
    return "; all intervals hold together" if quote.plan.intervals == "simultaneous" else ""


def population_text(quote: Quote) -> list[str]:
    """The meaning of the cost for the population of which the file is a secret sample; empty without a draw."""
    drawn = quote.plan.neighbours.sampled
    if drawn is None:
        return []
    from discreet.privacy.population import CONDITION, PopulationGuarantee

    alone = PopulationGuarantee(quote.spend, drawn.rate_of(quote.plan.neighbours.rows))
    words = alone.words(_POPULATION_DELTA)
    start = (
        "the cost is for the rows of the file, which are a secret sample; if nothing else were ever released from this draw"
    )
    return [f"{start}, everybody in the population would have {words}. {CONDITION}"]


def totals_text(quote: Quote, exact_totals: ExactTotals) -> list[str]:
    """The effect of the exact totals on the guarantee, in words."""
    adjacency, published = exact_totals.adjacency, exact_totals.totals is not None
    named = published_words(exact_totals.invariants.parts)
    compared = comparison_words(adjacency, published=published)
    lines = [f"exact {named} are published alongside, unprotected; {compared}"]
    if not published:
        later = "once they are, a can only become smaller, and the noise is chosen for them"
        lines.append(f"the totals are not published yet; {later}")
    if quote.advertised != quote.spend:
        lines.append(f"the same noise without counting the totals would be advertised as: {quote.advertised.explain()}")
    if drawing_of(quote.plan) is None:
        lines += _totals_of_queries(quote, adjacency.a)
    return lines


def _totals_of_queries(quote: Quote, a: int) -> list[str]:
    """The effect of the totals on each query; in one line for many queries of which the same is said."""
    each = []
    for one in quote.measured:
        part = advertised_part(one.law, one.ordinary, one.sensitivity, one.guarantee)
        each.append((one.query.words(), quote.spend.totals_words(part, a)))
    same: dict[str, list[str]] = {}
    for name, words in each:
        same.setdefault(words, []).append(name)
    if max(map(len, same.values())) <= _EACH_ALONE:
        return [f"  {name}: {words}" for name, words in each if words]
    return [f"  {names[0]} and {len(names) - 1} further queries: {words}" for words, names in same.items() if words]


def _choice_text(one: Measured) -> list[str]:
    """The reason for this mechanism: the standard deviations of all mechanisms with the same guarantee."""
    if len(one.alternatives) < 2:
        return []
    shown_ones = "; ".join(f"{other.mechanism} {other.deviation:.4g}" for other in one.alternatives)
    return [f"the least noise among the mechanisms that give this guarantee (standard deviation in a cell): {shown_ones}"]


def noises_behind(plan: Plan, measured: Sequence[Measured], level: Fraction) -> Noises:
    """The noise behind the queries, as recipes see it."""
    return Noises({one.asked: (one.query, one.law) for one in measured}, plan.layout.cells, level)


def expected_error(quote: Quote, line: Line, *, rows: int) -> float:
    """The largest half-width of a statistic's interval in any cell; where it depends on a count, in a group of `rows` rows.

    For quantiles it is the error of the rank, in rows; for chosen ones the error of the value, which is closer than its
    interval says.
    """
    return line.recipe.error(quote.noises(line), rows)
