"""The protocols of a mechanism and of its noise, and the words that pages use for them.

A noise is the law of one published answer with everything the library ever asks of it, so that no other module asks which
noise it is. A mechanism offers the noises that give a guarantee for an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.exact.numbers import decimal_text, exact
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.noise.single.laws import Law
from discreet.privacy.base import NoiseMeasure
from discreet.totals.structure import Blocks, Structure

__all__ = [
    "Answer",
    "Around",
    "Audited",
    "CellLaw",
    "Codes",
    "Floats",
    "Guarantee",
    "Independent",
    "Integers",
    "Lattice",
    "Mechanism",
    "Noise",
    "NoiseWords",
    "OneSign",
    "Together",
    "Vector",
    "law_of_cell",
    "noise_text",
    "trials_text",
]

Integers = NDArray[Any]
"""int64, or Python integers where those could overflow."""

Floats = NDArray[np.float64]

_MANY_TRIALS = 1000

Guarantee = NoiseMeasure
"""The guarantees that one mechanism can give by itself."""


@dataclass(frozen=True, slots=True)
class NoiseWords:
    """The name of a noise in documents, and its words on pages.

    Args:
        name: the name in documents and quotes.
        parameter: the key of its exact parameter in documents.
        sentence: its law, for the appendix of a report.
        formula: how the parameter follows from guarantee and sensitivities; empty where that is the formula that the measure
            has for such a parameter.
        title: what the appendix calls it; empty where that is the name, which no other noise has.
        further: the key of a second exact parameter in documents; empty where there is none.
        lattices: where another noise has the same name, words one of which the description of its lattice contains.
    """

    name: str
    parameter: str
    sentence: str
    formula: str = ""
    title: str = ""
    further: str = ""
    lattices: tuple[str, ...] = ()

    def fit(self, written: Mapping[str, str]) -> bool:
        """True if they are the words of the noise that `to_json` wrote."""
        lattice = written.get("lattice", "")
        return written["noise"] == self.name and (not self.lattices or any(one in lattice for one in self.lattices))


class CellLaw(Protocol):
    """The exact law of the noise in one cell, as far as an audit holds draws against it."""

    def half_width(self, coverage: Fraction) -> int:
        """The smallest w with P(|noise| ≤ w) ≥ coverage."""

    def tail(self, k: int) -> tuple[float, float]:
        """Doubles around P(|noise| > k), for k ≥ 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """The functions by which an audit draws an additive noise many times and distinguishes two answers by it.

    A statistic may be any function, so a poor `loss` finds less, but nothing false.

    Args:
        squared: whether its loss grows with the square of a distance, as for Gaussian noise.
        is_gdp: whether it is a rounded normal number, so that its guarantee is exactly GDP (soundness 15).
        loss: from noise, shape (runs, cells), and the difference of two answers to the loss of every run, but for a
            constant; None where it is not worked out.
        ties: what ties the noise of cells together; None where they are independent.
        noisy: the first position that has noise.
        cell: gives the exact law there where it is to be checked by its tails; None for independent noise, whose law is at
            hand, and where it is not checked.
        copied: the same noise for this many copies of the cells at some positions, which hold all or nothing of what is tied
            together; None where every run has to be drawn by itself.
        most_copies: at most this many copies are quick to make.
        effort: how many numbers are drawn for one number of the noise.
    """

    squared: bool
    is_gdp: bool
    loss: Callable[[Floats, Floats], Floats] | None
    ties: Structure | None
    noisy: int
    cell: Callable[[], CellLaw] | None
    copied: Callable[[NDArray[np.int64], int], Noise | None]
    most_copies: int
    effort: float


