"""Acceptance of lattice vectors drawn node by node: never skipped, decided by one lazily revealed uniform per vector.

A node of variance s and centre c is drawn with the normalising constant ρ(Z - c) = Σ exp(-(k - c)²/2s), which depends on
what was drawn before. Accepting the vector with probability A = Π ρ(Z - c)/ρ(Z) over its nodes cancels that. Most vectors
are accepted because V lies below a bound of A that holds for all centres; the others are decided by A in double precision
with a margin above its error, and what that leaves open by enclosures of A; always with the same V. Theorem L3 and the
errors: docs/proofs/lattice-gaussian.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball, pi_ball, theta3
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits

__all__ = ["Nodes", "accept", "below", "loss_up", "ratio"]

Reals = NDArray[np.float64]
_MARGIN = 2.0**-18  # more than the relative error of any A in doubles, for up to 2^30 nodes and A ≥ 2^-10
_SLACK = 2.0**-40  # more than the absolute errors: the rounding of V to 53 bits, and what is too small to matter
_NEGLIGIBLE = 2.0**-60
_LEAST_VARIANCE = 2.0**-6  # below it ρ(Z - 1/2)/ρ(Z) < 2^-10


@dataclass(frozen=True, slots=True)
class Nodes:
    """Integers drawn together: node i has the variance sigma2·over/under and the centre numerator/denominator.

    Attributes:
        over: with `under` the variance in units of sigma2; positive.
        under: see `over`.
        numerators: of the centres; Python integers where int64 would not hold them.
        denominators: of the centres, positive.
        blocks: the vector that the node belongs to.
    All broadcast to the shape of `numerators`.
    """

    over: NDArray[np.int64]
    under: NDArray[np.int64]
    numerators: NDArray[Any]
    denominators: NDArray[np.int64]
    blocks: NDArray[np.int64]


def ratio(variance: Fraction, centre: Fraction) -> Ball:
    """ρ(Z - centre)/ρ(Z) with ρ(x) = exp(-x²/(2 variance)): a quotient of theta functions, by Poisson summation."""
    height = 2 * pi_ball() * ball(variance)
    return theta3(ball(centre), height) / theta3(ball(0), height)


def loss_up(variance: Reals) -> Reals:
    """At least -log(ρ(Z - c)/ρ(Z)) for every centre c: the value for c = 1/2, rounded up; inf for variances below 1/64."""
    finite = (_losses(np.maximum(variance, _LEAST_VARIANCE), np.array(0.5)) + 8 * _NEGLIGIBLE) * (1 + _MARGIN)
    return np.where(variance < _LEAST_VARIANCE, np.inf, finite)


def _losses(variance: Reals, centre: Reals) -> Reals:
    """-log(ρ(Z - c)/ρ(Z)) for variances of at least 1/64; terms below 2^-60 are left out.

    With q = exp(-2π² variance), 1 - ρ(Z - c)/ρ(Z) = 4 Σ q^(m²) sin²(πmc) / (1 + 2 Σ q^(m²)), m ≥ 1: no cancellation.
    """
    missing, whole, m = np.zeros(np.broadcast(variance, centre).shape), np.ones_like(variance), 1
    while True:
        weight = np.exp(variance * (-2 * np.pi**2 * m * m))
        if not weight.max(initial=0) > _NEGLIGIBLE:
            return -np.log1p(-4 * missing / whole)
        missing += weight * np.sin(np.pi * m * centre) ** 2
        whole += 2 * weight
        m += 1


def below(v: NDArray[np.uint64], rough: Reals, exact: Callable[[int], Ball], bits: Bits) -> NDArray[np.bool_]:
    """True where V < A, for every place: V is uniform with first 64 bits `v`, and `rough` is A within the margin.

    `exact(i)` encloses the A of place i; it decides, with more bits of the same V, where 64 bits and doubles do not.
    """
    known = v.astype(np.float64) * 2.0**-64
    yes = known < rough * (1 - _MARGIN) - _SLACK  # then V < A for sure
    unsure = ~yes & (known < rough * (1 + _MARGIN) + _SLACK)  # elsewhere V ≥ A for sure
    for i in np.flatnonzero(unsure).tolist():
        yes[i] = LazyUniform(bits, value=int(v[i]), known=64).below(partial(exact, i))
    return yes


def accept(sigma2: Fraction, nodes: Sequence[Nodes], losses: Reals, bits: Bits) -> NDArray[np.bool_]:
    """The vectors that are accepted: each with probability Π ρ(Z - c)/ρ(Z) over its nodes, exactly.

    Args:
        sigma2: the unit of the nodes' variances, each of them at least 1/64.
        nodes: all nodes of all vectors.
        losses: for every vector at least -log of that product, for any centres; at most log 2^10.
        bits: the source of random bits.
    """
    v = bits.words(losses.size)
    yes = v.astype(np.float64) * 2.0**-64 < np.exp(-losses) - _SLACK  # V < exp(-loss) ≤ A
    if yes.all():
        return yes
    where = np.flatnonzero(~yes)
    factors = _Factors.of(nodes, ~yes)
    variance = factors.over / factors.under * float(sigma2)
    lost = _losses(variance, factors.rests / factors.denominators)
    rough = np.exp(-np.bincount(factors.blocks, lost, minlength=losses.size)[where])
    yes[where] = below(v[where], rough, lambda i: factors.product(sigma2, int(where[i])), bits)
    return yes


@dataclass(frozen=True, slots=True)
class _Factors:
    """The factors of A that are not 1, in one dimension: centres are rests/denominators in (0, 1/2]."""

    over: NDArray[np.int64]
    under: NDArray[np.int64]
    rests: NDArray[np.int64]
    denominators: NDArray[np.int64]
    blocks: NDArray[np.int64]

    @classmethod
    def of(cls, nodes: Sequence[Nodes], open_blocks: NDArray[np.bool_]) -> _Factors:
        """Those of the open blocks; ρ(Z - c) has period 1 in c and is even."""
        parts = []
        for node in nodes:
            where = np.nonzero(np.broadcast_to(open_blocks[node.blocks], node.numerators.shape))
            over, under, denominators, blocks = (
                np.broadcast_to(each, node.numerators.shape)[where]
                for each in (node.over, node.under, node.denominators, node.blocks)
            )
            rests = (node.numerators[where] % denominators).astype(np.int64)
            rests = np.minimum(rests, denominators - rests)
            parts.append(np.stack([over, under, rests, denominators, blocks])[:, rests > 0])
        return cls(*np.concatenate([np.empty((5, 0), dtype=np.int64), *parts], axis=1))

    def product(self, sigma2: Fraction, block: int) -> Ball:
        """The A of one block, every distinct factor evaluated once."""
        mine = self.blocks == block
        rows = np.stack([self.over[mine], self.under[mine], self.rests[mine], self.denominators[mine]])
        distinct, counts = np.unique(rows, axis=1, return_counts=True)
        whole = ball(1)
        for (over, under, rest, denominator), count in zip(distinct.T.tolist(), counts.tolist(), strict=True):
            whole *= ratio(sigma2 * Fraction(over, under), Fraction(rest, denominator)) ** count
        return whole
