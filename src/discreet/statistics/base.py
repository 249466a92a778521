"""The protocol of a statistic: a kind with its words, checks and queries, and the recipe of its estimate.

A `Statistic` is one question of a request: a kind (`Count`, `Mean`, …) about a column, with a name and a weight. Its kind
makes a `Recipe` of it, in which nothing is left open: which integer queries are asked, and how their noisy answers become
values with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

from discreet.cube.queries import NonNullCount, Query, RowCount, TableCounts
from discreet.cube.weights import Weighting
from discreet.domain.groups import Bins, Group
from discreet.domain.steps import TableFacts
from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.outer import Outer
from discreet.statistics.possible import Possible
from discreet.statistics.public_totals import ListedTotals, PublicSum
from discreet.statistics.recipe import Counted, Recipe

__all__ = [
    "CLIPPED",
    "UNBIASED",
    "Asked",
    "Completed",
    "Extended",
    "Filling",
    "Free",
    "Keys",
    "Kind",
    "Need",
    "PublicSum",
    "Reads",
    "Room",
    "Shape",
    "Statistic",
    "Written",
    "groupings_of",
    "outputs",
    "statistic_json",
]

UNBIASED, CLIPPED = "unbiased", "clipped into the public bounds"
"""The kind of number that an estimate is, in release documents."""


# Requests -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic of a request.

    Args:
        kind: the kind of the statistic.
        column: about which column; None for all rows, and where the kind names its columns itself.
        name: how its columns in the release are called.
        weight: its share of the spend relative to the other statistics of the request.
        skip_nulls: whether rows that are null in the column are left out; without it such a column is refused.
    """

    kind: Kind
    column: str | None
    name: str
    weight: Fraction = Fraction(1)
    skip_nulls: bool = False

    def alias(self, name: str) -> Statistic:
        """The same statistic under another name."""
        if not isinstance(name, str) or not name or not name.isprintable():
            raise ArgumentError(f"alias({printed(name)}): must be printable text")
        return replace(self, name=name)


