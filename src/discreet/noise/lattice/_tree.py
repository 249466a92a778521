"""Klein's sampler on trees: integer vectors with given sums, node by node, many nodes in one array.

A vector is split in two again and again. The sum of the left part given the whole is a discrete Gaussian about a rational
centre; that is what a node draws. The law of all nodes together differs from the lattice Gaussian by the factor that
`discreet.noise.single._acceptance` takes care of. Theorem and proof: docs/proofs/lattice-gaussian.md.

The shape of a tree is public. A block of n cells is taken apart along the binary digits of n into groups of 2^k, these are
halved down to `comb` cells, and from there on cells are taken off one by one: a larger comb means more steps and fewer
nodes of small variance. All blocks, of whatever size, share their halves, so that few arrays hold all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball
from discreet.noise.bits import Bits
from discreet.noise.single._acceptance import Nodes, below, loss_up
from discreet.noise.single._centres import Centres, Stretch
from discreet.noise.single.scalar import discrete_gaussian_around

__all__ = ["Proposal", "Stage", "integers", "integers_loss", "stages", "tables", "tables_loss"]

Integers = NDArray[Any]  # int64, or Python integers in the (nearly always) unseen case that int64 would not hold them
_ROOM = 1 << 60  # what int64 arithmetic on sums and numerators stays below
_HALVES = 2  # the comb that only halves


@dataclass(frozen=True, slots=True)
class Stage:
    """Disjoint stretches of cells that are split at the same time: [start, start + left) and `right` cells behind it.

    `right` has one element for all stretches, or one for each.
    """

    start: NDArray[np.int64]
    left: int
    right: NDArray[np.int64]


def stages(sizes: NDArray[np.int64], comb: int = _HALVES) -> Iterator[Stage]:
    """The splits that take blocks of sizes ≥ 1, laid end to end, apart into single cells; `comb` is a power of two ≥ 2."""
    start, rest = np.cumsum(sizes) - sizes, sizes.copy()
    top = int(sizes.max(initial=1)).bit_length() - 1
    groups = {}
    for k in range(top, -1, -1):  # every rest is below 2^(k+1)
        here = np.flatnonzero(rest >> k)
        groups[1 << k] = start[here]
        more = here[rest[here] > 1 << k]
        if more.size:
            yield Stage(start[more], 1 << k, _common(rest[more] - (1 << k)))
        start[here] += 1 << k
        rest[here] -= 1 << k
    nodes, size = np.empty(0, dtype=np.int64), 1 << top
    while size > 1:
        nodes = np.concatenate([nodes, groups.get(size, nodes[:0])])
        left = size // 2 if size > comb else 1
        if nodes.size:
            yield Stage(nodes, left, np.array([size - left]))
        nodes = np.stack([nodes, nodes + left], axis=1).ravel() if size > comb else nodes + 1
        size -= left


def _common(values: NDArray[np.int64]) -> NDArray[np.int64]:
    return values[:1] if (values == values[0]).all() else values


class Proposal:
    """One round: draws nodes, and keeps them for the acceptance of the vectors they make."""

    __slots__ = ("bits", "nodes", "sigma2")

    def __init__(self, sigma2: Fraction, bits: Bits) -> None:
        self.sigma2 = sigma2
        self.bits = bits
        self.nodes: list[Nodes] = []

    def draw(self, nodes: Nodes) -> Integers:
        """For every node an integer x with P(x) ∝ exp(-(x - c)²/2s), s and c its variance and centre."""
        self.nodes.append(nodes)
        shape, whole, numerators = nodes.numerators.shape, None, nodes.numerators.ravel()
        over, under, denominators = (part.ravel() for part in (nodes.over, nodes.under, nodes.denominators))
        if numerators.dtype == object:
            whole = numerators // denominators
            numerators = (numerators - whole * denominators).astype(np.int64)
        octaves = _octaves(over, under)
        if octaves.size == 1:
            drawn = self._from_octave(int(octaves[0]), over, under, numerators, denominators)
        else:
            drawn = np.empty(numerators.size, dtype=np.int64)
            for octave in np.unique(octaves).tolist():
                at = np.flatnonzero(octaves == octave)
                some = self._from_octave(octave, over[at], under[at], numerators[at], denominators[at])
                drawn = _holding(drawn, some)
                drawn[at] = some
        return (drawn if whole is None else drawn + whole).reshape(shape)

    def _from_octave(
        self,
        octave: int,
        over: NDArray[np.int64],
        under: NDArray[np.int64],
        numerators: NDArray[np.int64],
        denominators: NDArray[np.int64],
    ) -> Integers:
        """From the family of variance t = sigma2·2^octave/4 ≥ s, so that few tables serve all variances.

        A candidate x about c = m + f, |f| ≤ 1/2, is kept with probability exp(-(x-m)(x-m-2f)(1/s - 1/t)/2), which is
        exp(-((x-c)² - f²)(1/s - 1/t)/2) ≤ 1: what is kept has the variance s.
        """
        family = self.sigma2 * Fraction(1 << octave, 4)
        excess = (under << octave) - 4 * over  # 1/s - 1/t = excess/(over·2^octave·sigma2)
        if not excess.any():
            each = int(denominators[0]) if denominators.size == 1 else denominators
            return discrete_gaussian_around(family, numerators, each, self.bits)
        over, excess, denominators = (np.broadcast_to(part, numerators.size) for part in (over, excess, denominators))
        drawn, pending = np.empty(numerators.size, dtype=np.int64), np.arange(numerators.size)
        while pending.size:
            x = discrete_gaussian_around(family, numerators[pending], denominators[pending], self.bits)
            centres = Centres(numerators[pending], denominators[pending], pending.size).split(slice(None))
            yes = self._keep(x - centres.whole, centres, excess[pending], over[pending], octave)
            drawn = _holding(drawn, x)
            drawn[pending[yes]] = x[yes]
            pending = pending[~yes]
        return drawn

    def _keep(
        self, steps: Integers, centres: Stretch, excess: NDArray[np.int64], over: NDArray[np.int64], octave: int
    ) -> NDArray[np.bool_]:
        """True for the kept, each with probability exp(-steps(steps - 2f)·excess/(over·2^octave·2 sigma2)), exactly."""
        unit = self.sigma2 * (2 << octave)

        def exact(i: int) -> Ball:
            return (-ball(centres.point(i, int(steps[i])) * int(excess[i]) / (int(over[i]) * unit))).exp()

        near = steps.astype(np.float64)
        rough = np.exp(near * (near - 2 * centres.fraction) * -(excess / (over * float(unit))))
        return below(self.bits.words(near.size), rough, exact, self.bits)


def _octaves(over: NDArray[np.int64], under: NDArray[np.int64]) -> NDArray[np.int64]:
    """Octaves j ≥ 0 with over/under ≤ 2^j/4, the smallest for quotients of at least 1/4 (but for rounding: one more)."""
    quarters = -(-4 * over // under)
    return np.frexp((quarters - 1).astype(np.float64))[1].astype(np.int64)


def integers(roots: Integers, sizes: NDArray[np.int64], blocks: NDArray[np.int64], proposal: Proposal) -> Integers:
    """Splits every root into as many integers as `sizes` has for it, end to end; `blocks` names the vector of each root."""
    out = np.zeros(int(sizes.sum()), dtype=roots.dtype)
    out[np.cumsum(sizes) - sizes] = roots
    owner = np.repeat(blocks, sizes)
    for stage in stages(sizes):
        whole = stage.left + stage.right
        common = np.gcd(stage.left, whole)
        total = _roomy(out[stage.start], stage.left)
        nodes = Nodes(stage.left * stage.right, whole, total * (stage.left // common), whole // common, owner[stage.start])
        left = proposal.draw(nodes)
        out = _holding(out, left)
        out[stage.start] = left
        out[stage.start + stage.left] = total - left
    return out


def tables(shape: tuple[int, ...], depth: int, blocks: int, comb: int, proposal: Proposal) -> Integers:
    """A (blocks, cells·depth) array: each row a table of shape (*shape, depth) all of whose margins over `shape` are 0."""
    out: Integers = np.zeros((blocks, shape[-1]), dtype=np.int64)
    for axis in range(len(shape) - 2, -1, -1):
        out = _slices(out, shape[axis], depth * prod(shape[:axis]), comb, proposal).reshape(blocks, -1)
    cells = out.shape[1]
    return integers(out.ravel(), np.full(out.size, depth), np.repeat(np.arange(blocks), cells), proposal).reshape(blocks, -1)


class _Split(NamedTuple):
    """h | g vectors of a stretch, and what sigma2 is multiplied with."""

    left: int
    right: int
    multiple: int


def _slices(wholes: Integers, items: int, multiple: int, comb: int, proposal: Proposal) -> Integers:
    """Splits every row of `wholes` (B × D) into `items` vectors of sum 0: a (B, items, D) array.

    The variance of a node is sigma2·multiple·hh'/(h + h')·kk'/(k + k') for h | h' vectors and k | k' cells.
    """
    count, cells = wholes.shape
    out = np.zeros((count, items, cells), dtype=wholes.dtype)
    out[:, 0] = wholes
    columns = tuple(stages(np.array([cells]), comb))
    for stage in stages(np.array([items]), comb):
        parents = out[:, stage.start]
        blocks = np.repeat(np.arange(count), stage.start.size)[:, np.newaxis]
        split = _Split(stage.left, int(stage.right[0]), multiple)
        left = _rows(parents.reshape(-1, cells), split, columns, blocks, proposal).reshape(parents.shape)
        out = _holding(out, left)
        out[:, stage.start] = left
        out[:, stage.start + stage.left] = parents - left
    return out


def _rows(
    parents: Integers, split: _Split, columns: tuple[Stage, ...], blocks: NDArray[np.int64], proposal: Proposal
) -> Integers:
    """For every parent row (sum 0) the sum of its left part, again a row of sum 0, drawn by the tree of the columns."""
    h, g, multiple = split
    share, whole = h // gcd(h, g), (h + g) // gcd(h, g)
    parents = _roomy(parents, parents.shape[1] * whole)
    upto = np.zeros((parents.shape[0], parents.shape[1] + 1), dtype=parents.dtype)
    np.cumsum(parents, axis=1, out=upto[:, 1:])
    out = np.zeros(parents.shape, dtype=parents.dtype)
    for stage in columns:
        k, m = stage.left, stage.left + int(stage.right[0])
        part, full = k // gcd(k, m), m // gcd(k, m)
        start = stage.start
        before = upto[:, start]
        # The parent's parts left | whole of this stretch, and the sum already drawn for the whole of it.
        p, q, total = upto[:, start + k] - before, upto[:, start + m] - before, out[:, start]
        p, q, total = (_roomy(each, 4 * whole * full) for each in (p, q, total))
        numerators = p * (share * full) + (total * whole - q * share) * part
        over, under, denominators = multiple * h * g * k * (m - k), (h + g) * m, whole * full
        left = proposal.draw(Nodes(_one(over), _one(under), numerators, _one(denominators), blocks))
        out = _holding(out, left)
        out[:, start] = left
        out[:, start + k] = total - left
    return out


def integers_loss(sigma2: Fraction, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For every block that `integers` splits at least -log of its acceptance, whatever the centres are."""
    lost = np.zeros(int(sizes.sum()))
    for stage in stages(sizes):
        lost[stage.start] += loss_up(float(sigma2) * (stage.left * stage.right / (stage.left + stage.right)))
    return np.add.reduceat(lost, np.cumsum(sizes) - sizes) if sizes.size else lost


