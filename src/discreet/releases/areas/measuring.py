"""The measured numbers of areas: exact answers with their noise, known ones without, and the files that hold them.

A file has a row for each area of a level, in depth-first order: its code, the code of the area that it lies in, and a list
of whole numbers for each effect, one number for that of all rows. So the files have the tree too, and all that follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.cube.cells import Codes, Integers
from discreet.errors import InternalError
from discreet.mechanisms import law_of_cell
from discreet.mechanisms.adding import add_noise
from discreet.mechanisms.effects import Axes
from discreet.noise.bits import Bits
from discreet.quotes.quote import Quote
from discreet.releases.areas.counting import effects_of_counts
from discreet.releases.areas.ordered import Columns, OrderedTree
from discreet.releases.files import PartWriter, TableFile
from discreet.statistics.area_recipe import AreasRecipe
from discreet.statistics.recipe import Answers, Noises

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AREA", "WITHIN", "MeasuredFiles", "Measuring", "names_of_effects", "numbers_of"]

AREA, WITHIN = "area", "within"
"""The columns with the code of an area, and of the one that it lies in."""

_IN_A_FILE = 2**22  # numbers: some MB


class Measuring:
    """Makes the measured numbers of areas from their exact counts.

    Args:
        quote: with the noise of each effect.
        recipe: of the statistic.
        tree: the areas in order.
        noises: of the statistic.
        bits: where the noise comes from.
    """

    def __init__(self, quote: Quote, recipe: AreasRecipe, tree: OrderedTree, noises: Noises, bits: Bits) -> None:
        self._columns, self._bits, self._tree = Columns(recipe.effects), bits, tree
        self._behind = {part: one.times for part, one in recipe.noise_behind(noises).items()}
        laws = {one.asked: law_of_cell(one.law) for one in quote.measured}
        self._laws = {key: laws[query] for key, query in recipe.noisy.items()}
        self._known: dict[tuple[int, Axes], Integers] = {}
        for key, one in recipe.known_numbers(Answers(noises, {}, slice(0, 0))).items():
            self._known[key] = one[self._in_order(key[0], recipe.levels.there)].reshape(-1, one[0].size)

    def _in_order(self, level: int, there: Sequence[Sequence[int]]) -> Codes:
        """For the areas in order their places among those that can have rows, as recipes have them."""
        return np.searchsorted(np.array(there[level - 1]), self._tree.places[level - 1]) if level else np.zeros(1, np.int64)

    def measure(self, level: int, first: int, counts: Integers) -> Integers:
        """The public numbers of the next areas of a level, shape (areas, numbers): with noise where they are not known.

        Args:
            level: their level.
            first: the first of them.
            counts: shape (areas, levels of each axis). Private.
        """
        noisy = [part for part in self._columns.slices if (level, part) in self._laws]
        exact = effects_of_counts(counts, noisy)
        found = np.empty((len(counts), self._columns.width), dtype=np.int64)
        for part, place in self._columns.slices.items():
            if part in exact:
                own = exact[part] * self._behind[level, part]
                one = add_noise(own.ravel(), self._laws[level, part], self._bits).reshape(own.shape)
            elif (level, part) in self._known:
                one = self._known[level, part][first : first + len(counts)]
            else:  # not measured here
                one = np.zeros((len(counts), 1), dtype=np.int64)
            if one.dtype == np.object_ and int(abs(one).max()) >= 1 << 62:
                raise InternalError("a measured number of an area has more than 64 bits")
            found[:, place] = one
        return found


def names_of_effects(columns: Sequence[str], parts: Sequence[Axes]) -> dict[Axes, str]:
    """The column of each effect in the files of measured numbers.

    Args:
        columns: those of the groups, one for each axis.
        parts: the axes of each effect.
    """
    found: dict[Axes, str] = {}
    for part in parts:
        name = " × ".join(columns[axis] for axis in part) or "rows"
        while name in {AREA, WITHIN, *found.values()}:
            name += "'"
        found[part] = name
    return found


class MeasuredFiles:
    """The files with the measured numbers of one level.

    Args:
        draft: their folder.
        stem: the beginning of their names.
        columns: how the numbers of an area stand side by side.
        names: the column of each effect that is measured or known there.
    """

    def __init__(self, draft: Path, stem: str, columns: Columns, names: Mapping[Axes, str]) -> None:
        self._writer = PartWriter(draft, stem, max(1, _IN_A_FILE // columns.width))
        self._columns, self._names = columns, names

    def append(self, areas: pl.Series, within: pl.Series, numbers: Integers) -> None:
        """The next areas are written, with their codes and the codes of the areas that they lie in."""
        import polars as pl

        own = []
        for part in self._names:
            mine = np.ascontiguousarray(self._columns.of(part, numbers))
            own.append(pl.Series(self._names[part], mine if part else mine.ravel()))
        self._writer.append(pl.DataFrame([areas.alias(AREA), within.alias(WITHIN), *own]))

    def close(self) -> list[TableFile]:
        """The files, all of them durable."""
        return self._writer.close()


def numbers_of(rows: pl.DataFrame, columns: Columns, names: Mapping[Axes, str]) -> Integers:
    """The numbers of some rows of these files, shape (areas, numbers); 0 for effects that are not measured there."""
    found = np.empty((rows.height, columns.width), dtype=np.int64)
    for part, place in columns.slices.items():
        one = names[part]
        found[:, place] = rows[one].to_numpy().reshape(rows.height, -1) if one in rows.columns else 0
    return found
