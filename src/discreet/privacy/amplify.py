"""The effect of sampling before a mechanism: amplification, and the resize step with its copies (docs/proofs/privacy.md).

`poisson` and `without_replacement` are Theorems 8 and 9 of Balle, Barthe and Gaboardi 2018 (S1). `Resampling` is the
account of resize(n, p): c = ⌈p⌉ copies of every record are sampled at rate p/c, at most n are kept, the rest is imputed.
How many of a person's copies are kept is a public law K, and everything follows from it (Theorems R1, R2, R3).

Two rules that no function can check: whatever reads the *same* sample is composed first and converted once (the sum of
separately amplified losses is too small, counterexample in the tests), and the mechanism must not see the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar, overload

from discreet.domain.neighbours import Neighbours, is_relation
from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact, text
from discreet.privacy import _copies
from discreet.privacy._resampled import GaussianSample, Resampled, Sampled
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.measures import GDP, RDP, ZCDP, ApproxDP, PureDP, is_budget

__all__ = ["GaussianSample", "Resampled", "Resampling", "Sampled", "poisson", "without_replacement"]

_T = TypeVar("_T", PureDP, ApproxDP, ZCDP, GDP)
Profiled = ZCDP | RDP | DiscreteLaplace | RoundedGaussian | DiscreteGaussian


@overload
def poisson(guarantee: PureDP, rate: Amount) -> PureDP: ...
@overload
def poisson(guarantee: ApproxDP, rate: Amount) -> ApproxDP: ...
@overload
def poisson(guarantee: GDP, rate: Amount) -> GaussianSample: ...
@overload
def poisson(guarantee: Profiled, rate: Amount) -> Sampled: ...
def poisson(guarantee: PureDP | ApproxDP | GDP | Profiled, rate: Amount) -> PureDP | ApproxDP | GaussianSample | Sampled:
    """The guarantee for all records when the mechanism sees each of them independently with probability `rate`.

    Needs the guarantee for adding or removing a record, and gives one for adding or removing a record: ε' = log(1 +
    rate(e^ε − 1)), rounded up, and δ' = rate·δ (BBG18 Theorem 8; with ε = 1 it is at most 2·rate, Lemma 3 of the sampling
    post). A GDP guarantee becomes the exact profile of the sampled Gaussian, other measures a profile δ(ε).
    """
    share = _rate(rate)
    if isinstance(guarantee, GDP):
        return GaussianSample(guarantee.mu, share)
    return _sample(guarantee, share)


@overload
def without_replacement(guarantee: PureDP, m: int, n: int) -> PureDP: ...
@overload
def without_replacement(guarantee: ApproxDP, m: int, n: int) -> ApproxDP: ...
@overload
def without_replacement(guarantee: GDP | Profiled, m: int, n: int) -> Sampled: ...
def without_replacement(guarantee: PureDP | ApproxDP | GDP | Profiled, m: int, n: int) -> PureDP | ApproxDP | Sampled:
    """The guarantee for all n records when the mechanism sees a uniform subset of m of them.

    Needs the guarantee for replacing a record, and gives one for replacing a record: ε' = log(1 + (m/n)(e^ε − 1)),
    rounded up, and δ' = (m/n)δ (BBG18 Theorem 9); other measures become a profile δ(ε).
    """
    for value, name in ((m, "m"), (n, "n")):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ArgumentError(f"{name}={value!r}: must be an integer of at least 0")
    if not (0 <= m <= n and n >= 1):
        raise ArgumentError(f"m={m}, n={n}: a sample without replacement needs m ≤ n and n ≥ 1")
    return _sample(guarantee, Fraction(m, n))


def _sample(guarantee: PureDP | ApproxDP | GDP | Profiled, share: Fraction) -> PureDP | ApproxDP | Sampled:
    if isinstance(guarantee, GDP | Profiled):
        return Sampled(guarantee, share)
    if not isinstance(guarantee, PureDP | ApproxDP):
        raise ArgumentError(f"guarantee={type(guarantee).__name__}: must be a guarantee or a noise with a profile")
    law = (1 - share, share)
    epsilon = _copies.epsilon_up(law, guarantee.epsilon)
    return PureDP(epsilon) if isinstance(guarantee, PureDP) else ApproxDP(epsilon, share * guarantee.delta)


@dataclass(frozen=True, slots=True)
class Resampling:
    """resize to `rows` records from `proportion` times the table, seen from the original table.

    Attributes:
        rows: n, the public number of records after the resize.
        proportion: p > 0, exact.
        neighbours: who is protected in the original table. With ReplaceOne its size ñ is public and the sample has exactly
            min(⌊pñ⌋, n) records; with AddRemove every copy is kept with probability p/c and n never helps the reader.
        group: how many persons are protected together (semi-adjacency with invariants); it enters through K alone.

    Mechanisms on the resized data must be calibrated for *replacing* a record, whatever the outer relation (n is fixed).
    """

    rows: int
    proportion: Fraction
    neighbours: Neighbours
    group: int = 1

    def __init__(self, rows: int, proportion: Amount, neighbours: Neighbours, group: int = 1) -> None:
        for value, name in ((rows, "rows"), (group, "group")):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ArgumentError(f"{name}={value!r}: must be an integer of at least 1")
        share = exact(proportion, "proportion")
        if not share > 0:
            raise ArgumentError(f"proportion={text(share)}: must be greater than 0; with 0 nothing would be read")
        if not is_relation(neighbours):
            raise ArgumentError(f"neighbours={neighbours!r}: must be AddRemove() or ReplaceOne(rows=…)")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "proportion", share)
        object.__setattr__(self, "neighbours", neighbours)
        object.__setattr__(self, "group", group)

    @property
    def copies(self) -> int:
        """C = ⌈p⌉."""
        return ceil(self.proportion)

    @property
    def rate(self) -> Fraction:
        """S = p/c, at which copies are sampled."""
        return self.proportion / self.copies

    @property
    def sampled(self) -> int | None:
        """The number of original records in the result: min(⌊pñ⌋, n) when ñ is public, None when it is not."""
        size = self.neighbours.rows
        return None if size is None else min(floor(self.proportion * size), self.rows)

    @property
    def law(self) -> tuple[Fraction, ...]:
        """P(K = 0), P(K = 1), …: how many copies of the protected rows are in the sample, exactly.

        Hypergeometric when the size is public (Theorem R1), binomial when it is not (R2: n only thins it).
        """
        together = self.group * self.neighbours.rows_per_person
        size = self.neighbours.rows
        if size is None:
            return _copies.binomial(self.copies * together, self.rate)
        return _copies.hypergeometric(self.copies * size, self.copies * min(together, size), self.sampled or 0)

    @property
    def most(self) -> int:
        """The largest possible number of copies in the sample; 0 when nothing of the table is read."""
        return len(self.law) - 1

    def guarantee(self, inner: _T) -> _T:
        """The guarantee for the original data of a mechanism with the guarantee `inner` on the resized data.

        PureDP and ApproxDP are amplified (R3: ε' = log E e^{εK}, δ' = δ E(1 + … + e^{(K−1)ε}), rounded up). ZCDP and GDP
        are not, because their largest orders see K at its most: k²ρ and kμ. `profile` shows what they gain in (ε, δ).
        """
        if not is_budget(inner):
            raise ArgumentError(f"inner={type(inner).__name__}: must be PureDP, ApproxDP, ZCDP or GDP")
        return inner.through(self.law)

    def functional(self, target: _T) -> _T:
        """The largest guarantee found for mechanisms on the resized data that gives `target` for the original data.

        Rounded down, and verified: `guarantee(functional(target))` is at most `target` in every parameter. Where nothing
        of the table is read any value would do; it is then the target itself.
        """
        if not is_budget(target):
            raise ArgumentError(f"target={type(target).__name__}: must be PureDP, ApproxDP, ZCDP or GDP")
        return target.functional(self.law)

    def profile(self, inner: GDP | PureDP | ApproxDP | DiscreteLaplace) -> Resampled:
        """The exact δ(ε), for the original data, of what `inner` is on the resized data (R1, R2), rounded up.

        `inner` is the whole downstream computation at replace-one: Gaussian noise (GDP), discrete Laplace noise, or the
        worst mechanism with a pure or approximate guarantee.
        """
        if not isinstance(inner, GDP | PureDP | ApproxDP | DiscreteLaplace):
            raise ArgumentError(f"inner={type(inner).__name__}: must be GDP, PureDP, ApproxDP or DiscreteLaplace")
        return Resampled(inner, self.law, both=self.sampled is None)

    def gaussian(self, target: ApproxDP) -> GDP:
        """The largest μ found whose Gaussian noise on the resized data gives `target` for the original data; verified."""
        if not isinstance(target, ApproxDP):
            raise ArgumentError(f"target={type(target).__name__}: must be ApproxDP")
        from discreet.privacy._resampled import largest_mu

        return GDP(largest_mu(self.law, target, both=self.sampled is None))

    def renyi(self, inner: ZCDP, orders: Sequence[Amount]) -> RDP:
        """A Rényi curve, for the original data, of a ρ-zCDP mechanism on the resized data, rounded up.

        Public size: (1/(α−1)) log E e^{α(α−1)ρK²}. Private size: (α/(α−1)) log E e^{(α−1)ρK²}.
        Theorem Y1.
        """
        if not isinstance(inner, ZCDP):
            raise ArgumentError(f"inner={type(inner).__name__}: must be ZCDP")
        public = self.sampled is not None
        return RDP(
            [(order, _copies.renyi_up(self.law, inner.rho, exact(order, "order"), public=public)) for order in orders]
        )


def _rate(value: Amount) -> Fraction:
    share = exact(value, "rate")
    if not 0 <= share <= 1:
        raise ArgumentError(f"rate={text(share)}: must lie between 0 and 1")
    return share
