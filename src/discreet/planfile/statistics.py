"""A statistic in a plan file: a word alone, or a table with the word, its column or value, and further keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.domain.groups import Bins
from discreet.errors import did_you_mean
from discreet.exact.numbers import Amount
from discreet.planfile.tree import Node
from discreet.statistics.base import Kind, Statistic
from discreet.statistics.other_words import EARLIER, nearest_way
from discreet.statistics.registry import by_word

__all__ = ["statistic_of"]

_ALWAYS = ("weight", "as")


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of the file for the keys of a statistic; `of_group` reads a column or its bins."""

    node: Node
    of_group: Callable[[Node], str | Bins]

    def string(self) -> str:
        return self.node.string()

    def number(self) -> Amount:
        return self.node.number()

    def scalars(self) -> Any:
        return self.node.scalars()

    def items(self) -> Sequence[_Value]:
        return [_Value(item, self.of_group) for item in self.node.items()]

    def entries(self, names: tuple[str, ...]) -> Mapping[str, _Value] | None:
        if not isinstance(self.node.value, dict):
            return None
        return {key: _Value(part, self.of_group) for key, part in self.node.table(names).items()}

    def mapping(self) -> Mapping[str, _Value]:
        return {key: _Value(part, self.of_group) for key, part in self.node.mapping().items()}

    def group(self) -> str | Bins:
        return self.of_group(self.node)


def statistic_of(node: Node, of_group: Callable[[Node], str | Bins]) -> Statistic:
    """The statistic that an entry of the list `statistics` describes.

    Raises:
        PlanError: an unknown word, an unknown key, a value of another type; `place` names the mistake.
    """
    now = by_word()
    known = {**now, **{word: now[later] for word, later in EARLIER.items()}}
    if not isinstance(node.value, dict):
        return _read_word(node)
    words = [key for key in node.value if key in known and known[key].keys.value is not None]
    if len(words) != 1:
        other = next((key for key in node.value if nearest_way(key)), None)
        if other is not None:
            raise node.child(other).wrong(f"'{other}' is not a statistic{nearest_way(other)}")
        valued = [kind.word for kind in now.values() if kind.keys.value is not None]
        node.table((), (*valued, *_ALWAYS, *_further_keys()))
        listed = f"{', '.join(valued[:-1])} or {valued[-1]}"
        raise node.wrong(f'must name one statistic of {listed}, such as {{ mean = "wage" }}')
    return _read_table(node, (words[0], known[words[0]]), of_group)


def _read_word(node: Node) -> Statistic:
    """The statistic of a word without a table."""
    word, known = node.string(), by_word()
    if word not in known:
        raise node.wrong(f"'{word}' is not a statistic{nearest_way(word) or did_you_mean(word, list(known))}")
    keys = known[word].keys
    if not keys.alone:
        lacks = keys.lacks or f"needs a column: write {{ {word} = 'column' }}"
        raise node.wrong(f"'{word}' {lacks}")
    return known[word].of()


def _further_keys() -> list[str]:
    """All further keys of all statistics."""
    every = (kind.keys for kind in by_word().values())
    return list(dict.fromkeys(key for keys in every for key in (*keys.allowed, *keys.needed)))


def _read_table(node: Node, asked: tuple[str, type[Kind]], of_group: Callable[[Node], str | Bins]) -> Statistic:
    word, kind = asked
    keys = kind.keys
    parts = node.table((word, *keys.needed), (*_ALWAYS, *keys.allowed))
    options: dict[str, Any] = {"weight": parts["weight"].number()} if "weight" in parts else {}
    for key, read in (*keys.allowed.items(), *keys.needed.items()):
        if key in parts:
            options[key] = read(_Value(parts[key], of_group))
    with parts[word].locate_errors():
        about = () if keys.value is None else keys.value(_Value(parts[word], of_group))
    with node.locate_errors():
        statistic = kind.of(*about, **options)
    if "as" not in parts:
        return statistic
    with parts["as"].locate_errors():
        return statistic.alias(parts["as"].string())
