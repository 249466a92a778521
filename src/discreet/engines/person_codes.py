"""A reading of a table of persons as SQL statements: the least and the greatest code of each person, and where both agree.

The first may run on one part of the rows after the other. No statement depends on an order, and no value of a column but its
code is in what they give.
"""

from __future__ import annotations

from discreet.cube.tables import PersonCodes
from discreet.cube.value_paths import KeyAxis
from discreet.domain.codes import NULL
from discreet.engines.base import Header
from discreet.engines.dialect import Dialect
from discreet.engines.sql import labels_sql

__all__ = ["added_codes_sql", "agreed_codes_sql", "code_names", "code_parts_sql"]


def code_parts_sql(dialect: Dialect, source: str, header: Header, scan: PersonCodes) -> str:
    """One statement that gives, for each person, the number of rows and the least and the greatest code of each column.

    Its columns are p, m, least0, most0, least1, … Codes are null where no row of the person has a value. Rows that are null
    in the identifier are left out or, where every row counts, stand apart by their codes.
    """
    person = dialect.identity(dialect.quoted(scan.person), header[scan.person])
    labels = labels_sql(dialect, source, header, [KeyAxis(path) for path in scan.paths], [f"{person} AS p"])
    known = [f"CASE WHEN k{i} <> {NULL} THEN k{i} END" for i in range(len(scan.paths))]
    ends = [f"min({code}) AS least{i}, max({code}) AS most{i}" for i, code in enumerate(known)]
    kept = "" if scan.every else " WHERE p IS NOT NULL"
    by = _persons_sql(scan, known)
    return f"SELECT {', '.join(['p', 'count(*) AS m', *ends])} FROM ({labels}) AS labelled{kept} GROUP BY {by}"


def _persons_sql(scan: PersonCodes, codes: list[str]) -> str:
    """What tells persons apart: their ids and, of rows without one that count, their codes."""
    apart = (f"CASE WHEN p IS NULL THEN {code} END" for code in codes)
    return ", ".join(["p", *(apart if scan.every else ())])


def added_codes_sql(table: str, scan: PersonCodes) -> str:
    """The statement that gives each person once, over a table in which parts of several readings stand below each other."""
    ends = [f"min(least{i}) AS least{i}, max(most{i}) AS most{i}" for i in range(len(scan.paths))]
    by = _persons_sql(scan, [f"least{i}" for i in range(len(scan.paths))])
    return f"SELECT {', '.join(['p', 'CAST(sum(m) AS BIGINT) AS m', *ends])} FROM {table} GROUP BY {by}"


def code_names(scan: PersonCodes) -> list[str]:
    """The columns of what `code_parts_sql` gives, after the person."""
    return ["m", *(f"{name}{i}" for i in range(len(scan.paths)) for name in ("least", "most"))]


def agreed_codes_sql(table: str, scan: PersonCodes) -> str:
    """The statement that gives p, m, agreed0, …: rows and codes of each person, null where two rows have different ones."""
    codes = [f"CASE WHEN least{i} = most{i} THEN least{i} END AS agreed{i}" for i in range(len(scan.paths))]
    return f"SELECT {', '.join(['p', 'm', *codes])} FROM {table}"