class Noise(Protocol):
    """The law of one published answer."""

    @property
    def words(self) -> NoiseWords:
        """Its name in documents and on pages."""

    @property
    def independent(self) -> Law | None:
        """The law of every cell that has noise, where these are independent; None where they are not."""

    @property
    def everywhere(self) -> bool:
        """True if the noise is independent and alike in every cell, so that an answer may get it part by part."""

    @property
    def held(self) -> NDArray[np.int64] | None:
        """The positions that have noise, where all others are 0 in every table; None where every position may have some."""

    @property
    def keeps_totals(self) -> bool:
        """True if the noise changes nothing that exact totals determine about the counts."""

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """The public answer of exact `values`. What is drawn never depends on them, but where codes are chosen."""

    def half_widths(self, level: Fraction) -> int | Integers:
        """A w with P(|noise of a cell| ≤ w) ≥ level: one for all cells, or one for each.

        Raises:
            InternalError: the answer has no additive noise.
        """

    def rank_error(self, level: Fraction) -> float | None:
        """For chosen codes about the error of their rank, in records, with probability `level`; None for added noise."""

    def variance(self) -> float:
        """The mean variance of a cell that has noise, rounded up; for chosen codes about the variance of their rank."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction | None:
        """What these changes cost at most, in the coordinates of `guarantee` and relative to it; it may be more than 1.

        The noise has `guarantee` for all answers within `changes.most` of each other. None where it has no such rule: then
        they cost what any changes do (P3 of docs/proofs/programmes.md).
        """

    def to_json(self) -> dict[str, str]:
        """Canonical JSON values: the name, the exact parameter and, for a lattice, its structure."""

    def prepare_audit(self) -> Audited | None:
        """The functions for an audit; None where no noise is added."""


class Independent(Noise, Protocol):
    """Noise of one law, independent from cell to cell."""

    @property
    def independent(self) -> Law:
        """The law of every cell."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The answers that exact totals leave possible: the space in which they lie, and the semi-adjacency."""

    structure: Structure
    a: int


@dataclass(frozen=True, slots=True, eq=False)
class OneSign:
    """Sums of numbers that are all ≥ 0, or all ≤ 0, between compared tables that differ in a rows.

    Args:
        blocks: the cells that can hold a record, in blocks between which none of the a rows moves.
        l1: 2aM, M the largest size of a number.
    """

    blocks: Blocks
    l1: int


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Vectors of integers, one for each cell: between compared tables their largest changes add up to at most `largest`.

    Args:
        blocks: the positions of each vector that can be other than 0, all of one size.
        largest: an upper bound of Σ max_i|u_c,i| over the cells c.
    """

    blocks: Blocks
    largest: int


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """An answer to which noise is added.

    Args:
        size: how many integers it has.
        held: int64, the positions that can be other than 0, whatever the table; None: all of them.
        lattice: the lattice in which the answers of compared tables differ; None where no noise is made for it.
        one_sign: what holds of sums of numbers of one sign; None where no noise is made for it.
        together: what holds of a vector for each cell; None where no noise is made for it.
    """

    size: int
    held: NDArray[np.int64] | None = None
    lattice: Lattice | None = None
    one_sign: OneSign | None = None
    together: Together | None = None


@dataclass(frozen=True, slots=True)
class Codes:
    """An answer that is chosen: in each of `cells` cells the quantiles `at` of a column of `size` codes."""

    size: int
    cells: int
    at: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """An answer that is chosen around public codes: in each of `cells` cells intervals of the quantiles `at`."""

    size: int
    cells: int
    at: tuple[Fraction, ...]


Answer = Vector | Codes | Around


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism: it offers noises.

    Args:
        words: of every kind of noise that it offers.
        candidates: the noises that give a guarantee to tables whose answers lie within a sensitivity; none where it gives
            no such guarantee, or nothing to such an answer. Raises ArgumentError for a noise beyond what can be drawn.
    """

    words: tuple[NoiseWords, ...]
    candidates: Callable[[Answer, Sensitivity, Guarantee], Iterator[Noise]] = field(repr=False)


def law_of_cell(noise: Noise) -> Law:
    """The law of every cell that has noise.

    Raises:
        InternalError: cells are not independent, or nothing is added.
    """
    if noise.independent is None:
        raise InternalError("this noise is not independent from cell to cell")
    return noise.independent


def noise_text(noise: Noise) -> str:
    """The noise for people: its parameter exactly when that is short, else to six digits; a release states it exactly."""
    words = noise.words
    shown = [_shown(key, noise.to_json()[key]) for key in (words.parameter, words.further) if key]
    return f"{words.name}, {', '.join(shown)}"


def trials_text(noise: Noise) -> list[str]:
    """A line where a draw takes long, because few trials are accepted; whether they are says nothing about the data."""
    audited = noise.prepare_audit()
    if audited is None or audited.effort < _MANY_TRIALS:
        return []
    tries = f"{float(f'{audited.effort:.2g}'):,.0f}"
    return [f"it is drawn by rejection: about {tries} numbers are drawn for each one that is kept, which can take seconds"]


def _shown(key: str, written: str) -> str:
    short = written if len(written) <= 12 else "about " + decimal_text(exact(written, key))
    return f"{key.replace('_', ' ')} {short}"
