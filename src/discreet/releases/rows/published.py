"""The tables of a document in whole numbers: how many rows each cell should have, and how much it counts.

A table enters with the precision that its own effect adds to the tables that contain it (docs/proofs/rows.md, R2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from discreet.errors import InternalError
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.releases.measured_areas import read_areas, tables_of
from discreet.releases.read_tables import read_tables
from discreet.releases.recomputed import refuse_made_up
from discreet.releases.rows.model import PARTS, Integers, nearest
from discreet.statistics.effects import parts_of
from discreet.statistics.tree_cells import AreaTable, cells_of_areas

__all__ = ["Measured", "Published", "read_published", "weights_of"]

_MOST_WEIGHT = 4095
_LARGE = 5  # deviations: such a cell is hardly ever one that noise made
_TIMES = 4  # as much as a small one counts a large one


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A table as it was measured.

    Args:
        axes: the positions of its axes.
        counts: int64, of the shape of their levels: what it says, times `PARTS`.
        precision: what its own effect adds, per squared row; 0 where others say more of it.
        variance: about that of a cell.
    """

    axes: Axes
    counts: Integers
    precision: Fraction
    variance: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What a document says of tables.

    Args:
        tables: the tables.
        alone: for each axis what they say of it alone, times `PARTS`.
        rows: the number of rows, or the whole number next to its estimate.
        stated: True if it is that number itself.
        parents: for each level of areas, the widest first, the place of the area of the level before in which each one lies;
            nothing where the tables are not of areas. The first axes are these levels.
    """

    tables: tuple[Measured, ...]
    alone: tuple[Integers, ...]
    rows: int
    stated: bool
    parents: tuple[tuple[int, ...], ...]


def read_published(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> Published:
    """The tables of the measured integers of one statistic.

    Raises:
        ArgumentError: the document was made up.
    """
    with refuse_made_up():
        return _areas(block, noise) if "levels" in block else _tables(block, noise)


def _tables(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> Published:
    read = read_tables(block, noise)
    effects, asked = read.effects, list(read.tables)
    alone: list[Axes] = [(axis,) for axis in range(len(effects.sizes))]
    whole, *counts = (_parts(*one) for one in read.cells([(), *alone, *asked]))
    variances = {part: read.variances.get(part, Fraction(0)) for part in effects.parts}
    precisions = _precisions(effects, asked, variances)
    tables = zip(asked, counts[len(alone) :], strict=True)
    return Published(
        tuple(Measured(axes, own, precisions[axes], effects.variance(axes, variances)) for axes, own in tables),
        tuple(counts[: len(alone)]),
        _rows(whole),
        not variances.get((), 0),
        (),
    )


def _areas(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> Published:
    tables, measured = read_areas(block, noise)
    levels, effects = len(block["levels"]), tables.effects
    asked = tables_of(block)
    alone = [
        *(AreaTable(1 + level, ()) for level in range(levels)),
        *(AreaTable(0, (axis,)) for axis in range(len(effects.sizes))),
    ]
    cells = cells_of_areas(tables, [AreaTable(0, ()), *alone, *asked], measured)
    found = []
    for level in range(levels + 1):
        variances = {
            part: _variance(one.law, one.times, effects, part) for (own, part), one in measured.items() if own == level
        }
        mine = [one for one in asked if one.level == level]
        precisions = _precisions(effects, [one.axes for one in mine], variances)
        for one in mine:
            own, counts = tuple(levels + axis for axis in one.axes), _parts(*cells[one])
            axes, counts = ((level - 1, *own), counts) if level else (own, counts[0])
            found.append(Measured(axes, counts, precisions[one.axes], effects.variance(one.axes, variances)))
    parents = tuple(tuple(one["parents"]) for one in block["levels"])
    nation = measured.get((0, ()))
    return Published(
        tuple(found),
        tuple(_parts(*cells[one]).ravel() for one in alone),
        _rows(_parts(*cells[AreaTable(0, ())])),
        nation is not None and nation.law is None,
        parents,
    )


def _parts(values: Integers, denominator: int) -> Integers:
    """The estimates of cells, times `PARTS`."""
    return nearest(values, PARTS, denominator)


def _rows(whole: Integers) -> int:
    return max(0, (2 * int(whole.sum()) + PARTS) // (2 * PARTS))


def _variance(law: Law | None, times: int, effects: Effects, part: Axes) -> Fraction:
    """s, where the measured effect has about the covariance s times the projector, the same fraction on every machine."""
    scale = (times * effects.scale(part)) ** 2
    if law is None:
        return Fraction(0)
    if isinstance(law, RoundedGaussian):
        return law.sigma2 / scale
    if isinstance(law, DiscreteLaplace):
        return 2 * law.scale**2 / scale
    raise InternalError(f"{type(law).__name__}: no document of agreeing tables has this noise")


# Weights --------------------------------------------------------------------------------------------------------------


def _precisions(effects: Effects, tables: Sequence[Axes], variances: Mapping[Axes, Fraction]) -> dict[Axes, Fraction]:
    """For each table the precision that its own effect adds.

    Σ w_b/Π n_i over the tables b that contain the axes of an effect a, n_i of the axes outside a, is the precision of a: so
    the largest tables come first. A table whose larger tables say more of it than its own effect has none.
    """
    found: dict[Axes, Fraction] = {}
    for table in sorted(dict.fromkeys(tables), key=lambda one: (-len(one), sorted(one))):
        own = parts_of(effects, table)[-1]
        precision = 1 / variances[own] if variances[own] else Fraction(0)
        for other, weight in found.items():
            if set(own) <= set(other):
                precision -= weight / prod(effects.sizes[axis] for axis in other if axis not in own)
        found[table] = max(precision, Fraction(0))
    return found


def weights_of(tables: Sequence[Measured]) -> tuple[list[Integers], Fraction]:
    """For each table the weights of its cells as whole numbers of units, and the unit.

    A cell above five deviations counts four times: what noise puts into empty cells, which cannot be less than empty, would
    otherwise be taken from the large ones.
    """
    largest = max((one.precision for one in tables), default=Fraction(0))
    unit = largest / _MOST_WEIGHT if largest else Fraction(1)
    found = []
    for one in tables:
        limit = (_LARGE * PARTS) ** 2 * one.variance
        counts = np.maximum(one.counts, 0).astype(np.object_)
        large = np.asarray(counts * counts * limit.denominator > limit.numerator, dtype=bool)
        found.append(np.where(large, _TIMES, 1) * round(one.precision / unit))
    return found, unit
