"""Unicode normalisation for engines that have none: replacements of text that decide which category a text is.

Two texts have the same NFC form exactly when they have the same NFD form (Unicode Standard Annex 15). Decomposing a text is
replacing single characters, and putting marks in canonical order is exchanging neighbours. For a given list of categories
only finitely many of either can lead to a category, so that a short list of replacements is enough, whatever the text is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations, product

from discreet.cube.value_paths import CategoryPath
from discreet.errors import SourceError

__all__ = ["Spellings", "every_spelling", "replace_all", "spelled_targets", "spellings"]

_PLANES = 0x40000
"""No character beyond has a decomposition."""

_ASCII = {"\u212a": "K", "\u037e": ";", "\u1fef": "`"}
"""The characters outside ASCII whose decomposition is ASCII."""

_TWINS = {letter: letter + x for x, letter in _ASCII.items()}

_LIMIT = 20_000


def every_spelling(categories: Sequence[str]) -> list[tuple[str, int]] | None:
    """All texts whose NFC form is a category, each with the place of its category; None unless they are ASCII and few.

    Proof. ASCII texts are their own NFD form, and two texts have the same NFC form exactly when they have the same NFD form.
    So every character of such a text decomposes into ASCII: it is ASCII itself, or one of `_ASCII`.
    """
    together = "".join(categories)
    if not together.isascii():
        return None
    if not any(letter in together for letter in _TWINS):
        return [(category, place) for place, category in enumerate(categories)]
    most = 2 * len(categories) + 1024
    spelt = ((spelling, place) for place, category in enumerate(categories) for spelling in _spelt(category))
    found = list(islice(spelt, most + 1))
    return None if len(found) > most else found


def spelled_targets(path: CategoryPath) -> list[tuple[str, int]] | None:
    """All texts that are categories of the column, with their targets; None where a text has to be normalised first."""
    words = [value for value in path.column.values if isinstance(value, str)]
    every = every_spelling(words) if words else None
    return None if every is None else [(word, path.targets[place]) for word, place in every]


def _spelt(category: str) -> Iterator[str]:
    """The category, with each of its letters that have a twin as the one or as the other."""
    return map("".join, product(*(_TWINS.get(letter, letter) for letter in category)))


@dataclass(frozen=True, slots=True)
class Spellings:
    """The replacements that turn all spellings of a category into one.

    A text of at most `longest` characters becomes the NFD form of a category, when each of `replacements` is made in turn
    and everywhere, exactly when its NFC form is that category. A longer text is not a category.

    Proof. Each replacement keeps canonical equivalence, so a text that ends as NFD(c) has the NFC form c. Conversely let t
    have the NFD form of c. A character x of t with a decomposition is in one segment of NFD(c), a stretch that begins with
    a character that no decomposition continues with: ordering moves marks between two starters only, hence never out of a
    segment. So x is among the replaced characters, which are all that segments can be composed of. They are single
    characters and none is in a decomposition; after them t is NFD(c) but for the order of marks. The exchanges of all pairs
    follow, repeated: as long as a run of marks is not in order it has neighbours in the wrong order at the start of a round,
    and one of its pairs is exchanged in that round, which takes away one inversion. There are as many rounds as a run of a
    category can have inversions.
    """

    replacements: tuple[tuple[str, str], ...]
    longest: int


def spellings(categories: Collection[str]) -> Spellings:
    """The replacements for these categories. Most lists of ASCII texts need none.

    Raises:
        SourceError: the categories have too many marks: there would be more than 20,000 replacements.
    """
    decomposed = [unicodedata.normalize("NFD", category) for category in categories]
    longest = max(map(len, decomposed))
    if all(text.isascii() for text in decomposed):
        found = [(x, letter) for x, letter in _ASCII.items() if any(letter in text for text in decomposed)]
        return Spellings(tuple(found), longest)
    starts, tails = _decompositions()
    segments = {segment for text in decomposed for segment in _segments(text, tails)}
    composed = {pair for segment in segments for pair in _compose(segment, starts)}
    exchanges = sorted({pair for segment in segments for pair in _exchanges(segment)})
    rounds = max(map(_inversions, segments))
    if len(composed) + len(exchanges) * rounds > _LIMIT:
        raise SourceError("categories: carry too many combining marks for an engine without Unicode normalisation")
    return Spellings((*sorted(composed), *exchanges * rounds), longest)


@lru_cache(maxsize=1)
def _decompositions() -> tuple[dict[str, list[tuple[str, str]]], frozenset[str]]:
    """Characters with a decomposition, by its first character; and all characters that a decomposition continues with."""
    starts: dict[str, list[tuple[str, str]]] = {}
    tails: set[str] = set()
    for character in map(chr, range(_PLANES)):
        text = unicodedata.normalize("NFD", character)
        if text != character:
            starts.setdefault(text[0], []).append((character, text))
            tails.update(text[1:])
    return starts, frozenset(tails)


def _segments(text: str, tails: frozenset[str]) -> Iterator[str]:
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not (unicodedata.combining(text[place]) or text[place] in tails):
            yield text[start:place]
            start = place


def _compose(segment: str, starts: dict[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    for first in set(segment):
        for character, text in starts.get(first, ()):
            if all(text.count(one) <= segment.count(one) for one in text):
                yield character, text


def _exchanges(segment: str) -> Iterator[tuple[str, str]]:
    """Pairs of marks of a segment in the wrong order, and in the right one."""
    for first, second in permutations(sorted({one for one in segment if unicodedata.combining(one)}), 2):
        if unicodedata.combining(first) > unicodedata.combining(second):
            yield first + second, second + first


def _inversions(segment: str) -> int:
    """No order of the marks of the segment has more inversions."""
    classes = [unicodedata.combining(one) for one in segment if unicodedata.combining(one)]
    return sum(one != other for place, one in enumerate(classes) for other in classes[:place])


def replace_all(text: str, known: Spellings) -> str | None:
    """The text with the replacements made; None when it is too long to be a category. What an engine has to do."""
    if len(text) > known.longest:
        return None
    for old, new in known.replacements:
        text = text.replace(old, new)
    return text
