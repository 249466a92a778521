"""Sheets of Excel workbooks: what each cell becomes, which rows count, and workbooks that are damaged or far too large."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.builders import session_over

import discreet as dp
from discreet.audit.engines.conformance import check_table
from discreet.audit.engines.hostile import hostile_tables
from discreet.engines import header_of, open_source
from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.resources import NO_LIMITS
from discreet.engines.sources import open_known
from discreet.engines.workbooks import driver, package
from discreet.engines.workbooks._sheet import cell_json, rows
from discreet.engines.workbooks.driver import _SheetEngine
from discreet.errors import SourceError

xlsxwriter = pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine", reason="needs the extra `excel`")

MOMENT = dt.datetime(2020, 2, 29, 23, 59, 59)  # noqa: DTZ001 (as a workbook has it)

SCHEMA = dp.Schema(
    sex=dp.Category(["F", "M"]), age=dp.Number(0, 110, missing=[-8]), born=dp.Date("1900-01-01", "2026-12-31")
)


def written(path: Path, rows: Any, sheet: str = "people", **options: Any) -> str:
    """A workbook with these cells, by rows from the first; its sheet as a source."""
    with xlsxwriter.Workbook(path, {"strings_to_numbers": False, "default_date_format": "yyyy-mm-dd", **options}) as book:
        page = book.add_worksheet(sheet)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(i, j, cell) if cell else None
                elif cell is not None:
                    page.write(i, j, cell)
    return f"{path}::{sheet}"


def cells(source: str, name: str) -> dict[object, int]:
    engine: Any = open_known(source, (), NO_LIMITS).engine
    found = dict(one for _, some in engine.cells([name]) for one in some)
    engine.close()
    return found


# Cells ------------------------------------------------------------------------------------------------------------------

TABLES = [table for table in hostile_tables() if {kind.shown for kind in table.header.values()} == {"VARCHAR"}]
TABLES.sort(key=lambda table: len(table.header) * len(table.rows))  # short ones run by default


@pytest.mark.slow
@pytest.mark.one_in(10)
@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_texts_equal_the_reference(tmp_path: Path, table: Any) -> None:
    def open_engine(header: Header, rows: Any) -> Engine:
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.xlsx"
        # The second column makes sure that a row has content.
        filled = [[*header, "number"], *([*row, 1] for row in rows)]
        return open_known(written(path, filled), (), NO_LIMITS).engine

    # What XML cannot hold, and a table of one column more than it says.
    rows = [row for row in table.rows if all(cell is None or (cell.isprintable() and len(cell) < 30_000) for cell in row)]
    kept = type(table)(table.name, table.schema, table.header, tuple(rows))
    assert isinstance(open_engine(kept.header, kept.rows), _SheetEngine)
    assert check_table(open_engine, kept) > 4


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("", None), ("x ", "x "), (True, "true"), (False, "false"), (7.0, "7"), (-0.0, "0"), (0.1, "0.1"), (1e300, "1e+300"),
        (2.0**53, "9007199254740992"), (1e16, "1e+16"), (5, "5"), (MOMENT, "2020-02-29"),
        (dt.date(2020, 1, 2), "2020-01-02"), (dt.time(1), False), (dt.timedelta(1), False), (None, False), (object(), False),
    ],
)  # fmt: skip
def test_every_cell_is_the_text_that_it_stands_for(cell: object, text: str | bool | None) -> None:
    assert cell_json(cell) is text or cell_json(cell) == text


def test_numbers_days_errors_and_formulas(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page, day = book.add_worksheet("people"), book.add_format({"num_format": "dd.mm.yyyy hh:mm"})
        page.write_row(0, 0, ["a", "n"])
        page.write_datetime(1, 0, MOMENT, day)
        page.write_formula(2, 0, "=1/0", None, "#DIV/0!")
        page.write_formula(3, 0, "=1+1", None, 2)
        page.merge_range(4, 0, 5, 0, "merged")
        page.write(6, 0, 1e12, day)
        for row in range(1, 7):
            page.write(row, 1, row)
    found = cells(f"{tmp_path / 'a.xlsx'}::people", "a")
    assert found == {"2020-02-29": 1, None: 2, "2": 1, "merged": 1, "1000000000000": 1}


@pytest.mark.parametrize("since_1904", [False, True])
def test_days_are_the_same_in_both_calendars(tmp_path: Path, since_1904: bool) -> None:
    days = [dt.date(1904, 3, 1), dt.date(2000, 2, 29), dt.date(9999, 12, 31)]
    rows = [["d", "n"], *([day, 1] for day in days)]
    source = written(tmp_path / "a.xlsx", rows, date_1904=since_1904)
    assert cells(source, "d") == {"1904-03-01": 1, "2000-02-29": 1, "9999-12-31": 1}


# Rows and columns -------------------------------------------------------------------------------------------------------


def test_a_row_without_content_is_not_a_row_wherever_it_stands(tmp_path: Path) -> None:
    body = [["F", 1], [None, 2], ["M", None]]
    plain = written(tmp_path / "a.xlsx", [["sex", "age"], *body])
    spread = written(tmp_path / "b.xlsx", [["sex", "age"], [], body[0], [], [], *body[1:], [], [None, None, "note"]])
    for source in (plain, spread):
        engine: Any = open_known(source, (), NO_LIMITS).engine
        assert engine.count_rows() == 3
        assert cells(source, "age") == {"1": 1, "2": 1, None: 1}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("shown", "moment"), [("[h]:mm", 1e9), ("[h]:mm", 1e300), ("yyyy-mm-dd", -1e12), ("yyyy-mm-dd", -1e300)]
)
def test_a_row_that_cannot_be_read_is_null_and_still_a_row(tmp_path: Path, shown: str, moment: float) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page, form = book.add_worksheet("people"), book.add_format({"num_format": shown})
        for row, line in enumerate([["sex", "age", "born"], ["F", 30], ["M", moment], ["F", 40]]):
            page.write_row(row, 0, line)
        page.write(2, 1, moment, form)
    source = f"{tmp_path / 'a.xlsx'}::people"
    engine: Any = open_known(source, (), NO_LIMITS).engine
    assert engine.count_rows() == 3
    assert cells(source, "sex") == {"F": 2, None: 1}
    assert cells(source, "age") == {"30": 1, "40": 1, None: 1}
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).group_by("sex").agg(dp.count())
    with session_over(source, SCHEMA, neighbours=dp.ReplaceOne(rows=3), budget=dp.PureDP(10**6)) as session:
        assert session.release(table, spend=10**6, name="r").table["count"].to_list() == [2, 0, 1]


def test_a_first_row_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("people")
        page.write_row(0, 0, ["sex", "age"])
        page.write(0, 2, -1e12, book.add_format({"num_format": "yyyy-mm-dd"}))
    with pytest.raises(SourceError, match="must name at least two columns"):
        header_of(f"{tmp_path / 'a.xlsx'}::people")


def test_what_the_reader_prints_is_seen_by_nobody(tmp_path: Path, capfd: Any) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page, form = book.add_worksheet("people"), book.add_format({"num_format": "yyyy-mm-dd"})
        for row, line in enumerate([["sex", "age"], ["F", 30], ["M", -1e12]]):
            page.write_row(row, 0, line)
        page.write(2, 1, -1e12, form)
    assert [*rows(tmp_path / "a.xlsx", "people")][-1] is None
    assert "panicked" in capfd.readouterr().err, "the row of this test is not one that makes the reader print"
    assert cells(f"{tmp_path / 'a.xlsx'}::people", "sex") == {"F": 1, None: 1}
    assert capfd.readouterr() == ("", "")


def test_texts_that_take_more_memory_than_there_may_be_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], *[["x" * 32_000, "y" * 32_000]] * 4000])
    assert header_of(source)
    assert (tmp_path / "a.xlsx").stat().st_size < 2_000_000
    engine: Any = open_known(source, (), NO_LIMITS).engine
    monkeypatch.setattr(driver, "_MEMORY", 2**27)
    with pytest.raises(SourceError, match="has more cells, or larger ones, than can be read"):
        header_of(source)
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.count_rows()


def test_long_texts_are_counted_in_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], *[["x" * 1000, None], ["y", 1]] * 10])
    whole = cells(source, "a")
    monkeypatch.setattr(driver, "_BYTES", 3000)
    found = [len(some) for some in driver._some(iter([["x" * 1000], None, ["y"]] * 6))]
    assert found == [7, 9, 2]
    engine: Any = open_known(source, (), NO_LIMITS).engine
    assert engine.count_rows() == 20
    parts = [dict(some) for _, some in engine.cells(["a"])]
    assert len(parts) > 2
    assert {text: sum(part.get(text, 0) for part in parts) for text in whole} == whole


def test_a_process_that_ends_early_is_not_the_end_of_the_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]])
    engine: Any = open_known(source, (), NO_LIMITS).engine
    begun = driver._begin

    def ending(path: Path, sheet: str) -> Any:
        process = begun(path, sheet)
        lines = process.stdout.readlines()
        process.stdout.close()
        process.stdout = io.BytesIO(b"".join(lines[:-1]))
        return process

    monkeypatch.setattr(driver, "_begin", ending)
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.count_rows()


class Failing:
    """A sheet whose every row fails, for ever."""

    total_height = 4  # the place of the last row

    def iter_rows(self) -> Any:
        return self

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise OverflowError


def test_rows_that_fail_for_ever_end_with_the_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.xlsx", [["sex", "age"]])
    book: Any = type("Book", (), {"get_sheet_by_name": lambda *_: Failing()})()
    workbook = type("Workbook", (), {"from_path": staticmethod(lambda _: nullcontext(book))})
    monkeypatch.setattr("python_calamine.CalamineWorkbook", workbook)
    assert [*islice(rows(tmp_path / "a.xlsx", "people"), 10)] == [None] * 5


def test_what_ends_a_reading_is_not_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Failing, "__next__", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    book: Any = type("Book", (), {"get_sheet_by_name": lambda *_: Failing()})()
    workbook = type("Workbook", (), {"from_path": staticmethod(lambda _: nullcontext(book))})
    monkeypatch.setattr("python_calamine.CalamineWorkbook", workbook)
    with pytest.raises(KeyboardInterrupt):
        next(rows(tmp_path / "a.xlsx", "people"))


def test_a_table_may_stand_to_the_right_and_have_columns_without_a_name(tmp_path: Path) -> None:
    source = written(tmp_path / "a.xlsx", [[None, "sex", None, "age"], [None, "F", "secret", 1]])
    assert [*header_of(source)] == ["sex", "age"]
    assert cells(source, "age") == {"1": 1}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["age"], [1]], "must name at least two columns"),
        ([], "must name at least two columns"),
        ([[], ["sex", "age"]], "delete what stands above the names"),
        ([["sex", "sex"]], "has two columns of one name"),
    ],
)
def test_the_first_row_names_the_columns(tmp_path: Path, rows: Any, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        header_of(written(tmp_path / "a.xlsx", rows))


def test_a_release_counts_the_rows_of_its_sheet(tmp_path: Path) -> None:
    rows = [
        ["sex", "age", "born"],
        ["F", 30, dt.date(1990, 1, 1)],
        ["M", -8, dt.date(1980, 1, 1)],
        ["X", "40", None],
    ]
    source = written(tmp_path / "a.xlsx", rows)
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).group_by("sex").agg(dp.count(), dp.sum("age", nulls="skip"))
    with session_over(source, SCHEMA, neighbours=dp.ReplaceOne(rows=3), budget=dp.PureDP(10**6)) as session:
        release = session.release(table, spend=10**6, name="r")
    assert release.table["count"].to_list() == [1, 1, 1]
    assert release.table["sum_age"].to_list() == [30, 0, 40]


# Workbooks --------------------------------------------------------------------------------------------------------------


def test_a_sheet_is_named_exactly(tmp_path: Path) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"]], "Sheet 1")
    assert [*header_of(source)] == ["a", "b"]
    with pytest.raises(SourceError, match=r"a.xlsx::sheet 1': there is no such sheet; .* it has 'Sheet 1'"):
        header_of(f"{tmp_path / 'a.xlsx'}::sheet 1")
    with pytest.raises(
        SourceError, match=r"is packed like an Excel workbook; .* as in '.*a.xlsx::Sheet1', and else unpack it"
    ):
        header_of(tmp_path / "a.xlsx")


def test_an_old_workbook_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600)
    for source in (tmp_path / "a.xls", f"{tmp_path / 'a.xls'}::Sheet1"):
        with pytest.raises(SourceError, match=r"of an old format, or needs a password; save it as .xlsx, without one"):
            header_of(source)


@pytest.mark.parametrize("part", ["content.xml", "xl/workbook.bin"])
def test_a_workbook_of_another_format_is_refused_with_the_remedy(tmp_path: Path, part: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as book:
        book.writestr(part, "x")
    with pytest.raises(SourceError, match=r"is not an .xlsx workbook; save it as .xlsx \(.ods and .xlsb are not read\)"):
        header_of(f"{tmp_path / 'a.ods'}::Sheet1")


def changed(path: Path, change: Callable[[dict[str, bytes]], Mapping[str, bytes]]) -> None:
    """The workbook with other parts."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in change(parts).items():
            book.writestr(name, content)


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.one_in(10)
@pytest.mark.parametrize("error", [b"#GETTING_DATA", b"#SPILL!", b"#CALC!", b"#FIELD!", b"Err:502", b"&lt;?&gt;"])
@pytest.mark.parametrize("prefix", [b"", b"x:"])
def test_an_error_that_the_reader_does_not_know_is_null_in_its_own_cell(tmp_path: Path, error: bytes, prefix: bytes) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("people")
        page.write_row(0, 0, ["a", "n"])
        for row, value in enumerate(["#DIV/0!", "#NUM!", 2, "#N/A", 3], 1):
            page.write_formula(row, 0, "=B2", None, value)
            page.write(row, 1, row)

    def with_errors(sheet: bytes) -> bytes:
        assert sheet.count(b'"e"') == 3
        sheet = sheet.replace(b"#DIV/0!", error).replace(b't="e"><f>B2</f><v>#NUM!', b"t='e' ><v>" + error)
        sheet = sheet.replace(b"</row>", b'<c r="C2" t="e"/><c r="D2"><v>1</v></c></row>', 2)
        sheet = re.sub(rb"<(/?)(?=[a-z])", rb"<\1" + prefix, sheet)
        return sheet.replace(b" xmlns=", b" xmlns:x=") if prefix else sheet

    changed(tmp_path / "a.xlsx", lambda parts: {**parts, SHEET: with_errors(parts[SHEET])})
    source = f"{tmp_path / 'a.xlsx'}::people"
    assert cells(source, "a") == {None: 3, "2": 1, "3": 1}
    assert cells(source, "n") == {"1": 1, "2": 1, "3": 1, "4": 1, "5": 1}


