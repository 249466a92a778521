"""The words of a publication about itself in one language: titles, notes, units, and labels of columns and categories.

All of it is public and none of it changes a number, so no digest of a plan has it: a title can be mended, and a language
added, after a release. What is missing in one language is taken from another (`About.over`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from discreet.domain.maps import Map, map_in
from discreet.errors import ArgumentError, did_you_mean, printed

__all__ = ["PARAGRAPHS", "TEXTS", "About", "Labels", "about_in", "check_about", "key_of", "language_tag"]

_MOST_LINE = 500
_MOST_TEXT = 20_000
_MOST_ALL = 1_000_000
_JOINERS = {"\u200c", "\u200d"}
# RFC 5646 without registered exceptions: language, script, region, variants, extensions, private use.
_LANGUAGE = re.compile(
    r"[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(-[a-wyz0-9](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?",
    re.IGNORECASE | re.ASCII,
)


def language_tag(given: object) -> str:
    """The tag of a language as BCP 47 writes it: "de", "pt-BR", "zh-Hant".

    Raises:
        ArgumentError: it is not such a tag.
    """
    if not isinstance(given, str) or len(given) > 60 or not _LANGUAGE.fullmatch(given):
        near = given.replace("_", "-") if isinstance(given, str) else ""
        meant = f"; did you mean '{near}'?" if near != given and _LANGUAGE.fullmatch(near) else ""
        raise ArgumentError(f"language={printed(given)}: must be a tag of BCP 47, such as 'en', 'de' or 'pt-BR'{meant}")
    parts = given.lower().split("-")
    single = next((place for place, part in enumerate(parts) if len(part) == 1), len(parts))
    shown = [part.title() if len(part) == 4 else part.upper() if len(part) == 2 else part for part in parts[1:single]]
    return "-".join([parts[0], *shown, *parts[single:]])


def _line(given: object, what: str) -> str:
    """A text of one line that can be seen, in NFC; empty where there is none."""
    return _require_text(given, what, _MOST_LINE, "")


def _paragraphs(given: object, what: str) -> str:
    """A text that can be seen, in NFC; it may have several lines."""
    return _require_text(given, what, _MOST_TEXT, "\n")


def _require_text(given: object, what: str, most: int, allowed: str) -> str:
    if not isinstance(given, str):
        raise ArgumentError(f"{what}={printed(given)}: must be a text")
    if len(given) > most:
        raise ArgumentError(f"{what}={printed(given)}: has {len(given)} characters; it may have {most}")
    text = unicodedata.normalize("NFC", given.strip())
    hidden = next((char for char in text if _is_hidden(char) and char not in allowed), "")
    if hidden:
        raise ArgumentError(f"{what}={printed(given)}: has the invisible character U+{ord(hidden):04X}; take it out")
    return text


def _is_hidden(char: str) -> bool:
    """True if a character cannot be seen, as one that turns the direction of writing around; joiners are parts of words."""
    return unicodedata.category(char) in {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"} and char not in _JOINERS


@dataclass(frozen=True, slots=True)
class Labels:
    """The words for a column of the data, or for a statistic of a release.

    Args:
        label: the name that people read.
        unit: the unit of its numbers, such as "US dollar".
        categories: a label for each category, or for a bin such as "[18, 30)"; those left out are shown as they are.
        unknown: the label of the group of rows in which it is null.

    Raises:
        ArgumentError: a text is not one, is too long, or has characters that cannot be seen.
    """

    label: str = ""
    unit: str = ""
    categories: Mapping[Any, str] = field(default_factory=dict)
    unknown: str = ""

    def __post_init__(self) -> None:
        for name in ("label", "unit", "unknown"):
            object.__setattr__(self, name, _line(getattr(self, name), name))
        given = _mapping(self.categories, "categories")
        shown = {key_of(one): _line(text, "categories") for one, text in given.items()}
        object.__setattr__(self, "categories", MappingProxyType(shown))

    def __reduce__(self) -> tuple[type[Labels], tuple[object, ...]]:
        return Labels, (self.label, self.unit, dict(self.categories), self.unknown)

    def over(self, other: Labels) -> Labels:
        """These words, and the others' where there are none."""
        both = {**other.categories, **self.categories}
        return Labels(self.label or other.label, self.unit or other.unit, both, self.unknown or other.unknown)

    def to_json(self) -> dict[str, object]:
        """The entries that are present."""
        parts = {"label": self.label, "unit": self.unit, "categories": dict(self.categories), "unknown": self.unknown}
        return {key: value for key, value in parts.items() if value}


