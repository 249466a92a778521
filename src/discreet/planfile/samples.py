"""`sampled` in a plan: how the file was secretly drawn from a population, and a budget that is stated for it."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.domain.draws import Draw, draw_of, draws, refuse_design
from discreet.domain.neighbours import Neighbours
from discreet.planfile.tree import Keys, Node
from discreet.privacy import Budget

__all__ = ["budget_of_file", "read_draw"]

_OF = ("file", "population")
"""Whose budget is written: the budget of the rows of the file, or of everybody from whom they were drawn."""


def read_draw(node: Node) -> Draw:
    """The draw. A design from which nothing follows is refused with its reason."""
    known: Mapping[str, Keys] = {kind.word: (kind.fields, ("draw",)) for kind in draws()}
    design = node.value.get("design") if isinstance(node.value, dict) else node.value
    with node.locate_errors():
        if not isinstance(node.value, dict) or (isinstance(design, str) and design not in known):
            raise refuse_design(design)
    word, parts = node.choice("design", known)
    with node.locate_errors():
        given = {key: part.number() if key == "rate" else part.value for key, part in parts.items() if key != "design"}
        return draw_of({"design": word, **given})


def budget_of_file(node: Node, stated: Budget, neighbours: Neighbours) -> Budget:
    """The budget of the file: the stated one, or for "population" the one that gives it to everybody (W3)."""
    word, drawn = node.string(), neighbours.sampled
    if word not in _OF:
        raise node.wrong(f"'{word}' is unknown; write of = \"population\", or leave it out")
    if word == _OF[0]:
        return stated
    if drawn is None:
        raise node.wrong("needs sampled in [data]: without a secret draw from a population there is only the file")
    from discreet.privacy.population import for_file

    with node.locate_errors():
        return for_file(stated, drawn.rate_of(neighbours.rows))
