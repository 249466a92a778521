"""Tables as files of statistical packages, cell by cell as they are given: days as the numbers that the package stores."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from discreet.engines.base import ColumnType, Header

Rows = Sequence[Sequence[object]]
WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}
DAY = {".sav": (86_400, dt.date(1582, 10, 14)), ".dta": (1, dt.date(1960, 1, 1)), ".xpt": (1, dt.date(1960, 1, 1))}
DAY[".zsav"] = DAY[".sav"]
FORMATS = {".sav": "DATE11", ".zsav": "DATE11", ".dta": "%td", ".xpt": "DATE9."}
TYPES = {"TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "FLOAT": "float32", "DOUBLE": "float64"}


def write_survey(path: Path, header: Header, rows: Rows, **options: Any) -> str:
    """The file; its path as text. Integers without null keep their type, where the package has it."""
    import pyreadstat

    ending = path.suffix
    columns = {name: _cells(ending, kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(header.items())}
    shown = {name: FORMATS[ending] for name, kind in header.items() if kind.kind == "date"}
    known = {"compress": True} if ending == ".zsav" else {"file_format_version": 8} if ending == ".xpt" else {}
    writer = getattr(pyreadstat, WRITERS[ending])
    writer(pd.DataFrame(columns), path, variable_format=shown, **known, **options)
    return str(path)


def _cells(ending: str, kind: ColumnType, cells: Sequence[Any]) -> Any:
    if kind.kind == "text":
        return pd.Series(list(cells), dtype=object)
    if kind.kind == "date":
        units, first = DAY[ending]
        return np.array([np.nan if day is None else (day - first).days * units for day in cells], dtype="float64")
    if kind.kind == "integer" and None not in cells:
        return np.array(cells, dtype=TYPES[kind.shown])
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=TYPES.get(kind.shown, "float64"))
