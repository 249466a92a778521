"""The promise of the account of a secret sample to the population from which it was drawn, for `discreet ledger show`."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from discreet.domain.neighbours import Neighbours, neighbours_of
from discreet.exact.numbers import text
from discreet.ledger import Identity
from discreet.ledger.draws import draw_of
from discreet.privacy import from_coordinates
from discreet.privacy.amounts import amount_text
from discreet.session.accounts import budget_in
from discreet.session.orders import promise_to_population

__all__ = ["population_facts", "population_lines"]

Amounts = tuple[Fraction, ...]

_DELTA = Fraction(1, 10**9)
"""The δ at which ε is stated where the measure has none; a ledger does not know the one of the plan."""
_ALIKE = "; as if this list of releases had been fixed in advance"


def population_lines(identity: Identity, spent: Amounts, left: Amounts) -> list[str]:
    """The promises of the whole budget, and of what is spent, to the population; none without a draw."""
    budget, neighbours = budget_in(identity), _find_draw(identity)
    if budget is None or neighbours is None or neighbours.sampled is None:
        return []
    together = tuple(whole - rest for whole, rest in zip(identity.budget, left, strict=True))
    total, drawn = from_coordinates(type(budget), together), neighbours.sampled
    from discreet.privacy.population import PopulationGuarantee

    rate = drawn.rate_of(neighbours.rows)
    lines = [f"population ({drawn.words()})", f"  {PopulationGuarantee(budget, rate).promise(_DELTA)}"]
    if together != spent:
        shared = f"Data sets of the draw '{draw_of(identity)}' share this budget"
        lines.append(f"  {shared}; together they spent {amount_text(total)}.")
    if any(together):
        alike = "" if budget.pair and not budget.pair[1] else _ALIKE
        lines.append(f"  Spent so far: {PopulationGuarantee(total, rate).words(_DELTA)}{alike}")
    return lines


def population_facts(identity: Identity) -> dict[str, Any]:
    """The same of the whole budget, for programs."""
    budget, neighbours = budget_in(identity), _find_draw(identity)
    promised = None if budget is None or neighbours is None else promise_to_population(budget, neighbours)
    if promised is None:
        return {}
    epsilon, delta = promised.pair(_DELTA)
    return {"population": {"rate": text(promised.rate), "epsilon": epsilon, "delta": text(delta)}}


def _find_draw(identity: Identity) -> Neighbours | None:
    """The relation of a declaration with a draw; None where it has none."""
    written = json.loads(identity.declaration).get("neighbours")
    return neighbours_of(written) if isinstance(written, dict) and "sampled" in written else None
