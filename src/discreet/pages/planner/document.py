"""The facts of the page as one JSON document: public facts of plan, ledger and quotes, no row and no secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.neighbours import Neighbours
from discreet.exact.numbers import decimal_up, float_down, float_up, text
from discreet.pages.planner.releases import Planned, Scene, release_facts
from discreet.pages.report.words import capital
from discreet.privacy import Budget, kind_name
from discreet.privacy.base import SpentMeasure
from discreet.privacy.coordinates import amount_of, parameters
from discreet.privacy.measures import find_budget
from discreet.totals.words import comparison_words

__all__ = ["Chosen", "Limit", "Planned", "Scene", "Written", "planner_document"]

_APART = 0.01
"""The relative distance of the amounts at which ε is known; half of it for amounts that grow with squares."""
_MORE = 10
"""The factor beyond the sliders' ends up to which ε is known, for sums of releases and exact totals; squared for squares."""

Written = str | dict[str, Any]
"""A piece of the text that the page writes: a fixed text, or a slot that depends on the controls."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A budget beside the one of the data set, which some of the releases are charged to as well.

    Args:
        kind: "population", "window", or "others" for each window that no release names.
        name: of the population or window; empty for the others.
        left: what it has left, in additive coordinates; of several windows the least.
        releases: the places of the releases that are charged to it.
    """

    kind: str
    name: str
    left: tuple[Fraction, ...]
    releases: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The facts that the releases of a page share.

    Args:
        dataset: the name of the data set.
        neighbours: the neighbouring relation.
        budget: the budget of the data set.
        remaining: the remaining budget, in additive coordinates.
        frozen: whether the ledger holds the data set, so that budget and exact totals can no longer change.
        report_delta: the δ at which ε is stated.
        totals: the exact totals that can be published alongside the releases, in words, in the order of the scenes' digits.
        scenes: each way to choose among them, the one of the plan first.
        kind: "toml" or "python": what `written` is.
        written: the plan as text.
        file: what a written plan is called.
        limits: further budgets that the releases are charged to.
    """

    dataset: str
    neighbours: Neighbours
    budget: Budget
    remaining: tuple[Fraction, ...]
    frozen: bool
    report_delta: Fraction
    totals: tuple[str, ...]
    scenes: tuple[Scene, ...]
    kind: str
    written: tuple[Written, ...]
    file: str = "plan.toml"
    limits: tuple[Limit, ...] = ()


def planner_document(chosen: Chosen, planned: Sequence[Planned]) -> dict[str, Any]:
    """All facts of the page.

    Raises:
        DiscreetError: as `quote`, where a release has no quote even as the plan has it.
    """
    found = [release_facts(one, list(chosen.scenes), chosen.budget) for one in planned]
    releases, wholes = [facts for facts, _ in found], [whole for _, whole in found]
    _, *others = parameters(chosen.budget)
    return {
        "dataset": chosen.dataset,
        "measure": kind_name(chosen.budget),
        "symbol": chosen.budget.symbols[0],
        "rows": chosen.neighbours.rows,
        "budget": text(amount_of(chosen.budget)),
        "budget_delta": text(others[0][1]) if others else None,
        "remaining": [text(value) for value in chosen.remaining],
        "frozen": chosen.frozen,
        "report_delta": decimal_up(chosen.report_delta),
        "epsilons": _epsilons(chosen, releases),
        "totals": list(chosen.totals),
        "scenes": {one.on: _scene(one) for one in chosen.scenes},
        "on": chosen.scenes[0].on,
        "releases": releases,
        "kind": chosen.kind,
        "written": list(chosen.written),
        "file": chosen.file,
        **({"whole": wholes} if any(wholes) else {}),
        **({"limits": [_limit(one) for one in chosen.limits]} if chosen.limits else {}),
    }


def _limit(limit: Limit) -> dict[str, Any]:
    left = [text(value) for value in limit.left]
    return {"kind": limit.kind, "name": limit.name, "left": left, "releases": list(limit.releases)}


def _scene(scene: Scene) -> dict[str, Any]:
    """The reason why these totals are impossible, if they are, and the sentence that the page shows."""
    return {"refused": scene.refused, "words": _scene_words(scene)}


def _scene_words(scene: Scene) -> str:
    if scene.refused:
        return f"Not possible: {scene.refused}"
    if scene.beside is None:
        return "No exact totals are published: the guarantee compares tables that differ in one person's data."
    return f"{capital(comparison_words(scene.beside.adjacency, published=scene.beside.totals is not None))}."


def _epsilons(chosen: Chosen, releases: Sequence[dict[str, Any]]) -> dict[str, list[float]] | None:
    """ε at the reported δ, rounded up, by ρ or μ, so close together that the next larger amount is as good."""
    kind = type(chosen.budget)
    if chosen.budget.pair is not None or len(kind.fields) > 1:  # an amount without its δ has no ε
        return None
    more = _MORE**kind.power
    low = min(one["ends"][0] for one in releases) / more
    high = more * max([float(amount_of(chosen.budget)), *(one["ends"][1] for one in releases)])
    own = {float_up(amount_of(chosen.budget)), *(float_up(Fraction(one["spend"])) for one in releases)}
    delta = float_down(chosen.report_delta)  # a smaller δ has a larger ε
    pairs = sorted(
        {**_tabulate_epsilons(kind.word, low, high, delta), **_bounds(kind, np.array(sorted(own)), delta)}.items()
    )
    return {"at": [x for x, _ in pairs], "epsilon": [epsilon for _, epsilon in pairs]}


@lru_cache(maxsize=4)
def _tabulate_epsilons(measure: str, low: float, high: float, delta: float) -> dict[float, float]:
    kind = find_budget(measure)
    many = round(log(high / low) / log(1 + _APART / kind.power))
    return _bounds(kind, np.array([float(f"{x:.5g}") for x in np.geomspace(low, high, many)]), delta)


def _bounds(kind: type[SpentMeasure], at: NDArray[np.float64], delta: float) -> dict[float, float]:
    pairs = zip(at.tolist(), kind.epsilons(at, delta).tolist(), strict=True)
    return {x: float(decimal_up(epsilon, 5)) for x, epsilon in pairs if isfinite(epsilon)}
