"""`discreet effective --programme`: what several plans cost one person together, by attribute, by area and by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.cli.output import Answer
from discreet.cli.programme_words import NOTHING, Cost, Line, Told
from discreet.errors import ArgumentError, PlanError
from discreet.exact.numbers import exact, text
from discreet.pages.words.catalogue import MAIN, Words, words_in
from discreet.planfile.read import PlanFile, load_plan
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.amounts import spend_of
from discreet.privacy.coordinates import Budget, kind_name
from discreet.quotes.attributes import cost_of_change
from discreet.quotes.quote import Quote
from discreet.quotes.spend_for_errors import quote_asked
from discreet.totals.adjacency import SemiAdjacency, semi_adjacency
from discreet.totals.attributes import AttributeChange, attributes_of, changes_of_attribute
from discreet.totals.description import Description
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.statements import ExactStatement, ImpossibleStatement

__all__ = ["effective_programme"]

_MEASURES: Mapping[str, type[ZCDP] | type[PureDP] | type[GDP]] = {"rho": ZCDP, "epsilon": PureDP, "mu": GDP}


@dataclass(frozen=True, slots=True)
class _Part:
    """One plan of a programme.

    Args:
        name: of its file.
        plan: what it declares.
        quotes: what its own releases cost; empty where an amount was given in their place.
        advertised: the guarantee of all its releases without counting the totals.
        whole: for how many rows at once it holds with them.
    """

    name: str
    plan: PlanFile
    quotes: tuple[Quote, ...]
    advertised: Budget
    whole: SemiAdjacency

    @property
    def effective(self) -> Budget:
        """The guarantee with the totals: what the releases are charged, or the given amount for a rows at once."""
        return _sum([one.spend for one in self.quotes]) if self.quotes else self.advertised.group(self.whole.a)

    def cost(self, change: AttributeChange) -> Cost:
        """What a change of an attribute costs. Of a given amount it is not known what its releases ask."""
        if not self.quotes:
            return Cost(self.advertised, self.advertised.group(change.rows.a * self.plan.neighbours.replacing))
        try:
            found = [cost for one in self.quotes if (cost := cost_of_change(one, change)) is not None]
        except ArgumentError:  # a δ beside the guarantee of one, and a change of two of its steps
            return Cost(self.advertised, None)
        return Cost(self.advertised, _sum(found) if found else NOTHING)


def effective_programme(
    parts: Sequence[str],
    others: Sequence[str],
    given: Mapping[str, str] | None = None,
    *,
    delta: str | None = None,
    language: str | None = None,
) -> Answer:
    """A sentence for each plan, attribute, area and level, and one for a person with a row in every plan.

    Args:
        parts: each a PLAN, whose own releases are counted, or PLAN=MEASURE:AMOUNT, an advertised guarantee.
        others: the options that were given as well; none of them goes with a programme.
        given: the settings of the plans.
        delta: the δ at which ε is stated as well.
        language: of the sentences; None for English.

    Raises:
        ArgumentError: a part that is not of this form, several measures, or a δ that says nothing.
        PlanError: a plan that cannot be read, or releases that cannot be made.
    """
    if others:
        raise ArgumentError(f"--programme: states the plans and their guarantees; leave out {', '.join(others)}")
    words, chance = words_in(language or MAIN, demanded=True), _chance(delta)
    read = [_read(part, given) for part in parts]
    _check(read)
    lines = [line for part in read for line in _lines_of(part)]
    together = Told(tuple(part.name for part in read), _cost(read))
    facts = {"programme": [line.to_json(chance) for line in lines], "together": together.to_json(chance)}
    return Answer(_told(lines, together, chance, words), facts)


def _told(lines: Sequence[Line], together: Told, chance: Fraction | None, words: Words) -> list[str]:
    levels = [line for line in lines if line.is_level]
    shown = [line.sentence(chance, words) for line in lines if not line.is_level]
    shown += [line.sentence(chance, words) for line in levels]
    if levels:
        shown.append(
            words.said("The sentences with “if only” are no guarantee, because more is exact; they show what each costs.")
        )
    return [*shown, together.sentence(chance, words)]


def _chance(delta: str | None) -> Fraction | None:
    chance = None if delta is None else exact(delta, "--delta")
    if chance is not None and not 0 < chance < 1:
        raise ArgumentError(f"--delta={text(chance)}: must be above 0 and below 1")
    return chance


def _read(part: str, given: Mapping[str, str] | None) -> _Part:
    """The plan of one part with its guarantee."""
    path, equals, amount = part.rpartition("=")
    if not equals or (Path(part).is_file() and ":" not in amount):
        return _of_releases(Path(part), given)
    measure, colon, number = amount.partition(":")
    if not path or not colon or measure not in _MEASURES:
        raise ArgumentError(
            f"--programme {part}: must be PLAN, or PLAN=rho:R, PLAN=epsilon:E or PLAN=mu:M, as in persons.toml=rho:2.56"
        )
    plan = load_plan(Path(path), given)
    return _Part(Path(path).name, plan, (), _MEASURES[measure](exact(number, "--programme")), _whole(plan))


def _of_releases(path: Path, given: Mapping[str, str] | None) -> _Part:
    """A plan with what its own releases spend: all of the budget where its only one takes what remains."""
    plan = load_plan(path, given)
    rows = plan.neighbours.rows
    beside = None if plan.invariants is None else exact_totals_of(plan.invariants, plan.schema, None, rows or 1)
    quotes = []
    for order in plan.orders:
        spend = (
            None if order.error is not None else plan.budget if order.spend is None else spend_of(order.spend, plan.budget)
        )
        quotes.append(quote_asked(order.request, (spend, order.error), plan.budget, beside, order.expect))
    return _Part(path.name, plan, tuple(quotes), _sum([one.advertised for one in quotes]), _whole(plan))


def _whole(plan: PlanFile) -> SemiAdjacency:
    if plan.invariants is None:
        return SemiAdjacency(1, exact=True, reason="nothing is published exactly")
    return semi_adjacency(plan.invariants, plan.schema, None, plan.neighbours.rows)


def _check(read: Sequence[_Part]) -> None:
    """Checks that the guarantees of the plans can be put together.

    Raises:
        ArgumentError: they have several measures, or are of one data set.
    """
    if len({type(part.advertised) for part in read}) > 1:
        known = ", ".join(f"{part.name} in {kind_name(part.advertised)}" for part in read)
        raise ArgumentError(f"--programme: the plans have several measures ({known}); give all of them in one")
    names = [part.plan.dataset for part in read]
    if len(set(names)) < len(names):
        raise ArgumentError("--programme: two plans are of one data set; put all its releases into one of them")


def _cost(read: Sequence[_Part]) -> Cost:
    return Cost(_sum([part.advertised for part in read]), _sum([part.effective for part in read]))


def _sum(amounts: Sequence[Budget]) -> Budget:
    total = amounts[0]
    for amount in amounts[1:]:
        total = total + amount
    return total


def _lines_of(part: _Part) -> Iterator[Line]:
    """The lines of one plan: any values, each attribute and its areas, each level."""
    plan, invariants = part.plan, part.plan.invariants
    columns = () if invariants is None else invariants.columns
    yield Line(part.name, plan.neighbours, None, columns, part.whole, Cost(part.advertised, part.effective))
    for attribute in attributes_of(plan.schema):
        for change in changes_of_attribute(attribute, invariants, plan.schema, plan.neighbours.rows):
            yield Line(part.name, plan.neighbours, change, columns, change.rows, part.cost(change))
    levels = [] if invariants is None else [one for one in invariants.parts if not isinstance(one, ImpossibleStatement)]
    for one in levels if len(levels) > 1 else ():
        alone = _alone(one, plan)
        cost = Cost(part.advertised, None if alone is None else part.advertised.group(alone.a))
        yield Line(part.name, plan.neighbours, one, columns, alone, cost)


def _alone(part: ExactStatement, plan: PlanFile) -> SemiAdjacency | None:
    """a(t) alongside one part and nothing else; None where that has no closed form."""
    try:
        return semi_adjacency(Description((part,)), plan.schema, None, plan.neighbours.rows)
    except PlanError:
        return None