class Written(Protocol):
    """A value in a plan file. What is wrong with it is an error with its place."""

    def string(self) -> str:
        """The text."""

    def number(self) -> Amount:
        """The exact number."""

    def scalars(self) -> Any:
        """A list of numbers, texts or days."""

    def items(self) -> Sequence[Written]:
        """The values of a list."""

    def entries(self, names: tuple[str, ...]) -> Mapping[str, Written] | None:
        """The values of a table with exactly these keys; None where it is not a table."""

    def mapping(self) -> Mapping[str, Written]:
        """The values of a table with any keys."""

    def group(self) -> str | Bins:
        """A column, or a column in bins."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The form of a statistic in a plan file: `{ word = value, key = … }`, always with `weight` and `as` if it likes.

    Args:
        value: the positional arguments after the word; None where the word needs none.
        needed: further keys that have to be there, each with how it is read: keyword arguments.
        allowed: further keys that may be there.
        alone: whether the word by itself is enough.
        interview: whether `discreet init` takes it as the word and a column.
        lacks: the part that is missing after a word alone, in words.
        advised: keys with the word that a new plan should have there: `discreet init` writes them.
    """

    value: Callable[[Written], Sequence[Any]] | None
    needed: Mapping[str, Callable[[Written], Any]]
    allowed: Mapping[str, Callable[[Written], Any]]
    alone: bool = False
    interview: bool = False
    lacks: str = ""
    advised: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Need:
    """The demands of a statistic, or of one of its tables, on its columns: all codes, groups of codes, sums, or nulls.

    "filled" are groups of codes in which every row has one: bins are completed, and nulls may be counted as such, because
    their law is applied to the noisy counts.
    """

    how: Literal["codes", "groups", "sums", "nulls", "filled"]
    columns: tuple[str, ...]
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The reason why a statistic has too many integers for its request, and what would fit.

    Args:
        places: how many integers it has for each group.
        fit: how many it may have.
        groups: how many groups it may have instead.
        most: how many integers all groups may have together.
        few: whether there are few groups enough for bins at all.
        coarser: for a column, and as many values as fit, the coarser step to declare, in words after a comma.
    """

    places: int
    fit: int
    groups: int
    most: int
    few: bool
    coarser: Callable[[str, int], str]


class Free(Protocol):
    """The effect of exact totals on a request: bounds of Δ₁ and Δ₂² over the tables that have the same totals."""

    @property
    def determined(self) -> bool:
        """True if the row counts of all cells follow from the totals."""

    def of_rows(self) -> Sensitivity:
        """For the row counts."""

    def of_values(self, least: int, most: int, *, may_skip: bool) -> Sensitivity:
        """For cell sums of integers in [least, most], one for each row; with `may_skip` a row may add nothing."""

    def of_moves(self, within: tuple[int, int], across: tuple[int, int], leaves: tuple[int, int]) -> Sensitivity:
        """From ‖·‖₁ and ‖·‖₂² of what one row does to the answer: in its cell, to another cell, to no cell."""


class Kind(Protocol):
    """A kind of statistic. `one` is always the statistic whose kind it is. The registry is `STATISTICS`."""

    word: ClassVar[str]
    """Its name in plan files, documents and on the command line."""
    noun: ClassVar[str]
    """Its name on pages."""
    keys: ClassVar[Keys]
    view: ClassVar[str]
    """The kind of its numbers: unbiased or clipped."""
    possible: ClassVar[Possible]
    """The values that are possible, from a document."""
    counts: ClassVar[bool]
    """True if it rests on the number of rows (of those not null in its column), so that others have it at no cost."""
    reads: ClassVar[Reads]
    shape: ClassVar[Shape]
    completed: ClassVar[tuple[Completed, ...]]
    """The recipe whose intervals hold with any answer of those who gave none; none where there is no such form."""
    extended: ClassVar[tuple[Extended, ...]]
    """The recipe of the column before a clamp, from that after it; none where the statistic after it does not say enough."""

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        """The statistic as its public function makes it."""

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        """The title of a statistic of a document on a page; with a `part`, of one of its numbers."""

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        """The sensitivity of its answers with exact totals, in steps of its column's grid."""

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        """Its queries, and how their noisy answers become estimates."""


