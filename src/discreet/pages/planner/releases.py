"""One release of the planner: its controls, their ranges, and the curves of its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, log10
from typing import Any

from discreet.domain.steps import Resize
from discreet.errors import InternalError
from discreet.exact.figures import name, number, plural
from discreet.exact.numbers import float_down, text
from discreet.pages.planner.curves import Curve, choose_amounts, curve_of, with_halves_and_doubles
from discreet.pages.planner.wholes import drawn_in, whole_facts
from discreet.plan.plan import Plan, resize_of
from discreet.privacy import Budget
from discreet.privacy.amplify import Resampling
from discreet.privacy.coordinates import amount_of, parameters
from discreet.privacy.measures import is_target
from discreet.quotes.allocate import resampling_of
from discreet.quotes.groups import middle
from discreet.quotes.quote import Quote
from discreet.totals.exact_totals import ExactTotals

__all__ = ["Planned", "Scene", "release_facts"]

_PROPORTIONS = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""Proportions of a resize that have quotes, in addition to the proportion in the plan."""
_ROWS = (Fraction(1, 2), Fraction(1), Fraction(2))
"""Numbers of rows of a resize that have quotes, relative to the number in the plan."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A release that is planned, with its quote; the ledger returns a stored one at no charge."""

    name: str
    quote: Quote
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """A choice of exact totals, "10" for the first of two; or the reason why this choice is impossible."""

    on: str
    beside: ExactTotals | None
    refused: str = ""


def release_facts(planned: Planned, scenes: list[Scene], budget: Budget) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """All facts of a release on the page, and those of its whole errors, if its steps move any number."""
    quote = planned.quote
    (_, spend), *others = parameters(quote.spend)
    made = _Made(quote, _ends(spend, amount_of(budget)))
    whole = whole_facts(list(made.settings()), quote)
    made = replace(made, drawn=drawn_in(whole))
    curves: list[Curve] = []
    which: dict[str, int] = {}
    known: dict[object, int] = {}
    for scene in scenes:
        for key, same, curve in made.curves(scene):
            if same not in known:
                known[same] = len(curves)
                curves.append(curve())
            which[key] = known[same]
    facts = {
        "name": name(planned.name),
        "stored": planned.stored,
        "groups": quote.plan.layout.cells,
        "by": [name(one) for group in quote.plan.group_by for one in group.names],
        "expected": bool(quote.expect),
        "size": quote.sizes.index(middle(quote.sizes)),
        "spend": text(spend),
        "delta": text(others[0][1]) if others else None,
        "ends": list(made.ends),
        "positions": [text(one) for one in made.positions],
        "at": [float_down(one) for one in made.amounts],
        "statistics": [_statistic(quote, place) for place in range(len(quote.lines))],
        "resize": made.resize_facts(),
        "curves": curves,
        "which": which,
    }
    return facts, whole


def _ends(spend: Fraction, budget: Fraction) -> tuple[float, float]:
    """From a tenth of the spend, or less, to the budget or the spend, in whole powers of ten."""
    low = 10.0 ** (floor(log10(spend)) - 1)
    return low, max(10.0 ** ceil(log10(max(spend, budget))), 100 * low)


