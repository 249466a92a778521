"""The protocols of a measure of privacy: how it is written, how it is spent, and how noise guarantees it.

A measure is one file, with a frozen class that has everything below and a line in the registry of `measures`. Nothing else
decides by the kind of a measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount

__all__ = ["Copies", "NoiseMeasure", "Root", "Sampling", "Sized", "SpentMeasure", "WrittenMeasure"]

Copies = tuple[Fraction, ...]
"""P(K = 0), P(K = 1), …: how many copies of the protected rows are in a sample."""


class Root(Protocol):
    """A square root that is rounded in a stated direction: `sqrt_up` or `sqrt_down`."""

    def __call__(self, value: Fraction, /) -> Fraction:
        """The root."""


class Sized(Protocol):
    """The largest change by a row: Δ₁ and Δ₂²."""

    @property
    def l1(self) -> int:
        """Δ₁."""

    @property
    def l2_squared(self) -> int:
        """Δ₂²."""


class Sampling(Protocol):
    """A resize as a guarantee sees it."""

    @property
    def law(self) -> Copies:
        """The law of the copies."""

    def gaussian(self, target: Any, /) -> Any:
        """The largest μ-GDP on the sample that gives the (ε, δ) of `target` for the original data."""

    def profile(self, inner: Any, /) -> Any:
        """The exact δ(ε) for the original data of what has the guarantee `inner` on the sample."""


class WrittenMeasure(Protocol):
    """A measure that has a name, a JSON form and a sentence."""

    word: ClassVar[str]
    """In plans, ledgers and releases: "zcdp"."""
    fields: ClassVar[tuple[str, ...]]
    """The names of its parameters in these: ("rho",)."""

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values, exactly."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """The measure whose parameters `to_json` gave. Raises ArgumentError."""

    def epsilon_at(self, delta: Amount) -> float:
        """An ε that holds with `delta`, rounded up."""

    def delta_at(self, epsilon: Amount) -> float:
        """A δ that holds with `epsilon`, rounded up."""

    def explain(self) -> str:
        """The guarantee in plain words."""


class SpentMeasure(WrittenMeasure, Protocol):
    """A measure that a budget can have: it has coordinates that add, and passes through a resize."""

    symbols: ClassVar[tuple[str, ...]]
    """The symbols of its parameters, in the order of `fields`: ("ρ",)."""
    coordinate_symbols: ClassVar[tuple[str, ...]]
    """The symbols of its coordinates: ("ρ",), or ("μ²",)."""
    long_name: ClassVar[str]
    """For people: "zero-concentrated DP"."""
    amplified: ClassVar[bool]
    """True if sampling makes a guarantee of this measure stronger."""
    power: ClassVar[int]
    """By a**power the first parameter grows for a records at once."""

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """The exact numbers that add where releases are put together, one for each parameter (Theorem M1)."""

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> Self:
        """The measure with these coordinates, its parameters rounded in the direction of `root` where they are roots."""

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ) where the measure is stated in them; None where each δ has its own ε."""

    def reported_at(self, delta: Fraction) -> Fraction:
        """The δ at which ε is stated where `delta` is asked for: another one where the measure has one itself."""

    def part(self, spend: object) -> Self:
        """The amount of a budget that a number, or a sequence of numbers, means. Raises ArgumentError."""

    def through(self, copies: Copies) -> Self:
        """The guarantee for the original data that follows from this one for a sample (Theorem R3), rounded up."""

    def functional(self, copies: Copies) -> Self:
        """The largest guarantee found for the rows of a sample that is `self` for the original data, rounded down."""

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        """An ε at `delta` for each first parameter, rounded up, for many of them at once."""

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε up to which a picture of δ(ε) goes, where a smaller δ than `delta` cannot be seen."""

    def totals_words(self, part: Fraction, a: int) -> str:
        """The factor by which exact totals multiply the cost of a query, in words; empty where there is no such factor.

        Args:
            part: what one replaced row costs of it, as somebody states it who counts no exact totals.
            a: how many rows may differ.
        """


class NoiseMeasure(SpentMeasure, Protocol):
    """A measure that noise can guarantee by itself."""

    norm: ClassVar[str]
    """The symbol of `size`: "Δ₁" or "Δ₂²"."""
    formulas: ClassVar[Mapping[str, str]]
    """For each parameter of a noise ("scale", "variance", "range") how it follows from the guarantee."""
    from_pair: ClassVar[str]
    """A sentence on how a spend of (ε, δ) becomes a guarantee of this measure."""

    @staticmethod
    def size(change: Sized) -> int:
        """The norm by which the noise costs: coordinates grow in proportion to it."""

    @classmethod
    def implying(cls, spend: Any, sampled: Sampling | None, *, totals: bool) -> tuple[Self, ...]:
        """The guarantee for all rows of a person in the prepared table, so that the person has `spend`.

        Rounded down. Nothing where this measure implies no such spend.
        """

    def profile_on(self, sampled: Sampling) -> Any | None:
        """The exact δ(ε), for the original data, of this guarantee for the rows of a sample; None where none is known."""

    def as_pair(self, delta: Fraction, sampled: Sampling | None) -> Any:
        """(ε, delta) for the original data, of this guarantee for the rows of the prepared table."""

    def each_of(self, rows: int) -> Self:
        """The guarantee that each of this many rows may have, so that all of them together have this guarantee."""

    def laplace_scale(self, l1: int) -> Fraction | None:
        """The scale of discrete Laplace noise with this guarantee; None where that noise is not used for it."""

    def gaussian_variance(self, l2_squared: int) -> Fraction | None:
        """The variance of a rounded Gaussian with this guarantee; None where no Gaussian has it."""

    def lattice_variance(self, l2_squared: int) -> Fraction | None:
        """The variance parameter of a discrete Gaussian on a lattice; None where none is known to have the guarantee."""

    def choice_range(self, l1: int, l2_squared: int) -> Fraction:
        """The largest range, rounded down, of choices with this guarantee (docs/proofs/selection.md)."""

    def resized_words(self, spend: Any, most: int) -> str:
        """The way from this guarantee for a row of a sample to `spend` for a row of the original, `most` copies at most."""
