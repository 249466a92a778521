"""What the header of such a file says: columns, types, the encoding of texts, and what its codes mean.

The texts of rows are read byte by byte, as if they were Latin-1, and decoded here: a cell that is not valid in the encoding
of its file has marks of replacement, and ends no reading. The reader would stop at it. Nothing else loads pyreadstat.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.engines.base import CodeList, ColumnType, Header, unreadable
from discreet.engines.surveys.formats import FORMATS, Days, SurveyFormat, column_type
from discreet.errors import SourceError

__all__ = ["StoredColumn", "SurveyFile", "read_rows", "survey_file"]

_BYTES = "LATIN1"
"""The encoding in which each byte is a character."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of a file: its type, how its numbers become days, and its name as the reader has it byte by byte."""

    kind: ColumnType
    days: Days | None
    raw: str


@dataclass(frozen=True, slots=True)
class SurveyFile:
    """A file of which the header was read."""

    path: Path
    form: SurveyFormat
    encoding: str
    columns: Mapping[str, StoredColumn]
    code_lists: Mapping[str, CodeList]

    @property
    def header(self) -> Header:
        """Names and types."""
        return {name: column.kind for name, column in self.columns.items()}


def survey_file(path: Path) -> SurveyFile:
    """The file, by its header.

    Raises:
        SourceError: the extra is missing, the header is damaged, two columns have one name, the encoding is unknown, or
            a row could decide about others (`SurveyFormat.check`).
    """
    form = FORMATS[path.suffix.lower()]
    reader = _reader(form)
    try:
        known = reader(path, metadataonly=True, output_format="dict", **form.options)[1]
        raw = reader(path, metadataonly=True, output_format="dict", encoding=_BYTES)[1].column_names
    except Exception:  # noqa: BLE001 (whatever the reader raises; its text may quote the file)
        raise SourceError(
            f"source '{path}': is not a readable {form.package} file; restore it from a copy, or write it again"
        ) from None
    encoding = _encoding(path, form, known.file_encoding)
    names: Sequence[str] = known.column_names
    if len({*names}) < len(names) or len(raw) != len(names):
        raise SourceError(f"source '{path}': has two columns of one name; rename one of the two")
    columns = {name: _column(form, known, name, stored) for name, stored in zip(names, raw, strict=True)}
    form.check(path, [column.kind for column in columns.values()])
    return SurveyFile(path, form, encoding, columns, _code_lists(known))


def read_rows(file: SurveyFile, names: Sequence[str], first: int, most: int) -> dict[str, list[object]]:
    """Cells of these columns in at most so many rows from the first: numbers and None, and texts decoded.

    Raises:
        SourceError: the file cannot be read there.
    """
    raw = [file.columns[name].raw for name in names]
    options = {**file.form.options, "usecols": raw, "row_offset": first, "row_limit": most}
    try:
        cells, _ = _reader(file.form)(file.path, output_format="dict", encoding=_BYTES, **options)
        return {name: list(cells[stored]) for name, stored in zip(names, raw, strict=True)}
    except SourceError:
        raise
    except Exception:  # noqa: BLE001 (as above)
        raise unreadable() from None


def _reader(form: SurveyFormat) -> Any:
    try:
        return getattr(import_module("pyreadstat"), form.reader)
    except ImportError:
        raise SourceError(
            f"source: {form.package} files need the package 'pyreadstat'; pip install 'discreet[surveys]'"
        ) from None


def _encoding(path: Path, form: SurveyFormat, named: str | None) -> str:
    try:
        return codecs.lookup(named or form.encoding(path)).name
    except (LookupError, ValueError):
        raise SourceError(f"source '{path}': the encoding of its texts is not known; write it as UTF-8") from None


def _column(form: SurveyFormat, known: Any, name: str, raw: str) -> StoredColumn:
    stored, shown = known.readstat_variable_types[name], known.original_variable_types[name]
    return StoredColumn(*column_type(form, stored, str(shown or "").upper() if form.package != "Stata" else str(shown)), raw)


def _code_lists(known: Any) -> dict[str, CodeList]:
    """What codes mean, of the columns whose header says so."""
    names = {*known.variable_value_labels, *known.missing_ranges}
    return {name: _code_list(known, name) for name in known.column_names if name in names}


def _code_list(known: Any, name: str) -> CodeList:
    labels = {_code(code): str(label) for code, label in known.variable_value_labels.get(name, {}).items()}
    if known.readstat_variable_types[name] != "string":  # .a to .z of Stata have labels, and are null
        labels = {code: label for code, label in labels.items() if not isinstance(code, str)}
    ranges = [(_code(one["lo"]), _code(one["hi"])) for one in known.missing_ranges.get(name, ())]
    missing = tuple(low for low, high in ranges if low == high)
    return CodeList(labels, missing, tuple((low, high) for low, high in ranges if low != high))


def _code(stored: Any) -> int | float | str:
    """A code as a plan writes it: a whole number without a point."""
    if isinstance(stored, float) and stored.is_integer():
        return int(stored)
    return stored if isinstance(stored, int | float) else str(stored)
