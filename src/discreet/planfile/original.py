"""The meaning of `original` and `prepared` in a release of a plan file."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import did_you_mean
from discreet.plan.plan import Plan
from discreet.plan.recorded import READINGS
from discreet.planfile.tree import Node

__all__ = ["original_of"]


def original_of(parts: Mapping[str, Node], request: Plan) -> Plan:
    """The request with intervals of the table as recorded, as the keys say.

    Raises:
        PlanError: another word, `prepared` alone, or a request that has no such intervals; `place` names the key.
    """
    if "original" not in parts:
        raise parts["prepared"].wrong('belongs to original = "recorded"; write that too, or leave it out')
    node = parts["original"]
    word = node.string()
    if word not in READINGS:
        raise node.wrong(f'\'{word}\' is unknown{did_you_mean(word, READINGS)}; write "recorded" or "anywhere"')
    prepared = parts["prepared"].value if "prepared" in parts else True
    if not isinstance(prepared, bool):
        raise parts["prepared"].wrong("must be true or false")
    with node.locate_errors():
        return request.original(word, prepared=prepared)
