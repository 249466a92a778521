"""The header of such a file: columns, types, the encoding of texts, and the meaning of codes.

The texts of rows are read byte by byte, as if they were Latin-1, and decoded here: a cell that is not valid in the encoding
of its file has marks of replacement, and ends no reading. The reader would stop at it. Nothing else loads pyreadstat.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.engines.base import CodeList, ColumnType, Header, unreadable
from discreet.engines.surveys.formats import FORMATS, Days, SurveyFormat, column_type
from discreet.errors import SourceError

__all__ = ["StoredColumn", "SurveyFile", "code_lists_of", "read_rows", "survey_file"]

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
    formats: Mapping[str, str]
    """The names of the formats in which columns are shown."""

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
    encoding = _find_encoding(path, form, known.file_encoding)
    names: Sequence[str] = known.column_names
    if len({*names}) < len(names) or len(raw) != len(names):
        raise SourceError(f"source '{path}': has two columns of one name; rename one of the two")
    columns = {name: _column(form, known, name, stored) for name, stored in zip(names, raw, strict=True)}
    form.check(path, [column.kind for column in columns.values()])
    return SurveyFile(path, form, encoding, columns, _code_lists(known), known.variable_to_label)


def read_rows(file: SurveyFile, names: Sequence[str], first: int, most: int) -> dict[str, list[object]]:
    """Cells of these columns in the first `rows` rows at most: numbers and None, and texts decoded.

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


def _find_encoding(path: Path, form: SurveyFormat, named: str | None) -> str:
    try:
        return codecs.lookup(named or form.encoding(path)).name
    except (LookupError, ValueError):
        raise SourceError(f"source '{path}': the encoding of its texts is not known; write it as UTF-8") from None


def _column(form: SurveyFormat, known: Any, name: str, raw: str) -> StoredColumn:
    stored, shown = known.readstat_variable_types[name], known.original_variable_types[name]
    return StoredColumn(*column_type(form, stored, str(shown or "").upper() if form.package != "Stata" else str(shown)), raw)


def _code_lists(known: Any) -> dict[str, CodeList]:
    """The meaning of codes, for the columns whose header has it."""
    names = {*known.variable_value_labels, *known.missing_ranges}
    return {name: _code_list(known, name) for name in known.column_names if name in names}


def _code_list(known: Any, name: str) -> CodeList:
    labels = _labels(known.variable_value_labels.get(name, {}), are_texts=known.readstat_variable_types[name] == "string")
    ranges = [(_code(one["lo"]), _code(one["hi"])) for one in known.missing_ranges.get(name, ())]
    missing = tuple(low for low, high in ranges if low == high)
    return CodeList(labels, missing, tuple((low, high) for low, high in ranges if low != high))


def _labels(stored: Mapping[Any, Any], *, are_texts: bool) -> dict[int | float | str, str]:
    """The labels of codes. Texts among numbers are .a to .z of Stata, .A to .Z of SAS, which are null."""
    labels = {_code(code): str(label) for code, label in stored.items()}
    return {code: label for code, label in labels.items() if are_texts or not isinstance(code, str)}


def code_lists_of(file: SurveyFile) -> Mapping[str, CodeList]:
    """The meaning of codes, from the header and from the SAS catalogue in the folder of the file.

    Raises:
        SourceError: the catalogue cannot be read.
    """
    path = next((path for path in _catalogues(file.path) if path.exists()), None)
    if file.form.reader != "read_sas7bdat" or path is None:
        return file.code_lists
    try:
        known = import_module("pyreadstat").read_sas7bcat(path, output_format="dict")[1].value_labels
    except Exception:  # noqa: BLE001 (whatever the reader raises; its text may quote the file)
        raise SourceError(
            f"source '{file.path}': its catalogue '{path.name}' cannot be read; restore it from a copy, or take it away"
        ) from None
    texts = {name: column.kind.kind == "text" for name, column in file.columns.items()}
    labels = {
        name: _labels(known.get(_format_name(shown), {}), are_texts=texts[name]) for name, shown in file.formats.items()
    }
    return {name: CodeList(found) for name, found in labels.items() if found}


def _catalogues(path: Path) -> list[Path]:
    """Where the labels of a file may stand: in a catalogue of its own name, or in the one that SAS writes by default."""
    return [path.with_suffix(".sas7bcat"), path.with_name("formats.sas7bcat")]


def _format_name(shown: object) -> str:
    """The name of a format without its width; a name does not end with a digit."""
    return re.sub(r"[0-9.]+$", "", str(shown)).upper()


def _code(stored: Any) -> int | float | str:
    """A code as a plan writes it: a whole number without a point."""
    if isinstance(stored, float) and stored.is_integer():
        return int(stored)
    return stored if isinstance(stored, int | float) else str(stored)
