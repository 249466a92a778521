"""Public sums of cells as conditions on tables that agree: the estimates are moved to meet them, and still agree.

With the conditions K x = k and the covariance C of the estimates it is x - C Kᵀ λ, λ = (K C Kᵀ)⁺ (K x - k): the nearest
one in the metric of C⁻¹, unbiased, with a variance that is nowhere larger. C is a number s_a for each effect, so that it is
never written down. λ is found in doubles and kept in whole numbers; what follows from it is exact: tables agree whatever λ
is, and how far the sums are from the public ones is known (docs/proofs/effects.md, "Public sums of cells").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.exact.axes import margin_of
from discreet.mechanisms.effects import Axes, Effects, compose, project
from discreet.statistics.condition_systems import System, system_of
from discreet.statistics.effects import parts_of
from discreet.statistics.public_totals import PublicSum, factors_of

__all__ = [
    "Given",
    "Projected",
    "TableConditions",
    "conditions_json",
    "known_cells",
    "left",
    "meet",
    "moved_by",
    "read_conditions",
    "system_before",
]

_ROUNDS = 6
_NEAR = 2.0**-42
"""A sum that is as near to the public one as this meets it: it is less than doubles of a few thousand can tell."""
_BITS = 40  # of the least precise s_a


@dataclass(frozen=True, slots=True, eq=False)
class TableConditions:
    """Sums of cells of one table that are public.

    Args:
        table: its axes.
        sums: the sums, over the positions of the cells of all its levels that can have rows.
    """

    table: Axes
    sums: tuple[PublicSum, ...]

    @property
    def totals(self) -> list[int]:
        """The sums."""
        return [one.total for one in self.sums]

    def add_up(self, cells: Integers) -> list[int]:
        """The sums of these cells."""
        flat = cells.ravel()
        return [int((flat[one.cells] * factors_of(one)).sum()) for one in self.sums]

    def spread(self, weights: Sequence[int], shape: Sequence[int]) -> Integers:
        """Σ weight · its coefficients, as a table."""
        found: Integers = np.zeros(prod(shape), dtype=np.object_)
        for one, weight in zip(self.sums, weights, strict=True):
            if weight:
                np.add.at(found, one.cells, weight * factors_of(one).astype(np.object_))
        return found.reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Conditions, and what estimates are moved by to meet them.

    Args:
        conditions: of each table that has some.
        multipliers: for each of these one for each sum: λ of the sum, times 2^bits, over the number of cells of the table.
        precisions: for each effect that is moved s_a · 2^steps, rounded up.
        bits: the scale of the multipliers.
        steps: the scale of the precisions.
    """

    conditions: tuple[TableConditions, ...]
    multipliers: tuple[tuple[int, ...], ...]
    precisions: Mapping[Axes, int]
    bits: int
    steps: int


Projected = Mapping[Axes, Integers]


def moved_by(effects: Effects, projected: Projected, common: int, given: Given) -> tuple[dict[Axes, Integers], int]:
    """The projected effects, moved; they are common · N_a² times the effects, and the second number is the new `common`.

    A multiplier L of a condition on a table b moves effect a by s_a ⊗(n_i I - J) m_a · 2^-bits, m_a the margin of L times
    the coefficients of the condition.
    """
    added: dict[Axes, Integers] = {}
    for one, multipliers in zip(given.conditions, given.multipliers, strict=True):
        weights = one.spread(multipliers, [effects.sizes[axis] for axis in one.table])
        for part in parts_of(effects, one.table):
            if part in given.precisions and part in projected:  # else no table that is asked for has it
                added[part] = _of_python(added.get(part, 0) + margin_of(weights, one.table, part))
    scale = 1 << given.bits + given.steps
    found: dict[Axes, Integers] = {part: _of_python(one.astype(np.object_) * scale) for part, one in projected.items()}
    for part, margin in added.items():
        moved = project(effects, part, margin) * (common * effects.scale(part) ** 2 * given.precisions[part])
        found[part] = _of_python(found[part] - moved)
    return found, common * scale


def _of_python(numbers: Any) -> Integers:
    """An array of Python's integers: NumPy makes one of them of an array without axes, and would make it 64 bits wide."""
    return np.asarray(numbers, dtype=np.object_)


