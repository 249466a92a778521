"""Gaussian differential privacy: μ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, decimal_up, exact, sqrt_down, sqrt_up, text
from discreet.privacy import _gaussian, _profiles, convert
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
from discreet.privacy.approx_gdp import ApproxGDP
from discreet.privacy.base import Copies, Root, Sampling, Sized
from discreet.privacy.zcdp import ZCDP

__all__ = ["GDP"]


@dataclass(frozen=True, slots=True)
class GDP:
    """μ-Gaussian differential privacy (Dong, Roth and Su 2019).

    With a `delta` it is an `ApproxGDP`: a budget that also pays for groups that nobody listed.
    """

    mu: Fraction

    word: ClassVar[str] = "gdp"
    fields: ClassVar[tuple[str, ...]] = ("mu",)
    symbols: ClassVar[tuple[str, ...]] = ("μ",)
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("μ²",)
    long_name: ClassVar[str] = "Gaussian DP"
    amplified: ClassVar[bool] = False
    power: ClassVar[int] = 1
    norm: ClassVar[str] = "Δ₂²"
    formulas: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"variance": "σ² = Δ₂² / μ²", "range": "range = 2·ln(Φ(m/2) / Φ(−m/2)), m² = μ² / Δ₂²"}
    )
    from_pair: ClassVar[str] = tell_conversion("μ")

    def __new__(cls, mu: Amount = 0, delta: Amount = 0) -> GDP:
        """This measure, or with a δ the one that has a δ beside it."""
        if exact(delta, "delta") == 0:
            return object.__new__(cls)
        return ApproxGDP(mu, delta)  # type: ignore[return-value]  # another measure, with two amounts

    def __init__(self, mu: Amount, delta: Amount = 0) -> None:  # noqa: ARG002
        object.__setattr__(self, "mu", not_negative(mu, "mu"))

    @classmethod
    def for_approx(cls, epsilon: Amount, delta: Amount) -> GDP:
        """The largest μ (to 16 digits, rounded down, verified) whose GDP implies (ε, δ)-DP. Theorem G1."""
        return cls(short_down(_gaussian.mu(*target_down(epsilon, delta))))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε such that μ-GDP implies (ε, delta)-DP, rounded up; ∞ at delta = 0 unless μ = 0. Theorem G1."""
        return show_up(convert.gaussian_epsilon(self.mu, check_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ such that μ-GDP implies (epsilon, δ)-DP, rounded up. Theorem G1."""
        return show_up(convert.gaussian_delta(self.mu, not_negative(epsilon, "epsilon")))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return approx_of(self, delta)

    def to_zcdp(self) -> ZCDP:
        """μ-GDP implies (μ²/2)-zCDP: post-processing of a Gaussian pair, whose Rényi divergence is αμ²/2."""
        return ZCDP(self.mu**2 / 2)

    def group(self, a: int) -> GDP:
        """The guarantee for a records at once: aμ (Dong, Roth and Su, Theorem 2.14)."""
        return GDP(group_size(a) * self.mu)

    def __add__(self, other: object) -> GDP:
        """√(μ₁² + μ₂²), rounded up to a rational where it is none (relative excess 2⁻⁸⁰)."""
        return GDP(sqrt_up(self.mu**2 + same_kind(self, other).mu ** 2))

    def __rmul__(self, k: int) -> GDP:
        return GDP(sqrt_up(repetitions(k) * self.mu**2))

    def explain(self) -> str:
        """The guarantee in plain words."""
        advantage = _profiles.percent_up(self.delta_at(0))
        return (
            f"Deciding from the results whether one record is in the data is at least as hard as telling apart two "
            f"normal distributions whose means lie {decimal_up(self.mu)} standard deviations apart: no test detects "
            f"it with a chance that is more than {advantage} above its false alarms."
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameter as a JSON value."""
        return {"mu": text(self.mu)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> GDP:
        """The measure whose parameter `written` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(μ²,)."""
        return (self.mu**2,)

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> GDP:
        """The measure with this μ²."""
        return cls(*map(root, coordinates))

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """None: each δ has its own ε."""
        return None

    def reported_at(self, delta: Fraction) -> Fraction:
        """As asked for."""
        return delta

    def part(self, spend: object) -> GDP:
        """A μ."""
        return GDP(single_amount(spend, "GDP"))

    def through(self, copies: Copies) -> GDP:
        """kμ for k copies at most."""
        return GDP((len(copies) - 1) * self.mu)

    def functional(self, copies: Copies) -> GDP:
        """μ/k; μ itself where nothing is read."""
        return GDP(self.mu / max(1, len(copies) - 1))

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        """An ε at `delta` for each of many amounts, rounded up."""
        return convert.gaussian_epsilon(amounts, delta)

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε at which δ(ε) falls below `delta`."""
        return Fraction(self.epsilon_at(delta))

    def totals_words(self, part: Fraction, a: int) -> str:  # noqa: ARG002
        """Empty."""
        return ""

    # Its noise --------------------------------------------------------------------------------------------------------

    @staticmethod
    def size(change: Sized) -> int:
        """Δ₂²: a Gaussian costs μ² = Δ₂²/σ²."""
        return change.l2_squared

    @classmethod
    def implying(cls, spend: Any, sampled: Sampling | None, *, totals: bool) -> tuple[GDP, ...]:  # noqa: ARG003
        """The μ of GDP, and the largest one that implies (ε, δ)-DP, on a sample by the exact profile of its noise."""
        if isinstance(spend, ApproxDP):
            if not spend.delta > 0:
                return ()
            return (cls.for_approx(spend.epsilon, spend.delta) if sampled is None else sampled.gaussian(spend),)
        if isinstance(spend, ApproxGDP):
            spend = GDP(spend.mu)  # noise needs no δ
        if not isinstance(spend, GDP):
            return ()
        return (spend if sampled is None else spend.functional(sampled.law),)

    def profile_on(self, sampled: Sampling) -> Any | None:
        """The profile of Gaussian noise (Theorems R1 and R2)."""
        return sampled.profile(self)

    def as_pair(self, delta: Fraction, sampled: Sampling | None) -> ApproxDP:
        """The ε of the exact profile."""
        if sampled is None:
            return self.to_approx(delta)
        return ApproxDP(sampled.profile(self).epsilon_at(delta), delta)

    def each_of(self, rows: int) -> GDP:
        """μ/rows."""
        return GDP(self.mu / rows)

    def laplace_scale(self, l1: int) -> Fraction | None:  # noqa: ARG002
        """None: this measure has no Laplace scale."""
        return None

    def gaussian_variance(self, l2_squared: int | Fraction) -> Fraction:
        """Δ₂²/μ²: rounding is post-processing of the Gaussian mechanism (soundness 15)."""
        return Fraction(l2_squared) / self.mu**2

    def lattice_variance(self, l2_squared: int) -> Fraction | None:  # noqa: ARG002
        """None: a discrete Gaussian on a lattice is not known to have a μ."""
        return None

    def choice_range(self, l1: int, l2_squared: int) -> Fraction:  # noqa: ARG002
        """The μ of twice the range is at most twice the μ, so squares of factors bound the sum of μ²."""
        from discreet.privacy.bounded_range import range_of_mu

        return range_of_mu(sqrt_down(self.mu**2 / l2_squared))

    def resized_words(self, spend: Any, most: int) -> str:
        """kμ; by the profile where (ε, δ) is spent."""
        if isinstance(spend, GDP):
            return f"Not amplified, because the worst case is K at its most: μ' = kμ = {most}·μ"
        return "Amplified by sampling: δ'(ε) is the δ of the noise averaged over K (Theorems R1 and R2)"
