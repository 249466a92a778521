"""The kinds of files: how each stores numbers, texts and days.

All of a column follows from the header: its type, and the format in which the package would show it, which alone tells a day
from a number. No cell has a part in it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.engines.base import ColumnType
from discreet.engines.surveys.transport import check_transport

__all__ = ["FORMATS", "Days", "SurveyFormat", "column_type"]


@dataclass(frozen=True, slots=True)
class Days:
    """Numbers that mean moments: units since a first day, with a fixed number of units a day."""

    units: int
    first: dt.date


@dataclass(frozen=True, slots=True)
class SurveyFormat:
    """The files of a package.

    Args:
        package: its name.
        reader: the function of pyreadstat that reads them.
        days: what the numbers of a column mean that is shown in this format; None where they are numbers.
        encoding: of the texts of a file, where its header names none.
        options: what the reader is told, so that it hands over cells as they are stored.
        check: raises SourceError for a file with these columns in which a row could decide about others.
    """

    package: str
    reader: str
    days: Callable[[str], Days | None]
    encoding: Callable[[Path], str]
    options: Mapping[str, bool]
    check: Callable[[Path, Collection[ColumnType]], None]


_SPSS = Days(86_400, dt.date(1582, 10, 14))
_STATA, _STATA_CLOCK = Days(1, dt.date(1960, 1, 1)), Days(86_400_000, dt.date(1960, 1, 1))
_SAS, _SAS_CLOCK = Days(1, dt.date(1960, 1, 1)), Days(86_400, dt.date(1960, 1, 1))

_SPSS_DAYS = re.compile(r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR|DATETIME|YMDHMS)[0-9.]*")
_STATA_DAYS, _STATA_MOMENTS = re.compile(r"%-?t?d.*"), re.compile(r"%-?tc.*")
_SAS_DAYS = re.compile(
    r"(DATE|DAY|DDMMYY[BCDNPS]?|MMDDYY[BCDNPS]?|YYMMDD[BCDNPS]?|MMYY[CDNPS]?|YYMM[CDNPS]?|YYQ[CDNPS]?|YYQR[CDNPS]?|MONYY|YYMON"
    r"|JULDAY|JULIAN|WEEKDATE|WEEKDATX|WORDDATE|WORDDATX|YEAR|QTR|QTRR|E8601DA|B8601DA|EURDFDE|EURDFDD|EURDFMY|MINGUO|NENGO)"
    r"[0-9.]*"
)
_SAS_MOMENTS = re.compile(
    r"(DATETIME|DATEAMPM|DTDATE|E8601DT|B8601DT|E8601DN|B8601DN|MDYAMPM|DTMONYY|DTYEAR|DTYYQC|EURDFDT)[0-9.]*"
)


def _spss_days(shown: str) -> Days | None:
    return _SPSS if _SPSS_DAYS.fullmatch(shown) else None


def _stata_days(shown: str) -> Days | None:
    if _STATA_MOMENTS.fullmatch(shown):
        return _STATA_CLOCK
    return _STATA if _STATA_DAYS.fullmatch(shown) else None


def _sas_days(shown: str) -> Days | None:
    if _SAS_MOMENTS.fullmatch(shown):
        return _SAS_CLOCK
    return _SAS if _SAS_DAYS.fullmatch(shown) else None


def _stata_encoding(path: Path) -> str:
    """The encoding of texts: UTF-8 from format 118 on, which is Stata 14."""
    with path.open("rb") as file:
        release = re.match(rb"<stata_dta><header><release>([0-9]{3})<", file.read(64))
    return "utf-8" if release and int(release[1]) >= 118 else "windows-1252"


def _rows_are_counted(path: Path, columns: Collection[ColumnType]) -> None:
    """The format says where rows end."""


_PLAIN = {"disable_datetime_conversion": True}
_SPSS_FILES = SurveyFormat(
    "SPSS", "read_sav", _spss_days, lambda _: "windows-1252", {**_PLAIN, "user_missing": True}, _rows_are_counted
)

FORMATS: Mapping[str, SurveyFormat] = {
    ".sav": _SPSS_FILES,
    ".zsav": _SPSS_FILES,
    ".dta": SurveyFormat("Stata", "read_dta", _stata_days, _stata_encoding, _PLAIN, _rows_are_counted),
    ".sas7bdat": SurveyFormat("SAS", "read_sas7bdat", _sas_days, lambda _: "windows-1252", _PLAIN, _rows_are_counted),
    ".xpt": SurveyFormat("SAS transport", "read_xport", _sas_days, lambda _: "utf-8", _PLAIN, check_transport),
}
"""By the ending of the name. The missing codes of SPSS are numbers like others, so that the declaration decides; those of
Stata and SAS (.a to .z) have no number, and are null."""

_STORED = {
    "int8": ColumnType("integer", "TINYINT"),
    "int16": ColumnType("integer", "SMALLINT"),
    "int32": ColumnType("integer", "INTEGER"),
    "float": ColumnType("float", "FLOAT"),
    "double": ColumnType("float", "DOUBLE"),
    "string": ColumnType("text", "text"),
}


def column_type(form: SurveyFormat, stored: str, shown: str) -> tuple[ColumnType, Days | None]:
    """The type of a column that is stored in this way and shown in this format, and how its numbers become days."""
    days = None if stored == "string" else form.days(shown)
    if days is not None:
        return ColumnType("date", f"{shown} of {form.package}"), days
    return _STORED.get(stored, ColumnType("other", f"{stored} of {form.package}")), None
