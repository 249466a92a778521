"""One table written in many ways has one cube: the integers that noise is added to do not depend on how a file was made.

Every way is a function from rows to a source. Ways of writing a CSV file are drawn together, so that their combinations are
tried too. The cube of the rows as they are, counted by the reference engine, is what every other must equal.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count as numbers
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb as driver
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.survey_files import write_survey

from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import Cube
from discreet.domain.columns import Category, Date, Number
from discreet.domain.groups import bins
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.duckdb import csv_files, csv_lines
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

SCHEMA = Schema(
    age=Number(0, 100, "0.5"), sex=Category(["F", "M", "é", "a,b", 'say "x"']), day=Date("2020-01-01", "2020-12-31")
)
NAMES = tuple(SCHEMA.columns)
(WANTED,) = (
    Table(SCHEMA, AddRemove())
    .group_by("sex", bins("day", ["2020-01-01", "2020-05-02", "2020-12-31"]))
    .agg(count(), sum_of("age", nulls="skip"))
    .layout.scans
)
TEXT = ColumnType("text", "VARCHAR")
Row = tuple[str, ...]
Rows = Sequence[Row]
_NUMBER = numbers()

AGES = ("7", "7.25", " 7 ", "+7", "1e1", "100.5", "-3", "", "x", "1_000", "NaN", "1e999", "=1+1", "１２")
SEXES = ("F", "M", "é", "e\u0301", "a,b", 'say "x"', "", "f", "F ", "\ufeffF", "'; --")
DAYS = ("2020-01-01", "2020-05-02", "2020-05-01", "2019-12-31", "9999-12-31", "0000-00-00", "2020-1-1", "")
ROWS = st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(SEXES), st.sampled_from(DAYS)), max_size=12)
ALL = [(AGES[i % len(AGES)], SEXES[i % len(SEXES)], DAYS[i % len(DAYS)]) for i in range(24)]


def reference(rows: Sequence[Sequence[object]], names: Sequence[str] = NAMES) -> Cube:
    return ReferenceEngine(dict.fromkeys(names, TEXT), rows).aggregate(WANTED.axes, WANTED.moments)


def counted(source: Any) -> Cube:
    engine = open_source(source, SCHEMA)
    try:
        return engine.aggregate(WANTED.axes, WANTED.moments)
    finally:
        engine.close()


# CSV -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """How a table is written as CSV files."""

    mark: bool = False
    ends: tuple[str, ...] = ("\n",)
    last_end: bool = True
    blank_lines: bool = False
    quote_all: bool = False
    columns: tuple[str, ...] = NAMES
    shuffled: bool = False
    files: int = 1


def written(rows: Rows, style: Style, folder: Path) -> str:
    """The path or glob of the files; rows go to the files in turn, every second file has its columns reversed."""
    chance = random.Random(0)  # noqa: S311 (a way of writing)
    rows = list(rows)
    if style.shuffled:
        chance.shuffle(rows)
    place = folder / str(next(_NUMBER))
    place.mkdir()
    for number in range(style.files):
        columns = style.columns[:: 1 if number % 2 == 0 else -1]
        lines = [columns, *([cell_of(row, name) for name in columns] for row in rows[number :: style.files])]
        text = "\ufeff" if style.mark else ""
        for position, line in enumerate(lines):
            text += ",".join(quoted(cell, style.quote_all) for cell in line)
            if style.last_end or position < len(lines) - 1:
                text += chance.choice(style.ends) * (1 + (style.blank_lines and position > 0))
        (place / f"part{number}.csv").write_bytes(text.encode())
    return str(place / "part*.csv") if style.files > 1 else str(place / "part0.csv")


def cell_of(row: Row, name: str) -> str:
    return row[NAMES.index(name)] if name in NAMES else 'other, "cell"'


def quoted(cell: str, always: bool) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if always or set(cell) & set(',"') else cell


STYLES = {
    "as it is": Style(),
    "byte order mark": Style(mark=True),
    "CRLF": Style(ends=("\r\n",)),
    "CR": Style(ends=("\r",)),
    "mixed line ends": Style(ends=("\n", "\r\n", "\r")),
    "no final newline": Style(last_end=False),
    "empty lines": Style(blank_lines=True),
    "quoted": Style(quote_all=True),
    "columns reversed": Style(columns=NAMES[::-1]),
    "more columns": Style(columns=("Age", *NAMES, "x y", "discreet row")),
    "rows permuted": Style(shuffled=True),
    "two files": Style(files=2),
    "five files, some empty": Style(files=5),
}
ANY_STYLE = st.builds(
    Style,
    mark=st.booleans(),
    ends=st.sampled_from([("\n",), ("\r\n",), ("\r",), ("\n", "\r\n", "\r")]),
    last_end=st.booleans(),
    blank_lines=st.booleans(),
    quote_all=st.booleans(),
    columns=st.permutations([*NAMES, "other"]).map(tuple) | st.permutations(NAMES).map(tuple),
    shuffled=st.booleans(),
    files=st.integers(1, 3),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", STYLES)
def test_a_table_in_any_one_style_has_its_cube(tmp_path: Path, name: str) -> None:
    assert first_difference(reference(ALL), counted(written(ALL, STYLES[name], tmp_path))) is None


@pytest.mark.slow
@settings(max_examples=20)
@given(rows=ROWS, style=ANY_STYLE)
@example(rows=ALL, style=Style(True, ("\r\n",), False, True, True, NAMES[::-1], True, 3))
@example(rows=[], style=Style(files=2))
def test_styles_together_change_nothing(tmp_path_factory: pytest.TempPathFactory, rows: Rows, style: Style) -> None:
    folder = tmp_path_factory.mktemp("styles")
    assert first_difference(reference(rows), counted(written(rows, style, folder))) is None


# Other formats ---------------------------------------------------------------------------------------------------------


def arrow(rows: Sequence[Sequence[object]], types: Sequence[pa.DataType] = (pa.string(),) * 3) -> pa.Table:
    columns = [pa.array([row[place] for row in rows], type=kind) for place, kind in enumerate(types)]
    return pa.Table.from_arrays(columns, names=NAMES)


def parquet(table: pa.Table, folder: Path, **options: Any) -> str:
    path = folder / f"{next(_NUMBER)}.parquet"
    pq.write_table(table, path, **options)
    return str(path)


def parts(table: pa.Table, folder: Path) -> str:
    place = folder / str(next(_NUMBER))
    place.mkdir()
    cuts = [0, table.num_rows // 3, table.num_rows // 2, table.num_rows]
    for start, end in pairwise(cuts):
        parquet(table.slice(start, end - start), place)
    return str(place / "*.parquet")


def survey(table: pa.Table, path: Path) -> str:
    kinds = {pa.string(): TEXT, pa.float64(): ColumnType("float", "DOUBLE"), pa.date32(): ColumnType("date", "DATE")}
    header = {name: kinds[table.schema.field(name).type] for name in table.column_names}
    return write_survey(path, header, [tuple(row.values()) for row in table.to_pylist()])


def sheet(table: pa.Table, path: Path) -> str:
    with xlsxwriter.Workbook(path, {"default_date_format": "dd.mm.yyyy", "strings_to_formulas": False}) as book:
        page = book.add_worksheet("rows")
        page.write_row(0, 0, table.column_names)
        for place, row in enumerate(table.to_pylist(), 1):
            page.write_row(place, 0, row.values())
    return f"{path}::rows"


FORMATS: dict[str, Callable[[pa.Table, Path], Any]] = {
    **{
        f"Parquet, {codec}": lambda table, folder, codec=codec: parquet(table, folder, compression=codec)
        for codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
    },
    "Parquet, row groups of 2": lambda table, folder: parquet(table, folder, row_group_size=2),
    "Parquet, no dictionary, version 1": lambda table, folder: parquet(table, folder, use_dictionary=False, version="1.0"),
    "Parquet in three files": parts,
    "Arrow": lambda table, _: table,
    "Arrow in chunks": lambda table, _: pa.concat_tables([table.slice(n, 1) for n in range(table.num_rows)] or [table]),
    "Arrow, columns reversed and one more": lambda table, _: table.select(NAMES[::-1]).append_column("Age", table["day"]),
    "Arrow, rows reversed": lambda table, _: table.take(pa.array(range(table.num_rows)[::-1], pa.int64())),
    "Arrow, dictionary": lambda table, _: table.set_column(1, "sex", table["sex"].dictionary_encode()),
    "Arrow, large text": lambda table, _: table.set_column(1, "sex", table["sex"].cast(pa.large_string())),
    "Polars": lambda table, _: pl.DataFrame(table),
    "Polars, rechunked backwards": lambda table, _: pl.DataFrame(table).reverse(),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas with an index": lambda table, _: table.to_pandas().sort_values("sex", kind="stable"),
    "pandas of Arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "a relation": lambda table, _: driver.connect().from_arrow(table),
    "Stata": lambda table, folder: survey(table, folder / f"{next(_NUMBER)}.dta"),
    "Excel": lambda table, folder: sheet(table, folder / f"{next(_NUMBER)}.xlsx"),
}  # fmt: skip


@pytest.mark.one_in(36)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [0, len(ALL)])
def test_texts_in_any_format_have_the_cube_of_the_csv_file(tmp_path: Path, name: str, size: int) -> None:
    rows = ALL[:size]
    assert first_difference(counted(written(rows, Style(), tmp_path)), counted(FORMATS[name](arrow(rows), tmp_path))) is None


TYPED = [(7, "F", dt.date(2020, 5, 1)), (None, "M", dt.date(1900, 1, 1)), (-200, None, None), (100, "é", dt.date.max)] * 3
AGES_AS: dict[str, pa.DataType] = {
    "integers": pa.int64(), "small integers": pa.int16(), "doubles": pa.float64(), "single floats": pa.float32(),
    "decimals": pa.decimal128(9, 2), "texts": pa.string(),
}  # fmt: skip
DAYS_AS: dict[str, pa.DataType] = {"dates": pa.date32(), "timestamps": pa.timestamp("us"), "texts": pa.string()}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("days", DAYS_AS)
@pytest.mark.parametrize("ages", AGES_AS)
def test_numbers_and_dates_of_any_type_have_the_cube_of_their_texts(tmp_path: Path, ages: str, days: str) -> None:
    texts = [tuple("" if cell is None else str(cell) for cell in row) for row in TYPED]
    convert = {"decimals": Decimal, "texts": str}.get(ages, lambda age: age)
    rows = [(None if a is None else convert(a), b, str(c) if days == "texts" and c is not None else c) for a, b, c in TYPED]
    table = arrow(rows, (AGES_AS[ages], pa.string(), pa.string() if days == "texts" else pa.date32()))
    table = table.set_column(2, "day", table["day"].cast(DAYS_AS[days]))
    whole = counted(written(texts, STYLES["mixed line ends"], tmp_path))
    assert first_difference(reference(texts), whole) is None
    for source in (table, pl.DataFrame(table), parquet(table, tmp_path, compression="zstd")):
        assert first_difference(whole, counted(source)) is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".xpt", ".xlsx"])
def test_numbers_and_dates_of_office_files_have_the_cube_of_their_texts(tmp_path: Path, ending: str) -> None:
    texts = [tuple("" if cell is None else str(cell) for cell in row) for row in TYPED]
    table = arrow(TYPED, (pa.float64(), pa.string(), pa.date32()))
    source = (sheet if ending == ".xlsx" else survey)(table, tmp_path / f"a{ending}")
    assert first_difference(reference(texts), counted(source)) is None


@given(rows=ROWS, order=st.permutations([*NAMES, "other"]), seed=st.integers(0, 99))
def test_the_reference_does_not_look_at_the_order_of_rows_and_columns(rows: Rows, order: Sequence[str], seed: int) -> None:
    moved = [[cell_of(row, name) for name in order] for row in rows]
    random.Random(seed).shuffle(moved)  # noqa: S311 (an order of rows)
    assert first_difference(reference(rows), reference(moved, order)) is None


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".csv.bz2"])
def test_compressed_csv_is_refused_whatever_its_name(tmp_path: Path, ending: str) -> None:
    """What is not packed as its name says, and what is packed under another name."""
    packed = {".csv.gz": b"\x1f\x8b", ".csv.zst": b"\x28\xb5\x2f\xfd", ".csv.bz2": b"BZh9"}[ending]
    for name in ("a" + ending, ending[-2:] + ".csv"):
        (tmp_path / name).write_bytes(packed + b"age,sex,day\n")
        with pytest.raises(SourceError):
            open_source(str(tmp_path / name), SCHEMA)


# Defects that the relations above must notice --------------------------------------------------------------------------


def unix_only(blocks: Any) -> Any:
    """Blocks in which a carriage return is a character like any other."""
    for block in blocks:
        yield block.replace(b"\r\n", b"\r\r\n")  # the reader of cells would drop one at the end of a line


def without_last(path: Path, encoding: str) -> Any:
    """Lines of which the last needs a line end."""
    for lines in BLOCKS(path, encoding):
        yield lines if path.read_bytes().endswith((b"\n", b"\r")) else lines[: lines.rfind(b"\n", 0, -1) + 1] or b"\n"


def by_position(path: Path, names: Sequence[str], wanted: Sequence[str], form: Any) -> Any:
    """Columns taken in the order of the first file that was ever read."""
    return FRAMES(path, list(NAMES) if set(names) == set(NAMES) else names, wanted, form)


def unquoted(lines: list[str], fields: int, _form: Any) -> Any:
    """Lines in which a quote is a character like any other."""
    return ["\0".join(line.split(",")) if line.count(",") == fields - 1 else None for line in lines]


BLOCKS, FRAMES = csv_lines._line_blocks, csv_files._frames
DEFECTS: dict[str, tuple[str, Any, str, Any]] = {
    "the mark stays": ("byte order mark", csv_lines, "_MARK", b"\0\0\0"),
    "CR stays": ("CR", csv_lines, "_unix_blocks", unix_only),
    "CRLF stays": ("CRLF", csv_lines, "_unix_blocks", unix_only),
    "the last line needs its end": ("no final newline", csv_lines, "_line_blocks", without_last),
    "columns by position": ("columns reversed", csv_files, "_frames", by_position),
    "columns of the first file": ("two files", csv_files, "_frames", by_position),
    "quotes stay": ("quoted", csv_lines, "_read_together", unquoted),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    style, module, what, wrong = DEFECTS[name]
    path = written(ALL, STYLES[style], tmp_path)
    assert first_difference(reference(ALL), counted(path)) is None
    monkeypatch.setattr(module, what, wrong)
    try:
        noticed = first_difference(reference(ALL), counted(path)) is not None
    except SourceError:
        noticed = True
    assert noticed


@pytest.mark.parametrize("wrong", [ALL[:-1], [*ALL, ALL[0]], [*ALL[:-1], ("8", *ALL[-1][1:])]])
def test_a_row_more_less_or_changed_is_noticed(tmp_path: Path, wrong: Rows) -> None:
    assert first_difference(reference(ALL), counted(parquet(arrow(wrong), tmp_path))) is not None
