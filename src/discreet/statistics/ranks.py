"""Quantiles of every group from the noisy counts of a tree, with intervals that invert noisy cumulative counts.

The q-quantile of N ≥ 1 records is the smallest code c with at least max(q·N, 1) records up to c: the least value for q = 0,
the lower median for q = 1/2, the greatest value for q = 1.

The *value* is read from the consistent tree: the records up to each leaf, clipped into [0, N] and made monotone as the
mean of the greatest before and the least after; within a leaf of several codes they are taken as spread evenly. The
*interval* inverts one test for each leaf, of which only two can miss the true quantile, so its level needs no union over
the codes. The tests weigh the raw counts so simply that the law of their noise is exact: docs/proofs/quantiles.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.trees import Tree, consistent_leaves
from discreet.errors import ArgumentError
from discreet.exact.numbers import common_denominator, float_up, text
from discreet.noise.single.laws import Law
from discreet.noise.single.sums import SumOfNoises
from discreet.statistics.estimate import Estimate

__all__ = ["MissingRanks", "completed_estimates", "quantile_estimates", "rank_half_width"]

_LEAVES_AT_ONCE = 1 << 16  # a few arrays of as many doubles stay in the cache
_HALF = Fraction(1, 2)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def quantile_estimates(
    tree: Tree,
    noisy: Sequence[NDArray[Any]],
    law: Law,
    at: Sequence[Fraction],
    *,
    level: Fraction,
    totals: NDArray[np.int64] | None = None,
) -> list[Estimate]:
    """For each q the codes of the q-quantiles of all groups: int64, within 0..size-1; the values do not fall with q.

    With probability at least `level` over the noise, the interval of a group with records holds its true q-quantile.
    Where the number of records, estimated or public, is below 1, the value is the middle code and the interval everything.

    Args:
        tree: the tree.
        noisy: the counts of all nodes with noise, from the top to the leaves, each of shape (groups, level size).
        law: the law of the noise of every node.
        at: the requested quantiles, each q in [0, 1].
        level: the level of every interval, in [0, 1).
        totals: int64, shape (groups,): the numbers of records, where they are public; they make the values more exact.

    Raises:
        ArgumentError: a q outside [0, 1], or counts or totals of other shapes than tree and groups.
    """
    _check(tree, noisy, at, totals)
    halves = [_half_widths(tree, law, q, level) for q in at]
    groups = len(noisy[-1])
    found = [Estimate(*np.empty((3, groups), dtype=np.int64)) for _ in at]
    once = max(1, _LEAVES_AT_ONCE // tree.level_sizes[-1])
    for part in (slice(start, start + once) for start in range(0, groups, once)):
        levels = [counts[part].astype(np.float64) for counts in noisy]
        public = None if totals is None else totals[part]
        leaves = consistent_leaves(tree, levels, public)
        records = leaves.sum(axis=1) if public is None else public.astype(np.float64)
        prefix, tested = _monotone_prefix(leaves, records), _test_prefixes(tree, levels)
        none = records < 1
        for q, half, estimate in zip(at, halves, found, strict=True):
            wanted = np.clip(float(q) * records, 0.5, np.maximum(records - 0.5, 0.5))
            value = _find_crossing(tree, prefix, wanted)
            summed = levels[0].sum(axis=1)
            centre = float(q) * summed
            low, high = _ends(tree, q, (half, half), (tested, np.abs(summed)), (centre, centre))
            estimate.value[part] = np.where(none, (tree.size - 1) // 2, value)
            estimate.low[part] = np.where(none, 0, np.minimum(low, value))
            estimate.high[part] = np.where(none, tree.size - 1, np.maximum(high, value))
    return found


def completed_estimates(
    tree: Tree, noisy: Sequence[NDArray[Any]], missing: MissingRanks, law: Law, at: Sequence[Fraction], *, level: Fraction
) -> list[tuple[Codes, Codes]]:
    """For each q the least and the greatest code of the q-quantile, whatever the values of the rows without one are.

    With probability at least `level` it holds the quantile of every completion (O11 of docs/proofs/original.md).

    Args:
        tree: the tree.
        noisy: the counts of all nodes with noise, from the top to the leaves, each of shape (groups, level size).
        missing: the noisy numbers of rows without a value, and their noise.
        law: the law of the noise of every node.
        at: the requested quantiles.
        level: the level of every interval.
    """
    found = []
    levels = [counts.astype(np.float64) for counts in noisy]
    tested, summed = _test_prefixes(tree, levels), levels[0].sum(axis=1)
    for q in at:
        halves = [_half_widths(tree, law, factor, level, others) for factor, others in (missing.low(q), missing.high(q))]
        part = float(q)
        centres = part * summed - (1 - part) * missing.rows, part * (summed + missing.rows)
        found.append(_ends(tree, q, (halves[0], halves[1]), (tested, np.abs(summed) + 2 * np.abs(missing.rows)), centres))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class MissingRanks:
    """The rows without a value, for the two tests of a quantile.

    Args:
        rows: their noisy numbers K, of some groups.
        public: whether they are the rest of a public number of rows: then K and the sum S of the tree have one noise.
        laws: else the laws of the noises that K is made of.
    """

    rows: Floats
    public: bool
    laws: tuple[Law, ...]

    def low(self, q: Fraction) -> tuple[Fraction, Sequence[tuple[Fraction, Law]]]:
        """The factor of S in M(c) + K − q(S + K), and the other noises with theirs; with K = n − S that factor is 1."""
        return (Fraction(1), ()) if self.public else (q, [(1 - q, law) for law in self.laws])

    def high(self, q: Fraction) -> tuple[Fraction, Sequence[tuple[Fraction, Law]]]:
        """The same for M(c) − q(S + K)."""
        return (Fraction(0), ()) if self.public else (q, [(q, law) for law in self.laws])


def rank_half_width(tree: Tree, law: Law, q: Fraction, *, level: Fraction) -> float:
    """The half-width, in records, of the noisy count that the interval of the q-quantile inverts: at most this anywhere."""
    return float(_half_widths(tree, law, q, level).max())


def _check(tree: Tree, noisy: Sequence[NDArray[Any]], at: Sequence[Fraction], totals: NDArray[np.int64] | None) -> None:
    groups = len(noisy[0]) if len(noisy) else 0
    if [counts.shape for counts in noisy] != [(groups, nodes) for nodes in tree.level_sizes]:
        raise ArgumentError(f"noisy: must have the shapes (groups, nodes) of the levels, with {tree.level_sizes} nodes")
    if totals is not None and totals.shape != (groups,):
        raise ArgumentError(f"totals: must be one number for each of the {groups} groups")
    for q in at:
        if not 0 <= q <= 1:
            raise ArgumentError(f"at: {text(q)} must lie in [0, 1]; the median is 1/2")


def _monotone_prefix(leaves: Floats, records: Floats) -> Floats:
    """For each leaf the records up to it, never falling, within [0, records] where these are positive."""
    prefix = np.clip(np.cumsum(leaves, axis=1), 0, np.maximum(records, 0)[:, None])
    prefix[:, -1] = np.maximum(records, 0)
    least_after = np.minimum.accumulate(prefix[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((np.maximum.accumulate(prefix, axis=1) + least_after) / 2)


def _find_crossing(tree: Tree, prefix: Floats, wanted: Floats) -> Codes:
    """The first code up to which there are `wanted` records, if the records of a leaf are spread evenly over its codes."""
    wanted = wanted * (1 - 2.0**-40)  # so that rounding does not move the quantile where there is no noise
    leaf = np.minimum(np.count_nonzero(prefix < wanted[:, None], axis=1), tree.bins - 1)
    after = np.take_along_axis(prefix, leaf[:, None], axis=1)[:, 0]
    before = np.where(leaf > 0, np.take_along_axis(prefix, np.maximum(leaf - 1, 0)[:, None], axis=1)[:, 0], 0.0)
    part = np.clip((wanted - before) / np.maximum(after - before, 2.0**-40), 0.0, 1.0)
    inside = np.clip(np.ceil(part * tree.width).astype(np.int64) - 1, 0, tree.width - 1)
    return np.asarray(np.minimum(leaf * tree.width + inside, tree.size - 1))


def _test_prefixes(tree: Tree, levels: Sequence[Floats]) -> Floats:
    """M(c) for every leaf c, shape (groups, top, leaves of a top node): an unbiased count of the records up to c.

    At the top the nodes before and half of that above c; at each further level half of the siblings before less half of
    those after; and half of the leaf itself. See "The tests" in docs/proofs/quantiles.md.
    """
    groups, b = len(levels[0]), tree.branching
    found = np.cumsum(levels[0], axis=1) - levels[0] / 2
    signs = np.sign(np.arange(b) - np.arange(b)[:, None]) / 2
    for level in levels[1:]:
        found = np.repeat(found, b, axis=1) + (level.reshape(-1, b) @ signs).reshape(groups, -1)
    return np.asarray((found + levels[-1] / 2).reshape(groups, tree.top, -1))


def _half_widths(tree: Tree, law: Law, q: Fraction, level: Fraction, further: Sequence[tuple[Fraction, Law]] = ()) -> Floats:
    """For each top node an h with P(|noise of D(c)| ≤ h) ≥ level for the leaves c below it, where D(c) = M(c) - q·S + ….

    S is the sum of the top level, and `further` are other noises with their factors. What counts are the factors of the
    noises, not their signs.
    """
    below = [1 - q] if tree.depth == 1 else [_HALF - q] + [_HALF] * ((tree.branching - 1) * (tree.depth - 1) + 1)
    halves = []
    for place in range(tree.top):
        factors = below + [1 - q] * place + [q] * (tree.top - 1 - place)
        unit = Fraction(1, common_denominator([*factors, *(factor for factor, _ in further)]))
        whole = sorted(abs(int(factor / unit)) for factor in factors if factor)
        others = tuple((int(factor / unit), other) for factor, other in further if factor)
        terms = (*((factor, law) for factor in whole), *others)
        # For q = 1 nothing is after the last leaf of a single level: D is 0 there, noise or not.
        wide = SumOfNoises(terms).half_width(level) if terms else 0
        halves.append(float_up(wide * unit))
    return np.array(halves)


def _ends(
    tree: Tree, q: Fraction, halves: tuple[Floats, Floats], counted: tuple[Floats, Floats], centres: tuple[Floats, Floats]
) -> tuple[Codes, Codes]:
    """The first code that the tests do not place before the quantile, and the last that they do not place after it.

    Without noise M(c) less the first centre is at least `least` from the quantile on, and less the second one at most `most`
    before it. `counted` are M(c), and a bound of all that was rounded.
    """
    tested, size = counted
    least, most = (0.0, -1 / q.denominator) if q > 0 else (1.0, 0.0)
    # M is exact below 2**52, where sums of halves are doubles, and the centre is rounded twice. Beyond, the noise itself is
    # so large that 2**-30 of its half-width is more than all rounding.
    low, high = (half * (1 + 2.0**-30) + 2.0**-48 * size[:, None] for half in halves)
    leaves, greatest = tree.level_sizes[-1], tree.size - 1
    reached = (tested >= (centres[0][:, None] + least - low)[:, :, None]).reshape(-1, leaves)
    first = np.where(reached.any(axis=1), np.argmax(reached, axis=1), leaves - 1)
    short = (tested <= (centres[1][:, None] + most + high)[:, :, None]).reshape(-1, leaves)
    after = np.where(short.any(axis=1), leaves - np.argmax(short[:, ::-1], axis=1), 0)
    return np.minimum(first * tree.width, greatest), np.minimum((after + 1) * tree.width - 1, greatest)
