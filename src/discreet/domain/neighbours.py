"""The neighbouring relations that a custodian can declare, with all their facts.

A relation is a frozen class with the attributes that all classes here have, and an entry in the registry. No other code
depends on its kind: the class itself states whether n is public, whether a row appears or is replaced, and its words.

A relation may say how the rows were drawn from a population (`draws`). Charges and noise do not depend on it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, SupportsIndex, TypeGuard, cast

from discreet.domain.draws import Draw, draw_of, is_draw, refuse_design
from discreet.domain.person_relations import PART_WORDS, AddRemoveParts, AddRemovePersons, OfPersons, ReplacePersons
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import number

__all__ = [
    "AddRemove",
    "AddRemoveParts",
    "AddRemovePersons",
    "Neighbours",
    "OfPersons",
    "ReplaceOne",
    "ReplacePersons",
    "counted_rows",
    "find_relation",
    "is_of_persons",
    "is_relation",
    "neighbours_of",
    "no_persons",
    "part_words",
    "person_of",
    "protected_rows",
    "relations",
    "said_of",
    "whole_number",
]


@dataclass(frozen=True, slots=True)
class AddRemove:
    """Two tables are neighbours if one has `rows_per_person` rows more than the other; the number of rows is private.

    With `person`, the name of an `Identifier` of the schema, they are neighbours if one has all rows of one person more,
    however many these are: the result is an `AddRemovePersons`. With `part=True` besides, they are neighbours if any rows of
    one value differ, which protects each of several people who share it, such as a household: an `AddRemoveParts`.
    """

    rows_per_person: int = 1
    sampled: Draw | None = None
    """The draw of the persons of the file, where that is secret; None: the guarantee is for the rows of the file."""
    person: InitVar[str | None] = field(default=None, kw_only=True)
    part: InitVar[bool] = field(default=False, kw_only=True)

    word: ClassVar[str] = "add-remove"
    """The name of the relation in plan files and documents."""
    needed: ClassVar[tuple[str, ...]] = ()
    """The further keys that a plan file must have."""
    about: ClassVar[str] = "it is private"
    """Part of a question: whether the number of rows is public."""
    appears: ClassVar[bool] = True
    """True if a row is in one of the two tables only; otherwise it is in both, with other values."""
    replacing: ClassVar[int] = 2
    """How many steps to a neighbour other data of a person are: where they only appear, they vanish and others appear."""
    allows_totals: ClassVar[bool] = False
    """True if exact totals may be published alongside releases: they make the number of rows public."""
    change: ClassVar[str] = "added or removed"
    compared: ClassVar[str] = "left out, or one person's added"
    guess: ClassVar[str] = "whether one person's data are there at all"
    holds: ClassVar[str] = "one person added or removed"
    """The change of the data of one person, in the words of documents and reports."""

    def __new__(
        cls, rows_per_person: object = 1, sampled: object = None, *, person: str | None = None, part: object = False
    ) -> AddRemove:
        """With `person` the relation of all rows of a person, which stands for this one."""
        if not isinstance(part, bool) or (part and person is None):
            raise ArgumentError(
                f"part={printed(part)}: must be True or False, and stands beside person=…, whose values several people may "
                "share"
            )
        if person is None:
            return object.__new__(cls)
        _check_alone(person, rows_per_person, sampled)
        found: Any = AddRemoveParts(person) if part else AddRemovePersons(person)
        return cast("AddRemove", found)

    def __post_init__(self, person: str | None, part: bool) -> None:
        object.__setattr__(self, "rows_per_person", whole_number(self.rows_per_person, "rows_per_person", least=1))
        _check_draw(self.sampled, None, self.rows_per_person)

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, ("rows_per_person", "sampled"), state)

    @property
    def rows(self) -> int | None:
        """None, because the number of rows is private."""
        return None

    def of_size(self, rows: int) -> AddRemove:  # noqa: ARG002
        """The relation with one row per person, on a table of `rows` rows."""
        return AddRemove()

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return {"relation": self.word, "rows_per_person": self.rows_per_person, **_draw_json(self.sampled)}

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return "The number of rows is confidential and protected"

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        return f"{self.word}: the number of rows is private{_draw_text(self.sampled)}"


@dataclass(frozen=True, slots=True)
class ReplaceOne:
    """Two tables of exactly `rows` rows are neighbours if they differ in `rows_per_person` rows; `rows` is public.

    A source with another number of rows is refused before anything is spent (`RowsDiffer`, soundness 4). With `person`, the
    name of an `Identifier` of the schema, `rows` is the number of rows of the table of persons beside the source, and
    neighbours differ in all rows of one person in any table: the result is a `ReplacePersons`.
    """

    rows: int
    rows_per_person: int = 1
    sampled: Draw | None = None
    person: InitVar[str | None] = field(default=None, kw_only=True)
    part: InitVar[bool] = field(default=False, kw_only=True)

    word: ClassVar[str] = "replace-one"
    needed: ClassVar[tuple[str, ...]] = ("rows",)
    about: ClassVar[str] = "the number of rows is public"
    appears: ClassVar[bool] = False
    replacing: ClassVar[int] = 1
    allows_totals: ClassVar[bool] = True
    change: ClassVar[str] = "replaced"
    compared: ClassVar[str] = "replaced by anything else"
    guess: ClassVar[str] = "which of two records one person has"
    holds: ClassVar[str] = "one person's data replaced"

    def __new__(
        cls,
        rows: object = None,
        rows_per_person: object = 1,
        sampled: object = None,
        *,
        person: str | None = None,
        part: object = False,
    ) -> ReplaceOne:
        """With `person` the relation of all rows of a person, which stands for this one."""
        if part is not False:
            raise ArgumentError(
                f"part={printed(part)}: stands with AddRemove; ReplaceOne(person=…) compares any rows of a person already, "
                "so leave it out"
            )
        if person is None:
            return object.__new__(cls)
        _check_alone(person, rows_per_person, sampled)
        found: Any = ReplacePersons(whole_number(rows, "rows", least=1), person)
        return cast("ReplaceOne", found)

    def __post_init__(self, person: str | None, part: bool) -> None:
        object.__setattr__(self, "rows", whole_number(self.rows, "rows", least=1))
        object.__setattr__(self, "rows_per_person", whole_number(self.rows_per_person, "rows_per_person", least=1))
        _check_draw(self.sampled, self.rows, self.rows_per_person)

    def __setstate__(self, state: Sequence[object]) -> None:
        _restore(self, ("rows", "rows_per_person", "sampled"), state)

    def of_size(self, rows: int) -> ReplaceOne:
        """The relation with one row per person, on a table of `rows` rows."""
        return ReplaceOne(rows)

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        counts = {"rows": self.rows, "rows_per_person": self.rows_per_person}
        return {"relation": self.word, **counts, **_draw_json(self.sampled)}

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return f"It has {number(self.rows)} rows; this number is public and not protected"

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        return f"{self.word}: exactly {self.rows} rows, which is public{_draw_text(self.sampled)}"


Neighbours = AddRemove | ReplaceOne | AddRemovePersons | AddRemoveParts | ReplacePersons

_RELATIONS: tuple[type[AddRemove | ReplaceOne], ...] = (ReplaceOne, AddRemove)

_OF_PERSONS: tuple[type[OfPersons], ...] = (AddRemovePersons, AddRemoveParts, ReplacePersons)
"""The relations whose neighbours differ in all rows of a person. No law of one row holds for them."""


def relations() -> tuple[type[Neighbours], ...]:
    """Every relation of single rows, in the order in which messages list them."""
    return _RELATIONS


def is_relation(value: object) -> TypeGuard[Neighbours]:
    """True if the value is a relation of a registry."""
    return type(value) in (*_RELATIONS, *_OF_PERSONS)


def person_of(neighbours: Neighbours) -> str | None:
    """The column whose equal values mark the rows of one person; None where a person has one row, or so many."""
    return neighbours.person if isinstance(neighbours, OfPersons) and neighbours.each == "rows" else None


def no_persons(neighbours: Neighbours, instead: str) -> str:
    """The end of the message about what needs rows of persons, on a table that has none: why, and what to do `instead`."""
    if isinstance(neighbours, OfPersons):
        return f"the table has one row of each person; {instead}"
    return (
        "the table does not say whose row is whose; declare AddRemove(person=…) with an Identifier in the schema, or "
        f"{instead}"
    )


def protected_rows(word: str) -> str | None:
    """The rows that differ between neighbours, in words; None where they are so many rows of one person as is declared."""
    return next((kind.protected for kind in _OF_PERSONS if kind.word == word), None)


def said_of(word: str, sentence: str) -> str:
    """A sentence about a guarantee, in which whoever is protected is called by what this relation protects."""
    said = sentence.replace("one record", "one person") if is_of_persons(word) else sentence
    return f"{said} {part_words(word)}".rstrip()


def part_words(word: str) -> str:
    """The sentence that goes with a guarantee where any rows of an identifier are protected; empty for other relations."""
    return f"{PART_WORDS}." if find_relation(word) is AddRemoveParts else ""


def is_of_persons(word: str) -> bool:
    """True if the relation with this name protects all rows of a person, whole or in any part."""
    return find_relation(word) in _OF_PERSONS


def find_relation(word: str) -> type[Neighbours]:
    """The relation with this name, which a plan or a document states.

    Raises:
        ArgumentError: no relation has this name.
    """
    known: dict[str, type[Neighbours]] = {kind.word: kind for kind in (*_RELATIONS, *_OF_PERSONS)}
    if word not in known:
        raise ArgumentError(f"neighbours: relation='{word}' is unknown{did_you_mean(word, known)}")
    return known[word]


def neighbours_of(written: Mapping[str, object]) -> Neighbours:
    """The relation that `to_json` has written."""
    facts = {key: value for key, value in written.items() if key not in {"relation", "sampled"}}
    if "sampled" in written:
        facts["sampled"] = draw_of(cast("Mapping[str, object]", written["sampled"]))
    return find_relation(str(written["relation"]))(**facts)  # type: ignore[arg-type]  # it checks its numbers itself


def _check_alone(person: str, rows_per_person: object, sampled: object) -> None:
    if rows_per_person != 1 or sampled is not None:
        raise ArgumentError(
            f"person={printed(person)}: stands alone, because all rows of a person are protected, however many these "
            "are; leave rows_per_person and sampled out"
        )


def counted_rows(neighbours: Neighbours) -> int | None:
    """The public number of rows of the source, or of the table of persons beside it; None where it is private."""
    return neighbours.persons if isinstance(neighbours, ReplacePersons) else neighbours.rows


def _check_draw(sampled: object, rows: int | None, rows_per_person: int) -> None:
    """Checks that a guarantee for the population follows from the draw, if there is one.

    Raises:
        ArgumentError: it does not.
    """
    if sampled is None:
        return
    if not is_draw(sampled):
        raise refuse_design(sampled)
    sampled.check(rows, rows_per_person)


def _draw_json(sampled: Draw | None) -> dict[str, object]:
    return {} if sampled is None else {"sampled": sampled.to_json()}


def _draw_text(sampled: Draw | None) -> str:
    return "" if sampled is None else f"; a secret sample, {sampled.words()}"


def _restore(relation: Neighbours, names: Sequence[str], state: Sequence[object]) -> None:
    """The attributes of a pickle. An older one has no draw."""
    for name, value in zip(names, (*state, None)[: len(names)], strict=True):
        object.__setattr__(relation, name, value)


def whole_number(value: object, name: str, *, least: int) -> int:
    """`value` as a Python int of at least `least` and below 2**40.

    Raises:
        ArgumentError: booleans, other types, or outside the range.
    """
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ArgumentError(f"{name}={printed(value)}: must be a whole number")
    if not least <= number < 2**40:
        raise ArgumentError(f"{name}={printed(number)}: must be at least {least} and below 2**40")
    return number
