"""The words of a page in one language: texts by key, numbers and dates, and sentences of the library.

A page says what stands in the file of its language, which has the same keys and the same placeholders as the others. What
the library itself says in English, in documents that stay as they are, is translated sentence by sentence: the table
`library` of a language has pairs of templates. A sentence that it does not have stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.domain.declared_words import MOST_LISTED
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import enumerate_texts, interval, name, number

__all__ = ["MAIN", "Words", "english", "languages", "words_in"]

MAIN = "en"
"""The language of the library itself, and of a page whose language has no file."""

_FOLDER = Path(__file__).parent
_PLACE = re.compile(r"\{(\w+)(?::(\w))?\}")
_FIGURE = re.compile(r"[≤−-]?\s?[\d,]*\.?\d+(e[−+-]?\d+)?(\s%)?")
_NUMBER = r"[\d\s.,/−+≤≈=∞e%ερδμ²-]+?"
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z(])")
_QUOTED = re.compile(r"“([^“”]*+)”(?=$|, | and | or | \()")
_LONGEST = 50_000
"""Longer texts are lists of names, which no language changes."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence of the library in English, and the same in the language.

    Args:
        pattern: finds the English one, with a group for each placeholder. A placeholder ends where the text after it first
            stands, so that no name makes the search long.
        kinds: how each placeholder is carried over: "n" is a number, "t" a text to translate, "l" an enumeration of names,
            "v" one of values in quotation marks, "w" one of titles, "c" of columns as queries call them; any other is a
            name, which stays as it is.
        text: the sentence in the language.
        several: whether it is more than one sentence; one alone is not sought where there are several.
    """

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    text: str
    several: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that a language says.

    Args:
        language: its tag.
        texts: by key, such as "report.contents"; several forms where a text counts something, the first for one.
        templates: sentences of the library.
    """

    language: str
    texts: Mapping[str, Any]
    templates: tuple[Template, ...]

    def __call__(self, key: str, /, **facts: str) -> str:
        """The text with this key, with the facts in the places of their names.

        Raises:
            KeyError: there is no such text, or it names another fact.
        """
        return str(self.texts[key]).format(**facts)

    def many(self, key: str, many: int, /, **facts: str) -> str:
        """The form of a text for this number, which stands at `{n}`."""
        one, more = self.texts[key]
        return str(one if many == 1 else more).format(n=self.number(many), **facts)

    def table(self, start: str) -> dict[str, str]:
        """All texts whose keys begin so, by the rest of their keys: for scripts, which cannot ask."""
        return {key.removeprefix(start): text for key, text in self.texts.items() if key.startswith(start)}

    # Numbers, dates and names -----------------------------------------------------------------------------------------

    def figures(self, text: str) -> str:
        """A text of the library with numbers in it, 1,414.5, with the marks of the language: 1.414,5."""
        marks = {",": self.texts["form.thousands"], ".": self.texts["form.decimal"]}
        return re.sub(r"(?<=\d)[,.](?=\d)", lambda mark: marks[mark[0]], text)

    def number(self, value: float | None, decimals: int = 0) -> str:
        """As `discreet.exact.figures.number`, with the marks of the language."""
        return self.figures(number(value, decimals))

    def interval(self, low: float, high: float, decimals: int = 0) -> str:
        """As `discreet.exact.figures.interval`: rounded outwards."""
        return self.figures(interval(low, high, decimals))

    def day(self, iso: str) -> str:
        """A date or time, "2026-11-23" or "2026-11-23T10:00:00Z", as the language writes its day: 23 November 2026."""
        found = re.match(r"(\d{4})-(\d\d)-(\d\d)", iso)
        if found is None or not 1 <= int(found[2]) <= 12:
            return iso
        month = self.texts["form.months"][int(found[2]) - 1]
        return self("form.day", day=str(int(found[3])), month=month, year=found[1])

    def titles(self, titles: Sequence[str]) -> str:
        """Titles of statistics as the beginning of a sentence, each with its article where the language has one."""
        article = self("form.the")
        shown = [f"{article} {title[:1].lower()}{title[1:]}" if article else title for title in titles]
        listed = self.enumerate(shown) if article else ", ".join(shown)
        return f"{listed[:1].upper()}{listed[1:]}"

    def enumerate(self, texts: Sequence[str], last: str = "and") -> str:
        """As `discreet.domain.declared_words.list_names`: "a, b and c", and how many more of a long list."""
        shown, more = texts[:MOST_LISTED], len(texts) - MOST_LISTED
        if more > 0:
            return f"{', '.join(shown)} {self.many('form.more', more)}"
        return enumerate_texts(shown, self(f"form.{last}"))

    def quoted(self, text: str) -> str:
        """The text in the quotation marks of the language."""
        return self("form.quoted", text=text)

    def name(self, value: object) -> str:
        """As `discreet.exact.figures.name`, with the words for what is not known, true and false."""
        if value is None or isinstance(value, bool):
            return self({None: "form.unknown", True: "form.true", False: "form.false"}[value])
        return name(value)

    # Sentences of the library -----------------------------------------------------------------------------------------

    def said(self, text: str) -> str:
        """A sentence of the library, translated into the language; a sentence that is not known stays as it is."""
        if not self.templates or not text or len(text) > _LONGEST:
            return text
        parts = _SENTENCES.split(text)
        several = len(parts) > 1
        whole = self._sentence(text, several=several)
        if whole is not None:
            return whole
        found = [self._sentence(part, several=False) for part in parts]
        return " ".join(part if own is None else own for part, own in zip(parts, found, strict=True))

    def _sentence(self, text: str, *, several: bool) -> str | None:
        """One sentence, or several that have one template, in the language; None where it has no template."""
        if _FIGURE.fullmatch(text):
            return self.figures(text)
        for template in self.templates:
            found = template.pattern.fullmatch(text) if template.several is several else None
            if found is not None:
                facts = {key: self._translate_part(template.kinds[key], part) for key, part in found.groupdict().items()}
                return template.text.format(**facts)
        return None

    def _translate_part(self, kind: str, part: str) -> str:
        """A part of a sentence in the language: a text, an enumeration, a number, or a name that stays as it is."""
        if kind == "t":
            return self.said(part)
        if kind == "w":
            titles = re.split(r", the | and the ", part.removeprefix("The "))
            return ", ".join(self.said(f"{title[:1].upper()}{title[1:]}") for title in titles)
        if kind == "l":
            return self._enumeration(part)
        if kind == "v":
            pieces = enumerate(_QUOTED.split(part))  # every second one was in quotation marks
            return "".join(self.quoted(one) if place % 2 else self.figures(self._enumeration(one)) for place, one in pieces)
        if kind == "c":
            return ", ".join(map(self._column, part.split(", ")))
        return self.figures(part) if kind == "n" or _FIGURE.fullmatch(part) else part

    def _enumeration(self, part: str) -> str:
        """Names as they are, with the words between them in the language."""
        part = re.sub(r" and (\d+) more$", lambda more: f" {self.many('form.more', int(more[1]))}", part)
        word = "or" if " or " in part else "and"
        start, between, last = part.rpartition(f" {word} ")
        return f"{start} {self(f'form.{word}')} {last}" if between else part

    def _column(self, called: str) -> str:
        """A column as queries call it: its name, and what is said of its values in the language."""
        for key in ("form.nulls", "form.clamped", "form.recorded"):
            if called.endswith(english()(key)):
                return called.removesuffix(english()(key)) + self(key)
        return called


