"""The measured integers of tables that agree: what a document holds of them, and the tables recomputed from them alone.

A reader needs no data and no plan: the integers, the noise behind each and the axes say every cell and every interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.domain.groups import BinGroup
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, text
from discreet.mechanisms.effects import Axes
from discreet.quotes.quote import Line, Quote
from discreet.releases.assemble import Noisy, answers_of
from discreet.releases.domains import domain_json
from discreet.releases.files import TABLE
from discreet.releases.measured_areas import areas_json, verify_areas
from discreet.releases.read_tables import read_tables
from discreet.releases.recomputed import Published, axis_json, check_columns, check_ends, places_of, refuse_made_up
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.area_recipe import AreasRecipe
from discreet.statistics.conditions import conditions_json
from discreet.statistics.counted import APART
from discreet.statistics.effect_tables import EffectsRecipe
from discreet.statistics.effects import Halves, MeasuredEffect
from discreet.statistics.other_words import EARLIER
from discreet.statistics.printed_cells import ends_of_parts
from discreet.statistics.recipe import Answers
from discreet.statistics.table_axes import Domain
from discreet.statistics.whole_effects import UNITS
from discreet.statistics.whole_tables import WholeRecipe

__all__ = ["Verified", "blocks_of", "frames_of", "measured_json", "verify"]

_AGREEING = (AgreeingAreas.word, *EARLIER)
"""Statistics of tables that were measured together, whatever else a document says of them."""
_HELD = 2
"""The documents of this format, and of those before it, have all measured integers in them."""


def measured_json(quote: Quote, noisy: Noisy) -> dict[str, Any]:
    """The measured integers of the tables of a release that agree, as its document holds them, and what rows can be."""
    found = [block for line in quote.lines for block in _blocks(quote, line, noisy)]
    return {"measured": found, **domain_json(quote)} if found else {}


def _blocks(quote: Quote, line: Line, noisy: Noisy) -> list[dict[str, Any]]:
    recipe = line.recipe
    if isinstance(recipe, AreasRecipe):
        return [{**areas_json(quote, line, recipe, noisy), "charge": quote.charge}]
    if not isinstance(recipe, EffectsRecipe | WholeRecipe):
        return []
    answers = answers_of(quote, line, noisy)
    own = _effects_json(quote, recipe, answers) if isinstance(recipe, EffectsRecipe) else _whole_json(quote, recipe, answers)
    domain = recipe.domain
    return [
        {
            "statistic": line.statistic.name,
            "level": text(line.level),
            "axes": _axes_json(quote, domain),
            "tables": [list(table) for table in domain.tables],
            "decimals": recipe.decimals(answers.noises),
            **own,
            **_conditions_json(recipe, answers),
        }
    ]


def _conditions_json(recipe: EffectsRecipe | WholeRecipe, answers: Answers) -> dict[str, Any]:
    """The public sums that the cells meet, and what they were moved by."""
    if not recipe.domain.conditions:
        return {}
    agreed = recipe.agreed(answers)
    if agreed.given is None:
        return {}
    return {"conditions": {**conditions_json(agreed.given, recipe.domain.tables), "left": agreed.left}}


def _axes_json(quote: Quote, domain: Domain) -> list[dict[str, Any]]:
    return [
        axis_json(quote, axis.whole, axis.levels)
        | ({"edges": list(axis.whole.edges)} if isinstance(axis.whole, BinGroup) and axis.whole != axis.printed else {})
        | ({"chances": list(axis.chances)} if axis.chances else {})
        for axis in domain.axes
    ]


def _effects_json(quote: Quote, recipe: EffectsRecipe, answers: Answers) -> dict[str, Any]:
    places = {one.asked: place for place, one in enumerate(quote.measured)}
    effects = [
        _effect_json(part, one, places[recipe.noisy[part]] if part in recipe.noisy else None)
        for part, one in recipe.measured(answers).items()
    ]
    return {"effects": effects, "charge": quote.charge}


def _whole_json(quote: Quote, recipe: WholeRecipe, answers: Answers) -> dict[str, Any]:
    """The tables with noise, how much each counts in each effect, and the effects without noise."""
    places = {one.asked: place for place, one in enumerate(quote.measured)}
    tables = recipe.measured_tables(answers)
    whole = [
        {
            "axes": list(one.axes),
            "times": one.times,
            "noise": places[query],
            "values": [] if one.values is None else one.values.ravel().tolist(),
        }
        for one, query in zip(tables, recipe.noisy.values(), strict=True)
    ]
    weights = [[list(part), [list(one) for one in some]] for part, some in recipe.taken_from(tables).weights.items()]
    known = [_effect_json(part, one, None) for part, one in recipe.known(answers).items()]
    return {"effects": known, "whole": whole, "units": UNITS, "weights": weights}


def _effect_json(part: Axes, one: MeasuredEffect, noise: int | None) -> dict[str, Any]:
    values = [] if one.values is None else one.values.ravel().tolist()
    return {"axes": list(part), "times": one.times, "noise": noise, "values": values}


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
            return "the digest fits; the release has no tables whose cells follow from measured integers"
        return (
            f"the digest fits; {self.tables:,} tables with {self.cells:,} cells and their intervals follow from the "
            f"measured integers, and {self.sums:,} of their sums are exactly the public ones"
        )


def verify(release: Published) -> Verified:
    """All cells and intervals of tables that agree are what follows from the measured integers of the document.

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
    """The measured integers of every statistic whose tables agree, in their order; none in a document of 0.1.0.

    Raises:
        ArgumentError: there are others, or some are missing.
    """
    with refuse_made_up():
        blocks = list(document.get("measured", ()))
        agree = (one for one in document["statistics"] if "measured" in one or one["statistic"] in _AGREEING)
        asked = [one["name"] for one in agree]
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
        read = read_tables(block, document["noise"])
        agreed = read.agreed(exact(block["level"], "level"))
        stated = block["conditions"]["left"] if read.given is not None else 0.0
        each = zip(read.tables, own, agreed.cells, agreed.halves, block["decimals"], strict=True)
        found = [
            _recompute([block["axes"][axis] for axis in table], frame, one, half, places)
            for table, frame, one, half, places in each
        ]
    sums = sum(_check((read.closed, agreed.left), frame, *one) for frame, one in zip(own, found, strict=True))
    if agreed.left != stated:
        raise ArgumentError(f"release: the cells of '{block['statistic']}' are not as near to the public sums as it says")
    return len(read.tables), sum(len(frame["columns"][0]["values"]) for frame in own), sums


