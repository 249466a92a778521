"""A plan file as text: entries with their comments, and those that the custodian still has to fill in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.planfile.write import toml_visible

__all__ = ["Entry", "Section", "render_list", "render_sections", "to_fill_in"]

_FILL_IN = "FILL IN"


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value as TOML; without a value it is written as a comment, and `discreet check` reports it as missing.

    `comment` holds words of this program only, never names or types of the source.
    """

    key: str
    value: str | None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, such as "[data]", with its entries; `notes` are comments above it."""

    heading: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


def render_sections(sections: Sequence[Section]) -> str:
    """The file: sections below each other, with a mark in the comment of each entry to fill in."""
    blocks = []
    for section in sections:
        notes = [f"# {note}" for note in section.notes]
        blocks.append("\n".join([*notes, section.heading, *map(_line, section.entries)]).strip())
    return "\n\n".join(blocks) + "\n"


def _line(entry: Entry) -> str:
    if entry.value is None:
        return f"# {entry.key} =    # {_FILL_IN}: {entry.comment}"
    return f"{entry.key} = {entry.value}{f'    # {entry.comment}' if entry.comment else ''}"


def to_fill_in(sections: Sequence[Section]) -> list[str]:
    """The keys without a value, each with its section."""
    return [f"{section.heading} {entry.key}" for section in sections for entry in section.entries if entry.value is None]


def render_list(values: Sequence[str | int | float]) -> str:
    """A TOML list of texts and numbers."""
    return f"[{', '.join(toml_visible(value) if isinstance(value, str) else str(value) for value in values)}]"