def key_of(value: object) -> str:
    """A category as a key of a plan file: true, false, 17, or the text itself."""
    return str(value).lower() if isinstance(value, bool) else unicodedata.normalize("NFC", str(value))


@dataclass(frozen=True, slots=True)
class About:
    """The texts of a publication in one language.

    Args:
        language: of the texts, a tag of BCP 47.
        title: of one line.
        description: what is shown; it may have several paragraphs.
        universe: whom or what the numbers speak of, such as "persons of 16 years and over".
        period: the reference period, such as "2019" or "2019-01-01/2019-12-31".
        publisher: who is responsible for it.
        contact: where to ask, such as an address of e-mail.
        licence: under which the numbers may be used, such as "CC-BY-4.0".
        notes: what else the reader has to know.
        columns: words for columns of the data, by name.
        statistics: words for the columns of numbers in the release, or for its further frames, by name.
        releases: for each release of a plan, by name, what differs there: an `About` of the same language.
        map: the shapes of the groups of a column, for the report (`read_map`).

    Raises:
        ArgumentError: a text is not one, is too long, or has characters that cannot be seen; the language is not a tag; or
            all texts together have more than 1,000,000 characters.
    """

    language: str = "en"
    title: str = ""
    description: str = ""
    universe: str = ""
    period: str = ""
    publisher: str = ""
    contact: str = ""
    licence: str = ""
    notes: Sequence[str] = ()
    columns: Mapping[str, Labels] = field(default_factory=dict)
    statistics: Mapping[str, Labels] = field(default_factory=dict)
    releases: Mapping[str, About] = field(default_factory=dict)
    map: Map | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", language_tag(self.language))
        for name in TEXTS:
            read = _paragraphs if name in PARAGRAPHS else _line
            object.__setattr__(self, name, read(getattr(self, name), name))
        object.__setattr__(self, "notes", _notes(self.notes))
        for name, kind in (("columns", Labels), ("statistics", Labels), ("releases", About)):
            object.__setattr__(self, name, MappingProxyType(_of_kind(getattr(self, name), name, kind)))
        if not isinstance(self.map, Map | None):
            raise ArgumentError(f"map={printed(self.map)}: must be a Map; read one with read_map(file, key=…, column=…)")
        if _size(self) > _MOST_ALL:
            raise ArgumentError(f"about: has more than {_MOST_ALL} characters; leave labels out that nobody needs")

    def __reduce__(self) -> tuple[type[About], tuple[object, ...]]:
        return About, tuple(_plain(getattr(self, one.name)) for one in fields(self))

    def over(self, other: About) -> About:
        """These texts, and the others' where there are none; in the language of these."""
        texts = {name: getattr(self, name) or getattr(other, name) for name in (*TEXTS, "notes")}
        return replace(
            self,
            **texts,
            columns=_both(self.columns, other.columns),
            statistics=_both(self.statistics, other.statistics),
            map=self.map or other.map,
        )

    def of(self, release: str) -> About:
        """The texts of one release of a plan: its own, and the common ones where it has none."""
        own = self.releases.get(release)
        return replace(self if own is None else replace(own, language=self.language).over(self), releases={})

    def only(self, columns: Collection[str]) -> About:
        """Without the words for other columns, and without a map of another column."""
        return replace(
            self, columns={name: words for name, words in self.columns.items() if name in columns}, map=self._map(columns)
        )

    def within(self, columns: Mapping[str, Collection[str]], names: Collection[str]) -> About:
        """Without the words for columns, categories and numbers that are not there (see `check_about`)."""
        words = {
            name: replace(own, categories={key: text for key, text in own.categories.items() if key in columns[name]})
            for name, own in self.columns.items()
            if name in columns
        }
        numbers = {name: own for name, own in self.statistics.items() if name in names}
        return replace(self, columns=words, statistics=numbers, map=self._map(columns))

    def _map(self, columns: Collection[str]) -> Map | None:
        return self.map if self.map is not None and self.map.column in columns else None

    def column(self, name: str) -> Labels:
        """The words for a column of the data."""
        return self.columns.get(name, _NO_LABELS)

    def statistic(self, name: str) -> Labels:
        """The words for a column of numbers, or for a frame."""
        return self.statistics.get(name, _NO_LABELS)

    def to_json(self) -> dict[str, object]:
        """The entries that are present, as a release document holds them."""
        parts: dict[str, object] = {name: getattr(self, name) for name in TEXTS}
        parts["notes"] = list(self.notes)
        for name in ("columns", "statistics", "releases"):
            parts[name] = {key: words.to_json() for key, words in getattr(self, name).items()}
        parts["map"] = None if self.map is None else self.map.to_json()
        return {"language": self.language, **{key: value for key, value in parts.items() if value}}


