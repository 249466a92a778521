"""The spent and the remaining budget of the data set when the release was charged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.pages.report.promise import measure_words
from discreet.pages.words import Words
from discreet.privacy import from_json
from discreet.privacy.coordinates import coordinates, from_coordinates
from discreet.privacy.measures import Budget, is_budget
from discreet.releases.guarantee import Guarantee

__all__ = ["BudgetUse", "budget_of"]


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """The budget in figures, and as three parts of a bar in thousandths: spent before, spent here, left.

    `others` is what other releases were charged until then, in words; empty where nothing was.
    """

    figures: tuple[tuple[str, str], ...]
    before: int
    here: int
    left: int
    others: str


def budget_of(document: Mapping[str, Any], guarantee: Guarantee, words: Words) -> BudgetUse | None:
    """The use of the budget; None for an older document without it.

    Raises:
        TypeError: the remaining amount in the document is not a budget.
    """
    stated = document.get("budget")
    if stated is None:
        return None
    whole, left = from_json(stated["whole"]), from_json(stated["remaining"])
    if not is_budget(whole) or not is_budget(left):
        raise TypeError
    # The first coordinate is the one in which people think: ε, ρ or μ².
    of, rest, here = (coordinates(measure)[0] for measure in (whole, left, guarantee.effective))
    parts = [round(1000 * Fraction(part) / of) for part in (here, rest)]
    figures = (
        (words("report.promise.whole"), measure_words(whole, words)),
        (words("report.promise.charged"), measure_words(guarantee.effective, words)),
        (words("report.promise.rest"), measure_words(left, words)),
    )
    return BudgetUse(figures, 1000 - sum(parts), parts[0], parts[1], _others((whole, left, guarantee.effective), words))


def _others(amounts: tuple[Budget, Budget, Budget], words: Words) -> str:
    """The part of the budget that is neither left nor charged for this release."""
    whole, left, here = amounts
    rest = tuple(of - one - own for of, one, own in zip(*map(coordinates, (whole, left, here)), strict=True))
    return measure_words(from_coordinates(type(whole), rest), words) if min(rest) >= 0 < max(rest) else ""
