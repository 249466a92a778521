"""A TOML file as a tree of values with their places, so that every error can name file, line and key.

The standard library parses the file. Numbers stay the decimals that were written. A file that would take the parser
excessive time or memory is refused.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import ArgumentError, PlanError, did_you_mean
from discreet.exact.given_paths import content_of, quote_path, reason, require_path
from discreet.exact.numbers import Amount

__all__ = ["GAP", "Decimal", "Keys", "Node", "kind_of", "printable", "read_toml", "toml_root"]

_MAX_BYTES = 1_000_000
_MAX_DEPTH = 9
_SHOWN = 40
# The parser takes quadratic time for a key of many dotted parts: such a key is refused before it is parsed.
_DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
# The number of characters that may be parsed again to find the line of an error.
_SEARCH_CHARACTERS = 1_000_000
_STATEMENT = re.compile(r"""[ \t]*(?:\[|[\w"'-][^=]*=)""")

GAP = object()
"""Stands in a list for an item that was taken away, so that the others keep their positions (`faults`)."""

Keys = tuple[tuple[str, ...], tuple[str, ...]]
"""The required keys of a table, and its optional keys."""


class Decimal(str):
    """A TOML float as it was written: 0.1 stays 1/10. Its type distinguishes it from a text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the file with the keys and positions that lead to it; `text` is the whole file."""

    value: Any
    keys: tuple[str | int, ...]
    file: Path
    text: str

    def child(self, key: str | int) -> Node:
        """The value at a key of a table or a position of a list."""
        return Node(self.value[key], (*self.keys, key), self.file, self.text)

    def wrong(self, rule: str) -> PlanError:
        """The error that names file, line and key."""
        line = _line_of(self.text, self.keys) if self.keys else None
        where = [self.file.name if line is None else f"{self.file.name}:{line}", _join_keys(self.keys)]
        return PlanError(printable(rule), ": ".join(part for part in where if part), self.keys)

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Errors of declarations in the block become errors at this place, or at the key with which the error starts."""
        try:
            yield
        except ArgumentError as error:
            if isinstance(error, PlanError) and error.place:
                raise
            named = re.match(r"(\w+)=", str(error))
            inside = named and isinstance(self.value, dict) and named[1] in self.value
            raise (self.child(named[1]) if named and inside else self).wrong(str(error)) from None

    def table(self, required: tuple[str, ...], optional: tuple[str, ...] = (), *, where: str = "") -> dict[str, Node]:
        """The values of a table that has all `required` keys and otherwise only `optional` keys."""
        self._require_table()
        for key in self.value:
            if key not in required and key not in optional:
                rule = f"no such key{where}{did_you_mean(key, (*required, *optional))}"
                raise self.child(key).wrong(rule)
        for key in required:
            if key not in self.value:
                raise self.wrong(f"the key '{key}' is missing{where}")
        return {key: self.child(key) for key in self.value}

    def choice(self, key: str, known: Mapping[str, Keys]) -> tuple[str, dict[str, Node]]:
        """The text at `key`, which is one of `known`, and the values of the table, whose keys depend on it."""
        self._require_table()
        if key not in self.value:
            every = tuple({name: None for required, optional in known.values() for name in (*required, *optional)})
            self.table((), (key, *every))  # a misspelt key is the more likely mistake
            raise self.wrong(f"the key '{key}' is missing; give one of {', '.join(known)}")
        chosen = self.child(key).string()
        if chosen not in known:
            raise self.child(key).wrong(f"'{chosen}' is unknown{did_you_mean(chosen, known)}")
        required, optional = known[chosen]
        self._offer_other(key, known, (key, *required, *optional))
        return chosen, self.table((key, *required), optional, where=f" (with {key} = '{chosen}')")

    def _offer_other(self, key: str, known: Mapping[str, Keys], allowed: tuple[str, ...]) -> None:
        """Refuses a key that is not allowed with the choice at `key`, where another choice has it and all others."""
        strange = [name for name in self.value if name not in allowed]
        fitting = [name for name, (must, may) in known.items() if {*self.value} <= {key, *must, *may}]
        if strange and fitting:
            other = " or ".join(f"'{name}'" for name in fitting)
            raise self.child(strange[0]).wrong(f"no such key (with {key} = '{self.value[key]}'); it goes with {other}")

    def mapping(self) -> dict[str, Node]:
        """The values of a table with any keys, at least one."""
        self._require_table()
        if not self.value:
            raise self.wrong("must have at least one entry")
        return {key: self.child(key) for key in self.value}

    def items(self) -> list[Node]:
        """The values of a list."""
        if not isinstance(self.value, list):
            short = type(self.value) is str and self.value.isprintable() and len(self.value) <= _SHOWN
            alone = f"; write [{json.dumps(self.value, ensure_ascii=False)}]" if short else ""
            raise self.wrong(f"must be a list [...], not {kind_of(self.value)}{alone}")
        return [self.child(position) for position, value in enumerate(self.value) if value is not GAP]

    def string(self) -> str:
        """The value, which is a text."""
        if type(self.value) is not str:
            raise self.wrong(f"must be a text in quotes, not {kind_of(self.value)}")
        return self.value

    def number(self) -> Amount:
        """The value, which is a number or a text that `exact` can read."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | str):
            raise self.wrong(f'must be a number such as 3, 0.1 or "1/3", not {kind_of(self.value)}')
        return self.value

    def scalars(self) -> Any:
        """A single value or a list of them: texts, numbers, dates, true and false."""
        for node in self.items() if isinstance(self.value, list) else [self]:
            if not isinstance(node.value, str | int | dt.date):
                raise node.wrong(f"must be a single value, not {kind_of(node.value)}")
        return self.value

    def _require_table(self) -> None:
        if not isinstance(self.value, dict):
            raise self.wrong(f"must be a table, not {kind_of(self.value)}")


def kind_of(value: object) -> str:
    """The name of a value's type in an error."""
    kinds = {bool: "true or false", Decimal: "a number", str: "a text", int: "a number", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date or time")


def printable(message: str) -> str:
    """The message with a question mark for every control character: a file can quote anything, and a terminal obeys it."""
    return "".join(char if char.isprintable() else "?" for char in message)


def _join_keys(keys: tuple[str | int, ...]) -> str:
    """The keys as TOML would write them, on one printable line."""
    shown = ""
    for key in keys:
        if isinstance(key, int):
            shown += f"[{key}]"
            continue
        bare = key if len(key) <= 60 else key[:60] + "…"
        quoted = f'"{bare}"' if bare.isprintable() else json.dumps(bare)
        shown += ("." if shown else "") + (bare if re.fullmatch(r"[A-Za-z0-9_-]+", bare) else quoted)
    return shown


def read_toml(path: Path, what: str = "the plan file") -> Node:
    """The root of the TOML file at `path`, a regular file of at most 1 MB; `what` is its name in errors.

    Raises:
        PlanError: the file cannot be read, or one of the cases of `toml_root`.
    """
    try:
        return toml_root(content_of(require_path(path, what), _MAX_BYTES + 1), path)
    except (OSError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        shown = quote_path(path)
        rule = f"{what} cannot be read ({reason(error)}); check the path {shown}"
        raise Node({}, (), Path(shown[1:-1]), "").wrong(rule) from None


def toml_root(content: bytes, path: Path) -> Node:
    """The root of a TOML text of at most 1 MB; `path` is the file that holds it or will hold it.

    Raises:
        PlanError: too large, not UTF-8, not TOML, nested too deeply, whole numbers of more than 64 bits.
    """
    root = Node({}, (), path, "")
    if len(content) > _MAX_BYTES:
        raise root.wrong(f"a plan file has at most {_MAX_BYTES} bytes; put long category lists into a categories_file")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise root.wrong("is not valid UTF-8") from None
    if _DOTTED.search(text):
        raise root.wrong("has a key of more than 32 dotted parts")
    try:
        value = tomllib.loads(text, parse_float=_read_decimal)
    except RecursionError:
        raise root.wrong("is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; whole numbers of thousands of digits raise another
        raise _not_toml(root, error) from None
    root = Node(value, (), path, text)
    _check_values(root)
    return root


def _read_decimal(written: str) -> Decimal:
    return Decimal(written.replace("_", ""))


def _not_toml(root: Node, error: ValueError) -> PlanError:
    if not isinstance(error, tomllib.TOMLDecodeError):
        return root.wrong("has a whole number with thousands of digits")
    found = re.search(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error), re.DOTALL)
    message, line, column = found.groups() if found else (str(error), None, None)
    where = f"{root.file.name}:{line}" if line else root.file.name
    return PlanError(printable(f"is not valid TOML: {message}") + (f" (column {column})" if column else ""), where)


def _check_values(node: Node) -> None:
    """Checks that no value is nested more deeply than a plan needs, and that whole numbers have the 64 bits of TOML."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if len(node.keys) > _MAX_DEPTH:
            raise node.wrong("is nested too deeply")
        if isinstance(node.value, dict | list):
            waiting += [node.child(key) for key in (node.value if isinstance(node.value, dict) else range(len(node.value)))]
        elif isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
            raise node.wrong("has more than 64 bits; write such a number in quotes")


def _line_of(text: str, keys: tuple[str | int, ...]) -> int | None:
    """The line of the statement that defines `keys`; None if the search would take too long.

    The parser does not report lines, but it parses any beginning of the file that ends between two statements. A bisection
    over these beginnings finds the shortest one with `keys`.
    """
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _STATEMENT.match(line)] + [len(lines)]
    patience = _SEARCH_CHARACTERS
    before, after = (
        0,
        len(starts) - 1,
    )  # of these beginnings the first lacks the keys, the second has them
    while after - before > 1:
        middle = (before + after) // 2
        for candidate in [*range(middle, before, -1), *range(middle + 1, after)]:
            beginning = "\n".join(lines[: starts[candidate]])
            patience -= len(beginning)
            if patience < 0:
                return None
            value = _whole(beginning)
            if value is not None:
                before, after = (before, candidate) if _has(value, keys) else (candidate, after)
                break
        else:
            break  # no beginning between the two can be parsed: one statement of several lines
    return starts[before] + 1


def _whole(beginning: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(beginning)
    except ValueError:
        return None


def _has(value: Any, keys: tuple[str | int, ...]) -> bool:
    for key in keys:
        inside = key < len(value) if isinstance(key, int) and isinstance(value, list) else key in value
        if not inside:
            return False
        value = value[key]
    return True
