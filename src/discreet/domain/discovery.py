"""Groups that nobody listed: what is asked for, and which groups there are before and after they were looked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from discreet.domain.categories import check_text
from discreet.domain.columns import Category
from discreet.domain.neighbours import whole_number
from discreet.domain.schema import Schema
from discreet.domain.steps import CategoryFacts, TableFacts
from discreet.errors import ArgumentError, PlanError, SchemaError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text

__all__ = ["OTHER", "Discover", "Keys", "keys_of", "top", "with_keys"]

OTHER = "other"
"""The group of rows whose text is neither known nor found."""

_MOST_KNOWN = 100_000
_MOST_AT_LEAST = 10**6


@dataclass(frozen=True, slots=True, init=False)
class Discover:
    """The groups of a `Text` column: its known texts, and those that are found because many persons have them.

    Args:
        column: a `Text`.
        known: public texts that are groups whatever the data are. They cost nothing.
        share: of the spend for the statistics, the part with which groups are looked for.
        at_least: a group is found only if so many persons have it.
        other: True for a group "other" of the rows whose text is neither known nor found.
        most: at most so many are found, those with the greatest noisy weights; None for as many as there are.

    Raises:
        PlanError: an argument of the wrong type or out of range, or a text that is listed twice.
    """

    column: str
    known: tuple[str, ...]
    share: Fraction
    at_least: int
    other: bool
    most: int | None

    def __init__(
        self,
        column: str,
        *,
        known: Iterable[str] = (),
        share: Amount = "0.3",
        at_least: int = 1,
        other: bool = False,
        most: int | None = None,
    ) -> None:
        if not isinstance(column, str):
            raise PlanError(f"Discover({printed(column)}): must be the name of a Text column")
        if not isinstance(other, bool):
            raise PlanError(f"Discover('{column}'): other={printed(other)} must be True or False")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "known", _known(column, known, other=other))
        object.__setattr__(self, "share", _share(column, share))
        object.__setattr__(self, "at_least", _whole(column, "at_least", at_least))
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "most", None if most is None else _whole(column, "most", most))

    def to_json(self) -> dict[str, object]:
        """What is asked for, as canonical JSON values."""
        said: dict[str, object] = {"share": text(self.share)}
        said |= {"known": list(self.known)} if self.known else {}
        said |= {"at_least": self.at_least} if self.at_least > 1 else {}
        said |= {"other": True} if self.other else {}
        return said if self.most is None else {**said, "most": self.most}


def top(column: str, most: int, *, share: Amount = "0.3", at_least: int = 1, other: bool = False) -> Discover:
    """The `most` groups of a `Text` column with the greatest noisy weights, or fewer if fewer are found.

    The same as `Discover` with `most`: what is found is cut to these, at no further cost.

    Raises:
        PlanError: as for `Discover`.
    """
    return Discover(column, share=share, at_least=at_least, other=other, most=most)


def _known(column: str, listed: object, *, other: bool) -> tuple[str, ...]:
    where = f"Discover('{column}')"
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise PlanError(f"{where}: known={printed(listed)} must be a list of texts")
    found: dict[str, None] = {}
    for one in listed:
        if not isinstance(one, str):
            raise PlanError(f"{where}: known has {printed(one)}, which is not a text")
        kept = unicodedata.normalize("NFC", one)
        try:
            check_text(kept, f"{where}: known text")
        except SchemaError as wrong:
            raise PlanError(str(wrong)) from None
        if kept in found or (other and kept == OTHER):
            taken = "is listed twice" if kept in found else "is the name of the group of all others; leave it out"
            raise PlanError(f"{where}: known text {printed(one)} {taken}")
        found[kept] = None
    if len(found) > _MOST_KNOWN:
        raise PlanError(f"{where}: {len(found)} known texts are more than {_MOST_KNOWN}; leave some to be found")
    return tuple(found)


def _share(column: str, share: Amount) -> Fraction:
    try:
        part = exact(share, "share")
    except ArgumentError as wrong:
        raise PlanError(f"Discover('{column}'): {wrong}") from None
    if not 0 < part < 1:
        raise PlanError(f"Discover('{column}'): share={text(part)} must be above 0 and below 1")
    return part


def _whole(column: str, name: str, value: object) -> int:
    try:
        found = whole_number(value, name, least=1)
    except ArgumentError as wrong:
        raise PlanError(f"Discover('{column}'): {wrong}") from None
    if found > _MOST_AT_LEAST:
        raise PlanError(f"Discover('{column}'): {name}={found} must be at most {_MOST_AT_LEAST}")
    return found


@dataclass(frozen=True, slots=True)
class Keys:
    """The groups of a column of texts. `found` is None where nobody has looked for them yet."""

    discover: Discover
    max_length: int
    found: tuple[str, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The groups but the null group: known ones, found ones, and the group of all others."""
        return (*self.discover.known, *(self.found or ()), *((OTHER,) if self.discover.other else ()))

    @property
    def listed(self) -> tuple[str, ...]:
        """The groups that are texts of the column."""
        return (*self.discover.known, *(self.found or ()))


def keys_of(discover: Discover, schema: Schema) -> Keys:
    """What is asked of a column, before anybody has looked for its groups.

    Raises:
        PlanError: the column is not a `Text` of the schema, or a known text is longer than it allows.
    """
    name = discover.column
    if name not in schema.texts:
        if name in schema.columns:
            raise PlanError(f"Discover('{name}'): the groups of the column are declared; group by '{name}' itself")
        raise PlanError(f"Discover({printed(name)}): is not a Text column of the schema{did_you_mean(name, schema.texts)}")
    most = schema.texts[name].max_length
    long = next((one for one in discover.known if len(one) > most), None)
    if long is not None:
        raise PlanError(f"Discover('{name}'): known text {printed(long)} has more than the {most} characters of the column")
    return Keys(discover, most)


def with_keys(facts: TableFacts, keys: Keys | None) -> TableFacts:
    """The facts of the table where the column of texts has these groups; texts that are in none of them are in no group."""
    if keys is None:
        return facts
    labels = keys.labels
    column = Category(labels or (OTHER,))  # a column has a category; where no group is there, none of them is kept
    known = CategoryFacts(column, tuple(range(len(labels))))
    return replace(facts, columns=MappingProxyType({**facts.columns, keys.discover.column: known}))