def _statistic(quote: Quote, place: int) -> dict[str, Any]:
    """A statistic with its error in a group of each size; its unit, if that is not values of the statistic."""
    line, noises = quote.lines[place], quote.noises(quote.lines[place])
    errors = [line.recipe.widest(noises, size) for size in quote.sizes]
    unit = line.recipe.unit(1)
    return {
        "name": name(line.statistic.name),
        "unit": unit if unit == line.recipe.unit(2) else "",
        "errors": [error if error < float("inf") else None for error in errors],
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """The quote of a release, and the ends of its slider."""

    quote: Quote
    ends: tuple[float, float]
    drawn: tuple[bool, ...] = ()

    @property
    def resize(self) -> Resize | None:
        return resize_of(self.quote.plan)

    @property
    def _approximate(self) -> bool:
        return not is_target(self.quote.spend)

    @property
    def positions(self) -> list[Fraction]:
        """The spends that the slider goes through; fewer where a quote takes long."""
        per_decade = 20 if self.resize is None else 10
        if self._approximate:
            per_decade = 10 if self.resize is None else 5
        return choose_amounts(*self.ends, amount_of(self.quote.spend), per_decade=per_decade)

    @property
    def amounts(self) -> list[Fraction]:
        """The spends that have quotes; under approximate DP on a resized table only the slider's."""
        dense = not (self._approximate and self.resize is not None)
        return with_halves_and_doubles(self.positions) if dense else self.positions

    @property
    def proportions(self) -> list[Fraction]:
        """The proportions of a resize that have tables."""
        if self.resize is None:
            return []
        return sorted({*_PROPORTIONS, self.resize.proportion})

    @property
    def rows(self) -> list[int]:
        """The numbers of rows of a resize that have tables."""
        if self.resize is None:
            return []
        return sorted({max(1, round(self.resize.rows * factor)) for factor in _ROWS})

    def resize_facts(self) -> dict[str, Any] | None:
        if self.resize is None:
            return None
        return {
            "rows": self.resize.rows,
            "proportion": text(self.resize.proportion),
            "proportions": [text(one) for one in self.proportions],
            "stops": self.rows,
            "words": [[self._resize_words(n, p) for n in self.rows] for p in self.proportions],
        }

    def _resize_words(self, rows: int, proportion: Fraction) -> str:
        """The sentence about the resized table with these controls."""
        sampled = resampling_of(_resize(self.quote.plan, rows, proportion), None)
        if not isinstance(sampled, Resampling):
            raise InternalError("a resize without a law of its copies")
        each = "each row at most once" if sampled.copies == 1 else f"each row at most {sampled.copies} times"
        start = f"The prepared table has {number(rows)} {plural('row', rows)}:"
        real = sampled.sampled
        if real is None:  # their number is private
            return f"{start} sampled ones, {each}, and imputed ones."
        return f"{start} {number(real)} sampled from the data, {each}, and {number(rows - real)} imputed."

    def curves(self, scene: Scene) -> Iterator[tuple[str, object, Callable[[], Curve]]]:
        """For each setting its key, the facts that determine its curve, and a function that makes the curve."""
        if scene.refused:
            yield f"{scene.on}||", ("refused", scene.refused), lambda: {"refused": scene.refused}
            return
        for setting, plan in self.settings():
            yield f"{scene.on}|{setting}", self._depends_on(plan, scene), partial(self._curve, plan, scene.beside)

    def settings(self) -> Iterator[tuple[str, Plan]]:
        """For each setting of p and n its key and the plan."""
        for p, proportion in enumerate(self.proportions or [None]):
            for n, rows in enumerate(self.rows or [None]):
                key = f"{'' if proportion is None else p}|{'' if rows is None else n}"
                yield key, _resize(self.quote.plan, rows, proportion)

    def _depends_on(self, plan: Plan, scene: Scene) -> object:
        """Equal for settings of equal curves: on a resized table n counts in sizes of groups and in the law of copies."""
        sampled = resampling_of(plan, scene.beside)
        if not isinstance(sampled, Resampling):
            return scene.on
        return scene.on, sampled.rows, sampled.proportion, sampled.sampled

    def _curve(self, plan: Plan, exact_totals: ExactTotals | None) -> Curve:
        return curve_of(plan, self.quote.spend, exact_totals, self.amounts, self.quote.expect, drawn=self.drawn)


def _resize(plan: Plan, rows: int | None, proportion: Fraction | None) -> Plan:
    """The plan with another resize; None keeps a number."""
    if rows is None and proportion is None:
        return plan
    steps = tuple(
        replace(step, rows=rows or step.rows, proportion=proportion or step.proportion) if isinstance(step, Resize) else step
        for step in plan.steps
    )
    return replace(plan, steps=steps)
