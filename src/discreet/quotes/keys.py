"""What finding groups costs: how a spend is divided among the rounds and the answers, and the threshold of each round.

All of it is fixed before anything is read (D3 of docs/proofs/discovery.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cube.keys import UNIT
from discreet.domain.discovery import Discover
from discreet.domain.neighbours import Neighbours
from discreet.errors import ArgumentError, PlanError, unreachable
from discreet.exact.numbers import decimal_text, decimal_up, sqrt_down
from discreet.mechanisms.thresholds import Threshold, threshold_for
from discreet.privacy.coordinates import Budget
from discreet.privacy.measures import GDP, ZCDP, ApproxDP, ApproxGDP, ApproxZCDP, PureDP, Target
from discreet.quotes.persons import most_apart

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

__all__ = ["Stages", "discovery_json", "expected_plan", "key_text", "stages_of", "stages_of_plan"]

_ROUNDS = (Fraction(1, 5), Fraction(4, 5))
"""The parts of the rounds: what many persons have is found cheaply, and then weighs on nobody in the second one."""

_MOST_DELTA = Fraction(1, 4)

Noises = GDP | ZCDP
"""What the noise of the rounds can guarantee together with the noise of the answers."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The rounds in which groups are looked for, and the guarantee of the answers after them."""

    rounds: tuple[Threshold, ...]
    answers: Target


def stages_of(discover: Discover, spend: Budget, neighbours: Neighbours) -> Stages:
    """The stages of a spend, which together have its guarantee (D3 and D4 of docs/proofs/discovery.md).

    Raises:
        PlanError: the spend has no δ, or too little for any threshold.
    """
    noise, delta = _divided(discover, spend)
    parts = [discover.share * part for part in _ROUNDS]
    try:
        rounds = tuple(
            threshold_for(_variance(_part(noise, part), neighbours), delta * own, discover.at_least)
            for part, own in zip(parts, _ROUNDS, strict=True)
        )
    except ArgumentError:
        raise PlanError(f"spend: leaves too little to find groups of '{discover.column}'; spend more") from None
    return Stages(rounds, _part(noise, 1 - discover.share))


def _divided(discover: Discover, spend: Budget) -> tuple[Noises, Fraction]:
    """The guarantee of all noise together, and the δ of all thresholds together."""
    noise, delta = _noise_and_delta(spend)
    if not delta > 0:
        raise PlanError(
            f"Discover('{discover.column}'): a name that one person alone has is found with a small chance, which a budget "
            'without a δ cannot pay for; open the session with a budget such as dp.ApproxDP(1, "1e-6") or dp.ZCDP("0.1", '
            'delta="1e-6")'
        )
    if not delta < _MOST_DELTA:
        raise PlanError(f"spend: δ = {decimal_up(delta)} for names hides nobody's; spend one below {_MOST_DELTA}")
    if noise is None or not any(noise.coordinates):
        raise PlanError(f"spend: leaves too little to find groups of '{discover.column}'; spend more")
    return noise, delta


def _noise_and_delta(spend: Budget) -> tuple[Noises | None, Fraction]:
    match spend:
        case ApproxDP():
            half = spend.delta / 2
            return (GDP.for_approx(spend.epsilon, half) if half else None), half
        case ApproxZCDP():
            return ZCDP(spend.rho), spend.delta
        case ApproxGDP():
            return GDP(spend.mu), spend.delta
        case PureDP() | ZCDP() | GDP():
            return None, Fraction(0)
    raise unreachable(spend)


def _part(noise: Noises, share: Fraction) -> Noises:
    return type(noise).of_coordinates([share * value for value in noise.coordinates], sqrt_down)


def _variance(part: Noises, neighbours: Neighbours) -> Fraction:
    """Of noise with this guarantee where one person adds weights of at most one unit in the norm (D1, D6)."""
    return part.gaussian_variance(most_apart(neighbours, UNIT**2))


def stages_of_plan(plan: Plan, spend: Budget) -> Stages | None:
    """The stages of a request; None where it looks for no groups."""
    return None if plan.keys is None else stages_of(plan.keys.discover, spend, plan.neighbours)


def expected_plan(plan: Plan) -> Plan:
    """The plan as it is quoted before groups are found: with more cells than a person counts fully in, if that can be.

    The noise of a cell is then that of every number of cells which is at least this one.
    """
    if plan.keys is None or plan.keys.found is not None or plan.layout.persons is None:
        return plan
    many = min(plan.layout.persons.groups + 1, plan.most_found)
    taken = {*plan.keys.labels}
    names = (name for i in range(1, many + len(taken) + 1) if (name := f"found {i}") not in taken)
    return plan.with_found([next(names) for _ in range(many)])


def discovery_json(plan: Plan, spend: Budget) -> dict[str, Any]:
    """What a document and a ledger say of the rounds; empty where no groups are looked for."""
    stages = stages_of_plan(plan, spend)
    if stages is None or plan.keys is None:
        return {}
    rounds = [one.to_json() for one in stages.rounds]
    return {"discovery": {"column": plan.keys.discover.column, **plan.keys.discover.to_json(), "rounds": rounds}}


def key_text(plan: Plan, spend: Budget) -> Iterator[str]:
    """Lines on how groups are found, for a quote; none where none are looked for."""
    stages = stages_of_plan(plan, spend)
    if stages is None or plan.keys is None:
        return
    share = decimal_text(100 * plan.keys.discover.share, 3)
    yield f"groups of '{plan.keys.discover.column}' are found in {len(stages.rounds)} rounds, for {share} % of the spend:"
    for number, one in enumerate(stages.rounds, 1):
        least = decimal_text(Fraction(one.least, UNIT), 3)
        yield (
            f"  round {number}: groups of persons who together weigh about {least}; a person in g of the groups that are "
            f"looked for weighs √(1/g) in each; a name of one person alone is found with a chance of at most "
            f"{decimal_up(one.delta)}"
        )
