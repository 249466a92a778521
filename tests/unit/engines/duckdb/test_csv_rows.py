"""Lines taken apart all together are those taken apart one by one, and the tests of that notice what can go wrong."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
from tests.builders import read_leniently

from discreet.domain.reading import CsvFormat
from discreet.engines.duckdb import csv_lines
from discreet.engines.duckdb.csv_lines import CsvRows, split_line

FIELDS = 3
PIECES = (",", '"', '""', '","', '",', ',"', "x", "é", "x" * 40, '"x"', '""x', "\n", ',"a,b",', '"""')


def short_lines() -> list[str]:
    """Every line of at most seven characters of each kind."""
    return ["".join(letters) for length in range(8) for letters in product(',"x', repeat=length)]


def long_lines() -> list[str]:
    """Lines of many runs of quotes of many lengths, from fixed random numbers: some thousand bytes each."""
    chance = random.Random(20261122)  # noqa: S311
    texts = ["".join(chance.choices(PIECES, k=chance.randrange(300))) for _ in range(300)]
    runs = ["a," + "x" * (i % 7) + '"' * i + "," * (i % 3) + '"' * j + ",b" for i in range(70) for j in (0, 1, 2, 63, 64)]
    return "\n".join([*texts, *runs]).split("\n")


def together(lines: Sequence[str]) -> Counter[object]:
    rows = csv_lines._rows("".join(line + "\n" for line in lines).encode(), FIELDS)
    found: Counter[object] = Counter(tuple(row.split("\0")) for row in rows.text.decode().split("\n")[:-1])
    assert found.total() == rows.count
    return +(found + Counter({None: rows.nulls}))


def one_by_one(lines: Sequence[str]) -> Counter[object]:
    cells = (split_line(line, FIELDS) for line in lines if line)
    return Counter(row if row is None else tuple(row) for row in cells)


@pytest.mark.parametrize("lines", [short_lines, long_lines])
def test_lines_are_what_each_of_them_is(lines: Callable[[], list[str]]) -> None:
    all_ = lines()
    wanted = one_by_one(all_)
    assert wanted[None] > 100
    assert wanted.total() - wanted[None] > 100
    assert together(all_) == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000])
def test_lines_are_the_same_in_blocks_of_any_size(size: int) -> None:
    lines = long_lines()
    parts = [together(lines[at : at + size]) for at in range(0, min(len(lines), 40 * size), size)]
    assert sum(parts, Counter()) == one_by_one(lines[: 40 * size])


def across_lines(lines: list[str], fields: int, _form: object = None) -> list[str | None]:
    """A quote that stays open takes the next lines into its cell."""
    rows = ["\0".join(cells) if len(cells) == fields else None for cells in csv.reader(lines)]
    return (rows + [None] * len(lines))[: len(lines)]


PLAIN_ROWS = csv_lines._plain_rows
DEFECTS: dict[str, tuple[str, object]] = {
    "quotes read leniently": ("_read_together", read_leniently),
    "rows of several lines": ("_read_together", across_lines),
    "a line that fails takes its block with it": ("_read_alone", lambda *_: None),
    "lines without quotes are left out": ("_plain_rows", lambda *_: CsvRows(b"", 0, 0)),
    "lines with quotes are left out": ("_quoted_rows", lambda *_: CsvRows(b"", 0, 0)),
    "lines end elsewhere": ("_plain_rows", lambda block, fields, _: PLAIN_ROWS(block, fields, CsvFormat(separator="~"))),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defects_are_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    what, wrong = DEFECTS[name]
    lines = short_lines() + long_lines()
    some = [*(line for line in lines if '"' not in line), '"x",x,x']  # few quotes: each line is read as what it is
    assert (together(lines), together(some)) == (one_by_one(lines), one_by_one(some))
    monkeypatch.setattr(csv_lines, what, wrong)  # a name that is not there would be an error
    assert (together(lines), together(some)) != (one_by_one(lines), one_by_one(some))


def test_lines_that_are_well_formed_are_read_by_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line takes several times as long."""
    monkeypatch.setattr(csv_lines, "_read_alone", pytest.fail)
    assert together(['"a",b,"c, d"', '"",,', 'a,"b"', '""""""""",,"']) == Counter(
        {("a", "b", "c, d"): 1, ("", "", ""): 1, None: 2}
    )


# How many there are -----------------------------------------------------------------------------------------------------


def counted(path: Path, fields: int) -> int:
    """The rows of a file as they are handed to the engine."""
    return sum(some.count + some.nulls for some in csv_lines.row_blocks(path, fields))


FILES = {
    "no rows": b"a,b,c\n",
    "not even a line end": b"a,b,c",
    "no last line end": b"a,b,c\n1,2,3",
    "empty lines": b"a,b,c\n\n\n1,2,3\n\n4,5,6\n\n",
    "carriage returns": b"a,b,c\r1,2,3\r\r4,5,6\r\n7,8,9\r\n\r\n",
    "open quotes": b'a,b,c\n"1,2,3\n4,5,6\n"\n""\n',
    "line breaks in quotes": b'a,b,c\n1,2,"x\ny"\n\n3,4,"\n"\n',
    "too few cells": b"a,b,c\n1\n,\n1,2,3,4\n",
    "zero bytes": b"a,b,c\n\0\n1,2,3\0\n",
    "not UTF-8": b"a,b,c\n\xff,\xfe,3\n\xc3\n",
    "long lines": b"a,b,c\n" + b"x" * (csv_lines.MAX_LINE + 9) + b"\n1,2,3\n" + b"y" * (3 * csv_lines.MAX_LINE),
}


@pytest.mark.parametrize("fields", [1, 3])
@pytest.mark.parametrize("what", FILES)
def test_rows_are_counted_without_a_look_into_them(what: str, fields: int, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(FILES[what])
    assert csv_lines.count_rows(tmp_path / "d.csv", fields) == counted(tmp_path / "d.csv", fields)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 2**18])
def test_rows_of_random_files_are_counted_in_blocks_of_any_size(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_lines, "_BLOCK", size)
    chance = random.Random(size)  # noqa: S311
    for _ in range(60):
        body = "".join(chance.choices([*PIECES, "\n", "\r", "\r\n", "\n\n", "\0"], k=chance.randrange(60)))
        (tmp_path / "d.csv").write_text("a,b,c\n" + body, encoding="utf-8", newline="")
        for fields in (1, 3):
            assert csv_lines.count_rows(tmp_path / "d.csv", fields) == counted(tmp_path / "d.csv", fields), body
