"""The sources of `discreet init`: what their headers say, and how a plan names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from discreet.cli.drafting import Entry
from discreet.datasets import path as path_of_example
from discreet.domain.reading import CsvFiles, CsvFormat
from discreet.engines import outline_of, source_text
from discreet.engines.base import CodeList, Header
from discreet.planfile.write import toml_value, toml_visible

__all__ = ["USUAL_FORM", "outline", "written_source"]

USUAL_FORM = CsvFormat()


def written_source(source: str, form: CsvFormat, out: Path) -> list[Entry]:
    """The entries of a source in a plan that is written to `out`."""
    written = source if source.startswith("example:") else source_text(out.parent, source)
    return [
        Entry("source", toml_visible(written)),
        *([] if form == USUAL_FORM else [Entry("csv", toml_value(form.to_json()))]),
    ]


def outline(source: str, form: CsvFormat) -> tuple[Header, Mapping[str, CodeList]]:
    """The names and types of the columns of a source, and the codes that its header names.

    Raises:
        SourceError: the header cannot be read.
    """
    path = path_of_example(source.removeprefix("example:")) if source.startswith("example:") else source
    return outline_of(path if form == USUAL_FORM else CsvFiles(path, **asdict(form)))
