"""Nested values as YAML that every reader takes alike: quoted texts, blocks for long ones, numbers with a point.

Texts are never folded, because that loses line ends; the registry refuses folded ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Yaml", "yaml_text"]

Yaml = str | int | float | Sequence["Yaml"] | Mapping[str, "Yaml"]

_LONG = 90


def yaml_text(values: Mapping[str, Yaml]) -> str:
    """The values as a YAML document."""
    return "\n".join([*_lines(values, ""), ""])


def _lines(values: Mapping[str, Yaml], indent: str) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, str):
            value = value.replace("\u00a0", " ")  # noqa: PLW2901 (a space that does not break serves pages only)
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, str) and _is_block(value):
            yield f"{indent}{key}: |-"
            yield from (f"{indent}  {line}" if line else "" for line in value.split("\n"))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_scalar(one)}" for one in value)
        else:
            yield f"{indent}{key}: {_scalar(value)}"


def _is_block(value: str) -> bool:
    """True for a long text whose lines stand in a block as they are."""
    lines = value.split("\n")
    plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    return (
        plain and not value.startswith((" ", "\n")) and not value.endswith("\n") and (len(lines) > 1 or len(value) > _LONG)
    )


def _scalar(value: Yaml) -> str:
    if isinstance(value, float):
        written = repr(value)
        return written if "." in written else written.replace("e", ".0e")  # without a point it would be a text
    return json.dumps(value)  # a JSON text in ASCII is a quoted YAML text
