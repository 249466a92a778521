"""Tables of counts that are put together from the noisy answers of their effects: they agree, and each cell has an interval.

A function of public integers. Proof: docs/proofs/effects.md, "Effects" and "Tables of noisy effects".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes, Effects, compose, project, times
from discreet.noise.single.laws import Law, RoundedGaussian
from discreet.noise.single.weighted import Weighted, half_width_of_rounded, half_width_of_weighted

__all__ = ["MeasuredEffect", "cells_of", "errors_of", "parts_of", "weights_of_cells"]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredEffect:
    """The public answer of one effect.

    Args:
        values: times · the integer query, with noise or without; shape: the levels of its axes. None where only its noise
            is known.
        times: an integer.
        law: of the noise in each number; None for an effect that is known.
    """

    values: Integers | None
    times: int
    law: Law | None


Measured = Mapping[Axes, MeasuredEffect]


def cells_of(effects: Effects, tables: Sequence[Axes], measured: Measured) -> list[tuple[Integers, int]]:
    """For each table the numerators of its cells, of the shape of its levels, over one public denominator.

    Tables have equal sums over equal cells, exactly.
    """
    common = max((one.times for one in measured.values()), default=1)
    projected: dict[Axes, Integers] = {}
    for part in dict.fromkeys(chain.from_iterable(parts_of(effects, one) for one in tables)):
        one = measured[part]
        if one.values is not None:
            projected[part] = project(effects, part, times(one.values, common // one.times))
    return [(values, denominator * common) for values, denominator in (compose(effects, one, projected) for one in tables)]


def errors_of(effects: Effects, tables: Sequence[Axes], measured: Measured, level: Fraction) -> list[Fraction]:
    """For each table a half-width that the noise of each cell is within, with at least this probability; 0 without noise."""
    if not all(one.law is None or isinstance(one.law, RoundedGaussian) for one in measured.values()):
        return [half_width_of_weighted(weights_of_cells(effects, one, measured), level) for one in tables]
    spreads = _spreads(effects, measured)
    found = []
    for table in tables:
        noisy = [spreads[part] for part in parts_of(effects, table) if part in spreads]
        scale = prod(effects.sizes[axis] for axis in table) ** 2
        variance, squares = (sum((one[place] for one in noisy), Fraction(0)) / scale for place in (0, 1))
        found.append(half_width_of_rounded(variance, squares, level))
    return found


def _spreads(effects: Effects, measured: Measured) -> dict[Axes, tuple[Fraction, Fraction]]:
    """For each noisy effect σ²·Σ c² and Σ c² in a cell of a table, but for the cells of that table squared.

    The weights of `weights_of_cells` are a row of a projector over times · cells, and its squared length is the energy.
    """
    found = {}
    for part, one in measured.items():
        if isinstance(one.law, RoundedGaussian):
            squares = effects.energy(part) / one.times**2
            found[part] = one.law.sigma2 * squares, squares
    return found


def weights_of_cells(effects: Effects, table: Axes, measured: Measured) -> tuple[Weighted, ...]:
    """The noise in a cell of a table: for each effect the weights of its numbers. They are the same for all cells.

    A number of a that agrees with the cell on some axes has the weight Π (1 - 1/n_i) over these, Π 1/n_i over the others,
    over N_a · times · Π n_i of the axes of the table that are not in a.
    """
    found = []
    for part in parts_of(effects, table):
        one, sizes = measured[part], [effects.sizes[axis] for axis in part]
        if one.law is None:
            continue
        scale = one.times * prod(effects.sizes[axis] for axis in table)
        weights: dict[Fraction, int] = {}
        for agree in product((True, False), repeat=len(part)):
            size = prod(
                (1 - Fraction(1, n) if same else Fraction(1, n) for same, n in zip(agree, sizes, strict=True)),
                start=Fraction(1),
            )
            many = prod(1 if same else n - 1 for same, n in zip(agree, sizes, strict=True))
            weights[size / scale] = weights.get(size / scale, 0) + many
        found.append(Weighted(one.law, tuple(weights.items())))
    return tuple(found)


def parts_of(effects: Effects, table: Axes) -> list[Axes]:
    """The effects that a table is put together from: its axes of more than one level, and all sets of these."""
    telling = [axis for axis in table if effects.sizes[axis] > 1]
    return [tuple(sorted(one)) for many in range(len(telling) + 1) for one in combinations(telling, many)]
