"""Approximate differential privacy: (ε, δ)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, decimal_up, exact, text
from discreet.privacy import _profiles
from discreet.privacy._checks import (
    check_delta,
    exact_texts,
    group_size,
    not_negative,
    repetitions,
    same_kind,
    total_delta,
)
from discreet.privacy.base import Copies, Root

__all__ = ["ApproxDP", "approx_of"]


@dataclass(frozen=True, slots=True)
class ApproxDP:
    """(ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    word: ClassVar[str] = "approx-dp"
    fields: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    symbols: ClassVar[tuple[str, ...]] = ("ε", "δ")
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("ε", "δ")
    long_name: ClassVar[str] = "approximate DP"
    amplified: ClassVar[bool] = True
    power: ClassVar[int] = 1

    def __init__(self, epsilon: Amount, delta: Amount) -> None:
        object.__setattr__(self, "epsilon", not_negative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", check_delta(delta))

    def epsilon_at(self, delta: Amount) -> float:
        """The smallest ε' such that every (ε, δ)-DP mechanism is (ε', delta)-DP, rounded up; ∞ below δ. Theorem P1."""
        return _profiles.approx_epsilon(self.epsilon, self.delta, check_delta(delta))

    def delta_at(self, epsilon: Amount) -> float:
        """The smallest δ' such that every (ε, δ)-DP mechanism is (epsilon, δ')-DP, rounded up. Theorem P1."""
        return _profiles.approx_delta(self.epsilon, self.delta, not_negative(epsilon, "epsilon"))

    def group(self, a: int) -> ApproxDP:
        """The guarantee for a records at once: (aε, δ(1 + e^ε + … + e^((a−1)ε))), rounded up to a rational."""
        factor = _profiles.group_factor(self.epsilon, group_size(a)) if self.delta else Fraction(a)
        return ApproxDP(a * self.epsilon, total_delta(self.delta * factor))

    def __add__(self, other: object) -> ApproxDP:
        same = same_kind(self, other)
        return ApproxDP(self.epsilon + same.epsilon, total_delta(self.delta + same.delta))

    def __rmul__(self, k: int) -> ApproxDP:
        return ApproxDP(repetitions(k) * self.epsilon, total_delta(k * self.delta))

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"{_profiles.factor_text(self.epsilon)}, apart from an additive δ = {decimal_up(self.delta)}: think of it as "
            "the chance that the factor is exceeded."
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {"epsilon": text(self.epsilon), "delta": text(self.delta)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ApproxDP:
        """The measure whose parameters `written` gave."""
        return cls(*exact_texts(document, cls.fields))

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """(ε, δ): basic composition."""
        return self.epsilon, self.delta

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> ApproxDP:  # noqa: ARG003
        """The measure with this ε and δ."""
        return cls(*coordinates)

    @property
    def pair(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ)."""
        return self.epsilon, self.delta

    def reported_at(self, delta: Fraction) -> Fraction:  # noqa: ARG002
        """Its own δ."""
        return self.delta

    def part(self, spend: object) -> ApproxDP:
        """A pair is (epsilon, delta); a single number is an epsilon, with the same share of the budget's delta."""
        pair: list[Any] = list(spend) if isinstance(spend, list | tuple) else [spend]
        if len(pair) > 2 or not pair:
            raise ArgumentError(f"spend={printed(spend)}: must be an epsilon or a pair (epsilon, delta)")
        epsilon = exact(pair[0], "spend")
        if len(pair) == 2:
            return ApproxDP(epsilon, exact(pair[1], "spend[1]"))
        return ApproxDP(epsilon, min(self.delta * epsilon / self.epsilon, self.delta))

    def through(self, copies: Copies) -> ApproxDP:
        """ε' = log E e^{εK} and δ' = δ E(1 + … + e^{(K−1)ε}), rounded up."""
        from discreet.privacy._copies import delta_factor_up, epsilon_up

        total = self.delta * delta_factor_up(copies, self.epsilon)
        if not total < 1:
            raise ArgumentError(f"delta={text(self.delta)}: gives no guarantee on the original data; take a smaller one")
        return ApproxDP(epsilon_up(copies, self.epsilon), total)

    def functional(self, copies: Copies) -> ApproxDP:
        """The functional ε, and the δ that its factor leaves."""
        from discreet.privacy._copies import functional_delta, functional_epsilon

        inner = functional_epsilon(copies, self.epsilon)
        return ApproxDP(inner, functional_delta(copies, inner, self.delta))

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:  # noqa: ARG004
        """∞: an ε without its δ does not bound anything."""
        return np.full_like(amounts, inf)

    def drawn_to(self, delta: Fraction) -> Fraction:  # noqa: ARG002
        """Twice the ε, beyond which δ is constant."""
        return 2 * self.epsilon

    def totals_words(self, part: Fraction, a: int) -> str:  # noqa: ARG002
        """Empty: the noise has a guarantee of another measure."""
        return ""


class _HasEpsilon(Protocol):
    def epsilon_at(self, delta: Amount, /) -> float: ...


def approx_of(measure: _HasEpsilon, delta: Amount) -> ApproxDP:
    """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly.

    Raises:
        ArgumentError: there is none.
    """
    epsilon = measure.epsilon_at(delta)
    if epsilon == inf:
        raise ArgumentError(f"delta={delta!r}: no finite ε follows from {type(measure).__name__}; take a larger delta")
    return ApproxDP(Fraction(epsilon), delta)
