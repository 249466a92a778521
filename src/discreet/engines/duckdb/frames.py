"""Frames in memory as Arrow streams of the declared columns. No value of a frame can raise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.errors import SourceError

__all__ = ["ArrowOnly", "is_lazy", "keep_declared", "lazy"]

_PYTHON_VALUES = {"object", "category", "string", "str"}


class ArrowOnly:
    """A frame reduced to the Arrow C stream, so that the driver neither needs nor finds another way in."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


class _Lazy:
    """These columns of a Polars LazyFrame, computed anew whenever they are read; nothing else of it is.

    The driver asks for the types first, and would compute the rows for that.
    """

    def __init__(self, frame: Any, empty: Any) -> None:
        self._frame, self._empty = frame, empty

    def __arrow_c_schema__(self) -> object:
        return self._empty.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _type_nulls(self._frame.collect(engine="streaming")).__arrow_c_stream__(requested_schema)


def is_lazy(frame: object) -> bool:
    """True if it is a LazyFrame of Polars."""
    return type(frame).__module__.split(".")[0] == "polars" and type(frame).__name__ == "LazyFrame"


def lazy(frame: Any, columns: Sequence[str]) -> tuple[Any, ArrowOnly, list[str]]:
    """The declared columns of a LazyFrame: computed when they are read, and without rows; and the names of the others.

    Raises:
        SourceError: its columns cannot be known without computing it, as where a column is missing that it uses.
    """
    import polars as pl

    try:
        schema = frame.collect_schema()
    except Exception as wrong:  # noqa: BLE001 (whatever the frame was made of)
        shown = type(wrong).__name__
        raise SourceError(
            f"source: the columns of the LazyFrame cannot be known ({shown}); collect its schema to see why"
        ) from None
    known = [name for name in columns if name in schema]
    empty = _type_nulls(pl.DataFrame(schema={name: schema[name] for name in known}))
    return (
        _Lazy(frame.select(pl.selectors.by_name(known)), empty),
        ArrowOnly(empty),
        [name for name in schema if name not in known],
    )


def keep_declared(frame: Any, columns: Sequence[str]) -> tuple[ArrowOnly, list[str]]:
    """The declared columns of a frame, and the names of the others, which are never read.

    They are picked by their exact names here, because the driver ignores case and renames the second of two equal names.
    """
    names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    known = [name for name in columns if name in names]
    twice = [name for name in known if names.count(name) > 1]
    if twice:
        raise SourceError(f"column '{twice[0]}': the frame has two columns of this name")
    others = [str(name) for name in names if name not in known]
    if type(frame).__module__.split(".")[0] == "pandas":
        return ArrowOnly(_from_pandas(frame, known)), others
    if type(frame).__module__.split(".")[0] == "polars":
        return ArrowOnly(_type_nulls(_from_polars(frame, known))), others
    return ArrowOnly(frame.select(known) if known and hasattr(frame, "select") else frame), others


def _type_nulls(frame: Any) -> Any:
    """A Polars frame in which columns of nothing but nulls are text; the driver refuses their stream."""
    import polars as pl

    return frame.cast({pl.Null: pl.String}) if isinstance(frame, pl.DataFrame) else frame


def _from_polars(frame: Any, names: Sequence[str]) -> Any:
    """These columns by their exact names: as a text, `*` would be all columns and `^x$` a pattern."""
    import polars as pl

    return frame.select(pl.selectors.by_name(names)) if names and hasattr(frame, "select") else frame


def _from_pandas(frame: Any, names: Sequence[str]) -> Any:
    """These columns as a Polars frame. Object columns become text, value by value, so that no type is guessed."""
    import polars as pl

    series = []
    for name in names:
        column, kind = frame[name], frame[name].dtype
        if kind.name in _PYTHON_VALUES and getattr(kind, "storage", "") != "pyarrow":
            series.append(pl.Series(name, [_as_text(value) for value in column], dtype=pl.String))
            continue
        try:
            series.append(pl.Series(name, pl.from_pandas(column.copy())))  # whatever is done to the frame afterwards
        except (ValueError, TypeError, NotImplementedError):
            raise SourceError(f"column '{name}': its pandas type {kind} cannot be read; convert the column") from None
    return pl.DataFrame(series)


def _as_text(value: Any) -> str | None:
    """The text that a value of an object column stands for. Never raises, whatever the value is."""
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
        return value.isoformat() if isinstance(value, dt.date) else None
    if isinstance(value, str):
        return str.encode(value, "utf-8", errors="replace").decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # Longer integers are beyond the doubles, that is null, and cannot always be printed.
        return int.__repr__(value) if value.bit_length() <= 1024 else None
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Decimal):
        return Decimal.__str__(value)
    if isinstance(value, dt.date) and value == value:  # noqa: PLR0124 (pandas' missing date is a date unequal to itself)
        return dt.date(value.year, value.month, value.day).isoformat()
    return None