def tables_loss(sigma2: Fraction, shape: tuple[int, ...], depth: int, comb: int) -> float:
    """At least -log of the acceptance of one table that `tables` draws, whatever the centres are."""
    factors, counts = _halves(depth, _HALVES)
    lost = prod(shape) * float((loss_up(float(sigma2) * factors) * counts).sum())
    for axis in range(len(shape) - 1):
        rows, row_counts = _halves(shape[axis], comb)
        columns, column_counts = _halves(prod(shape[axis + 1 :]), comb)
        multiple = depth * prod(shape[:axis])
        each = loss_up(float(sigma2) * multiple * np.outer(rows, columns))
        lost += float(row_counts @ each @ column_counts)
    return lost


def _halves(size: int, comb: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """hh'/(h + h') of the splits of one block, and how many there are of each."""
    tree = tuple(stages(np.array([size]), comb))
    factors = [stage.left * int(stage.right[0]) / (stage.left + int(stage.right[0])) for stage in tree]
    return np.array(factors), np.array([float(stage.start.size) for stage in tree])


def _one(value: int) -> NDArray[np.int64]:
    return np.array([value], dtype=np.int64)


def _roomy(values: Integers, factor: Any) -> Integers:
    """The values, as Python integers if a product with `factor` might leave the room of int64."""
    if values.dtype == object or int(np.abs(values).max(initial=0)) * int(factor) < _ROOM:
        return values
    return values.astype(object)


def _holding(array: Integers, values: Integers) -> Integers:
    """The array, able to hold such values."""
    return array.astype(object) if values.dtype == object and array.dtype != object else array