class Reads(Protocol):
    """The columns that a kind of statistic reads."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        """The columns, except the columns of its own groups."""

    def check(self, one: Statistic, facts: TableFacts) -> None:
        """Its columns allow it. Raises PlanError."""

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        """The demands on the cube for these columns."""

    def to_json(self, one: Statistic) -> dict[str, object]:
        """The canonical JSON values for nulls, and for columns that the kind names itself."""

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        """The same of the columns of these names, where nulls are left out. Raises PlanError where there is no such form."""


class Shape(Protocol):
    """The numbers of a kind of statistic for each group."""

    @property
    def one_number(self) -> bool:
        """True if it is a single number, as a large release needs."""

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        """The groups of each of its own tables, which are frames of a release.

        Raises:
            InternalError: groups that no table has checked.
        """

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        """The statistic, with its own groups and values checked against a table; `grouped` if the request has groups."""

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        """The names of its columns in the table of a release, each with `_low` and `_high`."""

    def to_json(self, one: Statistic) -> dict[str, object]:
        """Its canonical JSON values."""

    def places(self, one: Statistic, facts: TableFacts) -> int:
        """The number of integers that get noise for it in each group, where that can be many; else 0."""

    def advice(self, one: Statistic, room: Room) -> str:
        """The advice where these are too many."""


def groupings_of(one: Statistic) -> tuple[tuple[Group, ...], ...]:
    """The groups of each table of counts that the statistic asks for, as a table has checked them; none for others.

    Raises:
        InternalError: groups that were not checked.
    """
    return one.kind.shape.groupings(one)


def outputs(one: Statistic) -> tuple[str, ...]:
    """The names of the columns that the statistic has in the table of the release, each with `_low` and `_high`."""
    return one.kind.shape.outputs(one)


def statistic_json(one: Statistic) -> dict[str, object]:
    """The statistic as canonical JSON values."""
    head = {"statistic": one.kind.word, "column": one.column, "name": one.name, "weight": text(one.weight)}
    return {**head, **one.kind.shape.to_json(one), **one.kind.reads.to_json(one)}


# The inputs of a recipe -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Twin:
    """A column that the steps change, under the names by which queries ask for it.

    Args:
        prepared: after all steps.
        recorded: before them.
        clamped: after its clamps, where nulls stay; one of the other two where it is never imputed or never clamped. None
            where the two have no sum in common: it is imputed and read otherwise than by its sums, or it has categories.
    """

    prepared: str
    recorded: str
    clamped: str | None


@dataclass(frozen=True, slots=True)
class Originals:
    """The parts of a request for originals.

    Args:
        twins: the changed columns.
        completed: the statistics whose intervals hold with any answer of those who gave none.
        extended: those of a column as recorded that are read from the clamped one.
        outer: the groups of the request.
    """

    twins: tuple[Twin, ...]
    completed: tuple[Statistic, ...]
    extended: tuple[Statistic, ...]
    outer: Outer


@dataclass(frozen=True, slots=True, eq=False)
class Filling:
    """An imputed column that is counted with its nulls.

    Args:
        called: its name in queries.
        law: for groups of the column, by its own name, the chances of what is imputed to be in each, as integers.
    """

    called: str
    law: Callable[[Group], tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The facts of a request that a recipe needs, all of them public.

    Args:
        facts: the facts of the prepared table.
        statistics: all statistics of the request, in their order.
        every: the number of rows of all cells together, None where it is private or not every row counts.
        known: the answer of a query that counts rows, where it is public; else None.
        held: the positions of the cells of a table that can have rows, as far as is known; None where nothing is.
        sums: the sums of cells of a table that are public, but for those that lists of all groups say.
        keeps: whether noise of a query that counts rows, where it keeps any exact totals, keeps all of them.
        weighting: the norm by which noise costs: of squares for Gaussian noise, else of sums.
        originals: what is asked of the table as recorded; None where nothing is.
        totals: the lists of exact totals that are published alongside.
        filled: the imputed columns that are counted with their nulls, where a statistic allows it.
    """

    facts: TableFacts
    statistics: tuple[Statistic, ...]
    every: int | None
    known: Callable[[Query], Counted | None]
    held: Callable[[TableCounts], Collection[int] | None]
    sums: Callable[[TableCounts], Sequence[PublicSum]]
    keeps: Callable[[Query], bool]
    weighting: Weighting
    originals: Originals | None
    totals: tuple[ListedTotals, ...]
    filled: Mapping[str, Filling]

    def twin(self, column: str | None) -> Twin | None:
        """The names of the column, if the steps change it and it is asked for as recorded."""
        twins = () if self.originals is None else self.originals.twins
        return next((one for one in twins if column in (one.prepared, one.recorded)), None)

    @property
    def completed(self) -> tuple[Statistic, ...]:
        """The statistics whose intervals hold with any answer of those who gave none."""
        return () if self.originals is None else self.originals.completed

    def extends(self, one: Statistic) -> bool:
        """True if the statistic is of a column as recorded, and is read from the clamped one."""
        return self.originals is not None and one in self.originals.extended

    def completes(self, one: Statistic) -> bool:
        """True if the interval of the statistic holds with any answer of those who gave none."""
        return one in self.completed

    def count_query(self, column: str | None) -> Query:
        """The query for the number of rows, or of those whose column is not null."""
        twin = self.twin(column)
        if twin is not None and column == twin.recorded and twin.clamped == twin.prepared:
            column = twin.prepared  # a clamp makes no number null
        return NonNullCount(column) if column is not None and self.facts[column].nullable else RowCount()

    def public(self, column: str | None) -> Counted | None:
        """The counts, if they are public: all rows of a table whose n is public, or the totals (soundness 6)."""
        return self.known(self.count_query(column))


Completed = Callable[[Statistic, Asked], Recipe]
"""From a statistic and its request to the recipe whose intervals hold with any answer of those who gave none."""

Extended = Callable[[Recipe, Statistic, Asked], Recipe]
"""From the recipe of a statistic of a clamped column to that of the column before its clamp."""
