"""The measured integers of tables that agree, read from a document: every effect with its noise, and half-widths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.mechanisms.effects import Axes, Effects
from discreet.noise.single.laws import RoundedGaussian
from discreet.releases.recomputed import law_of
from discreet.statistics.condition_systems import system_of
from discreet.statistics.conditioned_cells import Agreed, Shown, Widths, agree, agree_as_given, widths_of
from discreet.statistics.conditions import Given, conditions_json, meet, moved_by, read_conditions
from discreet.statistics.effects import (
    Cellwise,
    Halves,
    MeasuredEffect,
    cells_from,
    halves_of,
    projected_of,
    variances_of,
)
from discreet.statistics.filled import Fills
from discreet.statistics.whole_effects import (
    UNITS,
    MeasuredTable,
    Weights,
    WholeTables,
    effects_from,
    halves_of_whole,
    variance_of_effect,
)
from discreet.statistics.whole_widths import widths_of_whole

__all__ = ["ReadTables", "met_again", "read_tables"]


@dataclass(frozen=True, slots=True, eq=False)
class ReadTables:
    """What a document says of tables that agree.

    Args:
        effects: of all tables.
        tables: the axes of each.
        fills: for each axis whose nulls are filled the chances of its other levels.
        measured: the public answers of the effects, or what follows of them from tables that were measured whole.
        variances: at least s of each effect with noise, whose estimate has the covariance s times the projector.
        halves: for a level the half-widths of the cells of each table, without conditions.
        given: the public sums that the cells meet, and what they are moved by; None without any.
        widths: for a level the half-widths of cells that are moved.
        closed: whether half-widths are a closed form of rational numbers, the same on every machine.
    """

    effects: Effects
    tables: tuple[Axes, ...]
    fills: Fills
    measured: Mapping[Axes, MeasuredEffect]
    variances: Mapping[Axes, Fraction]
    halves: Callable[[Fraction], list[Halves]]
    given: Given | None
    widths: Callable[[Fraction], Widths]
    closed: bool

    def agreed(self, level: Fraction) -> Agreed:
        """The cells of all tables with the half-widths of their noise."""
        shown = Shown(self.effects, self.tables, self.fills, self.variances, self.halves(level))
        if self.given is None:
            return agree(shown, self.measured, (), self.widths(level))
        sizes = {part: size / 2**self.given.steps for part, size in self.given.precisions.items()}
        system = system_of(self.effects, self.given.conditions, sizes)
        return agree_as_given(shown, self.measured, (self.given, system), self.widths(level))

    def cells(self, tables: Sequence[Axes]) -> Cellwise:
        """The cells of any tables of these effects."""
        projected = projected_of(self.effects, tables, self.measured)
        if self.given is not None:
            projected = moved_by(self.effects, *projected, self.given)
        return cells_from(self.effects, tables, projected, self.fills)


def read_tables(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> ReadTables:
    """The tables of a block of measured integers, with the noises of its document.

    Raises:
        Exception: whatever a made-up block does.
    """
    fills = {place: tuple(axis["chances"]) for place, axis in enumerate(block["axes"]) if "chances" in axis}
    sizes = tuple(len(axis["alive"]) + (place in fills) for place, axis in enumerate(block["axes"]))
    tables = tuple(tuple(table) for table in block["tables"])
    measured = {tuple(one["axes"]): _effect(one, sizes, noise) for one in block["effects"]}
    given = read_conditions(block["conditions"], tables) if "conditions" in block else None
    if "whole" in block:
        return _read_whole(block, (sizes, tables, fills), (measured, given), noise)
    effects = Effects(sizes, tuple(measured))
    variances = variances_of(effects, measured)

    def halves(level: Fraction) -> list[Halves]:
        return halves_of(effects, tables, measured, fills, level)

    def widths(level: Fraction) -> Widths:
        return widths_of(measured, level)

    return ReadTables(effects, tables, fills, measured, variances, halves, given, widths, closed=given is None)


def met_again(block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]) -> Mapping[str, Any]:
    """The block, with other measured integers than it was made with, and cells that meet its public sums again."""
    read = read_tables(block, noise)
    if read.given is None:
        return block
    projected = projected_of(read.effects, read.tables, read.measured)
    given, _ = meet(read.effects, read.given.conditions, read.variances, projected)
    return {**block, "conditions": {**block["conditions"], **conditions_json(given, read.tables)}}


def _read_whole(
    block: Mapping[str, Any],
    shape: tuple[tuple[int, ...], tuple[Axes, ...], Fills],
    public: tuple[Mapping[Axes, MeasuredEffect], Given | None],
    noise: Sequence[Mapping[str, str]],
) -> ReadTables:
    (sizes, tables, fills), (known, given), whole = shape, public, []
    for one in block["whole"]:
        axes, law = tuple(one["axes"]), law_of(noise[one["noise"]])
        values = _integers(one["values"], [sizes[axis] for axis in axes])
        whole.append(MeasuredTable(axes, values, one["times"], law))
    weights: Weights = {tuple(part): tuple((place, weight) for place, weight in some) for part, some in block["weights"]}
    if block["units"] != UNITS or any(sum(weight for _, weight in some) != UNITS for some in weights.values()):
        raise KeyError
    effects = Effects(sizes, (*known, *weights))
    own = WholeTables(effects, tuple(whole), weights)
    measured = {**known, **effects_from(own)}
    variances = {part: variance_of_effect(own, part) for part in weights}

    def halves(level: Fraction) -> list[Halves]:
        return halves_of_whole(own, tables, fills, level)

    def widths(level: Fraction) -> Widths:
        return widths_of_whole(own, fills, level)

    return ReadTables(effects, tables, fills, measured, variances, halves, given, widths, closed=False)


def _effect(one: Mapping[str, Any], sizes: Sequence[int], noise: Sequence[Mapping[str, str]]) -> MeasuredEffect:
    law = None if one["noise"] is None else law_of(noise[one["noise"]])
    if law is not None and not isinstance(law, RoundedGaussian):
        raise KeyError
    return MeasuredEffect(_integers(one["values"], [sizes[axis] for axis in one["axes"]]), one["times"], law)


def _integers(values: Sequence[int], shape: Sequence[int]) -> Integers:
    found: Integers = np.array(values, dtype=np.object_).reshape(shape)
    return found
