"""The noise of a table beside the exact totals of one of its columns, as a test needs it: cells of one level of the other.

The noise adds up to 0 in each group with an exact total, and groups are independent. A test of one level of the other
column reads one cell of each group: independent noises, with the law of one cell of such a block (theorem T9 of
docs/proofs/tests.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, exact
from discreet.noise.single.laws import RoundedGaussian
from discreet.releases.derived.operands import label_of
from discreet.releases.derived.reading import outputs_of
from discreet.releases.hypotheses.crossed import Cells
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.masses import Tails

__all__ = ["BlockCell", "OneMargin", "block_law", "one_margin_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST = 1 << 22  # places of a transform
_BEYOND = 1e-13  # of one cell, left out, and the error of the transform
_GRID = 1e-6  # more than the fine grid of a rounded Gaussian


@dataclass(frozen=True, slots=True)
class BlockCell:
    """The law of one of `cells` integers v that add up to 0: P(v) ∝ exp(-Σ|vᵢ|/parameter), or ∝ exp(-Σvᵢ²/(2 parameter)).

    Args:
        squared: whether it is the second.
        parameter: the scale, or the variance.
        cells: at least 2.
    """

    squared: bool
    parameter: Fraction
    cells: int

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|v| ≤ w) ≥ coverage."""
        beyond = float(1 - exact(coverage, "coverage")) - _BEYOND
        tails = _tails(self.squared, self.parameter, self.cells)
        return int(np.argmax(tails <= beyond)) if beyond > 0 else tails.size

    def rough_tails(self, k: Ints) -> Floats:
        """P(|v| > k), for k ≥ 0."""
        tails = _tails(self.squared, self.parameter, self.cells)
        found: Floats = tails[np.minimum(k, tails.size - 1)]
        return found

    def variance(self) -> float:
        """The variance of v, or a little more."""
        tails = _tails(self.squared, self.parameter, self.cells)
        return float(((2 * np.arange(tails.size) + 1) * tails).sum()) * (1 + 1e-9) + 1e-9


def _reach(parameter: Fraction, *, squared: bool) -> int:
    """A cell is farther out with a probability far below `_BEYOND`: exp(-r/scale), exp(-r²/(2 variance)) at least."""
    return ceil(10 * sqrt(parameter)) + 12 if squared else ceil(45 * parameter) + 2


@lru_cache(maxsize=64)
def _tails(squared: bool, parameter: Fraction, cells: int) -> Floats:  # noqa: FBT001 (a key of a cache)
    """P(|v| > k) for k = 0, 1, …: the mass of one cell times the mass of the sum of the others at its negative."""
    reach = _reach(parameter, squared=squared)
    size = 1 << (2 * reach * ceil(sqrt(cells)) + 1).bit_length()
    apart = np.minimum(np.arange(size), size - np.arange(size)).astype(np.float64)
    weights = np.exp(-(apart**2) / (2 * float(parameter)) if squared else -apart / float(parameter))
    one = weights / weights.sum()
    others = np.fft.irfft(np.fft.rfft(one).real ** (cells - 1), size)
    masses = np.maximum(one * others, 0.0)[: reach + 1]
    masses[1:] *= 2
    tails: Floats = np.cumsum((masses / masses.sum())[:0:-1])[::-1]
    return np.append(tails, 0.0)


def _is_short(parameter: Fraction, cells: int, *, squared: bool) -> bool:
    return 4 * _reach(parameter, squared=squared) * ceil(sqrt(cells)) <= _MOST


