"""The measured integers of agreeing tables: what a document holds of them, and the tables recomputed from them alone.

A reader needs no data and no plan: the integers, the noise behind each and the axes say every cell and every interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.errors import ArgumentError, InternalError
from discreet.exact.numbers import exact, text
from discreet.mechanisms.effects import Axes, Effects
from discreet.quotes.quote import Line, Quote
from discreet.releases.assemble import Noisy, answers_of
from discreet.releases.domains import domain_json
from discreet.releases.files import TABLE
from discreet.releases.measured_areas import areas_json, verify_areas
from discreet.releases.recomputed import Published, axis_json, check_columns, law_of, places_of, refuse_made_up
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.agreeing_tables import AgreeingRecipe, AgreeingTables
from discreet.statistics.area_recipe import AreasRecipe
from discreet.statistics.counted import APART
from discreet.statistics.effects import Halves, MeasuredEffect, cells_of, halves_of
from discreet.statistics.filled import Fills
from discreet.statistics.printed_cells import decimals_of_parts, ends_of_parts

__all__ = ["Verified", "blocks_of", "frames_of", "measured_json", "read_block", "verify"]

_HELD = 2
"""The documents of this format, and of those before it, have all measured integers in them."""

_WORDS = (AgreeingTables.word, AgreeingAreas.word)


def measured_json(quote: Quote, noisy: Noisy) -> dict[str, Any]:
    """The measured integers of the agreeing tables of a release, as its document holds them, and what rows can be."""
    found = [_block_of(quote, line, noisy) for line in quote.lines if isinstance(line.recipe, AgreeingRecipe | AreasRecipe)]
    return {"measured": [{**one, "charge": quote.charge} for one in found], **domain_json(quote)} if found else {}


def _block_of(quote: Quote, line: Line, noisy: Noisy) -> dict[str, Any]:
    if isinstance(line.recipe, AreasRecipe):
        return areas_json(quote, line, line.recipe, noisy)
    if isinstance(line.recipe, AgreeingRecipe):
        return _block(quote, line, line.recipe, noisy)
    raise InternalError(f"statistic '{line.statistic.name}' has no measured integers")


def _block(quote: Quote, line: Line, recipe: AgreeingRecipe, noisy: Noisy) -> dict[str, Any]:
    answers = answers_of(quote, line, noisy)
    places = {one.asked: place for place, one in enumerate(quote.measured)}
    effects = [
        {
            "axes": list(part),
            "times": one.times,
            "noise": places[recipe.parts[part]] if part in recipe.noisy else None,
            "values": one.values.ravel().tolist() if one.values is not None else [],
        }
        for part, one in recipe.measured(answers).items()
    ]
    groups = [recipe.group(axis) for axis in range(len(recipe.alive))]
    axes = [axis_json(quote, group, recipe.shown(axis)) for axis, group in enumerate(groups)]
    axes = [
        axis | ({"chances": list(recipe.fills[place])} if place in recipe.fills else {}) for place, axis in enumerate(axes)
    ]
    return {
        "statistic": line.statistic.name,
        "level": text(line.level),
        "axes": axes,
        "tables": [list(table) for table in recipe.axes],
        "decimals": list(map(decimals_of_parts, recipe.halves(answers.noises))),
        "effects": effects,
    }


# Recomputed -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verified:
    """What was recomputed from the measured integers of a release, and found equal.

    Args:
        tables: how many tables.
        cells: how many of their cells, each with both ends of its interval.
        sums: how many sums of cells are equal to exact totals and public numbers of rows, as fractions.
    """

    tables: int
    cells: int
    sums: int

    def __str__(self) -> str:
        if not self.tables:
            return "the digest fits; the release has no agreeing tables, whose cells follow from measured integers"
        return (
            f"the digest fits; {self.tables:,} tables with {self.cells:,} cells and their intervals follow from the "
            f"measured integers, and {self.sums:,} of their sums are exactly the public ones"
        )


def verify(release: Published) -> Verified:
    """All cells and intervals of the agreeing tables are what follows from the measured integers of the document.

    Everything that is used is in the document: nobody has to trust the program that wrote it, or to see its source.

    Raises:
        ArgumentError: a number differs; the message names its table. Or the document was made up.
    """
    document = release.document
    if document["format"] > _HELD:
        found = [_verify_files(document, release.folder)]
    else:
        found = [_verify(block, document) for block in blocks_of(document)]
    return Verified(*(sum(one) for one in zip(*found, strict=True))) if found else Verified(0, 0, 0)


def _verify_files(document: Mapping[str, Any], folder: Path | None) -> tuple[int, int, int]:
    """The same of a statistic of areas in files.

    Raises:
        ArgumentError: it is not known where they are.
    """
    from discreet.releases.areas.verifying import verify_files

    if folder is None:
        raise ArgumentError("verify(): the measured integers are in files; read the release with Release.load(folder)")
    return verify_files(document, folder / TABLE)


def blocks_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The measured integers of every statistic of agreeing tables, in their order.

    Raises:
        ArgumentError: there are others, or some are missing.
    """
    with refuse_made_up():
        blocks = list(document.get("measured", ()))
        asked = [one["name"] for one in document["statistics"] if one["statistic"] in _WORDS]
        if [block["statistic"] for block in blocks] != asked:
            raise KeyError
    return blocks


