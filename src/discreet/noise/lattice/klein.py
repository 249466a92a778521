"""Exact Gaussian noise on the lattice of all integer vectors that a set of linear constraints leaves free.

For an integer matrix A let L = {v in Z^d: A v = 0}. A vector of L is drawn coefficient by coefficient of a reduced basis,
each one a discrete Gaussian about a rational centre (Klein 2000), and the whole vector is accepted with exactly the
probability that turns their product into P(v) proportional to exp(-|v|²/(2 sigma2)): docs/proofs/lattice-general.md. All
geometry is exact. Lattices with a structure (a total, nested totals, two-way margins) have faster samplers of their own.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import gcd
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclosure, pi_ball
from discreet.exact.lattices import eliminate, exact_product, gram, independent_rows, kernel_basis, narrow, solution
from discreet.exact.numbers import Amount, decimal_up
from discreet.noise._lazy import LazyUniform
from discreet.noise._parameters import MOST_SIGMA2, check_size, positive
from discreet.noise.bits import Bits
from discreet.noise.single import _reference, scalar
from discreet.noise.single._acceptance import ratio

__all__ = [
    "Lattice",
    "Step",
    "cell_projections",
    "distortion",
    "lattice_gaussian",
    "lattice_of",
]

_MOST_CELLS = 512  # three seconds of basis reduction; twice as many cells take a minute
_MOST_ENTRY = 1 << 31
_LEAST_ACCEPTANCE = Fraction(1, 256)
_TABLE_PAYS = 32  # draws about which building a table of the fast sampler costs as much as the slow sampler
_CHUNK = 1 << 14  # vectors drawn together
_INSIDE = 1 << 61
_TABLE_BITS = 2048  # of a variance that the fast sampler takes


@dataclass(frozen=True, slots=True)
class Step:
    """The draw of one coefficient z_i, given the coefficients of the later basis vectors.

    Attributes:
        norm2: |b*_i|², b*_i the part of the basis vector that is orthogonal to the earlier ones. z_i has variance
            parameter sigma2/norm2.
        divisor: a positive integer q.
        multiples: integers n_j with centre c_i = -(Σ_{j>i} n_j z_j)/q.
    """

    norm2: Fraction
    divisor: int
    multiples: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """All integer vectors v with A v = 0, by a reduced basis and its exact Gram-Schmidt data.

    Attributes:
        basis: linearly independent integer vectors whose integer combinations are exactly the lattice.
        steps: one for each basis vector.
        projections: per cell i the number P_ii of the orthogonal projector P onto the span of the lattice. Gaussian
            noise of parameter sigma2 has at most the variance sigma2 · P_ii in cell i.
    """

    basis: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]
    projections: tuple[Fraction, ...]

    @property
    def rank(self) -> int:
        """The number of vectors in the basis."""
        return len(self.basis)

    @property
    def dimension(self) -> int:
        """The number of cells."""
        return len(self.projections)


def lattice_of(constraints: Sequence[Sequence[int]] | NDArray[np.integer[Any]]) -> Lattice:
    """The lattice of all integer vectors v with A v = 0, for an integer matrix A of up to 512 columns.

    Args:
        constraints: the rows of A, integers within ±2**31. Rows may depend on each other.

    Raises:
        ArgumentError: for anything else, and when only v = 0 satisfies the constraints.
    """
    return _lattice_of(_check_rows(constraints))


@lru_cache(maxsize=16)
def _lattice_of(rows: tuple[tuple[int, ...], ...]) -> Lattice:
    needed = [rows[i] for i in independent_rows(rows)]
    basis = kernel_basis(needed, len(rows[0]))
    if not basis:
        raise ArgumentError("constraints: they determine every cell, so there is nothing to protect; leave some of them out")
    return Lattice(basis, _steps(basis), _projections(basis, needed))


def _check_rows(constraints: Sequence[Sequence[int]] | NDArray[np.integer[Any]]) -> tuple[tuple[int, ...], ...]:
    try:
        rows = tuple(tuple(operator.index(entry) for entry in row) for row in constraints)
    except TypeError:
        raise ArgumentError("constraints: must be a matrix of integers, one row for each constraint") from None
    width = len(rows[0]) if rows else 0
    if width == 0 or any(len(row) != width for row in rows):
        raise ArgumentError("constraints: must be a matrix of integers, with at least one row, all of one length")
    if width > _MOST_CELLS:
        raise ArgumentError(
            f"constraints: have {width} cells, and a general lattice may have at most {_MOST_CELLS}; totals, nested "
            "totals and two-way margins have mechanisms of their own for any number of cells; otherwise merge categories"
        )
    if max(abs(entry) for row in rows for entry in row) > _MOST_ENTRY:
        raise ArgumentError("constraints: entries must lie within ±2**31; divide a constraint by a common factor")
    return rows


def _steps(basis: tuple[tuple[int, ...], ...]) -> tuple[Step, ...]:
    """Fraction-free elimination of the Gram matrix: u_ii are its leading minors, u_ij/u_ii the Gram-Schmidt coefficients."""
    steps, before = [], 1
    for i, row in enumerate(eliminate(basis)):
        entries = row[i:]
        common = gcd(*entries)
        multiples = tuple(entry // common for entry in entries[1:])
        steps.append(Step(Fraction(entries[0], before), entries[0] // common, multiples))
        before = entries[0]
    return tuple(steps)


def _projections(basis: Sequence[Sequence[int]], constraints: Sequence[Sequence[int]]) -> tuple[Fraction, ...]:
    """The diagonal of the projector onto the span of the basis: 1 minus that onto the constraints, if these are fewer."""
    if len(constraints) < len(basis):
        return tuple(1 - entry for entry in _projector_diagonal(constraints, len(basis[0])))
    return _projector_diagonal(basis, len(basis[0]))


def _projector_diagonal(rows: Sequence[Sequence[int]], columns: int) -> tuple[Fraction, ...]:
    """The diagonal of R'(RR')⁻¹R for linearly independent rows R."""
    if not rows:
        return (Fraction(0),) * columns
    table, divisor = solution(gram(rows), rows)
    sums = (sum(table[r][i] * row[i] for r, row in enumerate(rows)) for i in range(columns))
    return tuple(Fraction(total, divisor) for total in sums)


def cell_projections(lattice: Lattice) -> list[Fraction]:
    """P_ii for every cell i: E exp(t v_i) ≤ exp(t² sigma2 P_ii/2), hence P(|v_i| ≥ t) ≤ 2 exp(-t²/(2 sigma2 P_ii))."""
    return list(lattice.projections)


def lattice_gaussian(lattice: Lattice, sigma2: Amount, size: SupportsIndex, bits: Bits) -> NDArray[np.int64]:
    """`size` independent vectors v of the lattice with probability exactly proportional to exp(-|v|²/(2 sigma2)).

    Every vector costs a few operations for each pair of basis vectors: 247 of them take 50 ms alone, 1 ms among many.

    Returns:
        Integers of shape (size, dimension); Python integers where a coefficient or cell might not fit into int64.

    Raises:
        ArgumentError: sigma2 is so small relative to the basis that most proposals might be rejected.
    """
    plan = _plan(lattice, positive(sigma2, "sigma2", most=MOST_SIGMA2))
    missing = check_size(size)
    found = [np.zeros((0, lattice.rank), dtype=np.int64)]
    while missing:
        proposed = _proposals(lattice, plan, min(missing, _CHUNK), bits)
        found.append(proposed[_accept(lattice, plan, proposed, bits)])
        missing -= len(found[-1])
    return exact_product(np.concatenate(found), np.array(lattice.basis, dtype=object))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The constants of a lattice and sigma2: the variance of every step, and a number of 64 bits below which V accepts."""

    variances: tuple[Fraction, ...]
    surely: int


