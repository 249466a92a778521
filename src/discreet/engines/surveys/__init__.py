"""The engine of files of statistical packages: SPSS, Stata and SAS.

* `driver`: Files of one package as a source, read some rows after the others through pyreadstat
* `formats`: The kinds of files: how each stores numbers, texts and days
* `outline`: The header of such a file: columns, types, the encoding of texts, and the meaning of codes
* `transport`: The form that a SAS transport file must have, so that no row decides about another
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.domain.reading import CsvFormat
from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.files import Listing
from discreet.engines.kind import EngineKind, Files
from discreet.engines.resources import Limits

__all__ = ["ENGINE"]


def _open(paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat) -> Engine:  # noqa: ARG001
    from discreet.engines.surveys.driver import open_survey

    return open_survey(paths, listing, limits)


def _check_schema(schema: Schema) -> None:
    """Whatever a schema declares can be read."""


ENGINE = EngineKind(
    name="surveys",
    check_schema=_check_schema,
    files=tuple(Files(ending, _open) for ending in (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")),
)