PARAGRAPHS = frozenset({"description"})
"""The texts that may have several lines."""

TEXTS = ("title", "description", "universe", "period", "publisher", "contact", "licence")
"""The names of the single texts."""


def _size(about: About) -> int:
    """The number of characters of all texts."""
    own = sum(len(getattr(about, name)) for name in TEXTS) + sum(map(len, about.notes))
    words = [*about.columns.values(), *about.statistics.values()]
    labels = sum(len(key) + len(text) for one in words for key, text in one.categories.items())
    return own + labels + sum(map(_size, about.releases.values()))


def _mapping(given: object, what: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what}={printed(given)}: must map names to texts")
    return given


def _of_kind(given: object, what: str, kind: type) -> dict[str, Any]:
    """The entries of a mapping from names to words."""
    for name, words in _mapping(given, what).items():
        if not isinstance(name, str) or not isinstance(words, kind):
            raise ArgumentError(f"{what}: {printed(name)} must be a name with {kind.__name__}(…), not {printed(words)}")
    return {unicodedata.normalize("NFC", name): words for name, words in _mapping(given, what).items()}


def _notes(given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ArgumentError(f"notes={printed(given)}: must be a list of texts")
    return tuple(_paragraphs(note, f"notes[{place}]") for place, note in enumerate(given))


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def _both(own: Mapping[str, Labels], other: Mapping[str, Labels]) -> dict[str, Labels]:
    names = [*other, *(name for name in own if name not in other)]
    return {name: own.get(name, _NO_LABELS).over(other.get(name, _NO_LABELS)) for name in names}


_NO_LABELS = Labels()


def about_in(stated: Any) -> About:
    """The texts of one language that a document holds.

    Raises:
        ArgumentError, TypeError, AttributeError: discreet has not written them.
    """
    parts = dict(stated)
    for name in ("columns", "statistics"):
        parts[name] = {key: Labels(**words) for key, words in parts.get(name, {}).items()}
    if "map" in parts:
        parts["map"] = map_in(parts["map"])
    return About(**parts)


def check_about(about: About, columns: Mapping[str, Collection[str]], names: Collection[str]) -> None:
    """Checks that every column, category and statistic that has words is there.

    Args:
        about: the texts.
        columns: the declared columns, each with the keys of its categories and of its bins.
        names: the columns of numbers and the frames.

    Raises:
        ArgumentError: a name that is not there, with the nearest that is.
    """
    for column, words in about.columns.items():
        if column not in columns:
            raise ArgumentError(f"columns: {printed(column)} is not a column{did_you_mean(column, columns)}")
        for category in words.categories:
            if category not in columns[column]:
                near = did_you_mean(category, columns[column])
                raise ArgumentError(f"columns: {printed(category)} is not a category of '{column}'{near}")
    if about.map is not None and about.map.column not in columns:
        raise ArgumentError(f"map: {printed(about.map.column)} is not a column{did_you_mean(about.map.column, columns)}")
    for name in about.statistics:
        if name not in names:
            raise ArgumentError(f"statistics: the release has no {printed(name)}{did_you_mean(name, names)}")
    for own in about.releases.values():
        check_about(own, columns, names)
