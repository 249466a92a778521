"""The `[parameters]` section of a plan file: what one plan for many months leaves open, and the values that fill it.

A value replaces `{name}` inside a text of the parsed file. It is never read as TOML, and it can stand in a few places only:
who gives a value does not decide what else is read, asked or charged.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import did_you_mean, printed
from discreet.exact.names import one_form
from discreet.planfile.tree import Keys, Node

__all__ = ["SECTION", "Filled", "fill_in"]

SECTION = "parameters"
_LONGEST = 200
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PARTS = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_IN_PATHS = re.compile(r"[\w-]+(?:[.][\w-]+)*")

_SOURCE, _ROWS = ("data", "source"), ("data", "rows")
_PLACES = (
    ("data", "dataset"),
    _SOURCE,
    _ROWS,
    ("release", None, "name"),
    ("release", None, "title"),
    ("release", None, "where"),
    ("release", None, "window"),
    ("derive", None, "release"),
    *(("derive", None, operand, "release") for operand in ("ratio", "under", "change", "since")),
    ("derive", None, "combine", None, "release"),
    ("test", None, "release"),
)
"""The keys at which, or below which, a parameter may stand; None is any position of a list."""
_SHOWN_PLACES = (
    "dataset, source and rows of [data], in name, title, where and window of a release, and where a release is named"
)


@dataclass(frozen=True, slots=True)
class Filled:
    """A plan file without open parameters, and the values that they were given, as texts."""

    root: Node
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Type:
    """A type of parameters: how its values look, the keys of the least and the greatest, and what they are compared as.

    `order` raises ValueError for a text that looks like a value and is none.
    """

    form: re.Pattern[str]
    words: str
    keys: tuple[str, ...]
    order: Callable[[str], Any]


_TYPES: Mapping[str, _Type] = {
    "text": _Type(re.compile(r".*"), "a text", ("pattern",), str),
    "integer": _Type(re.compile(r"0|-?[1-9][0-9]{0,17}"), "a whole number such as 2026", ("lower", "upper"), int),
    "date": _Type(
        re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "a day such as 2026-11-30", ("first", "last"), dt.date.fromisoformat
    ),
    "month": _Type(
        re.compile(r"[0-9]{4}-[0-9]{2}"),
        "a month such as 2026-11",
        ("first", "last"),
        lambda month: dt.date.fromisoformat(f"{month}-01"),
    ),
}
_KEYS: Mapping[str, Keys] = {word: ((), (*kind.keys, "allowed")) for word, kind in _TYPES.items()}


def fill_in(root: Node, given: Mapping[str, object]) -> Filled:
    """The plan in which every parameter has its value; a plan without parameters as it is.

    Raises:
        PlanError: a value is missing, not declared, or not of its type; a parameter is used nowhere, or elsewhere.
    """
    there = isinstance(root.value, dict) and SECTION in root.value
    declared = root.child(SECTION).mapping() if there else {}
    checks = {name: _read_declaration(name, node) for name, node in declared.items()}
    for name in given:
        if name not in declared:
            known = did_you_mean(name, declared) if declared else "; it has no [parameters]"
            raise Node({}, (), root.file, "").wrong(f"the plan has no parameter {printed(name)}{known}")
    if not there:
        return Filled(root, {})
    missing = [name for name in declared if name not in given]
    if missing:
        asked = " ".join(f"--set {name}=…" for name in missing)
        raise declared[missing[0]].wrong(f"has no value; give one with {asked}")
    values = {name: check(_text_of(declared[name], given[name])) for name, check in checks.items()}
    whole = Node({key: value for key, value in root.value.items() if key != SECTION}, (), root.file, root.text)
    used: set[str] = set()
    _check_data_set(whole, declared)
    replaced = _replace(whole, {name: (declared[name], value) for name, value in values.items()}, used)
    for name, node in declared.items():
        if name not in used:
            raise node.wrong(f"is used nowhere; write {{{name}}} in {_SHOWN_PLACES}, or leave the parameter out")
    return Filled(Node(replaced, (), root.file, root.text), values)


# Declarations and values ----------------------------------------------------------------------------------------------


def _read_declaration(name: str, node: Node) -> Callable[[str], str]:
    """The check of a value of the parameter, whose declaration is sound."""
    if not _NAME.fullmatch(name):
        raise node.wrong("the name of a parameter has letters, digits and underscores, and begins with a letter")
    word, parts = node.choice("type", _KEYS)
    kind = _TYPES[word]
    if word == "text" and not {"pattern", "allowed"} & parts.keys():
        raise node.wrong('needs a pattern or a list such as allowed = ["north", "south"], so that not every text will do')
    pattern = _pattern(parts["pattern"]) if "pattern" in parts else None
    ends = {key: _of_kind(kind, parts[key], parts[key].value) for key in kind.keys if key in parts and key != "pattern"}
    least, most = ends.get(kind.keys[0]), ends.get(kind.keys[-1])
    allowed = [_of_kind(kind, item, item.value) for item in parts["allowed"].items()] if "allowed" in parts else None

    def check(value: str) -> str:
        _of_kind(kind, node, value)
        if least is not None and kind.order(value) < kind.order(least):
            raise node.wrong(f"'{value}' is before {least}")
        if most is not None and kind.order(value) > kind.order(most):
            raise node.wrong(f"'{value}' is after {most}")
        if pattern is not None and not pattern.fullmatch(value):
            raise node.wrong(f"'{value}' does not match its pattern {pattern.pattern}")
        if allowed is not None and value not in allowed:
            raise node.wrong(f"'{value}' is not one of its allowed values{did_you_mean(value, allowed)}")
        return value

    return check


def _pattern(node: Node) -> re.Pattern[str]:
    written = node.string()
    try:
        if len(written) <= _LONGEST:
            return re.compile(written)
    except (re.error, RecursionError, OverflowError):
        pass
    raise node.wrong(f"must be a regular expression of at most {_LONGEST} characters") from None


def _of_kind(kind: _Type, node: Node, value: object) -> str:
    """The text of a value of this type."""
    text = _text_of(node, value)
    try:
        if kind.form.fullmatch(text):
            kind.order(text)
            return text
    except ValueError:
        pass
    raise node.wrong(f"'{text}' is not {kind.words}") from None


def _text_of(node: Node, value: object) -> str:
    """A value as the text that somebody would type: printable, in the form in which names are compared."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        value = str(value)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = value.isoformat()
    text = one_form(value) if isinstance(value, str) else ""
    if not text or len(text) > _LONGEST or not text.isprintable() or text != text.strip():
        raise node.wrong(
            f"{printed(value)}: a value is a text of 1 to {_LONGEST} printable characters without blanks at its ends, a "
            "whole number, or a day"
        )
    return text