@lru_cache(maxsize=64)
def _plan(lattice: Lattice, sigma2: Fraction) -> _Plan:
    norms = Counter(step.norm2 for step in lattice.steps if step.divisor > 1)  # at the others all centres are integers
    if not _acceptable(norms, sigma2):
        least = max(norms) / 64
        while not _acceptable(norms, least):
            least *= Fraction(5, 4)
        raise ArgumentError(
            f"sigma2={decimal_up(sigma2)}: is so small for these constraints that nearly every draw might be rejected; "
            f"it must be at least {decimal_up(least, 3)}"
        )
    loss = Fraction(_loss(norms, sigma2))
    surely = int((1 - loss) * 2**64) if loss < 1 else 0  # rounded down
    return _Plan(tuple(sigma2 / step.norm2 for step in lattice.steps), min(surely, 2**64 - 1))


def _acceptable(norms: Counter[Fraction], sigma2: Fraction) -> bool:
    """True if every vector is certainly accepted with probability at least 1/256."""

    def least() -> Ball:
        return _product(ratio(sigma2 / norm2, Fraction(1, 2)) ** count for norm2, count in norms.items())

    return enclosure(least, at_most=1.0)[0] >= _LEAST_ACCEPTANCE


def _loss(norms: Counter[Any], sigma2: Fraction) -> float:
    """An upper bound of 1 - Π ρ(Z - c)/ρ(Z) over the steps, whatever the centres, rounded up; at most 1.

    With q = exp(-2π² sigma2/norm2), ρ(Z - c)/ρ(Z) ≥ θ4(q)/θ3(q) ≥ 1 - 4q/(1 - q⁸).
    """

    def total() -> Ball:
        nomes = {norm2: (-2 * pi_ball() ** 2 * ball(sigma2) / ball(norm2)).exp() for norm2 in norms}
        return sum((count * 4 * nomes[norm2] / (1 - nomes[norm2] ** 8) for norm2, count in norms.items()), ball(0))

    return min(1.0, enclosure(total)[1])


