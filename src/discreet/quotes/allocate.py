"""From a plan and a spend to a quote: which queries are asked, how the spend is divided, which noise each one gets.

Pure: it knows the plan, the budget and the published totals, never a row and no randomness. Everything in a quote is
public, and a release does exactly what its quote says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING

from discreet.cube.queries import AreaEffects, EffectCounts, Query, WholeTable
from discreet.domain.steps import Resize, conditions_of
from discreet.errors import ArgumentError, InternalError, PlanError
from discreet.exact.numbers import decimal_text, sqrt_down
from discreet.mechanisms import (
    Answer,
    Around,
    Change,
    Codes,
    Lattice,
    Sensitivity,
    Vector,
    candidates,
    hold_to,
    joint_factor,
    worst,
)
from discreet.plan.layout import drawing_of
from discreet.plan.plan import Plan
from discreet.privacy.coordinates import Budget, coordinates
from discreet.privacy.measures import Target, is_budget, noise_measures
from discreet.quotes.advertised import advertise
from discreet.quotes.areas import (
    Given,
    charge_of_areas,
    check_areas,
    cost_of_areas,
    divide_areas,
    fit_areas,
    one_row_of_areas,
)
from discreet.quotes.certainty import set_levels
from discreet.quotes.choices import least_noisy
from discreet.quotes.effects import charge_of, divide_effects, effects_among, is_gaussian
from discreet.quotes.keys import expected_plan, stages_of_plan
from discreet.quotes.one_row import Apart, Norms, bound_with_totals, differing
from discreet.quotes.persons import weighting_for
from discreet.quotes.primitives import Asked, already_exact, recipes_of, weights_of
from discreet.quotes.quote import Alternative, Line, Measured, Quote, noises_behind
from discreet.quotes.space import possible_places, space_of
from discreet.quotes.statuses import factor_by_status
from discreet.quotes.table_errors import within_errors
from discreet.quotes.vectors import together_of
from discreet.statistics.recipe import LEVEL, Noises, Recipe
from discreet.totals.exact_totals import ExactTotals

if TYPE_CHECKING:
    # Loaded where a plan draws rows: a quote of any other begins without it.
    from discreet.privacy.amplify import Resampling
    from discreet.privacy.subsample import Subsample

__all__ = ["changes_of", "quote", "quote_alone", "resampling_of", "row_quote", "row_targets"]


def quote(plan: Plan, spend: Budget, exact_totals: ExactTotals | None = None, *, expect: tuple[int, ...] = ()) -> Quote:
    """The quote of a plan: its queries, the division of the spend in proportion to the weights, and the noise of each.

    Args:
        plan: the request.
        spend: for one person of the original data; with exact totals the effective amount (soundness 14).
        exact_totals: the exact totals of the data set, if there are any.
        expect: the sizes of groups that its errors are stated for.

    Raises:
        PlanError: the request asks only for what is public already, or the spend is too little for any noise.
    """
    found = quote_alone(plan, spend, exact_totals, expect=expect)
    return replace(found, unsampled=_without_sample(plan, spend, exact_totals, expect))


def quote_alone(
    plan: Plan, spend: Budget, exact_totals: ExactTotals | None = None, *, expect: tuple[int, ...] = ()
) -> Quote:
    """The same without the quote of all rows beside a sample: half of the work of a search for a spend.

    Raises:
        PlanError: as `quote`.
    """
    asked = _prepare(plan := expected_plan(plan), exact_totals)
    # A target of 0 (Laplace noise at ε = 0, Gaussian noise at a δ below every double) is not a candidate.
    targets = [target for target in row_targets(plan, spend, exact_totals) if any(coordinates(target))]
    targets = fit_areas(plan.answered, targets)
    if not targets:
        raise PlanError("spend: is 0; spend more than 0")
    recipes, measured, joint = least_noisy(plan, [partial(_measured_for, asked, target) for target in targets])
    # A joint factor beside totals is about rows that keep them. A replaced row need not.
    together = joint if asked.space is None else one_row_of_areas(asked, measured)
    advertised = spend if exact_totals is None else advertise(spend, measured, together, resampling_of(plan, None))
    lines = _lines(asked, recipes, measured)
    measured = _hold_intervals(lines, measured)
    moved, charge = _count_moved(plan, exact_totals), charge_of_areas(asked, measured) or charge_of(asked, measured)
    return Quote(plan, spend, moved, measured, lines, exact_totals, advertised, joint, expect, charge=charge)


def _without_sample(plan: Plan, spend: Budget, exact_totals: ExactTotals | None, expect: tuple[int, ...]) -> Quote | None:
    """The quote of the request on all rows, where it samples them and all of it is not public without the sample."""
    if plan.facts.drawn is None or isinstance(plan.facts.drawn, Resize):
        return None
    steps = tuple(step for step in plan.steps if step is not plan.facts.drawn)
    try:
        return quote(replace(plan, steps=steps), spend, exact_totals, expect=expect)
    except PlanError:
        return None


def row_quote(plan: Plan, target: Target, exact_totals: ExactTotals | None = None) -> Quote:
    """The noise that guarantees `target` for one row of the prepared table, whatever that costs one person.

    Its spend is the cost of one row. Rows per person and a resize only choose the target, so one table of these quotes
    serves every proportion and every spend.

    Raises:
        PlanError: the cases of `quote`.
    """
    asked = _prepare(plan, exact_totals)
    recipes, measured, joint = _measured_for(asked, target)
    lines = _lines(asked, recipes, measured)
    measured = _hold_intervals(lines, measured)
    return Quote(plan, target, _count_moved(plan, exact_totals), measured, lines, exact_totals, target, joint)


def _prepare(plan: Plan, exact_totals: ExactTotals | None) -> Asked:
    return Asked(plan, plan.facts, None if exact_totals is None else space_of(plan, exact_totals))


def _measured_for(asked: Asked, target: Target) -> tuple[tuple[Recipe, ...], tuple[Measured, ...], Fraction]:
    """The recipes, queries and joint factor for one target: persons have the weights of the norm by which it costs."""

    def measure(recipes: Sequence[Recipe]) -> tuple[tuple[Measured, ...], Fraction]:
        return _measure(asked, recipes, target)

    def noises(recipes: Sequence[Recipe], measured: tuple[Measured, ...]) -> list[Noises]:
        lines = _lines(asked, recipes, measured)
        return [noises_behind(asked.plan, measured, line.level) for line in lines]

    return within_errors(recipes_of(asked, weighting_for(target)), measure, noises)


def _lines(asked: Asked, recipes: Sequence[Recipe], measured: Sequence[Measured]) -> tuple[Line, ...]:
    both = zip(asked.plan.answered, recipes, strict=True)
    return set_levels(asked.plan, [Line(statistic, recipe, LEVEL) for statistic, recipe in both], measured)


def _hold_intervals(lines: Sequence[Line], measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """The same queries, where intervals that are chosen hold at the level of their statistics."""
    levels: dict[Query, Fraction] = {}
    for line in lines:
        for query, _ in line.recipe.queries:
            levels[query] = max(levels.get(query, Fraction(0)), line.level)
    return tuple(replace(one, law=hold_to(one.law, levels[one.asked])) for one in measured)


def row_targets(plan: Plan, spend: Budget, exact_totals: ExactTotals | None) -> tuple[Target, ...]:
    """Guarantees of the noise that give `spend` to one person of the original data.

    With exact totals and without a resize, this is `spend` itself: the sensitivities already compare semi-adjacent tables.
    After rows are drawn they are the functional parameters of the release (Theorems R1 to R3, W5): everything that reads the
    sample is composed inside and converted once; the a rows of semi-adjacent tables enter through the law of the copies
    (soundness 12). Otherwise group privacy over the rows of a person, inverted exactly. Under ApproxDP there are several,
    and the least noisy mechanism is taken.
    """
    if not is_budget(spend):
        raise InternalError(f"no case for {type(spend).__name__}: only a budget can be spent")
    if stages := stages_of_plan(plan, spend):
        return (stages.answers,)
    sampled, totals = resampling_of(plan, exact_totals), exact_totals is not None
    whole = [one for kind in noise_measures() for one in kind.implying(spend, sampled, totals=totals)]
    return tuple(one if sampled is not None else one.each_of(plan.neighbours.rows_per_person) for one in whole)


def resampling_of(plan: Plan, exact_totals: ExactTotals | None) -> Resampling | Subsample | None:
    """The resize or sample of a plan as its guarantee sees it: with exact totals a rows are protected together."""
    drawing = drawing_of(plan)
    group = 1 if exact_totals is None else exact_totals.adjacency.a
    if drawing is None:
        return None
    if not isinstance(drawing, Resize):
        from discreet.privacy.subsample import subsample_of

        return subsample_of(drawing, plan.neighbours, group)
    from discreet.privacy.amplify import Resampling

    return Resampling(drawing.rows, drawing.proportion, plan.neighbours, group)


def _count_moved(plan: Plan, exact_totals: ExactTotals | None) -> int:
    """The number of rows of the prepared table that can differ between the compared tables."""
    sampled = resampling_of(plan, exact_totals)
    if sampled is not None:
        return sampled.most
    return plan.neighbours.rows_per_person if exact_totals is None else exact_totals.adjacency.a


def _measure(asked: Asked, recipes: Sequence[Recipe], target: Target) -> tuple[tuple[Measured, ...], Fraction]:
    """The queries with the noise of a target, and their joint factor.

    Raises:
        PlanError: all answers are public already, or the target is too small for any noise.
    """
    weights = weights_of(asked, recipes)
    if not weights:
        raise PlanError("the request asks only for numbers that are public already; nothing needs to be released")
    changes = _changes_once(asked)
    check_areas(tuple(weights), target)

    def sensitivity(query: Query) -> Sensitivity:
        return _sensitivity(asked, query, changes(query))

    weights = divide_areas(divide_effects(asked, recipes, weights, sensitivity), sensitivity)
    total = sum(weights.values())
    shares = [weight / total for weight in weights.values()]
    for query in weights:
        _refuse_known(asked, query, changes(query))
    try:
        # Trees get their shape for the noise of their share; what the queries cost together follows from the shapes.
        given = zip(weights, shares, strict=True)
        queries = [_shape(sensitivity(one), asked, one, _part(target, share)) for one, share in given]
        joint = _joint(asked, [(one, changes(one)) for one in queries], shares, target)
        parts = [_part(target, share / joint) for share in shares]
        found = zip(weights, queries, shares, parts, strict=True)
        measured = (_one(asked, (changes(one), joint), (named, one), share, part) for named, one, share, part in found)
        return tuple(measured), joint
    except ArgumentError as refused:
        if isinstance(refused, PlanError):
            raise
        raise PlanError(
            f"spend: leaves a share of {decimal_text(min(shares), 3)} for one of {len(shares)} queries, too little: the "
            "noise would be beyond 1e17 steps of the grid; spend more, or take a coarser step or tighter bounds"
        ) from None


def _shape(single: Sensitivity, asked: Asked, query: Query, part: Target) -> Query:
    """The query in the shape with the least expected error; both norms grow with the number of times a row counts."""

    def variance(times: int) -> float:
        return candidates(Vector(1), Sensitivity(times * single.l1, times * single.l2_squared), part)[0][0]

    return query.choose_shape(variance, asked.facts.rows)


def _joint(asked: Asked, changes: list[tuple[Query, Change]], shares: list[Fraction], target: Target) -> Fraction:
    """The cost of the queries together, relative to the sum of their costs; effects and other queries add up."""
    apart = (EffectCounts, AreaEffects) if is_gaussian(target) else ()
    each = list(zip(changes, shares, strict=True))
    own: Given = {query: (_sensitivity(asked, query, one), at) for (query, one), at in each if isinstance(query, apart)}
    if not own:
        return _joint_of_others(asked, changes, shares, target)
    others = [pair for pair in each if pair[0][0] not in own]
    beside = _joint_of_others(asked, [one for one, _ in others], [share for _, share in others], target) if others else 0
    cost, together = cost_of_areas(asked, own).most, effects_among(asked, list(own))
    if together is not None:
        cost += together.cost(*zip(*(own[query] for query in together.queries), strict=True)).most
    return min(Fraction(1), cost + beside)


def _joint_of_others(asked: Asked, changes: list[tuple[Query, Change]], shares: list[Fraction], target: Target) -> Fraction:
    """The cost of queries together; the sum of their shares with exact totals, where they add up."""
    if asked.space is not None:
        return sum(shares, Fraction(0))
    if asked.plan.target is None:
        return joint_factor([change for _, change in changes], shares, type(target).size)
    row, table, queries = differing(asked), (asked.facts, asked.plan.schema), [query for query, _ in changes]
    return factor_by_status(queries, shares, type(target).size, table, lambda query, facts: query.change(row, facts))


def _one(
    asked: Asked, moved: tuple[Change, Fraction], called: tuple[Query, Query], share: Fraction, part: Target
) -> Measured:
    """The query, the second of the two and called as the first by recipes, with the least noise that has the guarantee.

    `moved` is what a row does to it, and the cost of all queries together.
    """
    (change, joint), (named, query) = moved, called
    sensitivity = _sensitivity(asked, query, change)
    noises = candidates(_answer(asked, query, sensitivity, joint), sensitivity, part)
    alternatives = tuple(Alternative(noise.words.name, sqrt(variance)) for variance, noise in noises)
    return Measured(query, share, sensitivity, worst(change), part, noises[0][1], named, alternatives)


def _refuse_known(asked: Asked, query: Query, change: Change) -> None:
    """Checks that the data can change the answer: an answer that they cannot change needs no noise.

    Raises:
        PlanError: the answer is the same for all tables, or follows from the published totals.
    """
    if not _sensitivity(asked, query, change).l1 or _is_determined(asked, query):
        raise already_exact(query)


def _is_determined(asked: Asked, query: Query) -> bool:
    """True if the totals determine the answer: nobody is anywhere, or they say how many have each combination it reads."""
    plan = asked.plan
    read = [*query.columns(), *(group.column for group in plan.group_by)]
    read += [step.column for step in conditions_of(plan.steps)]
    return asked.space is not None and (not len(asked.space.held) or (bool(read) and asked.space.says(read)))


def _sensitivity(asked: Asked, query: Query, change: Change) -> Sensitivity:
    return worst(change) if asked.space is None else bound_with_totals(asked, asked.space, query, change)


def _part(target: Target, share: Fraction) -> Target:
    """The part of a target in its additive coordinates; a share above 1 occurs where queries cost less together."""
    return type(target).of_coordinates([share * value for value in target.coordinates], sqrt_down)


def _answer(asked: Asked, query: Query, sensitivity: Sensitivity, joint: Fraction) -> Answer:
    """The facts about the answer that mechanisms use: codes are chosen, or its size and what exact totals leave free."""
    return query.change(_Answered(asked, query, sensitivity, joint), asked.facts)


@dataclass(frozen=True, slots=True)
class _Answered:
    """The answer of a query by the way in which a row counts in it, so that nothing that is chosen gets added noise."""

    asked: Asked
    query: Query
    sensitivity: Sensitivity
    joint: Fraction

    def adds(self, least: int, most: int, *, at_once: int, parts: int, nullable: bool) -> Answer:  # noqa: ARG002
        found, space = self._vector(), self.asked.space
        if isinstance(self.query, WholeTable):  # cells are put together from several: their noises must be independent
            return found
        # Counts have their lattice, and what is said of the table as recorded needs independent noise.
        plain = space is None or space.counting(self.query) is not None or self.asked.plan.target is not None
        if space is None or plain or (at_once, parts) != (1, 1) or least < 0 < most:
            return found
        return replace(found, one_sign=space.of_one_sign(max(abs(least), abs(most))))

    def spreads(self, _alone: Norms, _apart: Apart, *, parts: int, nullable: bool) -> Answer:  # noqa: ARG002
        found = self._vector()
        if isinstance(
            self.query, EffectCounts | AreaEffects
        ):  # cells are put together from several: their noises must be independent
            return found
        return replace(found, together=together_of(self.asked, self.query, self.sensitivity, self.joint))

    def replaces(self, _most: int) -> Answer:
        return self._vector()

    def chooses(self, size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Answer:  # noqa: ARG002
        return Codes(size, self.asked.plan.layout.cells, at)

    def surrounds(self, size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Answer:  # noqa: ARG002
        return Around(size, self.asked.plan.layout.cells, at)

    def is_person(self, _alone: Norms, _apart: Callable[[], Norms]) -> Answer:
        return self._vector()

    def _vector(self) -> Vector:
        space, size = self.asked.space, self.asked.plan.layout.cells * sum(self.query.widths())
        if space is None:
            return Vector(size)
        # Only counts of rows have the lattice of the totals. Noise without it is safe for every query.
        counted = space.counting(self.query)
        if counted is None:
            return Vector(size, possible_places(space, self.query) if len(space.held) < space.cells else None)
        lattice = None if counted.structure is None else Lattice(counted.structure, space.beside.adjacency.a)
        return Vector(size, counted.held if len(counted.held) < counted.cells else None, lattice)


def changes_of(quoted: Quote) -> tuple[Change, ...]:
    """For each measured query what one row can do to it, by where it was and where it is afterwards, totals or not."""
    plan = quoted.plan
    asked = Asked(plan, plan.facts, None)
    return tuple(_change(asked, one.query) for one in quoted.measured)


def _change(asked: Asked, query: Query) -> Change:
    """The change by one replaced (or added) row of the prepared table, or by both where rows were drawn (W5)."""
    return query.change(differing(asked), asked.facts)


def _changes_once(asked: Asked) -> Callable[[Query], Change]:
    """The change of each query, found once: a quote needs it four times, which took a tenth of its time."""
    known: dict[Query, Change] = {}

    def change(query: Query) -> Change:
        return known[query] if query in known else known.setdefault(query, _change(asked, query))

    return change