def _check_data_set(root: Node, declared: Mapping[str, Node]) -> None:
    """Checks that a value that chooses a data set chooses its source too: the same rows must not get a second budget."""
    data = root.value.get("data") if isinstance(root.value, dict) else None
    parts = data if isinstance(data, dict) else {}
    named, read = (
        set(_PARTS.findall(text)) if isinstance(text := parts.get(key), str) else set() for key in ("dataset", "source")
    )
    for name, node in declared.items():
        if name in named - read:
            raise node.wrong(
                f"stands in dataset and not in source, so that every value would give the same rows a new budget; write "
                f"{{{name}}} in source too, or leave it out of dataset"
            )


# Replacing ------------------------------------------------------------------------------------------------------------

_Values = Mapping[str, tuple[Node, str]]


def _replace(node: Node, values: _Values, used: set[str]) -> Any:
    """The value of the node with the parameters in its texts replaced; `used` collects their names."""
    if isinstance(node.value, dict):
        return {key: _replace(node.child(key), values, used) for key in node.value}
    if isinstance(node.value, list):
        return [_replace(node.child(place), values, used) for place in range(len(node.value))]
    if type(node.value) is not str or not {"{", "}"} & {*node.value}:
        return node.value
    if not any(_is_at(node.keys, place) for place in _PLACES):
        named = next((name for name in _PARTS.findall(node.value) if name in values), None)
        if named is not None:
            raise node.wrong(f"no parameter may stand here, such as {{{named}}}; one may stand in {_SHOWN_PLACES}")
        return node.value
    return _substitute(node, values, used)


def _is_at(keys: tuple[str | int, ...], place: tuple[str | None, ...]) -> bool:
    same = (isinstance(key, int) if part is None else key == part for key, part in zip(keys, place, strict=False))
    return len(keys) >= len(place) and all(same)


def _substitute(node: Node, values: _Values, used: set[str]) -> str | int:
    """The text with the values in it; a whole number where one is all of it."""

    def put(found: re.Match[str]) -> str:
        if found[0] in {"{{", "}}"}:
            return found[0][0]
        if found[1] is None or found[1] not in values:
            known = did_you_mean(found[1] or "", values)
            raise node.wrong(f"{found[0]} names no parameter{known}; write {{{{ and }}}} for braces")
        declared, value = values[found[1]]
        if node.keys == _SOURCE and not _IN_PATHS.fullmatch(value):
            raise declared.wrong(
                f"'{value}' cannot be a part of a source: letters, digits, - and _ can, and single points between them"
            )
        used.add(found[1])
        return value

    text = _PARTS.sub(put, node.value)
    alone = _PARTS.fullmatch(node.value)
    if alone and alone[1] in values and values[alone[1]][0].value["type"] == "integer":
        return int(text)
    return text
