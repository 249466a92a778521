"""What a document says of tables, in integers: targets, weights and exact totals.

A table enters with the precision that its own effect adds to the tables that contain it (docs/proofs/rows.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.releases.measured import blocks_of, read_block
from discreet.statistics.effects import MeasuredEffect, cells_of, parts_of
from discreet.statistics.filled import Fills

__all__ = ["PARTS", "Axis", "Target", "Targets", "scaled", "targets_of"]

PARTS = 64
"""Targets are whole multiples of 1 over this."""

_MOST_WEIGHT = 4095
_PLAIN = ("category", "boolean", "number", "date")
"""The types of columns whose groups say nothing of other columns."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A column of the rows, or the bins of one.

    Args:
        column: its name.
        labels: for each level that can have rows its label, as the tables print it.
    """

    column: str
    labels: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One table.

    Args:
        axes: the positions of its axes.
        counts: int64, of the shape of their levels: the numbers of rows that it says, times `PARTS`.
        weight: a whole number, how much it counts among the tables.
    """

    axes: Axes
    counts: NDArray[np.int64]
    weight: int


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Everything that rows are fitted to.

    Args:
        axes: the columns.
        rows: how many rows there are.
        tables: what they are fitted to.
        totals: by the positions of their axes the exact numbers of rows that they must have; no two have an axis in common.
        singles: for each axis what the tables say of it alone, times `PARTS`.
        unit: the precision, per squared row, of a table of weight 1.
    """

    axes: tuple[Axis, ...]
    rows: int
    tables: tuple[Target, ...]
    totals: Mapping[Axes, NDArray[np.int64]]
    singles: tuple[NDArray[np.int64], ...]
    unit: Fraction

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each axis."""
        return tuple(len(axis.labels) for axis in self.axes)


def scaled(targets: Targets, rows: int) -> Targets:
    """The same shares in another number of rows; as they are where the number is the same.

    Numbers of rows grow by rows/N, N the published number or its estimate. Each list of totals is divided by the largest
    remainders, those of the first cells first, so that it has all rows.

    Raises:
        ArgumentError: the release says of no row that there is one.
    """
    if rows == targets.rows:
        return targets
    if not targets.rows:
        raise ArgumentError("rows: the release says that there is no row, and nothing has its shares; leave it out")
    return replace(
        targets,
        rows=rows,
        tables=tuple(replace(one, counts=_times(one.counts, rows, targets.rows)) for one in targets.tables),
        totals={own: _apportioned(found, rows) for own, found in targets.totals.items()},
        singles=tuple(_times(one, rows, targets.rows) for one in targets.singles),
        unit=targets.unit * Fraction(targets.rows, rows) ** 2,
    )


