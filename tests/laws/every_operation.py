"""The law of an operation of row-wise queries: an engine computes its meaning for whatever a cell holds, and never fails."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import duckdb
import pyarrow as pa

from discreet.domain.rowwise.operations import Operation
from discreet.domain.rowwise.typed import Applied, Cell, Constant, Typed, value_of
from discreet.engines.base import ColumnType
from discreet.engines.duckdb import rowwise as duckdb_rowwise
from discreet.engines.rowwise import Rowwise, cell_value

Written = Callable[[Sequence[str]], str]

EXTREMES: Mapping[str, list[Any]] = {
    "integer": [None, 0, 1, -1, 2, 7, -7, 10, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63), 3037000500],
    "float": [
        *(None, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1e-300, 5e-324, 1e15, 2.0**52 + 0.5),
        *(2.0**53, 9.223372036854775e18, 2.0**63, -(2.0**63), 1e300, 1.7976931348623157e308, -1.7976931348623157e308, 3.3),
    ],
    "text": [
        *(
            None,
            "",
            " ",
            "a",
            "A",
            "ä",
            "Ä",
            "ß",
            "ſ",
            "İ",
            "ı",
            "é",
            "e\u0301",
            "Σς",
            "Жж",
            "日本",
            "🙂x",
            "a b",
            "  x ",
            "a%b_",
        ),
        *(
            "true",
            "FALSE",
            "TrUe",
            "truе",
            "1",
            "-7",
            "+7",
            "7.",
            "7.0",
            "7.5",
            " 12 ",
            "1e3",
            "1e999",
            "1e-999",
            "0x10",
            "١",
        ),
        *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "nan", "inf", "-0"),
        *("2026-11-23", "0000-01-01", "0001-01-01", "9999-12-31", "2025-02-29", "2024-02-29", "10000-01-01", "infinity"),
        *(
            "\x00",
            "a\x00b",
            "a\nb",
            "\n c\t",
            "'",
            '"',
            "\\",
            "%",
            "_",
            "x" * 5000,
            "y" * 10_000,
            "\u200b",
            "\U0010ffff",
            "\ufffe",
        ),
    ],
    "boolean": [None, True, False],
    "date": [
        *(None, dt.date(1, 1, 1), dt.date(1, 12, 31), dt.date(1582, 10, 10), dt.date(1970, 1, 1), dt.date(2000, 2, 29)),
        *(dt.date(2026, 11, 23), dt.date(9999, 1, 1), dt.date(9999, 12, 31)),
    ],
}
"""What is thrown at every operation: null, and the values at which functions fail, overflow or round."""

NOT_UTF8 = [
    *(b"\xff", b"a\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"),
    *(b" \xff ", b"7\x80", b"2026-11-2\xff", b"x" * 5000 + b"\xff"),
]
"""Texts that a frame in memory may hold, each also as Python shows it: with a surrogate for a byte."""

CELLS: Mapping[str, list[Any]] = {
    **EXTREMES,
    "text": [*EXTREMES["text"], *(text.decode("utf-8", "surrogateescape") for text in NOT_UTF8)],
}
"""What a cell may hold; the extreme values are also tried as literals."""

LITERALS: Mapping[str, list[tuple[Any, ...]]] = {
    "substr(text, integer)": [(1,), (2,), (9,), (2**31 - 1,)],
    "substr(text, integer, integer)": [(1, 0), (1, 2), (2, 3), (2**31 - 1, 2**31 - 1), (3, 2**31 - 1)],
    "left(text, integer)": [(0,), (1,), (3,), (2**31 - 1,)],
    "right(text, integer)": [(0,), (1,), (3,), (2**31 - 1,)],
    "replace(text, text, text)": [("a", ""), ("a", "Z"), ("  ", " "), (",", "."), ("'", '"'), ("é", "e")],
    "like(text, text)": [
        ("%",),
        ("_",),
        ("a%",),
        ("%b%",),
        ("",),
        ("%é",),
        ("__",),
        ("a_b",),
        ("[a]",),
        ("%.%",),
        ("'",),
        ("%_",),
    ],
    "date_trunc(text, date)": [("year",), ("quarter",), ("month",)],
}
"""The literals with which an operation that demands them is tried."""

_ARROW = {"integer": pa.int64(), "float": pa.float64(), "text": pa.string(), "boolean": pa.bool_(), "date": pa.date32()}
_GIVEN = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE"}


def arrow_of(type_: str, values: list[Any]) -> Any:
    if type_ != "text":
        return pa.array(values, type=_ARROW[type_])
    raw = pa.array([None if text is None else text.encode("utf-8", "surrogateescape") for text in values], type=pa.binary())
    return pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])  # checks nothing


def key_of(operation: Operation) -> str:
    return f"{operation.name}({', '.join(operation.takes)})"


def calls_of(operation: Operation) -> Iterator[Applied]:
    """The operation on cells, and on the literals that it demands."""
    if operation.literals:
        for given in LITERALS[key_of(operation)]:
            values = iter(given)
            yield Applied(
                operation,
                tuple(
                    Constant(next(values), type_) if place in operation.literals else Cell(f"x{place}", type_)
                    for place, type_ in enumerate(operation.takes)
                ),
            )
        return
    for more in [0, 1, 2] if operation.repeats else [0]:
        takes = operation.takes_for(len(operation.takes) + more * operation.repeats)
        assert takes is not None
        yield Applied(operation, tuple(Cell(f"x{place}", type_) for place, type_ in enumerate(takes)))


def rows_for(call: Typed, rng: random.Random, most: int = 3000) -> list[dict[str, Any]]:
    """Rows with every choice of extreme cells, or many of them."""
    cells = {cell.name: cell.type for cell in cells_in(call)}
    choices = [CELLS[type_] for type_ in cells.values()]
    if math.prod(map(len, choices)) <= most:
        return [dict(zip(cells, values, strict=True)) for values in product(*choices)]
    return [{name: rng.choice(CELLS[type_]) for name, type_ in cells.items()} for _ in range(most)]


def meant_for(call: Typed, row: Mapping[str, Any]) -> Any:
    """The meaning of an expression at a row of cells."""
    kinds = {cell.name: ColumnType(cell.type, _GIVEN[cell.type]) for cell in cells_in(call)}
    return value_of(call, {name: cell_value(kind, row[name]) for name, kind in kinds.items()})


def cells_in(call: Typed) -> list[Cell]:
    if isinstance(call, Cell):
        return [call]
    found = [cell for one in call.arguments for cell in cells_in(one)] if isinstance(call, Applied) else []
    return list(dict.fromkeys(found))


def computed(call: Typed, rows: list[dict[str, Any]]) -> list[Any]:
    """What DuckDB makes of the rows, which it gets as the cells of a frame."""
    cells = cells_in(call)
    source = {cell.name: ColumnType(cell.type, _GIVEN[cell.type]) for cell in cells}
    kind = ColumnType(call.type, _GIVEN[call.type])
    chosen = Rowwise(source, {"row": "row"}, {"out": call}, {"row": ColumnType("integer", "BIGINT"), "out": kind})
    frame = {cell.name: arrow_of(cell.type, [row[cell.name] for row in rows]) for cell in cells}
    with duckdb.connect() as connection:
        connection.register("frame", pa.table({"row": pa.array(range(len(rows))), **frame}))
        table = duckdb_rowwise.computed_table(chosen, ["row", "out"], "frame")
        described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        assert described[1][1] == _GIVEN[call.type], (described, call.type)
        return [out for _, out in sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=lambda row: row[0])]


def check_operation(operation: Operation) -> None:
    """Fails where the engine raises, or gives something else than the meaning, or the result has no bound."""
    rng = random.Random(key_of(operation))  # noqa: S311 (it draws test cases)
    for call in calls_of(operation):
        rows = rows_for(call, rng)
        found = computed(call, rows)
        for row, out in zip(rows, found, strict=True):
            meant = meant_for(call, row)
            assert same(out, meant), (key_of(operation), row, out, meant)
            if isinstance(meant, str):
                given = [value for value in row.values() if isinstance(value, str)]
                assert len(meant) <= sum(map(len, given)) + 20, (key_of(operation), row)


def same(out: Any, meant: Any) -> bool:
    if meant is not None and isinstance(out, float):
        return isinstance(meant, float) and out == meant and math.isfinite(out)
    return type(out) is type(meant) and out == meant
