"""CSV files: a row is a line, whatever stands in it, and the answer does not depend on how the file is cut or written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from tests.builders import PATIENCE, cube_of

from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import Cube
from discreet.cube.scans import Scan
from discreet.domain.columns import Category, Date, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.duckdb import csv_lines
from discreet.engines.duckdb.csv_lines import csv_header, row_blocks, split_line
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

Write = Callable[..., str]
SCHEMA = Schema(age=Number(0, 100), sex=Category(["F", "M"]), day=Date("2020-01-01", "2020-12-31"))
TEXT = ColumnType("text", "text")


def asked(schema: Schema = SCHEMA) -> Scan:
    table = Table(schema, AddRemove())
    categories = [name for name, column in schema.columns.items() if isinstance(column, Category)]
    sums = [sum_of(name, nulls="skip") for name, column in schema.columns.items() if isinstance(column, Number)]
    others = [count(name) for name, column in schema.columns.items() if isinstance(column, Date)]
    return table.group_by(*categories).agg(count(), *sums, *others).layout.scans[0]


def cube(path: str, schema: Schema = SCHEMA) -> Cube:
    return cube_of(path, schema, asked(schema))


def expected(rows: Sequence[Sequence[object]], schema: Schema = SCHEMA) -> Cube:
    wanted = asked(schema)
    return ReferenceEngine(dict.fromkeys(schema.columns, TEXT), rows).aggregate(wanted.axes, wanted.moments)


NULLS = (None, None, None)
GOOD = ("30", "F", "2020-05-01")
LINES: dict[str, tuple[bytes, Sequence[Sequence[object]]]] = {
    "as it should be": (b"30,F,2020-05-01", [GOOD]),
    "all cells quoted": (b'"30","F","2020-05-01"', [GOOD]),
    "a comma in a cell": (b'"3,0",F,2020-05-01', [("3,0", "F", "2020-05-01")]),
    "a doubled quote": (b'30,"F""",2020-05-01', [("30", 'F"', "2020-05-01")]),
    "a quote within a cell": (b'30,F",2020-05-01', [("30", 'F"', "2020-05-01")]),
    "invalid UTF-8": (b"30,F\xff,2020-05-01", [("30", "F\ufffd", "2020-05-01")]),
    "half a character before a comma": (b"30,\xc3,2020-05-01", [("30", "\ufffd", "2020-05-01")]),
    "half a character before the line end": (b"30,F,2020-05-01\xe2\x82", [("30", "F", "2020-05-01\ufffd")]),
    "half a character before a quote": (b'30,"F\xf0",2020-05-01', [("30", "F\ufffd", "2020-05-01")]),
    "a surrogate in UTF-8": (b"30,\xed\xa0\x80,2020-05-01", [("30", "\ufffd" * 3, "2020-05-01")]),
    "NUL in a cell": (b"30,F\0,2020-05-01", [NULLS]),
    "NUL in a quoted cell": (b'30,"F\0",2020-05-01', [NULLS]),
    "a quote that is not closed": (b'30,"F,2020-05-01', [NULLS]),
    "a quote that is not closed at the end": (b'30,F,"2020-05-01', [NULLS]),
    "text after a closing quote": (b'30,"F"x,2020-05-01', [NULLS]),
    "too few cells": (b"30,F", [NULLS]),
    "one cell": (b"30", [NULLS]),
    "blanks": (b"   ", [NULLS]),
    "too many cells": (b"30,F,2020-05-01,", [NULLS]),
    "far too many cells": (b"," * 1000, [NULLS]),
    "empty cells": (b",,", [("", "", "")]),
    "an empty line": (b"", []),
    "a line break in a quoted cell": (b'30,"F\n",2020-05-01', [NULLS, NULLS]),
    "other separators of lines": ("30,F\x0b\x0c\x1c\x85\u2028,2020-05-01".encode(), [("30", "F\x0b", "2020-05-01")]),
    "a formula": (b"=1+1,@F,2020-05-01", [("=1+1", "@F", "2020-05-01")]),
    "a byte order mark in the middle": (b"\xef\xbb\xbf30,F,2020-05-01", [("\ufeff30", "F", "2020-05-01")]),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LINES)
