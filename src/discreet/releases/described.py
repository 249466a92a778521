"""The files that a document describes: of its table, of further frames and of measured numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from discreet.errors import ArgumentError
from discreet.releases.files import TableFile, table_of

__all__ = ["files_in", "frames_in_files", "measured_in", "parts_in", "refuse_made_up"]


@contextmanager
def refuse_made_up(part: str) -> Iterator[None]:
    """A document with the right digest that discreet did not write fails inside like bytes that are not a release."""
    try:
        yield
    except Exception:  # noqa: BLE001 (whatever a made-up document does to rationals and frames)
        raise ArgumentError(f"release: its {part} cannot be read; it is not a document that discreet wrote") from None


def parts_in(document: Mapping[str, Any]) -> tuple[TableFile, ...]:
    """The files that hold the table of a document."""
    with refuse_made_up("table"):
        return table_of(document["table"]) if document["format"] == 2 else ()


def frames_in_files(document: Mapping[str, Any]) -> dict[str, tuple[TableFile, ...]]:
    """The files of the further frames of a document that are in files."""
    with refuse_made_up("frames"):
        own = enumerate(document["frames"] if document["format"] > 2 else ())
        return {frame["name"]: table_of(frame["table"], f"counts-{place}") for place, frame in own if "table" in frame}


def measured_in(document: Mapping[str, Any]) -> list[tuple[TableFile, ...]]:
    """For each level of areas that are in files the files of its measured numbers."""
    with refuse_made_up("measured numbers"):
        every = [block["files"] for block in document["measured"]] if document["format"] > 2 else []
        return [table_of(one, f"measured-{level}") for files in every for level, one in enumerate(files)]


def files_in(document: Mapping[str, Any]) -> tuple[TableFile, ...]:
    """All files of a document."""
    every = [parts_in(document), *frames_in_files(document).values(), *measured_in(document)]
    return tuple(part for one in every for part in one)
