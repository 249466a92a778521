"""What a change of rows costs in effects that are measured in the areas of every level of a tree.

With precision t in the effect a of level l, two rows cost most for some level from which on their areas differ and some set
of columns in which they differ; both are found (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.mechanisms.effect_costs import Changes, Cost, cost_of
from discreet.mechanisms.effects import Axes, Effects

__all__ = ["Kept", "Precisions", "TreeChanges", "cost_in_tree"]

Precisions = Mapping[tuple[int, Axes], Fraction]
"""For each level, 0 for all areas together, and each effect that is measured there, its precision."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What two matched rows have in common.

    Args:
        level: their areas are the same down to this level; 0 where they need not be.
        axes: the axes in which they agree.
        leaves: whether one of them alone may count.
    """

    level: int
    axes: Axes
    leaves: bool


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """What one row can do between compared tables.

    Args:
        appears: it appears or vanishes, and is never replaced.
        forks: the levels from which on the areas of two rows can differ, first.
        kept: for each way to match rows what they have in common; one of them is enough.
        rows: a, how many rows may do so at once.
    """

    appears: bool
    forks: tuple[int, ...]
    kept: tuple[Kept, ...]
    rows: int = 1


def cost_in_tree(sizes: Sequence[int], precisions: Precisions, changes: TreeChanges) -> Cost:
    """The largest Σ t · energy of the rows that may change together, rounded up.

    Args:
        sizes: the number of levels of each axis, all of them two or more.
        precisions: for each level and each effect of some axes.
        changes: what one row can do.
    """
    squared = changes.rows**2
    alone = _alone(sizes, precisions.items())
    if changes.appears:
        return Cost(squared * alone, (), exact=True)
    found = min((_matched(sizes, precisions, changes.forks, one) for one in changes.kept), key=lambda one: one.most)
    return Cost(squared * found.most, found.changed, found.exact and len(changes.kept) == 1)


def _matched(sizes: Sequence[int], precisions: Precisions, forks: Sequence[int], kept: Kept) -> Cost:
    """The costliest pair of rows that have this in common, or the row alone that counts where the other does not."""
    found = _most(sizes, precisions, forks, kept)
    if not kept.leaves:
        return found
    alone = _alone(sizes, precisions.items())
    # Where rows may count nowhere, two rows that count may be less different than all rows.
    return Cost(alone, (), exact=True) if alone > found.most else Cost(found.most, found.changed, exact=False)


def _most(sizes: Sequence[int], precisions: Precisions, forks: Sequence[int], kept: Kept) -> Cost:
    """The costliest pair of rows that have this in common: their areas differ from one of the levels on, or nowhere."""
    beyond = 1 + max((level for level, _ in precisions), default=0)
    from_on = [level for level in forks if kept.level < level < beyond]
    return max((_apart_from(sizes, precisions, level, kept.axes) for level in (*from_on, beyond)), key=lambda one: one.most)


def _apart_from(sizes: Sequence[int], precisions: Precisions, level: int, kept: Axes) -> Cost:
    """Above the level the rows are in one area and may differ in columns; from it on each is alone in its area."""
    below = 2 * _alone(sizes, ((key, t) for key, t in precisions.items() if key[0] >= level))
    together: dict[Axes, Fraction] = {}
    for (at, part), t in precisions.items():
        if at < level:
            together[part] = together.get(part, Fraction(0)) + t
    effects = Effects(tuple(sizes), tuple(together))
    above = cost_of(effects, tuple(together.values()), Changes(appears=False, leaves=False, kept=(kept,)))
    return Cost(above.most + below, above.changed, above.exact)


def _alone(sizes: Sequence[int], precisions: Iterable[tuple[tuple[int, Axes], Fraction]]) -> Fraction:
    """What a row costs that counts in one of both tables alone."""
    effects = Effects(tuple(sizes), ())
    return sum((t * effects.energy(part) for (_, part), t in precisions), Fraction(0))
