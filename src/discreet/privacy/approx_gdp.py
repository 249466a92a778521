"""Gaussian differential privacy with a δ beside it: μ and δ, for what names of groups cost that nobody listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, decimal_up, sqrt_up, text
from discreet.privacy import convert
from discreet.privacy._checks import check_delta, exact_texts, group_size, not_negative, repetitions, same_kind, total_delta
from discreet.privacy._digits import show_up
from discreet.privacy._slack import delta_beside, left_beside, pair_of, refuse_copies, stated_beside
from discreet.privacy.approx import ApproxDP, approx_of
from discreet.privacy.base import Copies, Root

__all__ = ["ApproxGDP"]


@dataclass(frozen=True, slots=True)
class ApproxGDP:
    """δ-approximate μ-GDP (Bun and Steinke 2016, Definition 8.1; docs/proofs/discovery.md).

    Apart from an event of probability δ, the results have μ-GDP. `GDP(mu, delta=…)` makes it.
    """

    mu: Fraction
    delta: Fraction

    word: ClassVar[str] = "approx-gdp"
    fields: ClassVar[tuple[str, ...]] = ("mu", "delta")
    symbols: ClassVar[tuple[str, ...]] = ("μ", "δ")
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("μ²", "δ")
    long_name: ClassVar[str] = "approximate Gaussian DP"
    amplified: ClassVar[bool] = False
    power: ClassVar[int] = 1

    def __init__(self, mu: Amount, delta: Amount) -> None:
        object.__setattr__(self, "mu", not_negative(mu, "mu"))
        object.__setattr__(self, "delta", check_delta(delta))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that this implies (ε, delta)-DP, rounded up; ∞ below the δ beside the μ."""
        left = left_beside(self.delta, delta)
        return inf if left < 0 else show_up(convert.gaussian_epsilon(self.mu, left))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that this implies (epsilon, δ)-DP, rounded up (docs/proofs/discovery.md)."""
        return delta_beside(self.delta, convert.gaussian_delta(self.mu, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly."""
        return approx_of(self, delta)

    def group(self, a: int) -> ApproxGDP:
        """The guarantee for a records at once; none is known for several where there is a δ. Raises ArgumentError."""
        refuse_copies(self.delta, group_size(a))
        return ApproxGDP(group_size(a) * self.mu, self.delta)

    def __add__(self, other: object) -> ApproxGDP:
        same = same_kind(self, other)
        return ApproxGDP(sqrt_up(self.mu**2 + same.mu**2), total_delta(self.delta + same.delta))

    def __rmul__(self, k: int) -> ApproxGDP:
        return ApproxGDP(sqrt_up(repetitions(k) * self.mu**2), total_delta(k * self.delta))

    def explain(self) -> str:
        """The guarantee in plain words."""
        apart = f"Apart from an event of probability δ = {decimal_up(self.delta)}, deciding" if self.delta else "Deciding"
        return (
            f"{apart} from the results whether one record is in the data is at least as hard as telling apart two normal "
            f"distributions whose means lie {decimal_up(self.mu)} standard deviations apart."
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {"mu": text(self.mu), "delta": text(self.delta)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ApproxGDP:
        """The measure whose parameters `to_json` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(μ², δ): both add."""
        return self.mu**2, self.delta

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> ApproxGDP:
        """The measure with these."""
        square, delta = coordinates
        return cls(root(square), delta)

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """None: each δ has its own ε."""
        return None

    def reported_at(self, delta: Fraction) -> Fraction:
        """As asked for, or more where the δ beside the μ would leave next to nothing."""
        return stated_beside(self.delta, delta)

    def part(self, spend: object) -> ApproxGDP:
        """A pair is (mu, delta); a single number is a mu, with the same share of the budget's delta."""
        return ApproxGDP(*pair_of(spend, self.mu, self.delta))

    def through(self, copies: Copies) -> ApproxGDP:
        """kμ for k copies at most. Raises ArgumentError for several with a δ."""
        refuse_copies(self.delta, len(copies) - 1)
        return ApproxGDP((len(copies) - 1) * self.mu, self.delta)

    def functional(self, copies: Copies) -> ApproxGDP:
        """μ/k, with δ only where there is one copy at most."""
        return ApproxGDP(self.mu / max(1, len(copies) - 1), self.delta if len(copies) <= 2 else 0)

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:  # noqa: ARG004
        """∞: a μ without the δ beside it does not bound anything."""
        return np.full_like(amounts, inf)

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε at which δ(ε) is as good as the δ beside the μ."""
        return Fraction(self.epsilon_at(self.reported_at(delta)))

    def totals_words(self, part: Fraction, a: int) -> str:  # noqa: ARG002
        """Empty: the noise has a guarantee without a δ."""
        return ""
