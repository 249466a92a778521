"""The relations whose neighbours differ in the rows of one person, however many: whole, or in any part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from discreet.domain.draws import Draw
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.figures import number

__all__ = [
    "PART_WORDS",
    "AddRemoveParts",
    "AddRemovePersons",
    "OfPersons",
    "ReplacePersons",
    "base_of",
    "check_base",
    "of_table",
    "with_beside",
]

Tables = tuple[tuple[str, str], ...]
"""Tables of persons, each with its identifier, in the order of their names."""


@dataclass(frozen=True, slots=True)
class AddRemovePersons:
    """Two tables are neighbours if one has all rows of one person more than the other, however many; all else is private.

    `person` names the `Identifier` of the schema whose equal values mark the rows of one person. `AddRemove(person=…)`
    makes it. Requests on such a table bound what one person counts for: `Table.bound`. With `each` = "row" the table that is
    asked has one row of each person, which `Table.per_person` makes of all rows. `beside` are tables of persons of the same
    data set: one person's rows are in all of them, those with the same value of their identifier (U7).
    """

    person: str
    each: Literal["rows", "row"] = "rows"
    beside: Tables = ()

    word: ClassVar[str] = "add-remove-persons"
    needed: ClassVar[tuple[str, ...]] = ("person",)
    about: ClassVar[str] = "it is private, and so is the number of persons"
    appears: ClassVar[bool] = True
    replacing: ClassVar[int] = 2
    allows_totals: ClassVar[bool] = False
    change: ClassVar[str] = "added or removed"
    compared: ClassVar[str] = "left out with all their rows, or another person's added with all of theirs"
    guess: ClassVar[str] = "whether one person has any rows at all"
    holds: ClassVar[str] = "all rows of one person added or removed"
    protected: ClassVar[str] = "all rows of one person"
    rows: ClassVar[int | None] = None
    rows_per_person: ClassVar[int] = 1
    """The factor of group privacy: one person, for whom the sensitivities are. It is not a number of rows."""
    sampled: ClassVar[Draw | None] = None

    def __post_init__(self) -> None:
        _check_identifier(self.person)
        object.__setattr__(self, "beside", _tables(self.beside))

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return _persons_json(self)

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return _size_words(self)

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        return _persons_text(self)


_PRIVATE = "The numbers of rows and of persons are confidential and protected"

TABLES_WORDS = "The guarantee is for the rows of a person in all tables of the data set together"
"""What a text about the rows of a data set says beside their numbers, where it has tables of persons."""

PART_WORDS = (
    "This holds for any of these rows, and so for each of several people who share one value of the identifier, such as the "
    "members of a household"
)
"""What every text about a guarantee says beside it, where people who share an identifier are protected one by one."""


@dataclass(frozen=True, slots=True)
class AddRemoveParts:
    """Two tables are neighbours if they differ in any rows with one value of `person`: changed, added or removed.

    So each of several people who share a value, such as the members of a household, is protected as a person is under
    `AddRemovePersons`, which protects only all of them together. Sensitivities are those of two states of one person
    (U4 of docs/proofs/persons.md). `AddRemove(person=…, part=True)` makes it.
    """

    person: str
    each: Literal["rows", "row"] = "rows"
    beside: Tables = ()

    word: ClassVar[str] = "add-remove-parts"
    needed: ClassVar[tuple[str, ...]] = AddRemovePersons.needed
    about: ClassVar[str] = AddRemovePersons.about
    appears: ClassVar[bool] = True
    replacing: ClassVar[int] = 1
    allows_totals: ClassVar[bool] = False
    change: ClassVar[str] = "changed in any way, added or removed"
    compared: ClassVar[str] = "changed in any of these rows, left out or added"
    guess: ClassVar[str] = "which rows one person has"
    holds: ClassVar[str] = "any rows of one person changed, added or removed"
    protected: ClassVar[str] = "any rows of one person"
    rows: ClassVar[int | None] = None
    sampled: ClassVar[Draw | None] = None

    def __post_init__(self) -> None:
        _check_identifier(self.person)
        object.__setattr__(self, "beside", _tables(self.beside))

    @property
    def rows_per_person(self) -> int:
        """The factor of group privacy: where a person has one row, another one in its place is a removal and an addition."""
        return 1 if self.each == "rows" else 2

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return _persons_json(self)

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return _size_words(self)

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        return (
            f"{self.word}: any rows with one value of '{self.person}'{_beside_text(self)} may "
            f"differ{_made_text(self)}; their numbers are private, and each of several people who share the value is "
            "protected"
        )


@dataclass(frozen=True, slots=True)
class ReplacePersons:
    """Two data sets are neighbours if all rows of one person in one are replaced by any rows of a person in the other.

    The table of persons `of` has exactly `persons` rows in both, which is public; how many rows anybody has in other tables
    is not. Rows of nobody in that table contribute nothing. Sensitivities are those of two states of one person (U10 of
    docs/proofs/persons.md); where the table that is asked has one row of each person (`each` = "row"), it has as many rows
    as that table, of which one is replaced. `ReplaceOne(rows=…, person=…)` makes it.
    """

    persons: int
    person: str
    of: str = ""
    each: Literal["rows", "row"] = "rows"
    beside: Tables = ()

    word: ClassVar[str] = "replace-persons"
    needed: ClassVar[tuple[str, ...]] = ("rows", "person")
    about: ClassVar[str] = "the number of persons is public"
    appears: ClassVar[bool] = False
    replacing: ClassVar[int] = 1
    allows_totals: ClassVar[bool] = False
    change: ClassVar[str] = "replaced"
    compared: ClassVar[str] = "replaced in all their rows by any others"
    guess: ClassVar[str] = "which of two sets of rows one person has"
    holds: ClassVar[str] = "all rows of one person replaced by any others"
    protected: ClassVar[str] = "all rows of one person"
    rows_per_person: ClassVar[int] = 1
    sampled: ClassVar[Draw | None] = None

    def __post_init__(self) -> None:
        _check_identifier(self.person)
        if isinstance(self.persons, bool) or not isinstance(self.persons, int) or self.persons < 1:
            raise ArgumentError(f"persons={printed(self.persons)}: must be a whole number of at least 1")
        object.__setattr__(self, "beside", _tables(self.beside))

    @property
    def rows(self) -> int | None:
        """The number of rows of the table that is asked, where it has one of each person; else it is private."""
        return None if self.each == "rows" else self.persons

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return {**_persons_json(self), "persons": self.persons, "of": self.of}

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return (
            f"The table “{self.of}” has {number(self.persons)} rows; this number is public and not protected, and all "
            f"others are protected. Persons who are not in it contribute nothing. {TABLES_WORDS}"
        )

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        return (
            f"{self.word}: all rows with one value of '{self.person}'{_beside_text(self)} are one "
            f"person{_made_text(self)}, who may have any others; '{self.of}' has exactly {self.persons} "
            "rows, which is public"
        )


OfPersons = AddRemovePersons | AddRemoveParts | ReplacePersons


def _check_identifier(person: object) -> None:
    if not isinstance(person, str) or not person:
        raise ArgumentError(f"person={printed(person)}: must be the name of a column that is an Identifier")


def with_beside(relation: OfPersons, tables: Mapping[str, str]) -> OfPersons:
    """The relation of a data set with these tables of persons, each with its identifier.

    Raises:
        PlanError: it states the number of rows of a table of persons, and there is not exactly one.
    """
    if not isinstance(relation, ReplacePersons):
        return replace(relation, beside=_tables(tables))
    if len(tables) != 1:
        raise PlanError(
            f"ReplaceOne(rows={relation.persons}, person=…): is about the rows of one table of persons, and there "
            f"{'are ' + str(len(tables)) if tables else 'is none'}; name it in beside={{…}}, or declare "
            "AddRemove(person=…), under which the number of persons is private"
        )
    (of,) = tables
    return replace(relation, beside=_tables(tables), of=of)


def of_table(relation: OfPersons, table: str) -> OfPersons:
    """The relation as seen from a table of persons, whose identifier marks the rows of one person; "" is the first table."""
    return replace(relation, person=dict(relation.beside)[table], beside=()) if table else relation


def base_of(relation: object) -> str:
    """The table of persons whose rows all count, and nobody else's; empty where there is none."""
    return relation.of if isinstance(relation, ReplacePersons) else ""