@pytest.mark.parametrize("part", [SHEET, "xl/styles.xml", "xl/sharedStrings.xml"])
def test_a_part_that_grows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]])
    changed(tmp_path / "a.xlsx", lambda parts: {**parts, part: parts[part] + b" " * 3_000_000})
    assert header_of(source)
    monkeypatch.setattr(package, "_MOST_BYTES", 2_000_000)
    with pytest.raises(SourceError, match="has more cells, or larger ones, than can be read"):
        header_of(source)


def test_a_cell_far_off_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet("people")
        page.write_row(0, 0, ["a", "b"])
        page.write(1_048_575, 16_383, 1)
    with pytest.raises(SourceError, match="delete what stands far from the table"):
        header_of(f"{tmp_path / 'a.xlsx'}::people")


@pytest.mark.parametrize("cell", [b"<c><v>1</v></c>", b"<x:c/>", b"<c\tr='ZZZ9999999'/>", b'<c s="1" r="&#65;1"/>'])
def test_cells_without_a_place_are_refused(tmp_path: Path, cell: bytes) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]])
    changed(tmp_path / "a.xlsx", lambda parts: {**parts, SHEET: parts[SHEET].replace(b"</row>", cell + b"</row>", 1)})
    with pytest.raises(SourceError, match="do not say where they are"):
        header_of(source)


