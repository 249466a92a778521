"""The neighbouring relations that a custodian can declare, with all their facts.

A relation is a frozen class with the attributes that all classes here have, and an entry in the registry. No other code
depends on its kind: the class itself states whether n is public, whether a row appears or is replaced, and its words.

A relation may say how the rows were drawn from a population (`draws`). Charges and noise do not depend on it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Literal, SupportsIndex, TypeGuard, cast

from discreet.domain.draws import Draw, draw_of, is_draw, refuse_design
from discreet.errors import ArgumentError, InternalError, did_you_mean, printed
from discreet.exact.figures import number

__all__ = [
    "AddRemove",
    "AddRemovePersons",
    "Neighbours",
    "ReplaceOne",
    "find_relation",
    "is_of_persons",
    "is_relation",
    "neighbours_of",
    "person_of",
    "relations",
    "said_of",
    "whole_number",
]


@dataclass(frozen=True, slots=True)
class AddRemove:
    """Two tables are neighbours if one has `rows_per_person` rows more than the other; the number of rows is private.

    With `person`, the name of an `Identifier` of the schema, they are neighbours if one has all rows of one person more,
    however many these are: the result is an `AddRemovePersons`.
    """

    rows_per_person: int = 1
    sampled: Draw | None = None
    """The draw of the persons of the file, where that is secret; None: the guarantee is for the rows of the file."""
    person: InitVar[str | None] = field(default=None, kw_only=True)

    word: ClassVar[str] = "add-remove"
    """The name of the relation in plan files and documents."""
    needed: ClassVar[tuple[str, ...]] = ()
    """The further keys that a plan file must have."""
    about: ClassVar[str] = "it is private"
    """Part of a question: whether the number of rows is public."""
    appears: ClassVar[bool] = True
    """True if a row is in one of the two tables only; otherwise it is in both, with other values."""
    allows_totals: ClassVar[bool] = False
    """True if exact totals may be published alongside releases: they make the number of rows public."""
    change: ClassVar[str] = "added or removed"
    compared: ClassVar[str] = "left out, or one person's added"
    guess: ClassVar[str] = "whether one person's data are there at all"
    holds: ClassVar[str] = "one person added or removed"
    """The change of the data of one person, in the words of documents and reports."""

    def __new__(cls, rows_per_person: object = 1, sampled: object = None, *, person: str | None = None) -> AddRemove:
        """With `person` the relation of all rows of a person, which stands for this one."""
        if person is None:
            return object.__new__(cls)
        if rows_per_person != 1 or sampled is not None:
            raise ArgumentError(
                f"person={printed(person)}: stands alone, because all rows of a person are protected, however many these "
                "are; leave rows_per_person and sampled out"
            )
        found: Any = AddRemovePersons(person)
        return cast("AddRemove", found)

    def __post_init__(self, person: str | None) -> None:
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

    A source with another number of rows is refused before anything is spent (`RowsDiffer`, soundness 4).
    """

    rows: int
    rows_per_person: int = 1
    sampled: Draw | None = None

    word: ClassVar[str] = "replace-one"
    needed: ClassVar[tuple[str, ...]] = ("rows",)
    about: ClassVar[str] = "the number of rows is public"
    appears: ClassVar[bool] = False
    allows_totals: ClassVar[bool] = True
    change: ClassVar[str] = "replaced"
    compared: ClassVar[str] = "replaced by anything else"
    guess: ClassVar[str] = "which of two records one person has"
    holds: ClassVar[str] = "one person's data replaced"

    def __post_init__(self) -> None:
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


@dataclass(frozen=True, slots=True)
class AddRemovePersons:
    """Two tables are neighbours if one has all rows of one person more than the other, however many; all else is private.

    `person` names the `Identifier` of the schema whose equal values mark the rows of one person. `AddRemove(person=…)`
    makes it. Requests on such a table bound what one person counts for: `Table.bound`. With `each` = "row" the table that is
    asked has one row of each person, which `Table.per_person` makes of all rows.
    """

    person: str
    each: Literal["rows", "row"] = "rows"

    word: ClassVar[str] = "add-remove-persons"
    needed: ClassVar[tuple[str, ...]] = ("person",)
    about: ClassVar[str] = "it is private, and so is the number of persons"
    appears: ClassVar[bool] = True
    allows_totals: ClassVar[bool] = False
    change: ClassVar[str] = "added or removed"
    compared: ClassVar[str] = "left out with all rows, or one person's added with all rows"
    guess: ClassVar[str] = "whether one person has any rows at all"
    holds: ClassVar[str] = "all rows of one person added or removed"
    rows: ClassVar[int | None] = None
    rows_per_person: ClassVar[int] = 1
    """The factor of group privacy: one person, for whom the sensitivities are. It is not a number of rows."""
    sampled: ClassVar[Draw | None] = None

    def __post_init__(self) -> None:
        if not isinstance(self.person, str) or not self.person:
            raise ArgumentError(f"person={printed(self.person)}: must be the name of a column that is an Identifier")

    def of_size(self, rows: int) -> AddRemovePersons:
        """No table of this relation is brought to a number of rows.

        Raises:
            InternalError: always; a plan refuses the step.
        """
        raise InternalError(f"a table of persons has no {rows} public rows")

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return {"relation": self.word, "person": self.person, **({} if self.each == "rows" else {"each": self.each})}

    def size_words(self) -> str:
        """A sentence for readers about the number of rows: public or confidential."""
        return "The numbers of rows and of persons are confidential and protected"

    def text(self) -> str:
        """A few words for a terminal: the relation, and whether the number of rows is public."""
        made = "" if self.each == "rows" else ", of which one row is made"
        return f"{self.word}: all rows with one value of '{self.person}' are one person{made}; their numbers are private"


Neighbours = AddRemove | ReplaceOne | AddRemovePersons

_RELATIONS: tuple[type[AddRemove | ReplaceOne], ...] = (ReplaceOne, AddRemove)

_OF_PERSONS: tuple[type[AddRemovePersons], ...] = (AddRemovePersons,)
"""The relations whose neighbours differ in all rows of a person. No law of one row holds for them."""


def relations() -> tuple[type[Neighbours], ...]:
    """Every relation of single rows, in the order in which messages list them."""
    return _RELATIONS


def is_relation(value: object) -> TypeGuard[Neighbours]:
    """True if the value is a relation of a registry."""
    return type(value) in (*_RELATIONS, *_OF_PERSONS)


def person_of(neighbours: Neighbours) -> str | None:
    """The column whose equal values mark the rows of one person; None where a person has one row, or so many."""
    return neighbours.person if isinstance(neighbours, AddRemovePersons) and neighbours.each == "rows" else None


def said_of(word: str, sentence: str) -> str:
    """A sentence about a guarantee, in which whoever is protected is called by what this relation protects."""
    return sentence.replace("one record", "one person") if is_of_persons(word) else sentence


def is_of_persons(word: str) -> bool:
    """True if the relation with this name protects all rows of a person together."""
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