def _verify(block: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[int, int, int]:
    """The numbers of tables, cells and sums of one statistic that were compared."""
    with refuse_made_up():
        own = frames_of(block, document)
    if "levels" in block:
        return verify_areas(block, own, document["noise"])
    with refuse_made_up():
        effects, measured, fills = read_block(block, document["noise"])
        tables, level = [tuple(table) for table in block["tables"]], exact(block["level"], "level")
        values = cells_of(effects, tables, measured, fills)
        halves = halves_of(effects, tables, measured, fills, level)
        decimals = block.get("decimals", [None] * len(tables))  # older documents have doubles
        found = [
            _recompute([block["axes"][axis] for axis in table], frame, one, half, places)
            for table, frame, one, half, places in zip(tables, own, values, halves, decimals, strict=True)
        ]
    sums = sum(_check(frame, *one) for frame, one in zip(own, found, strict=True))
    return len(tables), sum(len(frame["columns"][0]["values"]) for frame in own), sums


def frames_of(block: Mapping[str, Any], document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The frames of the statistic of a block, in their order: statistics have theirs one after the other."""
    start = 0
    for line in document["statistics"]:
        many = len(line.get("tables", (None,) if line["statistic"] == "histogram" else ()))
        if line["name"] == block["statistic"]:
            return list(document["frames"][start : start + many])
        start += many
    raise KeyError


def read_block(
    block: Mapping[str, Any], noise: Sequence[Mapping[str, str]]
) -> tuple[Effects, dict[Axes, MeasuredEffect], Fills]:
    """The effects of agreeing tables with their measured integers and noise, and the axes whose nulls are filled."""
    fills = {place: tuple(axis["chances"]) for place, axis in enumerate(block["axes"]) if "chances" in axis}
    sizes = tuple(len(axis["alive"]) + (place in fills) for place, axis in enumerate(block["axes"]))
    measured = {}
    for one in block["effects"]:
        part = tuple(one["axes"])
        values: Integers = np.array(one["values"], dtype=np.object_).reshape([sizes[axis] for axis in part])
        law = None if one["noise"] is None else law_of(noise[one["noise"]])
        measured[part] = MeasuredEffect(values, one["times"], law)
    return Effects(sizes, tuple(measured)), measured, fills


def _recompute(
    axes: Sequence[Mapping[str, Any]],
    frame: Mapping[str, Any],
    cells: tuple[Integers, int],
    half: Halves,
    decimals: int | None,
) -> tuple[dict[str, list[float]], Integers, int]:
    """The columns of a frame as they follow from its cells, and the numerators of these; 0 where nobody can be."""
    sizes, there = [len(axis["labels"][0]) for axis in axes], np.ix_(*(axis["alive"] for axis in axes))
    places, found = places_of(axes, frame["columns"]), {}
    for name, one in zip(("count", "count_low", "count_high"), ends_of_parts(*cells, half, decimals), strict=True):
        whole = np.zeros(sizes)
        whole[there] = one
        found[name] = whole.ravel()[places].tolist()
    every: Integers = np.zeros(sizes, dtype=np.object_)
    every[there] = cells[0]
    return found, every.ravel()[places], cells[1]


def _check(frame: Mapping[str, Any], found: Mapping[str, list[float]], values: Integers, denominator: int) -> int:
    """Compares a frame with its recomputed cells, and its public sums as fractions; how many of these there are.

    Raises:
        ArgumentError: they differ.
    """
    check_columns(frame, found)
    # Totals of some groups alone are no effects, and the document says that the counts do not match them.
    sums = () if frame.get("totals") == APART["totals"] else frame.get("known_sums", ())
    return sum(_check_sum(frame, one, values, denominator) for one in sums)


def _check_sum(frame: Mapping[str, Any], one: Mapping[str, Any], values: Integers, denominator: int) -> int:
    labels = np.zeros(len(values), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64)
    sums: Integers = np.zeros(len(one["totals"]), dtype=np.object_)
    np.add.at(sums, labels[labels >= 0], values[labels >= 0])
    if (sums != np.array(one["totals"], dtype=np.object_) * denominator).any():
        raise ArgumentError(f"release: sums of '{frame['name']}' are not the public ones")
    return len(sums)
