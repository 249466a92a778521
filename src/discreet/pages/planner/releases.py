"""One release of the planner: its controls, their ranges, and the curves that its errors are read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

from discreet.cube.queries import Dispersion, LevelCounts
from discreet.domain.neighbours import ReplaceOne
from discreet.domain.steps import Resize
from discreet.errors import ArgumentError
from discreet.exact.figures import name
from discreet.exact.numbers import exact, float_down, text
from discreet.pages.planner.curves import ROWS, Curve, Range, curve_of_rows, curve_of_spend
from discreet.plan.plan import Plan, resize_of
from discreet.privacy import ApproxDP, Budget
from discreet.privacy.coordinates import amount_of, parameters
from discreet.quotes.allocate import resampling_of, row_targets
from discreet.quotes.quote import Quote, expected_error
from discreet.totals.beside import Beside

__all__ = ["Planned", "Scene", "release_facts"]

_FEWEST, _MOST = Fraction(1, 20), Fraction(3)
"""The proportions that the slider goes through."""
_FINE, _COARSE = 12, 4
"""Points in a decade of ε: of a request on the table itself, and of one on a resized table."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A release that is planned, with its quote; a stored one is given back by the ledger and costs nothing more."""

    name: str
    quote: Quote
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """Which exact totals stand beside the releases: "10" are the first of two; or why that cannot be."""

    on: str
    beside: Beside | None
    refused: str = ""


def release_facts(planned: Planned, scenes: list[Scene], budget: Budget) -> dict[str, Any]:
    """Everything that the page knows of a release."""
    quote = planned.quote
    (_, spend), *others = parameters(quote.spend)
    made = _Made(quote, _ends(spend, amount_of(budget)))
    curves: list[Curve] = []
    which: dict[str, int] = {}
    known: dict[object, int] = {}
    for scene in scenes:
        for key, same, curve in made.curves(scene):
            if same not in known:
                known[same] = len(curves)
                curves.append(curve())
            which[key] = known[same]
    return {
        "name": name(planned.name),
        "stored": planned.stored,
        "spend": text(spend),
        "delta": text(others[0][1]) if others else None,
        "ends": list(made.ends),
        "statistics": [_statistic(quote, place) for place in range(len(quote.lines))],
        "resize": made.resize_facts(),
        "curves": curves,
        "which": which,
    }


def _ends(spend: Fraction, budget: Fraction) -> tuple[float, float]:
    """From a tenth of the spend, or less, to the budget or the spend, in whole powers of ten."""
    low = 10.0 ** (floor(log10(spend)) - 1)
    return low, max(10.0 ** ceil(log10(max(spend, budget))), 100 * low)


def _statistic(quote: Quote, place: int) -> dict[str, Any]:
    line = quote.lines[place]
    error = expected_error(quote, line, rows=ROWS)
    return {
        "name": name(line.statistic.name),
        "unit": line.recipe.unit(ROWS),
        "error": error if error < float("inf") else None,
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """The quote of a release, and the ends of its slider."""

    quote: Quote
    ends: tuple[float, float]

    @property
    def resize(self) -> Resize | None:
        return resize_of(self.quote.plan)

    @property
    def _approximate(self) -> bool:
        return isinstance(self.quote.spend, ApproxDP)

    @property
    def proportions(self) -> list[Fraction] | None:
        """The proportions that there are tables for; None where every one will do."""
        if self.resize is None or not self._approximate:
            return None
        return sorted({Fraction(1, 4), Fraction(1, 2), Fraction(1), self.resize.proportion})

    @property
    def rows(self) -> list[int] | None:
        """The numbers of rows that there are tables for; None where every one will do."""
        shaped = any(isinstance(one.query, LevelCounts | Dispersion) for one in self.quote.measured)
        if self.resize is None or not (shaped or self._approximate):
            return None
        n = self.resize.rows
        factors = (Fraction(1, 2), 1, 2) if self._approximate else (Fraction(1, 4), Fraction(1, 2), 1, 2, 4)
        return sorted({max(1, round(n * factor)) for factor in factors})

    def resize_facts(self) -> dict[str, Any] | None:
        resize, plan = self.resize, self.quote.plan
        if resize is None:
            return None
        stops = self.proportions
        return {
            "rows": resize.rows,
            "proportion": text(resize.proportion),
            "of": plan.neighbours.rows if isinstance(plan.neighbours, ReplaceOne) else None,
            "proportions": None if stops is None else [text(one) for one in stops],
            "most": text(max(_MOST, 2 * resize.proportion)),
            "least": text(min(_FEWEST, resize.proportion)),
            "stops": self.rows,
        }

    def curves(self, scene: Scene) -> Iterator[tuple[str, object, Any]]:
        """For each setting its key, what alone its curve depends on, and a function that makes the curve."""
        if scene.refused:
            yield f"{scene.on}||", ("refused", scene.refused), lambda: {"refused": scene.refused}
            return
        for p, proportion in enumerate(self.proportions or [None]):
            for n, rows in enumerate(self.rows or [None]):
                plan = _resized(self.quote.plan, rows, proportion)
                key = f"{scene.on}|{'' if proportion is None else p}|{'' if rows is None else n}"
                yield key, self._depends_on(plan, scene), lambda plan=plan: self._curve(plan, scene.beside)

    def _depends_on(self, plan: Plan, scene: Scene) -> object:
        """Equal for settings of equal curves: on a resized table the totals count in the law of the copies alone."""
        sampled = resampling_of(plan, scene.beside)
        shape = None if self.rows is None or sampled is None else sampled.rows
        if sampled is None:
            return scene.on
        if not self._approximate:
            return (scene.on, shape)
        return (scene.on, shape, sampled.proportion, sampled.sampled)

    def _curve(self, plan: Plan, beside: Beside | None) -> Curve:
        spend = self.quote.spend
        own = (float(amount_of(spend)),)
        if isinstance(spend, ApproxDP):
            dense = _FINE if self.resize is None else _COARSE
            return curve_of_spend(plan, spend, beside, Range(*self.ends, own), per_decade=dense)
        try:
            amounts = Range(*self._row_amounts(plan, beside))
        except ArgumentError as refused:
            return {"refused": name(refused)}
        return curve_of_rows(plan, type(spend), beside, amounts)

    def _row_amounts(self, plan: Plan, beside: Beside | None) -> tuple[float, float, tuple[float, ...]]:
        """What one row of the table that is asked can be guaranteed, from the least to the most that sliders reach."""
        kind: Any = type(self.quote.spend)

        def inner(amount: float | Fraction, proportion: Fraction | None) -> float:
            changed = _resized(plan, None, proportion)
            return float_down(amount_of(row_targets(changed, kind(exact(amount, "spend")), beside)[0]))

        low, high = self.ends
        resize = resize_of(plan)
        least, most = (
            (None, None) if resize is None else (min(_FEWEST, resize.proportion), max(_MOST, 2 * resize.proportion))
        )
        found = [inner(end, share) for end in (low, high) for share in (least, most)]
        return min(found), max(found), (inner(amount_of(self.quote.spend), None),)


def _resized(plan: Plan, rows: int | None, proportion: Fraction | None) -> Plan:
    """The plan with another resize; what is None stays."""
    if rows is None and proportion is None:
        return plan
    steps = tuple(
        replace(step, rows=rows or step.rows, proportion=proportion or step.proportion) if isinstance(step, Resize) else step
        for step in plan.steps
    )
    return replace(plan, steps=steps)
