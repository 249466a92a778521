"""Quantiles whose values are chosen by their rank, with intervals from a tree of noisy counts; or all from that tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.cube.cells import Integers
from discreet.cube.queries import LevelCounts, QuantileCodes, Query
from discreet.cube.trees import Tree
from discreet.errors import InternalError
from discreet.mechanisms import law_of_cell
from discreet.statistics.estimate import Estimate
from discreet.statistics.quantile_intervals import Codes
from discreet.statistics.ranks import quantile_estimates, rank_half_width
from discreet.statistics.recipe import LEVEL, RANKS, Answers, Counted, CountTable, GroupSize, Noises, Statements

__all__ = ["QuantileRecipe", "levels_of"]


@dataclass(frozen=True, slots=True, eq=False)
class QuantileRecipe:
    """Codes that are chosen, with the intervals of a tree, widened to hold them; all from the tree where none are chosen.

    Args:
        at: the requested q.
        choices: the choice by rank of all quantiles of the column, if they are chosen.
        trees: the tree, if something is spent on it.
        interval: the part of the weight that the tree gets.
        known: the numbers of rows, where they are public.
        grid: the values of the codes.
    """

    whole: ClassVar = False
    at: tuple[Fraction, ...]
    choices: tuple[QuantileCodes, ...]
    trees: tuple[LevelCounts, ...]
    interval: Fraction
    known: Counted | None
    grid: Codes

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        choices = [(query, 1 - self.interval) for query in self.choices]
        return (*choices, *((query, self.interval) for query in self.trees))

    def error(self, noises: Noises, rows: int) -> float:
        """The error of the rank, in rows: of a chosen value, which is closer than its interval; else of the interval."""
        for query in self.choices:
            error = noises.law(query).rank_error(LEVEL)
            if error is not None:
                return error
        return self.interval_ranks(noises)

    def interval_ranks(self, noises: Noises) -> float:
        """The largest half-width, in rows of rank, that the intervals invert; infinite if nothing is spent on them."""
        if not self.trees:
            return float("inf")
        tree, law = self._tree(noises), law_of_cell(noises.law(self.trees[0]))
        return max(rank_half_width(tree, law, q, level=noises.level) for q in self.at)

    def _tree(self, noises: Noises) -> Tree:
        shaped = noises.choose_shape(self.trees[0])
        if not isinstance(shaped, LevelCounts):
            raise InternalError("quantiles need a tree")
        return shaped.tree

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return RANKS

    def accuracy(self, noises: Noises) -> str:
        if not self.choices:
            return f" {RANKS}"
        ranks = self.interval_ranks(noises)
        certain = f"its interval reaches ±{ranks:.6g} rows" if ranks < float("inf") else "its interval is the whole range"
        return f" {RANKS}; {certain}"

    def statements(self, noises: Noises) -> Statements:
        # The two tests of an interval fail with half of the probability each; without a tree it is the whole range.
        return Statements({}, noises.cells * len(self.at) * len(self.trees), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        shown = self.grid.values
        codes = self.codes(answers)
        return tuple(Estimate(shown(one.value), shown(one.low), shown(one.high)) for one in codes)

    def codes(self, answers: Answers) -> list[Estimate]:
        if not self.choices:
            return self._of_tree(answers)
        (query,) = self.choices
        chosen = answers.values[query].reshape(answers.noises.cells, len(query.at))[answers.cells].T
        values = [chosen[query.at.index(q)] for q in self.at]
        if not self.trees:
            return [Estimate(value, np.zeros_like(value), np.full_like(value, self.grid.size - 1)) for value in values]
        return [
            Estimate(value, np.minimum(one.low, value), np.maximum(one.high, value))
            for value, one in zip(values, self._of_tree(answers), strict=True)
        ]

    def _of_tree(self, answers: Answers) -> list[Estimate]:
        noises, (query,) = answers.noises, self.trees
        (tree, levels), law = self.levels(answers), law_of_cell(noises.law(query))
        noisy = [part[answers.cells] for part in levels]
        totals = None if self.known is None else self.known.counts(answers)[0]
        return quantile_estimates(tree, noisy, law, self.at, level=noises.level, totals=totals)

    def levels(self, answers: Answers) -> tuple[Tree, list[Integers]]:
        """The tree, and its noisy counts from the top to the leaves, each of shape (all cells, level size)."""
        noises, (query,) = answers.noises, self.trees
        tree = self._tree(noises)
        return tree, levels_of(tree, answers.values[query], noises.cells)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def levels_of(tree: Tree, counts: Integers, cells: int) -> list[Integers]:
    """The counts of a tree in so many cells, level by level, each of shape (cells, level size)."""
    sizes = np.cumsum([cells * width for width in tree.level_sizes])
    return [part.reshape(cells, -1) for part in np.split(counts, sizes[:-1])]
