"""Quantiles chosen by their rank: an exponential mechanism for each, one after the other (docs/proofs/selection.md).

A code c of the grid that has L records before it and E at it is wanted for the q-quantile of N records the more the less

  loss(c) = max(L - qN, qN - (L + E)):

below 0 inside of a heap of equal records, by how deep the quantile lies in it, else how many records it is off. One record
more or less changes every loss by at most max(q, 1 - q), so choosing c with probability proportional to
e^(-range · loss(c) / (2·max(q, 1 - q))) changes the logarithm of any ratio of two probabilities by at most `range`.

Of several quantiles the middle one is chosen first; it parts the records, and the others are chosen in the part that holds
them. A record is in one part, so each level of this tree of choices costs `range` once. Where a choice parts the records, it
is one of c and of one of up to 16 pieces of the records at c, which has a loss like a separate code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import ClassVar

import numpy as np

from discreet.domain.neighbours import Neighbours
from discreet.errors import ArgumentError, InternalError
from discreet.exact.numbers import text
from discreet.mechanisms._runs import Integers, Node, Slice, pieces_of, runs_of
from discreet.mechanisms.base import Answer, Codes, Guarantee, Mechanism, Noise, NoiseWords
from discreet.mechanisms.sensitivity import Change, Sensitivity, SomeChanges
from discreet.noise.bits import Bits

__all__ = ["QUANTILE_CHOICE", "ExponentialQuantiles", "levels_change", "quantiles_change", "quantiles_for", "range_for"]

_MANY = 1 << 40
_CHUNK = 1 << 18  # codes that are looked at together
_LEAST_RANGE, _LARGEST_RANGE = Fraction(1, 10**17), Fraction(10**6)
"""A smaller range is useless, like noise beyond 1e17 steps; a larger range is never needed to find the best candidate."""


_WORDS = NoiseWords(
    name="exponential mechanism",
    parameter="range",
    sentence=(
        "P(c) ∝ exp(−range · loss(c) / (2·max(q, 1 − q))) for every value c of the grid; the loss of c is how many "
        "records it is off the q-quantile. The middle one of several quantiles is chosen first and parts the records; "
        "the others are chosen in their part, with their q in it. The sensitivities count choices."
    ),
)


@dataclass(frozen=True, slots=True)
class ExponentialQuantiles:
    """The law of the chosen codes of every cell.

    Args:
        size: how many codes the column has.
        cells: of how many cells quantiles are asked.
        at: the q, ascending, all different.
        reach: by how much one record can change the logarithm of the ratio of two probabilities, in each level of choices.
    """

    size: int
    cells: int
    at: tuple[Fraction, ...]
    reach: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = False

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """The chosen codes: int64, shape (cells · quantiles,), the codes of a cell side by side, ascending.

        Args:
            values: int64, shape (n, 3), sorted: a cell, a code from 0 and how many records of the cell have it, at least 1.
            bits: independent uniform bits.
        """
        found = np.zeros((self.cells, len(self.at)), dtype=np.int64)
        once = max(1, _CHUNK // self.size)  # public: what is looked at together does not depend on the records
        for start in range(0, self.cells, once):
            stop = min(start + once, self.cells)
            first, last = np.searchsorted(values[:, 0], [start, stop])
            owner, code, count = values[first:last].T
            lowest, highest = np.zeros(stop - start, np.int64), np.full(stop - start, self.size - 1, np.int64)
            found[start:stop] = _select(Slice(lowest, highest, owner - start, code, count), self, bits)
        return found.ravel()

    def half_widths(self, _level: Fraction) -> int:
        """Not available: no noise is added.

        Raises:
            InternalError: always; its intervals come from another query.
        """
        raise InternalError("chosen quantiles have no additive noise")

    def variance(self) -> float:
        """About the variance of the rank, in records: 2 over the square of the cost of one record off for a median."""
        return 2.0 / float(self.reach) ** 2

    def rank_error(self, level: Fraction) -> float:
        """With probability `level` the rank of a chosen code is off by no more records than about this.

        Where records are spread evenly: a choice is then off by r records with a density proportional to e^(-rate · r), and
        each of the choices before it adds no more than its own to the variance. The ends of the data are kept away from.
        """
        off = max(2 * node.largest / node.unit * -log(1 - float(level)) for node in _nodes(self)) / float(self.reach)
        away = max(node.end / node.unit for node in _nodes(self))
        return float(_levels(len(self.at)) ** 0.5 * off + away)

    def part_of_guarantee(self, _changes: SomeChanges, _guarantee: Guarantee) -> None:
        """None: chosen codes have no norm."""

    def to_json(self) -> dict[str, str]:
        """Name, exact range of a choice, and the quantiles."""
        return {"noise": _WORDS.name, _WORDS.parameter: text(self.reach), "at": ", ".join(map(text, self.at))}

    def prepare_audit(self) -> None:
        """No noise is added; an audit attacks the choices themselves."""


def quantiles_for(sensitivity: Sensitivity, guarantee: Guarantee, asked: Codes) -> ExponentialQuantiles:
    """The choices that together give `guarantee` where they cost `sensitivity`: what a level may cost follows from it.

    Raises:
        ArgumentError: a guarantee that leaves next to nothing to choose by.
    """
    return ExponentialQuantiles(asked.size, asked.cells, asked.at, range_for(sensitivity, guarantee))


def range_for(sensitivity: Sensitivity, guarantee: Guarantee) -> Fraction:
    """The range of each choice, where all choices by rank together may cost `guarantee`.

    Raises:
        ArgumentError: a guarantee that leaves next to nothing to choose by.
    """
    reach = guarantee.choice_range(sensitivity.l1, sensitivity.l2_squared)
    if reach < _LEAST_RANGE:
        raise ArgumentError(f"guarantee={guarantee}: gives a choice by rank a range below 1e-17; spend more")
    return min(reach, _LARGEST_RANGE)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    if isinstance(answer, Codes):
        yield quantiles_for(sensitivity, guarantee, answer)


QUANTILE_CHOICE = Mechanism((_WORDS,), _candidates)


def quantiles_change(quantiles: int, *, cells: int, skipped: bool, neighbours: Neighbours) -> Change:
    """The effect of one row on the choices of this many quantiles, counted in levels of choices."""
    return levels_change(_levels(quantiles), cells=cells, skipped=skipped, neighbours=neighbours)


def levels_change(levels: int, *, cells: int, skipped: bool, neighbours: Neighbours) -> Change:
    """The effect of one row on this many levels of choices, in each of which a record is in one choice.

    A record that is added or removed changes one choice in every level. One that is replaced changes one choice by two
    records, whose range is at most twice as large, or two choices by one: Δ₂² is 4 or 2 for a level.
    """
    alone = Sensitivity(levels, levels)
    if neighbours.appears:
        return Change(alone, alone, alone)
    nothing = Sensitivity(0, 0)
    within, across = Sensitivity(2 * levels, 4 * levels), Sensitivity(2 * levels, 2 * levels)
    return Change(within, across if cells > 1 else nothing, alone if skipped else nothing)


def _select(everything: Slice, law: ExponentialQuantiles, bits: Bits) -> Integers:
    """The chosen codes of some cells: int64, shape (cells, quantiles)."""
    found = np.zeros((len(everything.low), len(law.at)), dtype=np.int64)
    parts = {(0, len(law.at)): everything}
    for node in _nodes(law):
        part = parts.pop((node.first, node.last))
        found[:, node.place], below = _choose(part, node, law, bits)
        if node.first < node.place:
            parts[node.first, node.place] = _lower(part, found[:, node.place], below)
        if node.place + 1 < node.last:
            parts[node.place + 1, node.last] = _upper(part, found[:, node.place], below)
    return found


def _levels(quantiles: int) -> int:
    """The number of levels of the balanced tree of this many choices."""
    return quantiles.bit_length()


def _nodes(law: ExponentialQuantiles) -> Iterator[Node]:
    """The choices in an order in which every part is known when it is needed."""
    todo = [(0, len(law.at), Fraction(0), Fraction(1))]
    while todo:
        first, last, low, high = todo.pop()
        if first == last:
            continue
        place = (first + last) // 2
        q = law.at[place]
        inner = (q - low) / (high - low)
        over, unit = inner.numerator, inner.denominator
        if unit == 1:
            # With min(s, N/2) in place of 0, and N less that in place of N: still changed by at most 1 by a record.
            over, unit = 2 * over, 2
        end = min(ceil(4 * log(law.size) / float(law.reach)), _MANY) if over in (0, unit) else 0
        pieces = pieces_of(law.size) if last - first > 1 else 0
        yield Node(first, last, place, over, unit, end, pieces)
        todo += [(first, place, low, q), (place + 1, last, q, high)]


def _choose(part: Slice, node: Node, law: ExponentialQuantiles, bits: Bits) -> tuple[Integers, Integers]:
    """The chosen code of every cell, and how many of its records the lower part gets."""
    runs = runs_of(part, node)
    rate = law.reach / (2 * node.largest)
    from discreet.noise.single.exponential import Candidates, below_each, choose

    place = choose(Candidates(runs.loss, runs.many, runs.ends), rate, bits)
    return runs.first[place] + below_each(runs.width[place], bits), runs.below[place]


def _lower(part: Slice, code: Integers, below: Integers) -> Slice:
    """The records before the chosen code, and this many of the records at it."""
    chosen = code[part.owner]
    count = np.where(part.code == chosen, below[part.owner], part.count)
    kept = (part.code <= chosen) & (count > 0)
    return Slice(part.low, code, part.owner[kept], part.code[kept], count[kept])


def _upper(part: Slice, code: Integers, below: Integers) -> Slice:
    """The records after the chosen code, and those at it that did not go below."""
    chosen = code[part.owner]
    count = np.where(part.code == chosen, part.count - below[part.owner], part.count)
    kept = (part.code >= chosen) & (count > 0)
    return Slice(code, part.high, part.owner[kept], part.code[kept], count[kept])
