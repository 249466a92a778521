"""Zero-concentrated differential privacy: ρ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, decimal_up, exact, sqrt_down, text
from discreet.privacy import _profiles, _zcdp, convert
from discreet.privacy._checks import (
    check_delta,
    exact_texts,
    group_size,
    not_negative,
    repetitions,
    same_kind,
    single_amount,
    target_down,
)
from discreet.privacy._digits import short_down, show_up, tell_conversion
from discreet.privacy.approx import ApproxDP, approx_of
from discreet.privacy.approx_zcdp import ApproxZCDP
from discreet.privacy.base import Copies, Root, Sampling, Sized
from discreet.privacy.rdp import RDP

__all__ = ["ZCDP"]


@dataclass(frozen=True, slots=True)
class ZCDP:
    """ρ-zero-concentrated differential privacy (Bun and Steinke 2016).

    With a `delta` it is an `ApproxZCDP`: a budget that also pays for groups that nobody listed.
    """

    rho: Fraction

    word: ClassVar[str] = "zcdp"
    fields: ClassVar[tuple[str, ...]] = ("rho",)
    symbols: ClassVar[tuple[str, ...]] = ("ρ",)
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("ρ",)
    long_name: ClassVar[str] = "zero-concentrated DP"
    amplified: ClassVar[bool] = False
    power: ClassVar[int] = 2
    norm: ClassVar[str] = "Δ₂²"
    formulas: ClassVar[Mapping[str, str]] = MappingProxyType({"variance": "σ² = Δ₂² / (2ρ)", "range": "range² = 8ρ / Δ₂²"})
    from_pair: ClassVar[str] = tell_conversion("ρ")

    def __new__(cls, rho: Amount = 0, delta: Amount = 0) -> ZCDP:
        """This measure, or with a δ the one that has a δ beside it."""
        if exact(delta, "delta") == 0:
            return object.__new__(cls)
        return ApproxZCDP(rho, delta)  # type: ignore[return-value]  # another measure, with two amounts

    def __init__(self, rho: Amount, delta: Amount = 0) -> None:  # noqa: ARG002
        object.__setattr__(self, "rho", not_negative(rho, "rho"))

    @classmethod
    def for_approx(cls, epsilon: Amount, delta: Amount) -> ZCDP:
        """The largest ρ (to 16 digits, rounded down, verified) whose zCDP implies (ε, δ)-DP. Theorem C1."""
        return cls(short_down(_zcdp.zcdp_rho(*target_down(epsilon, delta))))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that ρ-zCDP implies (ε, delta)-DP, rounded up; ∞ at delta = 0 unless ρ = 0. Theorem C1."""
        return show_up(convert.zcdp_epsilon(self.rho, check_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that ρ-zCDP implies (epsilon, δ)-DP, rounded up. Theorem C1."""
        return show_up(convert.zcdp_delta(self.rho, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return approx_of(self, delta)

    def to_rdp(self, orders: Sequence[Amount]) -> RDP:
        """The line τ = ρα at the given orders."""
        return RDP([(order, exact(order, "order") * self.rho) for order in orders])

    def group(self, a: int) -> ZCDP:
        """The guarantee for a records at once: a²ρ (Bun and Steinke, Proposition 1.9)."""
        return ZCDP(group_size(a) ** 2 * self.rho)

    def __add__(self, other: object) -> ZCDP:
        return ZCDP(self.rho + same_kind(self, other).rho)

    def __rmul__(self, k: int) -> ZCDP:
        return ZCDP(repetitions(k) * self.rho)

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"The evidence that the results carry about one record behaves at worst like that of Gaussian noise with "
            f"ρ = {decimal_up(self.rho)}; {_profiles.in_a_million(self.epsilon_at('1e-6'))}"
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameter as a JSON value."""
        return {"rho": text(self.rho)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ZCDP:
        """The measure whose parameter `written` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(ρ,)."""
        return (self.rho,)

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> ZCDP:  # noqa: ARG003
        """The measure with this ρ."""
        return cls(*coordinates)

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """None: each δ has its own ε."""
        return None

    def reported_at(self, delta: Fraction) -> Fraction:
        """As asked for."""
        return delta

    def part(self, spend: object) -> ZCDP:
        """A ρ."""
        return ZCDP(single_amount(spend, "ZCDP"))

    def through(self, copies: Copies) -> ZCDP:
        """k²ρ for k copies at most: the largest orders see K at its most."""
        return ZCDP((len(copies) - 1) ** 2 * self.rho)

    def functional(self, copies: Copies) -> ZCDP:
        """ρ/k²; ρ itself where nothing is read."""
        return ZCDP(self.rho / max(1, len(copies) - 1) ** 2)

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        """An ε at `delta` for each of many amounts, rounded up."""
        return convert.zcdp_epsilon(amounts, delta)

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε at which δ(ε) falls below `delta`."""
        return Fraction(self.epsilon_at(delta))

    def totals_words(self, part: Fraction, a: int) -> str:
        """What all costs relative to the part of one replaced row, and a²."""
        return f"the totals multiply ρ by {text(1 / part)} (naive: a² = {a**2})"

    # Its noise --------------------------------------------------------------------------------------------------------

    @staticmethod
    def size(change: Sized) -> int:
        """Δ₂²: a Gaussian costs ρ = Δ₂²/(2σ²)."""
        return change.l2_squared

    @classmethod
    def implying(cls, spend: Any, sampled: Sampling | None, *, totals: bool) -> tuple[ZCDP, ...]:
        """The ρ of zCDP; with exact totals also one that implies (ε, δ)-DP, because noise on a lattice has no μ."""
        if isinstance(spend, ApproxDP):
            useful = totals and sampled is None and spend.delta > 0
            return (cls.for_approx(spend.epsilon, spend.delta),) if useful else ()
        if isinstance(spend, ApproxZCDP):
            spend = ZCDP(spend.rho)  # noise needs no δ
        if not isinstance(spend, ZCDP):
            return ()
        return (spend if sampled is None else spend.functional(sampled.law),)

    def profile_on(self, sampled: Sampling) -> Any | None:  # noqa: ARG002
        """None: the worst mechanism of a ρ is not known."""
        return None

    def as_pair(self, delta: Fraction, sampled: Sampling | None) -> ApproxDP:
        """The ε of this guarantee, carried through the sample first."""
        return (self if sampled is None else self.through(sampled.law)).to_approx(delta)

    def each_of(self, rows: int) -> ZCDP:
        """ρ/rows²."""
        return ZCDP(self.rho / rows**2)

    def laplace_scale(self, l1: int) -> Fraction | None:  # noqa: ARG002
        """None: a Gaussian of the same ρ has less variance."""
        return None

    def gaussian_variance(self, l2_squared: int | Fraction) -> Fraction:
        """Δ₂²/(2ρ): rounding is post-processing of the Gaussian mechanism (soundness 15)."""
        return Fraction(l2_squared) / (2 * self.rho)

    def lattice_variance(self, l2_squared: int) -> Fraction | None:
        """Δ₂²/(2ρ), as for the Gaussian over the reals (docs/proofs/lattice.md)."""
        return Fraction(l2_squared) / (2 * self.rho)

    def choice_range(self, l1: int, l2_squared: int) -> Fraction:  # noqa: ARG002
        """√(8ρ/Δ₂²), rounded down: a choice of range r is r²/8-zCDP."""
        return sqrt_down(8 * self.rho / l2_squared)

    def resized_words(self, spend: Any, most: int) -> str:  # noqa: ARG002
        """k²ρ."""
        return f"Not amplified, because the largest orders see K at its most: ρ' = k²ρ = {most**2}·ρ"
