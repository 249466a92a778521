"""`discreet effective`: the effective guarantee that an advertised one has alongside exact totals."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from discreet.cli.output import Answer
from discreet.errors import ArgumentError
from discreet.exact.numbers import decimal_up, exact, text
from discreet.planfile.read import load_plan
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.amounts import amount_text
from discreet.privacy.coordinates import Budget, amount_of
from discreet.totals.words import compared_tables, published_words

__all__ = ["effective_guarantee"]

_KNOWN = {
    "rows": (1, "the number of rows alone"),
    "totals": (2, "the totals of one partition, or of nested ones"),
    "occupied": (2, "which cells are occupied"),
    "margins": (3, "two one-way margins"),
}


def effective_guarantee(
    *,
    rho: str | None,
    epsilon: str | None,
    mu: str | None,
    delta: str | None,
    invariant: str | None,
    plan: Path | None,
    given: Mapping[str, str] | None = None,
) -> Answer:
    """The effective guarantee of a mechanism that was made without counting the totals: a-fold group privacy.

    Raises:
        ArgumentError: not exactly one guarantee, not exactly one of an invariant and a plan, or an unknown invariant.
        PlanError: the plan has no invariants.
    """
    if sum(value is not None for value in (rho, epsilon, mu)) != 1:
        raise ArgumentError("effective: give one of --rho, --epsilon and --mu, for example --rho 0.213")
    chance = None if delta is None else exact(delta, "--delta")
    if chance == 0 and epsilon is None:
        raise ArgumentError("--delta=0: ρ and μ imply no ε at δ = 0; leave it out to see the parameters alone")
    advertised: Budget
    if rho is not None:
        advertised = ZCDP(exact(rho, "--rho"))
    elif mu is not None:
        advertised = GDP(exact(mu, "--mu"))
    else:
        bound = exact(epsilon or "", "--epsilon")
        advertised = ApproxDP(bound, chance) if chance else PureDP(bound)
    a, meaning = _semi_adjacency(invariant, plan, given)
    effective = advertised.group(a)
    lines = [
        f"alongside {meaning}, the guarantee compares {compared_tables(a)}",
        f"advertised: {amount_text(advertised)}",
        f"effective:  {amount_text(effective)}",
    ]
    facts: dict[str, object] = {"a": a, "advertised": amount_text(advertised), "effective": amount_text(effective)}
    if advertised.pair is None:
        facts |= {"effective_parameter": text(amount_of(effective))}
        if chance is not None:
            before, after = advertised.epsilon_at(chance), effective.epsilon_at(chance)
            facts |= {"epsilon_advertised": before, "epsilon_effective": after}
            lines.append(f"at δ = {delta}: ε = {_four(before)} advertised, {_four(after)} effective")
    return Answer(lines, facts)


def _four(epsilon: float) -> str:
    """Four decimals, never below `epsilon`."""
    return (
        f"{Decimal(epsilon).quantize(Decimal('0.0001'), rounding=ROUND_CEILING)}" if epsilon < 1e6 else decimal_up(epsilon)
    )


def _semi_adjacency(invariant: str | None, plan: Path | None, given: Mapping[str, str] | None) -> tuple[int, str]:
    """The semi-adjacency a of a named kind of totals, or of a plan, and these totals in words."""
    if (invariant is None) == (plan is None):
        raise ArgumentError("effective: give either --invariant or --plan")
    if plan is not None:
        read = load_plan(plan, given)
        if read.invariants is None:
            raise ArgumentError(f"{plan.name}: has no [invariants]; nothing is published exactly")
        return read.invariants.semi_adjacency(read.schema), f"the exact {published_words(read.invariants.parts)}"
    word, colon, number = str(invariant).partition(":")
    if word == "margins" and number.isdecimal() and 1 <= int(number) <= 1000:
        return int(number) + 1, f"{number} one-way margins"
    if word not in _KNOWN or colon:
        raise ArgumentError(f"--invariant={invariant}: must be rows, totals, occupied, margins or margins:K for K margins")
    return _KNOWN[word]