def _times(counts: NDArray[np.int64], rows: int, of: int) -> NDArray[np.int64]:
    """counts·rows/of, each next to the exact fraction: floor(x + 1/2)."""
    return np.asarray((2 * rows * counts.astype(np.object_) + of) // (2 * of), dtype=np.int64)


def _apportioned(found: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    exact, of = rows * found.astype(np.object_).ravel(), int(found.sum())
    whole = exact // of
    largest = sorted(range(len(exact)), key=lambda place: (-(exact[place] % of), place))
    for place in largest[: rows - int(whole.sum())]:
        whole[place] += 1
    return np.asarray(whole.reshape(found.shape), dtype=np.int64)


def targets_of(document: Mapping[str, Any]) -> Targets:
    """What the agreeing tables in the document of a release and its exact totals say.

    Raises:
        ArgumentError: it has none, or several statistics of them, or publishes what rows cannot be fitted to yet; the
            message says what.
    """
    blocks = blocks_of(document)
    if len(blocks) != 1:
        many = "several statistics of them" if blocks else "none"
        raise ArgumentError(
            f"release: rows are fitted to agreeing tables, and it has {many}; ask for agreeing_tables(…) once"
        )
    block = blocks[0]
    if "levels" in block:
        raise ArgumentError("release: its tables are by areas of several levels; rows cannot be fitted to these yet")
    axes = tuple(map(_axis, block["axes"]))
    _refuse_related(axes, document)
    effects, measured, fills = read_block(block, document["noise"])
    tables = [tuple(table) for table in block["tables"]]
    totals = _totals_of(document, axes)
    alone: list[Axes] = [(axis,) for axis in range(len(axes))]
    whole, *counts = _counts(effects, [(), *alone, *tables], measured, fills)
    singles, counts = counts[: len(alone)], counts[len(alone) :]
    weights, unit = _weights(effects, tables, measured)
    return Targets(
        axes,
        _rows(int(whole)),
        tuple(Target(*one) for one in zip(tables, counts, weights, strict=True)),
        totals,
        tuple(singles),
        unit,
    )


def _axis(written: Mapping[str, Any]) -> Axis:
    labels = [*zip(*written["labels"], strict=True)]
    if any(len(label) > 1 for label in labels):
        raise ArgumentError(f"release: groups of '{written['column']}' have several columns; rows cannot be fitted to them")
    return Axis(written["column"], tuple(labels[place][0] for place in written["alive"]))


def _refuse_related(axes: Sequence[Axis], document: Mapping[str, Any]) -> None:
    """Two groupings of one column, or of columns of which one says something of another, would contradict each other."""
    types = {one["name"]: one["type"] for one in document["plan"]["schema"]}
    names = [axis.column for axis in axes]
    for name in names:
        if types.get(name) not in _PLAIN or names.count(name) > 1:
            raise ArgumentError(
                f"release: its tables group by '{name}' in several ways, or by areas or derived columns; rows cannot be "
                "fitted to these yet"
            )


def _rows(whole: int) -> int:
    """The number of rows that the document says, or the integer next to its estimate, from the target for all rows."""
    return max(0, (2 * whole + PARTS) // (2 * PARTS))


def _counts(
    effects: Effects, tables: Sequence[Axes], measured: Mapping[Axes, MeasuredEffect], fills: Fills
) -> list[NDArray[np.int64]]:
    """The estimates of all cells, times `PARTS`, each next to the exact fraction: floor(x + 1/2)."""
    found = []
    for values, denominator in cells_of(effects, tables, measured, fills):
        whole = (2 * PARTS * values.astype(np.object_) + denominator) // (2 * denominator)
        found.append(np.asarray(whole, dtype=np.int64))
    return found


def _weights(
    effects: Effects, tables: Sequence[Axes], measured: Mapping[Axes, MeasuredEffect]
) -> tuple[list[int], Fraction]:
    """For each table the precision that its own effect adds, as a whole number of units, and the unit.

    Σ w_b/Π n_i over the tables b that contain the axes of an effect a, n_i of the axes outside a, is the precision of a: so
    the largest tables come first. A table whose larger tables say more of it than its own effect has the weight 0.
    """
    found: dict[Axes, Fraction] = {}
    for table in sorted({tuple(sorted(one)) for one in tables}, key=len, reverse=True):
        own = parts_of(effects, table)[-1]
        precision = _precision(effects, own, measured[own])
        for other, weight in found.items():
            if set(own) < set(other):
                precision -= weight / prod(effects.sizes[axis] for axis in other if axis not in own)
        found[table] = max(precision, Fraction(0))
    largest = max(found.values(), default=Fraction(0))
    if not largest:
        return [0] * len(tables), Fraction(1)
    return [round(_MOST_WEIGHT * found[tuple(sorted(one))] / largest) for one in tables], largest / _MOST_WEIGHT


def _precision(effects: Effects, part: Axes, one: MeasuredEffect) -> Fraction:
    """1/s, where the measured effect has the covariance s times the projector; 0 for one that is public."""
    if one.law is None:
        return Fraction(0)
    return (one.times * effects.scale(part)) ** 2 / _variance(one.law)


def _variance(law: Law) -> Fraction:
    """About the variance, the same fraction on every machine: it only says how much tables count."""
    if isinstance(law, RoundedGaussian):
        return law.sigma2
    if isinstance(law, DiscreteLaplace):
        return 2 * law.scale**2
    raise InternalError(f"{type(law).__name__}: no document of agreeing tables has this noise")


# Exact totals ---------------------------------------------------------------------------------------------------------


def _totals_of(document: Mapping[str, Any], axes: Sequence[Axis]) -> dict[Axes, NDArray[np.int64]]:
    """The published lists of totals, on the columns that the rows have; the largest ones, which have no axis in common."""
    published = document.get("invariants")
    parts = published["totals"]["parts"] if published else []
    lists: dict[Axes, NDArray[np.int64]] = {}
    for part in parts:
        if part["part"] != "totals" or part["only"] is not None:
            raise ArgumentError(
                f"release: it publishes {part['part']} of {', '.join(part['columns'])}, and rows can keep only lists of "
                "totals of all groups"
            )
        lists |= _list_of(part, axes)
    largest = {own: found for own, found in lists.items() if not any(set(own) < set(other) for other in lists)}
    for own in largest:
        crossing = next((other for other in largest if other != own and set(own) & set(other)), None)
        if crossing is not None:
            named = " and ".join("(" + ", ".join(axes[axis].column for axis in one) + ")" for one in (own, crossing))
            raise ArgumentError(
                f"release: its totals of {named} overlap, and rows cannot be fitted to them; to find rows with such totals "
                "is NP-hard in general"
            )
    return largest


def _list_of(part: Mapping[str, Any], axes: Sequence[Axis]) -> dict[Axes, NDArray[np.int64]]:
    """One list, added up over the columns that the rows do not have."""
    names = [axis.column for axis in axes]
    places = [(place, names.index(name)) for place, name in enumerate(part["columns"]) if name in names]
    places.sort(key=lambda one: one[1])
    own = tuple(axis for _, axis in places)
    if not own:
        return {}
    found = np.zeros([len(axes[axis].labels) for axis in own], dtype=np.int64)
    for *labels, count in part["cells"]:
        if count:
            found[tuple(_level(axes[axis], labels[place]) for place, axis in places)] += count
    return {own: found}


def _level(axis: Axis, label: Any) -> int:
    for place, one in enumerate(axis.labels):
        if type(one) is type(label) and one == label:
            return place
    raise ArgumentError(
        f"release: its tables group '{axis.column}' otherwise than its totals, and rows cannot be fitted to both; ask for "
        "tables by the categories themselves"
    )