def test_the_places_of_cells_are_found_at_every_edge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.xlsx", [["a", "b"], *([f"text {i}", i] for i in range(300))])
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        for size in (1_000, 1_001, 1_013):
            monkeypatch.setattr(package, "_BLOCK", size)
            monkeypatch.setattr(package, "_MOST_CELLS", 602)
            package._check_area(book, SHEET, tmp_path)
            monkeypatch.setattr(package, "_MOST_CELLS", 601)
            with pytest.raises(package._LargeError):
                package._check_area(book, SHEET, tmp_path)


def test_cells_far_off_are_found_below_any_prefix(tmp_path: Path) -> None:
    source, far = (
        written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]]),
        b'<x-y:c r="XFD1048576"><x-y:v>1</x-y:v></x-y:c></row>',
    )
    changed(tmp_path / "a.xlsx", lambda parts: {**parts, SHEET: parts[SHEET].replace(b"</row>", far, 1)})
    with pytest.raises(SourceError, match="delete what stands far from the table"):
        header_of(source)


@pytest.mark.parametrize("name", [b"count", b"uniqueCount"])
def test_a_list_of_texts_that_says_it_is_endless_is_refused(tmp_path: Path, name: bytes) -> None:
    source, part = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]]), "xl/sharedStrings.xml"
    for said, refused in ((b"50000001", True), (b"9999999999", True), (b"x", True), (b"3", False)):
        change = re.compile(rb"\b%s=\"[0-9x]+\"" % name)
        changed(tmp_path / "a.xlsx", lambda parts: {**parts, part: change.sub(name + b' = "' + said + b'"', parts[part])})  # noqa: B023
        changed(tmp_path / "a.xlsx", lambda parts: {**parts, part: parts[part].replace(b" = ", b"=")})
        with pytest.raises(SourceError, match=r"than can be read|not a readable") if refused else nullcontext():
            header_of(source)


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]])
    changed(tmp_path / "a.xlsx", lambda parts: {**parts, SHEET.upper(): parts[SHEET]})
    with pytest.raises(SourceError, match=r"is not a readable .xlsx workbook"):
        header_of(source)


