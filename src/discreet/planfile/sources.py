"""A source in a plan file, and the format of its text files."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

from discreet.datasets import path as path_of_example
from discreet.domain.reading import CsvFiles, CsvFormat
from discreet.engines import source_in
from discreet.planfile.tree import Node

__all__ = ["csv_of", "csv_source", "source_of"]


def source_of(node: Node, folder: Path) -> str:
    """The source that a text means in a file of this folder."""
    written = node.string()
    if written.startswith("example:"):
        with node.locate_errors():
            return str(path_of_example(written.removeprefix("example:")))
    if not written or "\0" in written:
        raise node.wrong("must be a path, a glob, or 'example:' and the name of an example data set")
    with node.locate_errors():
        return source_in(folder, written)


def csv_of(node: Node) -> CsvFormat:
    """The format of text files."""
    keys = tuple(one.name for one in fields(CsvFormat))
    given = {key: part.string() for key, part in node.table((), keys).items()}
    with node.locate_errors():
        return CsvFormat(**given)


def csv_source(source: str, form: CsvFormat) -> CsvFiles:
    """The text files of a source, in this format."""
    return CsvFiles(source, **asdict(form))
