"""The claim of a quote: the profile δ(ε) of the declared mechanism, for one person of the original data.

The spend alone claims a budget; the declared mechanism claims more, because the profile of Gaussian noise lies
below what its ρ implies, and the guarantee of a resampled table below both. The audit tests the smaller of the two
(soundness 28).
Every δ and ε here is rounded up, so that a claim is never made smaller than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Protocol

from discreet.exact.numbers import sqrt_up
from discreet.privacy import GDP, Budget
from discreet.privacy.base import Sampling
from discreet.privacy.measures import Target, is_target
from discreet.quotes.allocate import resampling_of
from discreet.quotes.quote import Measured, Quote

__all__ = ["Claim", "Profile", "claim_of", "grid_of"]

_GRID = tuple(Fraction(n, 2) for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32))
_VISIBLE = 1e-5
"""A δ that some hundred thousand runs can distinguish from 0."""


class Profile(Protocol):
    """A certified upper bound of δ(ε), and its inverse."""

    def delta_at(self, epsilon: Fraction) -> float:
        """An upper bound of δ."""

    def epsilon_at(self, delta: Fraction) -> float:
        """An upper bound of ε."""


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """The claim for one person: the spend, and the profile of the declared mechanism."""

    spend: Budget
    mechanism: Profile

    def delta_at(self, epsilon: Fraction) -> float:
        """The δ that is claimed at this ε, rounded up."""
        return min(self.spend.delta_at(epsilon), self.mechanism.delta_at(epsilon))

    def epsilon_at(self, delta: Fraction) -> float:
        """The ε that is claimed at this δ, rounded up; ∞ where none is."""
        return min(self.spend.epsilon_at(delta), self.mechanism.epsilon_at(delta) if delta else inf)


def claim_of(quote: Quote, measured: Sequence[Measured]) -> Claim:
    """The claim of a quote for some of its queries, which have at most what all of them have together.

    It follows from the spend and the kind of the noise, not from scales and sensitivities: these are under test.
    """
    known = [one.law.prepare_audit() for one in measured]
    gaussian = all(one is not None and one.is_gdp for one in known)
    sampled = resampling_of(quote.plan, quote.beside)
    inner = _inner(quote, sampled, type(measured[0].guarantee))
    variance = inner.gaussian_variance(1) if gaussian else None
    if variance is not None:
        # Rounded Gaussians of Σ Δ²/(2σ²) ≤ ρ are GDP with μ = √(2ρ), which is stronger than ρ-zCDP (soundness 15).
        inner = GDP(sqrt_up(1 / variance))
    if sampled is None:
        return Claim(quote.spend, inner)
    profile = inner.profile_on(sampled)
    return Claim(quote.spend, quote.spend if profile is None else profile)


def _inner(quote: Quote, sampled: Sampling | None, noise: type[Target]) -> Target:
    """The guarantee of everything that reads the prepared table, for all rows of a person together."""
    spend = quote.spend
    kind = type(spend) if is_target(spend) else noise
    (inner,) = kind.implying(spend, sampled, totals=True)
    return inner


def grid_of(claim: Claim) -> tuple[Fraction, ...]:
    """The ε at which the profile is tested: from 1/2 on, as far as δ can be seen, and the ε of the spend itself."""
    grid = []
    for epsilon in _GRID:
        grid.append(epsilon)
        if claim.delta_at(epsilon) < _VISIBLE:
            break
    own = () if claim.spend.pair is None else claim.spend.pair[:1]
    return tuple(sorted({*grid, *own}))