@pytest.mark.parametrize("turns", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_a_damaged_workbook_is_refused_or_ends_in_the_constant_failure(tmp_path: Path, capfd: Any, turns: int) -> None:
    source, rng = written(tmp_path / "a.xlsx", [["a", "b"], *[["secret", 1]] * 50]), random.Random(7)  # noqa: S311
    whole, outcomes = (tmp_path / "a.xlsx").read_bytes(), set()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        parts = {name: book.read(name) for name in book.namelist()}
    for turn in range(turns):
        if turn % 3:
            name = rng.choice([SHEET, "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"])
            damaged = bytearray(parts[name])
            for _ in range(rng.choice([1, 5])):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            (tmp_path / "a.xlsx").write_bytes(whole)
            changed(tmp_path / "a.xlsx", lambda known: {**known, name: bytes(damaged)})  # noqa: B023
        else:
            (tmp_path / "a.xlsx").write_bytes(whole[: rng.randrange(len(whole))])
        try:
            engine: Any = open_known(source, (), NO_LIMITS).engine
            list(engine.cells([*engine.header]))
            outcomes.add("read")
        except SourceError as refused:
            outcomes.add("secret" if "secret" in str(refused) else "refused")
    assert outcomes == {"read", "refused"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_part_is_refused_however_it_is_packed(tmp_path: Path, method: int) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], *([f"text {i}", i] for i in range(50))])
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", method) as book:
        for name, content in parts.items():
            book.writestr(name, content)
        start = book.getinfo(SHEET).header_offset + 30 + len(SHEET)
    stored = bytearray((tmp_path / "a.xlsx").read_bytes())
    stored[start + 20 : start + 60] = bytes(range(200, 240))
    (tmp_path / "a.xlsx").write_bytes(stored)
    with pytest.raises(SourceError, match=r"is not a readable .xlsx workbook"):
        header_of(source)


def test_an_interpreter_that_does_not_know_its_program_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"], ["x", 1]])
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(SourceError, match="the process that reads workbooks cannot be started"):
        header_of(source)


def test_a_workbook_that_was_written_anew_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["sex", "age"], ["F", 1]])
    engine: Any = open_source(source, dp.Schema(sex=dp.Category(["F", "M"])))
    written(tmp_path / "a.xlsx", [["sex", "age"], ["F", 1], ["M", 2]])
    assert engine.count_rows() == 2
    written(tmp_path / "a.xlsx", [["age", "sex"], [1, "F"]])
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.count_rows()
    written(tmp_path / "a.xlsx", [["sex", "age"], ["F", 1]])
    monkeypatch.setattr(package, "_MOST_CELLS", 1)
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.count_rows()


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.xlsx", [["a", "b"]])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(SourceError, match=r"need the package 'python-calamine'; pip install 'discreet\[excel\]'"):
        header_of(source)


def test_a_sheet_has_columns_of_text(tmp_path: Path) -> None:
    assert header_of(written(tmp_path / "a.xlsx", [["a", "b"], [1, True]])) == dict.fromkeys(
        "ab", ColumnType("text", "text")
    )