def check_base(relation: object) -> None:
    """Checks that a relation that states the rows of a table of persons has that table.

    Raises:
        PlanError: it does not.
    """
    if isinstance(relation, ReplacePersons) and not relation.of:
        with_beside(relation, {})


def _tables(given: object) -> Tables:
    """The tables as `to_json` has them, or as pairs."""
    return tuple(sorted(given.items() if isinstance(given, Mapping) else given))  # type: ignore[call-overload]


def _persons_json(relation: OfPersons) -> dict[str, object]:
    made: dict[str, object] = {} if relation.each == "rows" else {"each": relation.each}
    beside: dict[str, object] = {"beside": dict(relation.beside)} if relation.beside else {}
    return {"relation": relation.word, "person": relation.person, **made, **beside}


def _persons_text(relation: OfPersons) -> str:
    return (
        f"{relation.word}: all rows with one value of '{relation.person}'{_beside_text(relation)} are one "
        f"person{_made_text(relation)}; their numbers are private"
    )


def _made_text(relation: OfPersons) -> str:
    return "" if relation.each == "rows" else ", of which one row is made"


def _beside_text(relation: OfPersons) -> str:
    """The rows of the same person elsewhere, in words."""
    return "".join(f", and of '{person}' in '{table}'," for table, person in relation.beside)


def _size_words(relation: OfPersons) -> str:
    """Whether numbers are public, and which tables the guarantee is about."""
    return _PRIVATE if not relation.beside else f"{_PRIVATE}. {TABLES_WORDS}"
