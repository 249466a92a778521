"""How certain each noisy part has to be, so that an interval, or all intervals of a release, hold with probability `LEVEL`.

An interval holds where a few statements about noise do: that a noise lies within its half-width, or a sum of noises; or that
the tests of a quantile do not fail. If each of m statements fails with probability at most (1 - LEVEL)/m, then with
probability at least LEVEL none fails (Boole's inequality), however they depend on each other: the same noise may stand in
several statistics, and noise beside exact totals moves several cells at once. For independent noises the best level, LEVEL
to the power 1/m, would allow each statement no more than 1.026 times that probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.errors import unreachable
from discreet.plan.plan import Plan
from discreet.quotes.quote import LEVEL, Line, Measured, noises_add_up
from discreet.statistics.kinds import Count, Histogram, Mean, Median, Quantiles, Share, Std, Sum, Tables, Variance, levels_of

__all__ = ["levelled"]


def levelled(plan: Plan, lines: Sequence[Line], measured: Sequence[Measured]) -> tuple[Line, ...]:
    """The lines at the level of their parts: each interval holds with `LEVEL`, or all of them where the plan says so."""
    if plan.intervals == "each":
        return tuple(replace(line, level=1 - (1 - LEVEL) / max(_parts(line, measured), 1)) for line in lines)
    cells = plan.layout.cells
    statements: dict[tuple[str, object], int] = {}
    for line in lines:
        statements |= _statements(line, measured, cells)
    level = 1 - (1 - LEVEL) / max(sum(statements.values()), 1)
    return tuple(replace(line, level=level) for line in lines)


def _parts(line: Line, measured: Sequence[Measured]) -> int:
    """On how many statements a single interval rests; of several tables or quantiles each has its own intervals."""
    several = line.tables or line.tree is not None
    return 1 if several else len(_statements(line, measured, 1))


def _statements(line: Line, measured: Sequence[Measured], cells: int) -> Mapping[tuple[str, object], int]:
    """What the intervals of a line rest on, and about how many integers: the same key is the same statement."""
    kind, name = line.statistic.kind, line.statistic.name
    match kind:
        case Median() | Quantiles():
            # The two tests of an interval fail with half of the probability each; without a tree it is the whole range.
            return {("quantiles", name): cells * len(levels_of(kind))} if line.tree is not None else {}
        case Histogram() | Tables():
            return {("noise", table): _noises(measured[table], cells) for table in line.tables}
        case Sum() if noises_add_up(measured, line.total, line.count):
            return {("sum", name): cells}
        case Share() if line.every is None and isinstance(line.count, int):
            return {("noise", line.count): _noises(measured[line.count], cells), ("all rows", line.count): 1}
        case Count() | Share() | Sum() | Mean() | Variance() | Std():
            parts = [part for part in (line.total, line.count, line.squares) if isinstance(part, int)]
            return {("noise", part): _noises(measured[part], cells) for part in parts}
    raise unreachable(kind)


def _noises(one: Measured, cells: int) -> int:
    """How many integers of an answer have noise of their own, at most."""
    return cells * sum(one.query.widths()) if one.law.held is None else len(one.law.held)
