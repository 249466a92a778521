"""Trees of counts over the grid of a column: their shape, chosen before anything is read, and their consistent estimate.

The codes of a column are cut into leaves of `width` neighbouring codes, every `branching` neighbouring leaves are one node
of the level above, and so on for `depth` levels; the total above the top level is not measured. A record counts in one node
of every level: where it is added or removed, Δ₁ = Δ₂² = depth, where it is replaced (also by one of another group),
Δ₁ = Δ₂² = 2·depth. All nodes get independent noise of one law, those beyond the last code too, whose counts are 0; so every
node of a level has the same number of children, and least squares is two passes of averages (Hay, Rastogi, Miklau and Suciu
2010, Theorem 3). Proofs: docs/proofs/quantiles.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError

__all__ = [
    "Tree",
    "choose_tree",
    "consistent_leaves",
    "interval_variance",
    "level_counts",
    "prefix_variance",
    "tree_for",
]


_MOST_TOP = 64  # the intervals need a separate law for every node of the top level


@dataclass(frozen=True, slots=True)
class Tree:
    """A complete hierarchy over the codes 0..size-1.

    Attributes:
        size: how many codes there are, at least 1.
        branching: how many nodes of the next level a node has, at least 2; the nodes of the top level are as many as needed.
        depth: how many levels are measured, at least 1; the last one is the leaves.
        width: how many neighbouring codes a leaf holds, at least 1.

    Raises:
        ArgumentError: a number below its least, or a top level that would be a single node above others.
    """

    size: int
    branching: int
    depth: int
    width: int = 1

    def __post_init__(self) -> None:
        for name, least in (("size", 1), ("branching", 2), ("depth", 1), ("width", 1)):
            if not getattr(self, name) >= least:
                raise ArgumentError(f"{name}={getattr(self, name)}: must be at least {least}")
        if self.depth > 1 and self.top < 2:
            raise ArgumentError(f"depth={self.depth}: one node would hold everything; choose at most {self.depth - 1}")

    @property
    def bins(self) -> int:
        """The number of leaves that hold codes: code c is in leaf c // width."""
        return -(-self.size // self.width)

    @property
    def top(self) -> int:
        """The number of nodes of the top level."""
        below: int = self.branching ** (self.depth - 1)
        return -(-self.bins // below)

    @property
    def level_sizes(self) -> tuple[int, ...]:
        """The number of nodes of each level, from the top to the leaves."""
        return tuple(self.top * self.branching**level for level in range(self.depth))


def level_counts(tree: Tree, bins: NDArray[Any]) -> list[NDArray[Any]]:
    """The counts of all nodes, from the top to the leaves, each of shape (groups, level size).

    Args:
        tree: the tree.
        bins: integers, shape (groups, tree.bins): how many records of each group have a code of each leaf.
    """
    leaves = np.zeros((len(bins), tree.level_sizes[-1]), dtype=bins.dtype)
    leaves[:, : tree.bins] = bins
    levels = [leaves]
    for _ in range(tree.depth - 1):
        above = levels[0].reshape(len(bins), -1, tree.branching)
        levels.insert(0, above.sum(axis=2))
    return levels


def consistent_leaves(
    tree: Tree, noisy: Sequence[NDArray[Any]], total: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """The least-squares estimate of the leaves given all nodes; the estimate of any other node is the sum of its leaves.

    It is the unbiased linear estimate with the least variance for every node and every interval.

    Args:
        tree: the tree.
        noisy: the counts of all nodes with independent noise of one variance, from the top to the leaves, each of shape
            (groups, level size).
        total: int64, shape (groups,): the sums of the leaves, where they are public.
    """
    levels = [np.asarray(level, dtype=np.float64) for level in noisy]
    groups, b = len(levels[-1]), tree.branching
    # Upwards: the estimate of a node from itself and all nodes below it.
    own, said = levels[-1:], list[NDArray[np.float64]]()
    for level, variance in zip(levels[-2::-1], _upward_variances(tree), strict=False):
        below = _sibling_sums(own[0], b).reshape(groups, -1)
        said.insert(0, below)
        own.insert(0, (level * (b * variance) + below) / (1 + b * variance))
    # Downwards: what the children lack to the estimate of their parent is shared equally, for they vary equally.
    if total is not None:
        own[0] = own[0] + ((total - own[0].sum(axis=1)) / tree.top)[:, None]
    found = own[0]
    for level, below in zip(own[1:], said, strict=True):
        found = level + np.repeat((found - below) / b, b, axis=1)
    return found


def _sibling_sums(level: NDArray[np.float64], branching: int) -> NDArray[np.float64]:
    """The sums of every `branching` neighbours, as one vector."""
    return level.reshape(-1, branching) @ np.ones(branching)


def prefix_variance(tree: Tree) -> float:
    """The mean over the leaves of the variance of the consistent (records up to the leaf) - (its share)·(all records).

    In units of the variance of a node's noise. The share of a leaf is the part of all leaves up to it, so this is the
    variance that matters for a quantile where the records are spread evenly.
    """
    mean, leaves = 0.0, 1
    for variance, fan in zip(_upward_variances(tree), _fans(tree), strict=True):
        mean += variance * (fan - 1) / 6 * (1 + 1 / (fan * leaves**2))
        leaves *= fan
    return mean


def interval_variance(tree: Tree) -> float:
    """The variance of what intervals of a median invert (`quantiles`), in units of the variance of a node's noise."""
    return (tree.top + (tree.branching - 1) * (tree.depth - 1)) / 4


def _upward_variances(tree: Tree) -> list[float]:
    """From the leaves to the top: the variance of a node's estimate from the node and all below it."""
    variances = [1.0]
    for _ in range(tree.depth - 1):
        below = tree.branching * variances[-1]
        variances.append(below / (1 + below))
    return variances


def _fans(tree: Tree) -> list[int]:
    """The number of siblings among the nodes of each level, from the leaves to the top."""
    return [tree.branching] * (tree.depth - 1) + [tree.top]


def choose_tree(size: int, variance: Callable[[int], float], *, rows: Fraction | int | None = None) -> Tree:
    """The tree with the least expected error of a quantile, of those with at most 64 nodes at the top: public numbers alone.

    Minimised over depth, branching and, where `rows` bounds the records of a leaf, the width in powers of 2 is

      variance(depth) · (`prefix_variance` + `interval_variance`) + (rows · width/size)²/3,

    the error of the estimate and the error of its interval in records, squared, and a third of the square of the records in
    a leaf: what is lost where they are all at one end of it. Without `rows` every code is a leaf.

    Args:
        size: the number of codes of the column.
        variance: for a number of levels, the variance of the noise of a node when a record counts in that many nodes.
        rows: about the number of records of the larger groups, if that is public; all records there are is always safe.
    """
    widest = size if rows else 1
    widths = [1 << power for power in range(widest.bit_length())]
    candidates = [shape for width in widths for shape in _weighted_shapes(size, width)]
    noise = {depth: variance(depth) for depth in {tree.depth for tree, _ in candidates}}

    def error(shape: tuple[Tree, float]) -> float:
        tree, weight = shape
        held = float(rows or 0) * tree.width / size if tree.width > 1 else 0.0
        return noise[tree.depth] * weight + held**2 / 3

    return min(candidates, key=error)[0]


def tree_for(size: int, variance: Callable[[int], float], rows: int | None) -> Tree:
    """The tree of `choose_tree`, with two leaves at least where there are two codes."""
    tree = choose_tree(size, variance, rows=rows)
    if tree.bins < 2 <= size:
        return Tree(size, 2, 1, -(-size // 2))  # a single node has no information, however little may be spent
    return tree


@lru_cache(maxsize=256)
def _weighted_shapes(size: int, width: int) -> tuple[tuple[Tree, float], ...]:
    """Each of `_shapes` with its error in units of the variance of a node's noise; a search for a spend asks often."""
    return tuple((tree, prefix_variance(tree) + interval_variance(tree)) for tree in _shapes(size, width))


def _shapes(size: int, width: int) -> list[Tree]:
    """For every depth d the trees that matter: with b least such that b**d reaches all codes, branchings from b/2 to b.

    More than b only adds nodes; less makes the top wider than the rest, which is not a gain below b/2.
    """
    bins = -(-size // width)
    shapes = [Tree(size, max(bins, 2), 1, width)] if bins <= _MOST_TOP else []
    for depth in range(2, (bins - 1).bit_length() + 1):
        branching = max(2, int(bins ** (1 / depth)) - 1)  # at most the root; the loop decides
        while branching**depth < bins:
            branching += 1
        least = max(2, branching // 2)
        # A top of a single node would be a level with the total alone.
        trees = (Tree(size, b, depth, width) for b in range(least, branching + 1) if b ** (depth - 1) < bins)
        shapes += [tree for tree in trees if tree.top <= _MOST_TOP]
    return shapes
