"""The certainty of each noisy part with which an interval, or all intervals of a release, hold with probability `LEVEL`.

An interval holds where a few statements about noise do: that a noise lies within its half-width, or a sum of noises; or that
the tests of a quantile do not fail. If each of m statements fails with probability at most (1 - LEVEL)/m, then with
probability at least LEVEL none fails (Boole's inequality), however they depend on each other: the same noise may stand in
several statistics, and noise with exact totals moves several cells at once. For independent noises the best level, LEVEL
to the power 1/m, would allow each statement no more than 1.026 times that probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.cube.queries import Query
from discreet.plan.plan import Plan
from discreet.quotes.quote import Line, Measured, noises_behind
from discreet.statistics.recipe import LEVEL

__all__ = ["set_levels"]


def set_levels(plan: Plan, lines: Sequence[Line], measured: Sequence[Measured]) -> tuple[Line, ...]:
    """The lines at the level of their parts: each interval holds with `LEVEL`, or all of them where the plan says so."""
    noises = noises_behind(plan, measured, LEVEL)
    found = [line.recipe.statements(noises) for line in lines]
    if plan.intervals == "each":
        failing = [(1 - LEVEL) / max(one.single, 1) for one in found]
        return tuple(replace(line, level=1 - part) for line, part in zip(lines, failing, strict=True))
    shared: dict[tuple[str, Query], int] = {}
    for one in found:
        shared |= one.shared
    statements = sum(shared.values()) + sum(one.own for one in found)
    return tuple(replace(line, level=1 - (1 - LEVEL) / max(statements, 1)) for line in lines)
