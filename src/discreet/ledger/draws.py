"""Which data sets are about one secret draw of persons, and so have one budget (W2 of docs/proofs/samples.md).

A declaration says under "neighbours", "sampled" how its persons were drawn. An unnamed draw is named like its data set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from discreet.exact.names import one_form
from discreet.ledger.amounts import Amounts
from discreet.ledger.records import Identity, canonical

__all__ = ["draw_of", "draw_terms", "has_named_draw", "of_same_draw"]


class _Declared(Protocol):
    @property
    def identity(self) -> Identity:
        """As its first entry has it."""


_D = TypeVar("_D", bound=_Declared)


@lru_cache(maxsize=8)  # every operation reads the declaration, nearly always the same one, and it may be long
def _find_draw(declaration: str) -> Mapping[str, Any]:
    """The draw as a declaration states it; empty where it declares none."""
    neighbours = json.loads(declaration).get("neighbours")
    drawn = neighbours.get("sampled") if isinstance(neighbours, dict) else None
    return drawn if isinstance(drawn, dict) else {}


def draw_of(identity: Identity) -> str:
    """The name of the draw of a data set; empty where it declares none."""
    drawn = _find_draw(identity.declaration)
    return one_form(str(drawn.get("draw") or identity.dataset)) if drawn else ""


def has_named_draw(identity: Identity) -> bool:
    """True if the declaration itself names the draw."""
    return bool(_find_draw(identity.declaration).get("draw"))


def draw_terms(identity: Identity) -> tuple[str, str, Amounts]:
    """The facts that all data sets of one draw share: how many were drawn, and how; measure and budget."""
    neighbours = json.loads(identity.declaration)["neighbours"]
    drawn = {key: value for key, value in neighbours["sampled"].items() if key != "draw"}
    return canonical([neighbours.get("relation"), neighbours.get("rows"), drawn]), identity.measure, identity.budget


def of_same_draw(accounts: Mapping[str, _D], identity: Identity) -> list[_D]:
    """The accounts of other data sets of the same draw; none where the declaration names no draw."""
    draw = draw_of(identity)
    named = accounts.items() if draw else ()
    return [one for name, one in named if name != identity.dataset and draw_of(one.identity) == draw]
