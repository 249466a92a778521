"""Zero-concentrated differential privacy with a δ beside it: ρ and δ, for what names of groups cost that nobody listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, decimal_up, text
from discreet.privacy import convert
from discreet.privacy._checks import check_delta, exact_texts, group_size, not_negative, repetitions, same_kind, total_delta
from discreet.privacy._digits import show_up
from discreet.privacy._slack import delta_beside, left_beside, pair_of, refuse_copies, stated_beside
from discreet.privacy.approx import ApproxDP, approx_of
from discreet.privacy.base import Copies, Root

__all__ = ["ApproxZCDP"]


@dataclass(frozen=True, slots=True)
class ApproxZCDP:
    """δ-approximate ρ-zCDP (Bun and Steinke 2016, Definition 8.1; docs/proofs/discovery.md).

    Apart from an event of probability δ, the results have ρ-zCDP. `ZCDP(rho, delta=…)` makes it.
    """

    rho: Fraction
    delta: Fraction

    word: ClassVar[str] = "approx-zcdp"
    fields: ClassVar[tuple[str, ...]] = ("rho", "delta")
    symbols: ClassVar[tuple[str, ...]] = ("ρ", "δ")
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("ρ", "δ")
    long_name: ClassVar[str] = "approximate zero-concentrated DP"
    amplified: ClassVar[bool] = False
    power: ClassVar[int] = 2

    def __init__(self, rho: Amount, delta: Amount) -> None:
        object.__setattr__(self, "rho", not_negative(rho, "rho"))
        object.__setattr__(self, "delta", check_delta(delta))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that this implies (ε, delta)-DP, rounded up; ∞ below the δ beside the ρ."""
        left = left_beside(self.delta, delta)
        return inf if left < 0 else show_up(convert.zcdp_epsilon(self.rho, left))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that this implies (epsilon, δ)-DP, rounded up (docs/proofs/discovery.md)."""
        return delta_beside(self.delta, convert.zcdp_delta(self.rho, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly."""
        return approx_of(self, delta)

    def group(self, a: int) -> ApproxZCDP:
        """The guarantee for a records at once; none is known for several where there is a δ. Raises ArgumentError."""
        refuse_copies(self.delta, group_size(a))
        return ApproxZCDP(group_size(a) ** 2 * self.rho, self.delta)

    def __add__(self, other: object) -> ApproxZCDP:
        same = same_kind(self, other)
        return ApproxZCDP(self.rho + same.rho, total_delta(self.delta + same.delta))

    def __rmul__(self, k: int) -> ApproxZCDP:
        return ApproxZCDP(repetitions(k) * self.rho, total_delta(k * self.delta))

    def explain(self) -> str:
        """The guarantee in plain words."""
        the = f"Apart from an event of probability δ = {decimal_up(self.delta)}, the" if self.delta else "The"
        return (
            f"{the} evidence that the results carry about one record behaves at worst like that of Gaussian noise with "
            f"ρ = {decimal_up(self.rho)}."
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {"rho": text(self.rho), "delta": text(self.delta)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ApproxZCDP:
        """The measure whose parameters `to_json` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(ρ, δ): both add."""
        return self.rho, self.delta

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> ApproxZCDP:  # noqa: ARG003
        """The measure with these."""
        rho, delta = coordinates
        return cls(rho, delta)

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """None: each δ has its own ε."""
        return None

    def reported_at(self, delta: Fraction) -> Fraction:
        """As asked for, or more where the δ beside the ρ would leave next to nothing."""
        return stated_beside(self.delta, delta)

    def part(self, spend: object) -> ApproxZCDP:
        """A pair is (rho, delta); a single number is a rho, with the same share of the budget's delta."""
        return ApproxZCDP(*pair_of(spend, self.rho, self.delta))

    def through(self, copies: Copies) -> ApproxZCDP:
        """k²ρ for k copies at most. Raises ArgumentError for several with a δ."""
        refuse_copies(self.delta, len(copies) - 1)
        return ApproxZCDP((len(copies) - 1) ** 2 * self.rho, self.delta)

    def functional(self, copies: Copies) -> ApproxZCDP:
        """ρ/k², with δ only where there is one copy at most."""
        return ApproxZCDP(self.rho / max(1, len(copies) - 1) ** 2, self.delta if len(copies) <= 2 else 0)

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:  # noqa: ARG004
        """∞: a ρ without the δ beside it does not bound anything."""
        return np.full_like(amounts, inf)

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε at which δ(ε) is as good as the δ beside the ρ."""
        return Fraction(self.epsilon_at(self.reported_at(delta)))

    def totals_words(self, part: Fraction, a: int) -> str:  # noqa: ARG002
        """Empty: the noise has a guarantee without a δ."""
        return ""
