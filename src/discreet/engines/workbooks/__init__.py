"""The engine of Excel workbooks.

* `_sheet`: A sheet in, its rows out, in a separate process: `python -P _sheet.py FILE SHEET BYTES`
* `driver`: A sheet of a workbook, read through python-calamine in a process of its own
* `package`: The parts of a workbook, looked at before they are unpacked: sizes, and the area of a sheet
"""

from __future__ import annotations

from pathlib import Path

from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.kind import EngineKind, Tables
from discreet.engines.resources import Limits
from discreet.errors import SourceError

__all__ = ["ENGINE"]

_OLD = "is a workbook of an old format, or needs a password; save it as .xlsx, without one"

_PACKED = "is packed like an Excel workbook; where it is one, name one of its sheets, as in '{}::Sheet1', and else unpack it"


def _is_package(start: bytes) -> bool:
    return start.startswith(b"PK\3\4")


def _is_old(start: bytes) -> bool:
    return start.startswith(bytes.fromhex("d0cf11e0a1b11ae1"))


def _open_sheet(path: Path, sheet: str, limits: Limits) -> Engine:
    from discreet.engines.workbooks.driver import open_sheet

    return open_sheet(path, sheet, limits)


def _refuse(path: Path, sheet: str, limits: Limits) -> Engine:  # noqa: ARG001
    raise SourceError(f"source '{path}': {_OLD}")


def _check_schema(schema: Schema) -> None:
    """Whatever a schema declares can be read."""


ENGINE = EngineKind(
    name="workbooks",
    check_schema=_check_schema,
    tables=(
        Tables("an Excel workbook", _is_package, _open_sheet, _PACKED),
        Tables("", _is_old, _refuse, _OLD),
    ),
)