def _product(balls: Iterable[Ball]) -> Ball:
    result = ball(1)
    for one in balls:
        result *= one
    return result


def _proposals(lattice: Lattice, plan: _Plan, size: int, bits: Bits) -> NDArray[Any]:
    """Coefficients, shape (size, rank): the last one first, each about the centre that the later ones give."""
    drawn: NDArray[Any] = np.zeros((size, lattice.rank), dtype=np.int64)
    for i in reversed(range(lattice.rank)):
        step = lattice.steps[i]
        numerators = -exact_product(drawn[:, i + 1 :], np.array([step.multiples], dtype=object).T)[:, 0]
        column = _around(plan.variances[i], numerators, step.divisor, bits)
        if column.dtype == object:
            drawn = drawn.astype(object)
        drawn[:, i] = column
    return drawn


def _around(variance: Fraction, numerators: NDArray[Any], divisor: int, bits: Bits) -> NDArray[Any]:
    """One discrete Gaussian about every centre numerator/divisor: from a table where that pays and fits, else one by one."""
    small = numerators.dtype != object and divisor <= _INSIDE and variance <= MOST_SIGMA2
    short = max(variance.numerator.bit_length(), variance.denominator.bit_length()) <= _TABLE_BITS
    if small and short and numerators.size >= _TABLE_PAYS:
        return scalar.discrete_gaussian_around(variance, numerators, divisor, bits)
    centres = (Fraction(numerator, divisor) for numerator in numerators.tolist())
    return narrow(np.array([_reference.discrete_gaussian(variance, bits, centre) for centre in centres], dtype=object))


def _accept(lattice: Lattice, plan: _Plan, proposed: NDArray[Any], bits: Bits) -> NDArray[np.intp]:
    """The accepted proposals, each by one uniform V: surely when V < 1 - loss, else by the product itself."""
    words = bits.words(len(proposed))
    accepted = words < np.uint64(plan.surely)
    for place in np.flatnonzero(~accepted).tolist():
        ratios = _centre_ratios(lattice, plan, proposed[place].tolist())
        uniform = LazyUniform(bits, value=int(words[place]), known=64)
        accepted[place] = not ratios or uniform.below(partial(_acceptance, ratios))
    return np.flatnonzero(accepted)


def _acceptance(ratios: list[tuple[Fraction, Fraction]]) -> Ball:
    return _product(ratio(variance, centre) for variance, centre in ratios)


def _centre_ratios(lattice: Lattice, plan: _Plan, drawn: list[int]) -> list[tuple[Fraction, Fraction]]:
    """Variance and fractional centre of every step whose centre is not an integer; at the others the ratio is 1."""
    pairs = []
    for i, (step, variance) in enumerate(zip(lattice.steps, plan.variances, strict=True)):
        numerator = -sum(n * z for n, z in zip(step.multiples, drawn[i + 1 :], strict=True))
        if numerator % step.divisor:
            pairs.append((variance, Fraction(numerator % step.divisor, step.divisor)))
    return pairs


def distortion(lattice: Lattice, sigma2: Amount) -> float:
    """An η in [0, 1] with P(v_i = k) = C_i r_i(k) exp(-k²/(2 sigma2 P_ii)), 1 - η ≤ r_i ≤ 1, for every cell i and integer k.

    It applies to cells with P_ii > 0. 1 means that nothing better is known: the bounds of `cell_projections` always hold.
    """
    variance = positive(sigma2, "sigma2", most=MOST_SIGMA2)
    basis = np.array(lattice.basis, dtype=object)
    gram = basis @ basis.T
    worst = 0.0
    for cell in np.flatnonzero(basis.any(axis=0)).tolist():
        norms = _norms_without(basis[:, cell], gram)
        worst = max(worst, 1.0 if norms is None else _loss(norms, variance))
    return worst


def _norms_without(entries: NDArray[Any], gram: NDArray[Any]) -> Counter[int] | None:
    """The squared lengths of a basis of the vectors that are 0 in one cell; None if no basis vector has ±1 there.

    With a basis vector b_p that has ±1 in the cell, the others minus their multiple of b_p are such a basis.
    """
    units = np.flatnonzero(np.abs(entries) == 1)
    if not units.size:
        return None
    pivot = min(units.tolist(), key=lambda place: gram[place, place])
    times = entries * entries[pivot]
    norms = gram.diagonal() - 2 * times * gram[pivot] + times**2 * gram[pivot, pivot]
    return Counter(int(norm) for place, norm in enumerate(norms) if place != pivot)
