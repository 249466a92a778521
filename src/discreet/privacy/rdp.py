"""Rényi differential privacy at finitely many orders: for conversion and accounting, not as a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact, text
from discreet.privacy import _profiles, convert
from discreet.privacy._checks import check_delta, group_size, not_negative, repetitions, same_kind
from discreet.privacy._digits import show_up
from discreet.privacy.approx import ApproxDP, approx_of

__all__ = ["RDP"]


@dataclass(frozen=True, slots=True)
class RDP:
    """Rényi differential privacy at finitely many orders (Mironov 2017): D_α ≤ τ for each pair (α, τ) of the curve.

    For conversion and accounting, not as a budget. Orders are greater than 1 and strictly increasing.
    """

    curve: tuple[tuple[Fraction, Fraction], ...]

    word: ClassVar[str] = "rdp"
    fields: ClassVar[tuple[str, ...]] = ("curve",)

    def __init__(self, curve: Sequence[tuple[Amount, Amount]]) -> None:
        object.__setattr__(self, "curve", _curve(curve))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε such that the curve implies (ε, delta)-DP, rounded up. Theorem T1."""
        return show_up(convert.rdp_epsilon([a for a, _ in self.curve], [t for _, t in self.curve], check_delta(delta)))

    def delta_at(self, epsilon: Amount) -> float:
        """A δ such that the curve implies (epsilon, δ)-DP, rounded up. Theorem T1."""
        at = not_negative(epsilon, "epsilon")
        return show_up(convert.rdp_delta([a for a, _ in self.curve], [t for _, t in self.curve], at))

    def to_approx(self, delta: Amount) -> ApproxDP:
        """(ε, delta)-DP with the ε of `epsilon_at`, taken exactly. Needs delta > 0 unless nothing was released."""
        return approx_of(self, delta)

    def group(self, a: int) -> RDP:
        """For 2^c ≥ a records at once: (α/2^c, 3^c τ) for every order α ≥ 2^(c+1) (Mironov 2017, Proposition 2)."""
        halvings = (group_size(a) - 1).bit_length()
        kept = [(order / 2**halvings, 3**halvings * tau) for order, tau in self.curve if order >= 2 ** (halvings + 1)]
        if halvings and not kept:
            raise ArgumentError(f"a={a}: group privacy needs an order of at least {2 ** (halvings + 1)} in the curve")
        return RDP(kept) if halvings else self

    def __add__(self, other: object) -> RDP:
        """Pointwise, at the orders that both curves have."""
        theirs = dict(same_kind(self, other).curve)
        common = [(order, tau + theirs[order]) for order, tau in self.curve if order in theirs]
        if not common:
            raise ArgumentError("RDP + RDP: the curves have no order in common; evaluate both at the same orders")
        return RDP(common)

    def __rmul__(self, k: int) -> RDP:
        return RDP([(order, repetitions(k) * tau) for order, tau in self.curve])

    def explain(self) -> str:
        """The guarantee in plain words."""
        return (
            f"The evidence that the results carry about one record is bounded in {len(self.curve)} averages; "
            f"{_profiles.in_a_million(self.epsilon_at('1e-6'))}"
        )

    # The protocol of a measure (`base`) -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The curve as JSON values."""
        return {"curve": [[text(order), text(tau)] for order, tau in self.curve]}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> RDP:
        """The measure whose curve `written` gave."""
        return cls(document["curve"])


def _curve(curve: object) -> tuple[tuple[Fraction, Fraction], ...]:
    if not isinstance(curve, tuple | list) or not curve:
        raise ArgumentError("curve: must be a sequence of pairs (order, divergence) with at least one pair")
    pairs: list[tuple[Fraction, Fraction]] = []
    for pair in curve:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentError("curve: every element must be a pair (order, divergence)")
        order, tau = exact(pair[0], "order"), not_negative(pair[1], "tau")
        if not order > 1:
            raise ArgumentError(f"order={text(order)}: every order must be greater than 1")
        if pairs and not order > pairs[-1][0]:
            raise ArgumentError(f"order={text(order)}: the orders must be strictly increasing")
        pairs.append((order, tau))
    return tuple(pairs)