def meet(
    effects: Effects,
    conditions: Sequence[TableConditions],
    variances: Mapping[Axes, Fraction],
    measured: tuple[Projected, int],
) -> tuple[Given, System]:
    """What the estimates are moved by, and the system that it was found from.

    Args:
        effects: of all tables.
        conditions: those of tables that have some.
        variances: s_a of each effect with noise.
        measured: the projected effects, and the number that they are scaled by.
    """
    noisy = _noisy(effects, conditions, variances)
    steps = _BITS - floor(log2(float(min(noisy.values(), default=Fraction(1)))))
    precisions = {part: ceil(one * 2**steps) for part, one in noisy.items()}
    system = system_of(effects, conditions, {part: one / 2**steps for part, one in precisions.items()})
    largest = max((float(one) for one in noisy.values()), default=1.0)
    many, cells = sum(len(one.sums) for one in conditions), max((_size(effects, one) for one in conditions), default=1)
    bits = 80 + many.bit_length() + cells.bit_length() + max(0, ceil(log2(max(largest, 1e-300))))
    given = Given(tuple(conditions), tuple((0,) * len(one.sums) for one in conditions), precisions, bits, steps)
    for _ in range(_ROUNDS):
        rest = np.array([float(one) for one in left(effects, given, measured)])
        if np.abs(rest).max(initial=0) <= _NEAR:
            break
        given = _further(effects, given, system.solve(rest))
    return given, system


def system_before(effects: Effects, conditions: Sequence[TableConditions], variances: Mapping[Axes, Fraction]) -> System:
    """The system of conditions before anything is measured."""
    return system_of(effects, conditions, {part: float(one) for part, one in _noisy(effects, conditions, variances).items()})


def _noisy(
    effects: Effects, conditions: Sequence[TableConditions], variances: Mapping[Axes, Fraction]
) -> dict[Axes, Fraction]:
    """The variances of the effects that conditions can move."""
    parts = dict.fromkeys(part for one in conditions for part in parts_of(effects, one.table))
    return {part: variances[part] for part in parts if part in variances}


def _size(effects: Effects, one: TableConditions) -> int:
    return prod(effects.sizes[axis] for axis in one.table)


def _further(effects: Effects, given: Given, weights: NDArray[np.float64]) -> Given:
    """The same with λ larger by these numbers."""
    found, start = [], 0
    for one, multipliers in zip(given.conditions, given.multipliers, strict=True):
        own, start = weights[start : start + len(multipliers)].tolist(), start + len(multipliers)
        scale = Fraction(1 << given.bits, _size(effects, one))
        found.append(tuple(old + round(Fraction(more) * scale) for old, more in zip(multipliers, own, strict=True)))
    return replace(given, multipliers=tuple(found))


def left(effects: Effects, given: Given, measured: tuple[Projected, int]) -> list[Fraction]:
    """How far each sum of the moved estimates is above the public one, exactly."""
    found: list[Fraction] = []
    projected, common = moved_by(effects, *measured, given)
    for one in given.conditions:
        values, denominator = compose(effects, one.table, projected)
        sums = one.add_up(values.astype(np.object_))
        found += [Fraction(own, denominator * common) - total for own, total in zip(sums, one.totals, strict=True)]
    return found


def known_cells(effects: Effects, one: TableConditions) -> tuple[NDArray[np.bool_], Integers]:
    """Which cells of a table are public by themselves, and what they are; of the shape of its levels."""
    shape = [effects.sizes[axis] for axis in one.table]
    there, values = np.zeros(prod(shape), dtype=bool), np.zeros(prod(shape), dtype=np.object_)
    for single in one.sums:
        factor = int(factors_of(single)[0]) if len(single.cells) == 1 else 0
        if factor and not single.total % factor:
            there[single.cells], values[single.cells] = True, single.total // factor
    return there.reshape(shape), values.reshape(shape)


def read_conditions(written: Mapping[str, Any], tables: Sequence[Axes]) -> Given:
    """The conditions as a document has them."""
    conditions, multipliers = [], []
    for one in written["tables"]:
        factors = one.get("factors", [None] * len(one["cells"]))
        sums = tuple(
            PublicSum(np.array(cells, dtype=np.int64), None if each is None else np.array(each, dtype=np.int64), total)
            for cells, each, total in zip(one["cells"], factors, one["totals"], strict=True)
        )
        conditions.append(TableConditions(tables[one["table"]], sums))
        multipliers.append(tuple(one["multipliers"]))
    precisions = {tuple(part): size for part, size in written["precisions"]}
    return Given(tuple(conditions), tuple(multipliers), precisions, written["bits"], written["steps"])


def conditions_json(given: Given, tables: Sequence[Axes]) -> dict[str, Any]:
    """The conditions as a document has them, each table by its position."""
    shown = []
    for one, multipliers in zip(given.conditions, given.multipliers, strict=True):
        factors = [None if each.factors is None else each.factors.tolist() for each in one.sums]
        shown.append(
            {
                "table": tables.index(one.table),
                "cells": [each.cells.tolist() for each in one.sums],
                **({"factors": factors} if any(each is not None for each in factors) else {}),
                "totals": one.totals,
                "multipliers": list(multipliers),
            }
        )
    precisions = [[list(part), size] for part, size in given.precisions.items()]
    return {"tables": shown, "precisions": precisions, "bits": given.bits, "steps": given.steps}