def frames_of(block: Mapping[str, Any], document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The frames of the statistic of a block, in their order: statistics have theirs one after the other."""
    start = 0
    for line in document["statistics"]:
        many = len(line.get("tables", (None,) if line["statistic"] == "histogram" else ()))
        if line["name"] == block["statistic"]:
            return list(document["frames"][start : start + many])
        start += many
    raise KeyError


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


def _check(
    kind: tuple[bool, float],
    frame: Mapping[str, Any],
    found: Mapping[str, list[float]],
    values: Integers,
    denominator: int,
) -> int:
    """Compares a frame with its recomputed cells, and its public sums as fractions; how many of these there are.

    Raises:
        ArgumentError: they differ.
    """
    closed, left = kind
    if closed:
        check_columns(frame, found)
    else:
        check_columns(frame, {"count": found["count"]})
        check_ends(frame, found)
    # Totals of some groups alone are no effects, and the document says that the counts do not match them.
    sums = () if frame.get("totals") == APART["totals"] else frame.get("known_sums", ())
    return sum(_check_sum(frame, one, (values, denominator), left) for one in sums)


def _check_sum(frame: Mapping[str, Any], one: Mapping[str, Any], cells: tuple[Integers, int], left: float) -> int:
    """Sums are the public ones as fractions; where cells were moved to meet some, but for what is left in each cell."""
    values, denominator = cells
    with refuse_made_up():
        labels = np.zeros(len(values), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64)
        sums: Integers = np.zeros(len(one["totals"]), dtype=np.object_)
        np.add.at(sums, labels[labels >= 0], values[labels >= 0])
        apart = np.abs(sums - np.array(one["totals"], dtype=np.object_) * denominator)
    if (apart > Fraction(left) * len(values) * denominator).any():
        raise ArgumentError(f"release: sums of '{frame['name']}' are not the public ones")
    return len(sums)