def languages() -> tuple[str, ...]:
    """The tags of the languages that pages can have."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def words_in(language: str, *, demanded: bool = False) -> Words:
    """The words of a language, "de" also for "de-AT"; those of `MAIN` where it has no file, unless it is `demanded`.

    Raises:
        ArgumentError: the language is demanded, and has no file.
    """
    known = languages()
    found = language if language in known else language.partition("-")[0]
    if found not in known and demanded:
        raise ArgumentError(f"language={printed(language)}: pages have no words in it{did_you_mean(language, known)}")
    return _read(found if found in known else MAIN)


def english() -> Words:
    """The words of `MAIN`, for texts that have one language only."""
    return _read(MAIN)


@cache
def _read(language: str) -> Words:
    with (_FOLDER / f"{language}.toml").open("rb") as file:
        parts = tomllib.load(file)
    pairs = parts.pop("library", {}).get("sentences", ())
    texts = dict(_flat(parts))
    return Words(language, MappingProxyType(texts), tuple(_template(*pair) for pair in pairs))


def _flat(parts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, part in parts.items():
        if isinstance(part, dict):
            yield from _flat(part, f"{before}{key}.")
        else:
            yield f"{before}{key}", tuple(part) if isinstance(part, list) else part


def _template(english: str, text: str) -> Template:
    """A pair of sentences. Each placeholder but the last ends at the first place where the text after it stands."""
    kinds = {found[1]: found[2] or "" for found in _PLACE.finditer(english)}
    pieces = _PLACE.split(english)
    pattern = re.escape(pieces[0])
    for place in range(1, len(pieces), 3):
        what = _NUMBER if pieces[place + 1] == "n" else ".+?"
        own, after = rf"(?P<{pieces[place]}>{what})", re.escape(pieces[place + 2])
        last = place + 3 >= len(pieces)
        pattern += f"{own}{after}" if last else f"(?>{own}{after})"
    return Template(re.compile(pattern, re.DOTALL), MappingProxyType(kinds), text, len(_SENTENCES.split(english)) > 1)
