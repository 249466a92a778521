"""Whether there are households and persons with given facts: all numbers of rows of tiny tables, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
from tests.unit.releases.rows.homes import released

import discreet as dp

Cell = tuple[int, ...]
Facts = Mapping[tuple[int, ...], Mapping[Cell, int]]
"""For some positions of a cell the number of rows of each class, by its values at these positions."""


def tables(cells: Sequence[Cell], rows: int, facts: Facts) -> Iterator[dict[Cell, int]]:
    """All numbers of rows in cells that have the facts."""
    bars = np.array([*combinations(range(rows + len(cells) - 1), len(cells) - 1)])
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, rows + len(cells) - 1)))
    every = np.diff(ends, axis=1) - 1
    for places, numbers in facts.items():
        for key in product(*({cell[at] for cell in cells} for at in places)):
            inside = [tuple(cell[at] for at in places) == key for cell in cells]
            every = every[every[:, inside].sum(axis=1) == numbers.get(key, 0)]
    return (dict(zip(cells, one, strict=True)) for one in every.tolist())


def together(
    homes: Iterator[dict[Cell, int]], persons: Iterator[dict[Cell, int]], shared: int, ends: Mapping[int, tuple[int, int]]
) -> bool:
    """True if persons of one of these tables live in the households of one of those.

    The first `shared` values of a cell are those that both know; the next one of households is their size, of which `ends`
    says the least and the largest.
    """

    def kinds(found: dict[Cell, int]) -> dict[Cell, int]:
        kept: dict[Cell, int] = {}
        for cell, many in found.items():
            kept[cell[:shared]] = kept.get(cell[:shared], 0) + many
        return kept

    wanted = {tuple(sorted(kinds(one).items())) for one in persons}
    for one in homes:
        low, high = (
            {
                key: sum(many * ends[cell[shared]][end] for cell, many in one.items() if cell[:shared] == key)
                for key in kinds(one)
            }
            for end in (0, 1)
        )
        if any(all(low[key] <= many <= high[key] for key, many in some) for some in wanted):
            return True
    return False


# Random pairs ---------------------------------------------------------------------------------------------------------

TWO = dp.Category([0, 1])


@dataclass(frozen=True)
class Kind:
    """A column of sizes: how it is declared, its values, the level of each, and the sizes of each level."""

    column: Any
    values: tuple[Any, ...]
    levels: tuple[int, ...]
    ends: Mapping[int, tuple[int, int]]
    groups: Any = "s"
    largest: int | None = None


KINDS = {
    "numbers": Kind(dp.Category([1, 2, 3]), (1, 2, 3), (0, 1, 2), {0: (1, 1), 1: (2, 2), 2: (3, 3)}),
    "empty homes": Kind(dp.Category([0, 2]), (0, 2), (0, 1), {0: (0, 0), 1: (2, 2)}),
    "open": Kind(dp.Category(["1", "2", "3+"]), ("1", "2", "3+"), (0, 1, 2), {0: (1, 1), 1: (2, 2), 2: (3, 5)}, largest=5),
    "bins": Kind(dp.Number(1, 4), (1, 2, 3, 4), (0, 0, 1, 1), {0: (1, 2), 1: (3, 4)}, dp.bins("s", [1, 3, 4])),
}
OF_HOMES = [[], ["a"], ["s"], ["as"], ["a", "s"], ["t"], ["at"], ["a", "t"], ["ts"]]
OF_PERSONS = [[], ["a"], ["x"], ["ax"], ["a", "x"], ["ax", "tx"], ["a", "t"], ["at"]]


@dataclass(frozen=True)
class Pair:
    """Households and persons, which need not go together, and what of them is exact: the names of columns of each list."""

    kind: Kind
    homes: pl.DataFrame
    persons: pl.DataFrame
    exact: tuple[Sequence[str], Sequence[str]]

    @classmethod
    def drawn(cls, drawn: np.random.Generator) -> Pair:
        """One of them, in which persons live in the households with probability 1/3."""
        kind = [*KINDS.values()][drawn.integers(len(KINDS))]
        exact = OF_HOMES[drawn.integers(len(OF_HOMES))], OF_PERSONS[drawn.integers(len(OF_PERSONS))]
        if kind is KINDS["bins"] and any("s" in one for one in exact[0]):
            exact = [], exact[1]
        homes = [
            (*drawn.integers(2, size=2).tolist(), kind.values[drawn.integers(len(kind.values))])
            for _ in range(2 + drawn.integers(3))
        ]
        people = [tuple(drawn.integers(2, size=3).tolist()) for _ in range(2 + drawn.integers(5))]
        living = [home[:2] for home in homes for _ in range(int(str(home[2]).rstrip("+")))]
        if 1 < len(living) < 8 and not drawn.integers(3):
            people = [(*one, int(drawn.integers(2))) for one in living]
        return cls(kind, frame_of(homes, "ats"), frame_of(people, "atx"), exact)

    def releases(self) -> tuple[dp.Release, dp.Release]:
        """With so much noise that only exact facts say something."""
        of_homes, of_persons = dp.Schema(a=TWO, t=TWO, s=self.kind.column), dp.Schema(a=TWO, t=TWO, x=TWO)
        groups = self.kind.groups
        return (
            released(self.homes, of_homes, [["a", groups], ["t", groups]], totals(self.exact[0]), spend="1/50"),
            released(self.persons, of_persons, [["a", "x"], ["t", "x"]], totals(self.exact[1]), spend="1/50"),
        )

    def exists(self) -> bool:
        """True if there are households and persons with all that is exact, by trying all."""
        levels = dict(zip(self.kind.values, self.kind.levels, strict=True))
        homes = self.homes.with_columns(s=pl.Series([levels[one] for one in self.homes["s"]]))
        return together(
            tables([*product((0, 1), (0, 1), self.kind.ends)], len(homes), facts_of(homes, self.exact[0])),
            tables([*product((0, 1), repeat=3)], len(self.persons), facts_of(self.persons, self.exact[1])),
            2,
            self.kind.ends,
        )

    def check(self, found: dp.Households) -> None:
        """Everything exact holds, and persons live in their households."""
        homes, people = found.homes.frame, found.persons.frame
        living = Counter(people["household"].to_list())
        for place, said in enumerate(homes["s"].to_list()):
            low, high = (said, said) if isinstance(said, int) else self.kind.ends[self.kind.values.index(said)]
            assert low <= living[place] <= high
        assert (len(homes), len(people)) == (len(self.homes), len(self.persons))
        assert homes[people["household"].to_numpy()].select(found.shared).equals(people.select(found.shared))
        for made, true, exact in ((homes, self.homes, self.exact[0]), (people, self.persons, self.exact[1])):
            assert all(Counter(made.select(*one).rows()) == Counter(true.select(*one).rows()) for one in exact)


def frame_of(rows: Sequence[tuple[Any, ...]], names: str) -> pl.DataFrame:
    """Rows with columns of one letter each."""
    return pl.DataFrame(rows, schema=[*names], orient="row")


def totals(lists: Sequence[str]) -> dp.Invariants | None:
    """Totals of these columns, each a text of their letters."""
    parts = [dp.Totals(*one) for one in lists]
    return sum(parts[1:], start=parts[0]) if parts else None


def facts_of(frame: pl.DataFrame, lists: Sequence[str]) -> Facts:
    """The numbers of rows in the cells of each list."""
    return {tuple(frame.columns.index(name) for name in one): Counter(frame.select(*one).rows()) for one in lists}
