"""Looking ahead: which levels of a column leave a level for every column that comes after it.

Empty cells are conditions on several columns. Columns are taken out from the last to the first; what is left of the
conditions on a column then says, from the columns before it alone, which of its levels can be completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.releases.rows.model import Integers

__all__ = ["Condition", "Conditions", "levels_allowed", "look_ahead"]

_MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """Which levels of some variables go together.

    Args:
        scope: the variables, ascending.
        allowed: of the shape of their levels.
    """

    scope: tuple[int, ...]
    allowed: NDArray[np.bool_]

    def over(self, scope: Sequence[int]) -> NDArray[np.bool_]:
        """The same for more variables, ready to be broadcast."""
        return self.allowed.reshape([self.allowed.shape[self.scope.index(one)] if one in self.scope else 1 for one in scope])


Conditions = dict[int, list[Condition]]
"""For each variable the conditions on it, each with no variable after it."""


def look_ahead(sizes: Sequence[int], conditions: Sequence[Condition]) -> Conditions:
    """For each variable which of its levels can be completed, given those before it.

    Conditions of too many variables together are taken as they are: their rows may lead nowhere.
    """
    waiting: Conditions = {variable: [] for variable in range(len(sizes))}
    for one in conditions:
        waiting[one.scope[-1]].append(one)
    for variable in reversed(range(len(sizes))):
        mine = waiting[variable]
        scope = sorted({other for one in mine for other in one.scope})
        if len(scope) < 2 or prod(sizes[other] for other in scope) > _MOST_CELLS:
            continue
        together = np.ones([sizes[other] for other in scope], dtype=bool)
        for one in mine:
            together &= one.over(scope)
        left = np.asarray(together.any(axis=-1))
        if not left.all():
            waiting[scope[-2]].append(Condition(tuple(scope[:-1]), left))
    return waiting


def levels_allowed(conditions: Sequence[Condition], variable: int, size: int, before: Integers) -> NDArray[np.bool_]:
    """Shape (rows, levels): which levels of a variable can be completed, for each row of the variables before it."""
    found = np.ones((len(before), size), dtype=bool)
    for one in conditions:
        found &= one.allowed[tuple(before[:, other] for other in one.scope if other != variable)]
    return found