# In documents -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class OneMargin:
    """A table beside the exact totals of one column.

    Args:
        turned: whether the exact totals are of the second column.
        kept: the places of its levels that hold somebody.
        totals: for each level of that column its number of rows.
        values: the noisy counts; the column with exact totals comes first.
        law: of the noise of one cell, which is within `off` of a noise of this law.
        off: at least 0.
    """

    turned: bool
    kept: tuple[int, ...]
    totals: Ints
    values: Ints
    law: Tails
    off: float

    def levels(self, cells: Cells) -> tuple[tuple[str | None, ...], ...]:
        """The levels of both columns that are tested."""
        both = list(cells.levels)
        both[self.turned] = tuple(both[self.turned][place] for place in self.kept)
        return tuple(both)

    def of_pair(self, pair: tuple[int, int]) -> OneMargin:
        """The same for two of the levels with exact totals, by their places in the column."""
        rows = [self.kept.index(one) for one in pair]
        return replace(self, kept=pair, totals=self.totals[rows], values=self.values[rows])

    def association(self, place: tuple[int, int], alternative: str) -> Association:
        """A cell against the rest: its row and the whole are exact, its column is noisy."""
        i, j = place
        laws = (self.law,) * len(self.totals)
        column = Part(int(self.values[:, j].sum()), laws, self.off)
        cell, row = Part(int(self.values[i, j]), laws[:1], self.off), Part(int(self.totals[i]), ())
        inside = [(law, other == i, True) for other, law in enumerate(laws)]
        return Association(cell, row, column, Part(int(self.totals.sum()), ()), inside, alternative)


def one_margin_of(document: Mapping[str, Any], cells: Cells) -> OneMargin | None:
    """What a document says of its table beside the exact totals of one of its two columns; None where it is another case."""
    parts = (document["invariants"] or {"totals": {"parts": ()}})["totals"]["parts"]
    written = [one for one in document["noise"] if one["query"] == "rows"]
    if len(parts) != 1 or len(written) != 1 or len(document["plan"]["group_by"]) != len(cells.names):
        return None
    line = outputs_of(document)[cells.chosen]
    if line["column"] is not None and line.get("counts") != "rows":
        return None  # these rows are not all that the exact totals count
    (part,), (noise,) = parts, written
    if part["part"] != "totals" or part["only"] is not None or len(part["columns"]) != 1:
        return None
    (column,) = part["columns"]
    other = next((name for name in cells.names if name != column), None)
    groups = {one["column"]: one.get("labels") for one in document["plan"]["group_by"]}
    if column not in cells.names or other is None or groups[other] is None:
        return None
    size, known = len(groups[other]), {label_of(label): int(total) for label, total in part["cells"]}
    blocks = sum(total > 0 for total in known.values())
    words = f"{blocks} {'block' if blocks == 1 else 'blocks'} of {size} cells, each with an exact total"
    found = block_law(noise, size) if noise.get("lattice") == words else None
    return None if found is None else _table(cells, cells.names.index(column), known, found)


def _table(cells: Cells, axis: int, known: Mapping[str | None, int], law: tuple[Tails, float]) -> OneMargin | None:
    kept = [place for place, label in enumerate(cells.levels[axis]) if known.get(label, 0) > 0]
    if len(kept) < 2:
        return None
    values = cells.values.T if axis else cells.values
    totals = np.array([known[cells.levels[axis][place]] for place in kept], dtype=np.int64)
    return OneMargin(bool(axis), tuple(kept), totals, values[kept], *law)


def block_law(noise: Mapping[str, str], size: int) -> tuple[Tails, float] | None:
    """The law of one cell of a block of so many, and how far its noise is from it; None for other noise."""
    if noise["noise"] == "rounded Gaussian on the lattice":
        from discreet.noise.lattice.nearest_plane_laws import entries_of

        law = RoundedGaussian(exact(noise["variance"], "noise") * (1 - Fraction(1, size)))
        # A cell of two is its Gaussian rounded; else both are within half the sum of its entries, and half a step.
        return law, 0.0 if size == 2 else float(entries_of((1,), size)[1].max()) / 2 + 0.5 + _GRID
    if noise["noise"] not in _PARAMETERS:
        return None
    squared, key = _PARAMETERS[noise["noise"]]
    parameter = exact(noise[key], "noise")
    return (BlockCell(squared, parameter, size), 0.0) if _is_short(parameter, size, squared=squared) else None


_PARAMETERS: Mapping[str, tuple[bool, str]] = {
    "K-norm on the lattice": (False, "scale"),
    "Gaussian on the lattice": (True, "variance"),
}
