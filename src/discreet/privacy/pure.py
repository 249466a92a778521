"""Pure differential privacy: ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import Amount, text
from discreet.privacy import _profiles
from discreet.privacy._checks import (
    check_delta,
    exact_texts,
    group_size,
    not_negative,
    repetitions,
    same_kind,
    single_amount,
)
from discreet.privacy.approx import ApproxDP, approx_of
from discreet.privacy.base import Copies, Root, Sampling, Sized
from discreet.privacy.zcdp import ZCDP

__all__ = ["PureDP"]


@dataclass(frozen=True, slots=True)
class PureDP:
    """ε-differential privacy, exact at δ = 0."""

    epsilon: Fraction

    word: ClassVar[str] = "pure-dp"
    fields: ClassVar[tuple[str, ...]] = ("epsilon",)
    symbols: ClassVar[tuple[str, ...]] = ("ε",)
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("ε",)
    long_name: ClassVar[str] = "pure DP"
    amplified: ClassVar[bool] = True
    power: ClassVar[int] = 1
    norm: ClassVar[str] = "Δ₁"
    formulas: ClassVar[Mapping[str, str]] = MappingProxyType({"scale": "scale = Δ₁ / ε", "range": "range = ε / Δ₁"})
    from_pair: ClassVar[str] = "The noise satisfies pure DP with this ε: here that takes less noise than to make use of δ."

    def __init__(self, epsilon: Amount) -> None:
        object.__setattr__(self, "epsilon", not_negative(epsilon, "epsilon"))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε' such that every ε-DP mechanism is (ε', δ)-DP, rounded up. Theorem P1."""
        return _profiles.approx_epsilon(self.epsilon, Fraction(0), check_delta(delta))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ such that every ε-DP mechanism is (epsilon, δ)-DP, rounded up. Theorem P1."""
        return _profiles.approx_delta(self.epsilon, Fraction(0), not_negative(epsilon, "epsilon"))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return approx_of(self, delta)

    def to_zcdp(self) -> ZCDP:
        """ε-DP implies (ε²/2)-zCDP (Bun and Steinke, Proposition 1.4)."""
        return ZCDP(self.epsilon**2 / 2)

    def group(self, a: int) -> PureDP:
        """The guarantee for a records at once: aε."""
        return PureDP(group_size(a) * self.epsilon)

    def __add__(self, other: object) -> PureDP:
        return PureDP(self.epsilon + same_kind(self, other).epsilon)

    def __rmul__(self, k: int) -> PureDP:
        return PureDP(repetitions(k) * self.epsilon)

    def explain(self) -> str:
        """The guarantee in plain words."""
        return f"{_profiles.factor_text(self.epsilon)}, without exception."

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameter as a JSON value."""
        return {"epsilon": text(self.epsilon)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> PureDP:
        """The measure whose parameter `written` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(ε,)."""
        return (self.epsilon,)

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> PureDP:  # noqa: ARG003
        """The measure with this ε."""
        return cls(*coordinates)

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """(ε, 0)."""
        return self.epsilon, Fraction(0)

    def reported_at(self, delta: Fraction) -> Fraction:  # noqa: ARG002
        """0."""
        return Fraction(0)

    def part(self, spend: object) -> PureDP:
        """An ε."""
        return PureDP(single_amount(spend, "PureDP"))

    def through(self, copies: Copies) -> PureDP:
        """ε' = log E e^{εK}, rounded up."""
        from discreet.privacy._copies import epsilon_up

        return PureDP(epsilon_up(copies, self.epsilon))

    def functional(self, copies: Copies) -> PureDP:
        """The functional ε."""
        from discreet.privacy._copies import functional_epsilon

        return PureDP(functional_epsilon(copies, self.epsilon))

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:  # noqa: ARG004
        """The ε themselves."""
        return amounts

    def drawn_to(self, delta: Fraction) -> Fraction:
        """The ε at which δ(ε) falls below `delta`."""
        return Fraction(self.epsilon_at(delta))

    def totals_words(self, part: Fraction, a: int) -> str:  # noqa: ARG002
        """Empty."""
        return ""

    # Its noise --------------------------------------------------------------------------------------------------------

    @staticmethod
    def size(change: Sized) -> int:
        """Δ₁: one row changes the log-density of Laplace noise by at most |Δ|₁/scale."""
        return change.l1

    @classmethod
    def implying(cls, spend: Any, sampled: Sampling | None, *, totals: bool) -> tuple[PureDP, ...]:  # noqa: ARG003
        """The ε of pure and approximate DP: ε-DP implies (ε, δ)-DP."""
        if not isinstance(spend, PureDP | ApproxDP):
            return ()
        whole = cls(spend.epsilon)
        return (whole if sampled is None else whole.functional(sampled.law),)

    def profile_on(self, sampled: Sampling) -> Any | None:
        """The profile of the worst mechanism."""
        return sampled.profile(self)

    def as_pair(self, delta: Fraction, sampled: Sampling | None) -> ApproxDP:
        """The ε of this guarantee, carried through the sample first."""
        return (self if sampled is None else self.through(sampled.law)).to_approx(delta)

    def each_of(self, rows: int) -> PureDP:
        """ε/rows."""
        return PureDP(self.epsilon / rows)

    def laplace_scale(self, l1: int | Fraction) -> Fraction:
        """Δ₁/ε."""
        return Fraction(l1) / self.epsilon

    def gaussian_variance(self, l2_squared: int) -> Fraction | None:  # noqa: ARG002
        """None: the log-density of a Gaussian is not bounded."""
        return None

    def lattice_variance(self, l2_squared: int) -> Fraction | None:  # noqa: ARG002
        """None, as for every Gaussian."""
        return None

    def choice_range(self, l1: int, l2_squared: int) -> Fraction:  # noqa: ARG002
        """ε/Δ₁: a choice of range r is r-DP."""
        return self.epsilon / l1

    def resized_words(self, spend: Any, most: int) -> str:  # noqa: ARG002
        """Theorem R3."""
        return "Amplified by sampling, ε' = log E e^(εK) (Theorem R3)"
