"""A document as it would be if its rows were the data and their noise had been drawn again, from public numbers.

Rows that are made of many such documents show how far numbers that are computed from rows may be off. This noise protects
nobody: whoever has the release computes the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from discreet.errors import InternalError
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.releases.measured import blocks_of
from discreet.releases.read_tables import met_again
from discreet.releases.recomputed import law_of
from discreet.releases.rows.law import exponentials
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import Integers, Start
from discreet.releases.rows.words import Words, words_of

__all__ = ["simulated_document"]

_UNIFORM = 12  # numbers of 32 bits, whose sum has a standard deviation of 2^32 and is about normal
_FINE = 20  # bits of a scale
_STEPS = 512  # of an exponential variate to 1


def simulated_document(document: Mapping[str, Any], made: Start, own: Mapping[str, float], place: int) -> dict[str, Any]:
    """The document with the measured integers of rows and other noise of the same laws; its digest is one of its own.

    Args:
        document: of the release.
        made: its rows, with their levels on the axes of the tables.
        own: what they have instead of numbers in the main table of the document, by the names of its columns.
        place: which of many such documents.
    """
    (block,) = blocks_of(document)
    name = f"{document['digest']} {place}"
    words = words_of(f"{name} noise")
    measured = {
        kind: [{**one, "values": _values((block, kind), one, document["noise"], made, words)} for one in block[kind]]
        for kind in ("effects", "whole")
        if kind in block
    }
    again = {**block, **measured} if "levels" in block else met_again({**block, **measured}, document["noise"])
    columns = _numbers(document["columns"], own, words)
    return {**document, "digest": name, "measured": [again], "columns": columns}


def _values(
    found_in: tuple[Mapping[str, Any], str],
    one: Mapping[str, Any],
    noise: Sequence[Mapping[str, str]],
    made: Start,
    words: Words,
) -> list[int]:
    """The integers of an effect of the rows, or of a whole table of them, with noise where it had some."""
    block, kind = found_in
    levels = block.get("levels", ())
    axes = [*levels, *block["axes"]]
    above = [one["level"] - 1] if one.get("level") else []
    own = [*above, *(len(levels) + axis for axis in one["axes"])]
    sizes = [len(axis["alive"]) for axis in axes]
    found: Any = count(made.rows, own, sizes, made.each).astype(np.object_)
    for place, axis in enumerate(own[len(above) :], start=len(above)):
        if "chances" in axes[axis]:  # rows have no null there
            found = np.concatenate([found, np.zeros_like(found.take([0], axis=place))], axis=place)
        if kind == "effects":
            found = found.shape[place] * found - found.sum(axis=place, keepdims=True)
    flat = one["times"] * found.ravel()
    if one["noise"] is not None:
        flat = flat + _noise(law_of(noise[one["noise"]]), len(flat), words)
    return [int(value) for value in flat]


def _noise(law: Law, many: int, words: Words) -> Integers:
    """About the noise of a law: whole numbers with its variance, the same on every machine."""
    if isinstance(law, RoundedGaussian):
        return _scaled(_normals(many, words), law.sigma2)
    if isinstance(law, DiscreteLaplace):
        weights = exponentials()[::-1]
        ends = [len(weights) - np.searchsorted(weights, words.draw(many) >> 8, side="right") for _ in range(2)]
        return np.array([round(law.scale * int(one) / _STEPS) for one in ends[0] - ends[1]], dtype=np.object_)
    raise InternalError(f"{type(law).__name__}: no document of agreeing tables has this noise")


def _normals(many: int, words: Words) -> Integers:
    """Numbers with a standard deviation of 2^32."""
    drawn = words.draw(_UNIFORM * many).reshape(_UNIFORM, many)
    return np.asarray(drawn.sum(axis=0) - _UNIFORM // 2 * 2**32)


def _scaled(normals: Integers, variance: Fraction) -> Integers:
    scale = isqrt((variance.numerator << 2 * _FINE) // variance.denominator)
    half = 1 << 32 + _FINE - 1
    return np.asarray((normals.astype(np.object_) * scale + half) >> 32 + _FINE)


def _numbers(columns: Sequence[Mapping[str, Any]], own: Mapping[str, float], words: Words) -> list[dict[str, Any]]:
    """The main table with the numbers of rows, each moved about as far as its interval is wide."""
    found = {one["name"]: one for one in columns}
    moved: dict[str, float] = {}
    for name, value in sorted(own.items()):
        low, high = (found[f"{name}_{end}"]["values"][0] for end in ("low", "high"))
        by = int(_normals(1, words)[0]) / 2**32 * (high - low) / (2 * 1.959964)
        moved |= {name: value + by, f"{name}_low": low + value + by - found[name]["values"][0]}
        moved[f"{name}_high"] = high + value + by - found[name]["values"][0]
    return [{**one, "values": [moved[one["name"]]]} if one["name"] in moved else dict(one) for one in columns]