def test_no_line_changes_its_neighbours(write: Write, name: str) -> None:
    line, rows = LINES[name]
    content = b"age,sex,day\n10,M,2020-01-01\n" + line + b"\n20,F,2020-01-02"
    whole = expected([("10", "M", "2020-01-01"), *rows, ("20", "F", "2020-01-02")])
    assert first_difference(whole, cube(write(content))) is None


@pytest.mark.parametrize("last", [b"", b"end"], ids=["final line end", "no final line end"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_all_odd_lines_together(write: Write, ends: bytes, last: bytes) -> None:
    content = ends.join([b"age,sex,day", *(line.replace(b"\n", ends) for line, _ in LINES.values()), last])
    rows = [row for _, rows in LINES.values() for row in rows] + [NULLS] * bool(last)
    assert first_difference(expected(rows), cube(write(content))) is None


def test_a_huge_cell_is_a_row_of_nulls_in_flat_memory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"age,sex,day\n10,M,2020-01-01\n30," + b"F" * 10_000_000 + b",2020-05-01\n20,F,2020-01-02\n"
    whole = expected([("10", "M", "2020-01-01"), NULLS, ("20", "F", "2020-01-02")])
    assert first_difference(whole, cube(write(content))) is None
    monkeypatch.setattr(csv_lines, "_BLOCK", 2**16)
    longest = max(map(len, csv_lines._line_blocks(Path(write(content)))))
    assert longest <= csv_lines.MAX_LINE + 2**17
    assert first_difference(whole, cube(write(content))) is None


def test_a_long_quoted_cell_is_a_row_of_nulls(write: Write) -> None:
    content = b'age,sex,day\n30,"' + b"F" * 200_000 + b'",2020-05-01\n20,F,2020-01-02\n'
    assert first_difference(expected([NULLS, ("20", "F", "2020-01-02")]), cube(write(content))) is None


def rows_of(path: Path, fields: int) -> Counter[object]:
    found: Counter[object] = Counter()
    for rows in row_blocks(path, fields):
        lines = rows.text.decode().split("\n")[:-1]
        assert len(lines) == rows.count
        found.update(tuple(line.split("\0")) for line in lines)
        found["null row"] += rows.nulls
    return +found


def by_hand(content: bytes, fields: int, longest: int) -> Counter[object]:
    """What a file means, without blocks: the slow statement of the format."""
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[1:]
    if lines and not lines[-1]:
        lines.pop()
    found: Counter[object] = Counter()
    for line in lines:
        cells = None if len(line) > longest else split_line(line.decode(errors="replace"), fields) if line else []
        if cells:
            found[tuple(cells)] += 1
        elif line:
            found["null row"] += 1
        elif fields == 1:
            found[("",)] += 1
    return +found


def short_files() -> Iterator[bytes]:
    """Every text of at most four bytes over an alphabet of everything that ends, cuts or breaks lines, after a header."""
    alphabet = [b"\n", b"\r", b",", b'"', b"x", b"\xc3"]
    for length in range(5):
        yield from (b"".join(letters) for letters in product(alphabet, repeat=length))


@pytest.mark.parametrize("fields", [1, 2])
def test_rows_do_not_depend_on_the_size_of_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: int) -> None:
    # All files in one: each is followed by a line end, so a wrong row of one shows in the sum of all.
    monkeypatch.setattr(csv_lines, "MAX_LINE", 4)
    path = tmp_path / "all.csv"
    content = b"h,h\n" + b"\n".join(short_files()) + b"\n"
    path.write_bytes(content)
    whole = by_hand(content, fields, 4)
    assert whole["null row"] > 100
    for size in [3, 7, 1000, 2**24]:
        monkeypatch.setattr(csv_lines, "_BLOCK", size)
        assert rows_of(path, fields) == whole, size


@pytest.mark.parametrize("fields", [1, 2, 3])
def test_lines_taken_apart_together_are_those_taken_apart_one_by_one(tmp_path: Path, fields: int) -> None:
    # Every line of at most seven characters of each kind, twice: in order, and with other neighbours.
    lines = ["".join(letters) for length in range(8) for letters in product(',"x', repeat=length)]
    lines += ["".join(letters) for length in range(5) for letters in product(',"\0', repeat=length)]
    lines += lines[::7] + lines[::-11]
    path = tmp_path / "all.csv"
    content = "\n".join(["h,h", *lines, ""]).encode()
    path.write_bytes(content)
    assert rows_of(path, fields) == by_hand(content, fields, csv_lines.MAX_LINE)


def test_rows_of_every_short_file_at_every_border(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_lines, "MAX_LINE", 3)
    path = tmp_path / "one.csv"
    for ending in sorted(short_files())[::23]:
        for start in (b"h\n", b"h\r\n", b"h\r"):
            content = start + ending
            path.write_bytes(content)
            for size in {1, 2, 3, len(content), len(content) + 1}:
                monkeypatch.setattr(csv_lines, "_BLOCK", size)
                assert rows_of(path, 1) == by_hand(content, 1, 3), (content, size)


@pytest.mark.parametrize("length", range(6))
def test_a_line_is_too_long_from_its_first_byte_above_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(csv_lines, "MAX_LINE", 3)
    path = tmp_path / "one.csv"
    for end, size in product((b"", b"\n", b"\r\n"), range(1, 14)):
        monkeypatch.setattr(csv_lines, "_BLOCK", size)
        path.write_bytes(b"h\n" + b"x" * length + end)
        wanted: object = "null row" if length > 3 else ("x" * length,)
        assert rows_of(path, 1) == (Counter([wanted]) if length or end else Counter())


# One table, written in many ways.
NAMES = ("age", "sex", "day")
ROWS = [("30", "F", "2020-05-01"), ("41.5", "M", "2020-02-30"), ("x", "", "2021-01-01"), ("30", "F", "2020-05-01")]
ROWS += [("7", "N", "")]


def written(rows: Sequence[Sequence[str]], names: Sequence[str] = NAMES, quote: str = "", end: str = "\n") -> str:
    table = [names, *rows]
    return "".join(",".join(f"{quote}{cell}{quote}" for cell in row) + end for row in table)


def reordered(order: Sequence[int]) -> str:
    return written([[row[i] for i in order] for row in ROWS], [NAMES[i] for i in order])


VARIANTS = {
    "rows permuted": written(ROWS[::-1]),
    "byte order mark": "\ufeff" + written(ROWS),
    "CRLF": written(ROWS, end="\r\n"),
    "CR": written(ROWS, end="\r"),
    "mixed line ends": written(ROWS[:2]) + written(ROWS[2:], end="\r\n").split("\r\n", 1)[1],
    "no final newline": written(ROWS).removesuffix("\n"),
    "empty lines": written(ROWS, end="\n\n\r\n"),
    "quoted": written(ROWS, quote='"'),
    "quoted with mark and CRLF": "\ufeff" + written(ROWS, quote='"', end="\r\n"),
    "columns reversed": reordered([2, 1, 0]),
    "columns rotated": reordered([1, 2, 0]),
    "more columns": written([[*row, "1", "x"] for row in ROWS], ("age", "sex", "day", "Age", "discreet row")),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_table_written_otherwise_is_the_same_cube(write: Write, name: str) -> None:
    assert first_difference(expected(ROWS), cube(write(VARIANTS[name].encode()))) is None


@pytest.mark.parametrize("cut", range(len(ROWS) + 1))
def test_the_same_table_in_two_files_is_the_same_cube(write: Write, tmp_path: Path, cut: int) -> None:
    write(written(ROWS[:cut]).encode(), "part1.csv")
    second = [[row[2], row[0], "", row[1]] for row in ROWS[cut:]]
    write(written(second, ("day", "age", "extra", "sex"), end="\r\n").encode(), "part2.csv")
    (tmp_path / "part3.csv").mkdir()
    assert first_difference(expected(ROWS), cube(str(tmp_path / "part*.csv"))) is None


def test_a_table_of_one_column_has_its_empty_lines(write: Write) -> None:
    schema = Schema(age=Number(0, 100))
    rows = [("1",), ("",), ("",), ("7",), ("",)]
    assert first_difference(expected(rows, schema), cube(write(b"age\n1\n\n\n7\n\n"), schema)) is None
    assert first_difference(expected(rows[:1], schema), cube(write(b"age\n1"), schema)) is None


def test_a_request_without_columns_counts_rows(write: Write) -> None:
    content = b'age,sex,day\n1,F,\n"2",M,\nbroken\n\n'
    engine = open_source(write(content), SCHEMA)
    (only_rows,) = Table(SCHEMA, AddRemove()).agg(count()).layout.scans
    assert engine.aggregate(only_rows.axes, only_rows.moments).rows.tolist() == [3]


@pytest.mark.parametrize("content", [b"age,sex,day\n", b"age,sex,day", b"\xef\xbb\xbfage,sex,day\r\n", b"age,sex,day\n\n\n"])
def test_a_header_alone_is_a_table_without_rows(write: Write, content: bytes) -> None:
    assert first_difference(expected([]), cube(write(content))) is None


REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no header line"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "no header line"),
    "an empty first line": (b"\nage,sex,day\n", "no header line"),
    "gzip": (b"\x1f\x8b\x08\x00age,sex,day\n", "not UTF-8 CSV text"),
    "zip": (b"PK\x03\x04age,sex,day\n", "not UTF-8 CSV text"),
    "Parquet": (b"PAR1age,sex,day\n", "not UTF-8 CSV text"),
    "bzip2": (b"BZh9age,sex,day\n", "not UTF-8 CSV text"),
    "xz": (b"\xfd7zXZ\x00age,sex,day\n", "not UTF-8 CSV text"),
    "zstd": (b"\x28\xb5\x2f\xfdage,sex,day\n", "not UTF-8 CSV text"),
    "UTF-16": ("age,sex,day\n".encode("utf-16"), "is UTF-16; write csv"),
    "UTF-16 without a mark": ("age,sex,day\n".encode("utf-16-le"), "not UTF-8 CSV text"),
    "a header that is not UTF-8": ("age,sex,jour né\n".encode("latin-1"), "its header is not UTF-8"),
    "a header with an open quote": (b'"age,sex,day\n', "no header line"),
    "semicolons": (b"age;sex;day\n1;F;2020-01-01\n", "separated by semicolons instead of commas"),
    "tabs": (b"age\tsex\tday\n", "separated by tabs instead of commas"),
    "bars": (b"age|sex|day\n", "separated by bars instead of commas"),
    "a name twice": (b"age,sex,day,age\n", "column 'age' is in the header twice"),
    "another case": (b"Age,sex,day\n", "column 'age': declared.*did you mean 'Age'"),
    "blanks around names": (b"age, sex,day\n", "column 'sex': declared.*did you mean ' sex'"),
    "no header": (b"30,F,2020-05-01\n", "column 'age': declared"),
    "a missing column": (b"age,sex\n", "column 'day': declared"),
    "a first line without end": (b"a," * 2**20, "first line is longer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_when_it_is_opened(write: Write, name: str) -> None:
    content, message = REFUSED[name]
    with pytest.raises(SourceError, match=message):
        open_source(write(content), SCHEMA)


def test_the_refusal_never_depends_on_rows(write: Write) -> None:
    """NUL, binary and invalid bytes in the first row are one person's doing: the file opens, and the row is null."""
    for line in (b"\0" * 100, b"\x1f\x8b", b"\xff\xfe", b'"' * 99, b"x" * 3_000_000):
        assert csv_header(Path(write(b"age,sex,day\n" + line + b"\n"))) == ["age", "sex", "day"]
        assert first_difference(expected([NULLS]), cube(write(b"age,sex,day\n" + line + b"\n"))) is None


def test_one_column_named_with_a_semicolon_can_be_quoted(write: Write) -> None:
    assert csv_header(Path(write(b'"a;b"\n1\n'))) == ["a;b"]


def test_paths_that_are_no_files_are_refused(tmp_path: Path, write: Write) -> None:
    write(b"age,sex,day\n", "a.csv")
    write(b"age,sex\n", "b.csv")
    write(b"x", "c.txt")
    write(b"x", "c.xlsx")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "nowhere.csv").symlink_to(tmp_path / "gone.csv")
    refusals = {
        "missing.csv": "cannot be opened",
        "folder.csv": "holds no Parquet file",
        "pipe.csv": "must be a regular file",
        "loop.csv": "cannot be opened",
        "nowhere.csv": "cannot be opened",
        "none*.csv": "matches no file",
        "[ab].csv": "has no column 'day'",
        "c.xlsx": "must be .parquet or .csv or .tsv or .txt",
        "[ac].*": r"matches files with different endings \(\.csv, \.txt, \.xlsx\), and must be .*; narrow the glob",
        "a.csv.gz": "cannot be opened",
    }
    for name, message in refusals.items():
        with pytest.raises(SourceError, match=message):
            open_source(str(tmp_path / name), SCHEMA)
    with pytest.raises(SourceError, match="must be a regular file"):
        open_source("/dev/null", SCHEMA)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(write: Write) -> None:
    path = Path(write(b"age,sex,day\n"))
    path.chmod(0)
    with pytest.raises(SourceError, match="check the permissions"):
        open_source(str(path), SCHEMA)


def test_file_names_are_names_first_and_globs_second(tmp_path: Path, write: Write) -> None:
    odd = "da[t]a 'x' {y} *?.csv"
    assert first_difference(expected(ROWS), cube(write(written(ROWS).encode(), odd))) is None
    assert first_difference(expected([]), cube(write(b"age,sex,day\n", "data ü.CSV"))) is None


def test_the_snapshot_of_a_file_changes_with_the_file(write: Write) -> None:
    path = Path(write(written(ROWS).encode()))
    engine = open_source(str(path), SCHEMA)
    before = engine.snapshot()
    assert engine.snapshot() == before
    path.write_text(written(ROWS[1:]))
    assert engine.snapshot() != before


WIDE = """
import sys
from pathlib import Path
import discreet as dp
from discreet.engines import header_of

names = [f"c{number}" for number in range(100_000)]
for file, columns in {"a.csv": names, "b.csv": names[::-1], "twice.csv": [*names, "c7", "c3"]}.items():
    Path(file).write_text(",".join(columns) + "\\n" + ",".join(["1"] * len(columns)) + "\\n", encoding="utf-8")
assert list(header_of("a.csv")) == list(header_of("[ab].csv")) == names
try:
    header_of("twice.csv")
except dp.SourceError as error:
    assert "'c3' is in the header twice" in str(error)
schema = dp.Schema(c99999=dp.Number(0, 9))
with dp.Session("[ab].csv", schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(10**6), neighbours=dp.AddRemove()) as one:
    print(one.release(one.table.agg(dp.sum("c99999", nulls="skip")), name="r").table["sum_c99999"].item())
"""


@pytest.mark.slow
def test_a_hundred_thousand_columns_take_no_hundred_thousand_looks_at_each(tmp_path):
    """Looking through all names for each name takes minutes: the limit here is far from what it takes, and from that.

    It is one of processor time, which does not depend on what else the machine does.
    """
    before = os.times()
    run = subprocess.run(
        [sys.executable, "-c", WIDE], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    after = os.times()
    assert (run.returncode, run.stdout.strip()) == (0, "2.0"), run.stderr
    assert after.children_user - before.children_user < 60
