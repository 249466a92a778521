"""CSV files of other formats: the same rows, whatever separates, quotes, encodes and packs them. A row stays a line."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builders import plan_text, run, session_over

import discreet as dp
from discreet.domain.reading import ENCODINGS, CsvFormat
from discreet.engines import header_of, open_source
from discreet.engines.duckdb import csv_bytes, csv_files, csv_lines
from discreet.engines.duckdb.csv_lines import row_blocks, split_line
from discreet.errors import ArgumentError, SourceError
from discreet.planfile.read import load_plan

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(g=dp.Category(["ä", "b"]), v=dp.Number(0, 100, "0.5"), i=dp.Category([1, 7]))
ROWS = [("ä", "1,5", "7"), ("b", "20", "1,0"), ("ä", "3.5", "x"), ("b", "-8", "")]


def text(separator: str = ";", end: str = "\n") -> str:
    return end.join(separator.join(row) for row in [("g", "v", "i"), *ROWS]) + end


def counted(source: Any, schema: dp.Schema = SCHEMA) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Rows and non-null numbers by the codes of g and i."""
    plan = dp.Table(schema, dp.AddRemove()).group_by("g", "i").agg(dp.count(), dp.sum("v", nulls="skip"))
    (scan,) = plan.layout.scans
    engine = open_source(source, schema)
    try:
        cube = engine.aggregate(scan.axes, scan.moments)
    finally:
        engine.close()
    cells = zip(cube.keys.tolist(), cube.rows.tolist(), cube.nonnull.tolist(), cube.sums.tolist(), strict=True)
    return {tuple(key): (rows, sums[0] if nonnull[0] else -1) for key, rows, nonnull, sums in cells}


KNOWN = {(-1, -1): (0, 0)}
EXPECTED = {(0, 1): (1, 3), (1, 0): (1, 40), (0, -1): (1, -1), (1, -1): (1, 0)}
"""1,5 and 20 and -8 are numbers where the mark is a comma; 3.5 is not, 1,0 is the category 1."""


@pytest.mark.one_in(5)
@pytest.mark.parametrize("encoding", [one for one in ENCODINGS if one not in {"windows-1251", "windows-1253"}])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_every_encoding_and_separator_gives_the_same_cells(tmp_path: Path, encoding: str, separator: str) -> None:
    (tmp_path / "a.csv").write_bytes(text(separator).encode(encoding))
    source = dp.CsvFiles(tmp_path / "a.csv", separator=separator, decimal=",", encoding=encoding)
    assert counted(source) == EXPECTED


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.TXT", "a.csv.gz", "a.tsv.gz", "a.csv.zst", "b.2025.txt.zst"])
def test_endings_say_how_a_file_is_packed_and_separated(tmp_path: Path, name: str) -> None:
    content = text("\t" if ".tsv" in name else ",").replace("1,5", "1.5").replace("1,0", "1.0").encode()
    if name.endswith(".gz"):
        content = gzip.compress(content)
    if name.endswith(".zst"):
        content = pytest.importorskip("zstandard").compress(content)
    (tmp_path / name).write_bytes(content)
    assert counted(tmp_path / name) == {(0, 1): (1, 3), (1, 0): (1, 40), (0, -1): (1, 7), (1, -1): (1, 0)}


def test_quotes_of_another_kind_and_none(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("g;v\n'ä';'1;5'\n\"b\";1\n'b;1\n", encoding="utf-8")
    schema = dp.Schema(g=dp.Category(["ä", "b", '"b"', "'b"]), v=dp.Number(0, 9), i=dp.Category([1]))
    schema = dp.Schema(g=schema["g"], v=schema["v"])
    by_quote = {}
    for quote in ("'", '"', ""):
        plan = dp.Table(schema, dp.AddRemove()).group_by("g").agg(dp.count())
        (scan,) = plan.layout.scans
        cube = open_source(dp.CsvFiles(path, separator=";", quote=quote), schema).aggregate(scan.axes, ())
        by_quote[quote] = dict(zip(cube.keys[:, 0].tolist(), cube.rows.tolist(), strict=True))
    assert by_quote == {"'": {0: 1, 2: 1, -1: 1}, '"': {1: 1, 3: 1, -1: 1}, "": {2: 1, 3: 1, -1: 1}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_cell_decides_where_other_rows_begin(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever bytes one row has, the others are the same rows: bytes of line ends in its own unit apart."""
    dice = random.Random(5)  # noqa: S311 (no secret)
    form = CsvFormat(separator=";", encoding=encoding)
    unit, ends = (2, {b"\n\0", b"\r\0"}) if encoding == "utf-16" else (1, {b"\n", b"\r"})
    head, others = "g;v\n".encode(encoding), "x;1\n".encode(encoding)[2 * (encoding == "utf-16") :]
    path = tmp_path / "a.csv"
    for block in (7, 64, 2**18):
        monkeypatch.setattr(csv_lines, "_BLOCK", block)
        for _ in range(60):
            parts = [dice.randbytes(unit) for _ in range(dice.randrange(1, 9))]
            hostile = b"".join(
                part for part in [*parts, *dice.sample([b'"', b";", b"'", b"\x85"], 2) * (unit == 1)] if part not in ends
            )
            path.write_bytes(head + others * 3 + hostile + ("\n".encode(encoding)[-unit:]) + others * 4)
            found = list(row_blocks(path, 2, form))
            rows = Counter(row for one in found for row in one.text.decode().split("\n")[:-1])
            assert rows["x\0" + "1"] >= 7, hostile
            assert sum(one.count + one.nulls for one in found) in (7, 8), hostile


def test_single_bytes_are_ascii_where_they_are_ascii() -> None:
    """So that separators, quotes and line ends are the same bytes, and no other byte is one of them."""
    for encoding in ENCODINGS:
        if encoding.startswith("utf"):
            continue
        for byte in range(256):
            shown = bytes([byte]).decode(encoding, "replace")
            assert len(shown) == 1
            assert (shown == chr(byte)) if byte < 128 else not shown.isascii(), (encoding, byte)


def test_lines_in_one_piece_and_alone_are_read_alike_in_every_format() -> None:
    dice = random.Random(3)  # noqa: S311
    for quote in ('"', "'", ""):
        form = CsvFormat(separator=";", quote=quote)
        lines = ["".join(dice.choice("a;'\",") for _ in range(dice.randrange(6))) for _ in range(400)]
        rows = csv_lines._rows("".join(line + "\n" for line in lines).encode(), 2, form)
        alone = [split_line(line, 2, form) for line in lines if line]
        good = Counter("\0".join(cells) for cells in alone if cells is not None)
        assert Counter(rows.text.decode().split("\n")[:-1]) == good
        assert rows.nulls == sum(cells is None for cells in alone)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"separator": ";;"}, "separator=';;': must be one character"),
        ({"separator": "a"}, "separator='a': must be one character"),
        ({"separator": "\n"}, "must be one character"),
        ({"separator": '"'}, "must be one character"),
        ({"separator": ",", "decimal": ","}, "is the decimal mark too"),
        ({"decimal": ";"}, "decimal=';': must be"),
        ({"decimal": ""}, "decimal='': must be"),
        ({"encoding": "latin-3"}, "encoding='latin-3': cannot be read line by line"),
        ({"encoding": "shift_jis"}, "cannot be read line by line"),
        ({"encoding": "utf-7"}, "cannot be read line by line"),
        ({"encoding": 7}, "encoding=7: must be the name"),
        ({"quote": "`"}, "quote='`': must be"),
        ({"quote": None}, "quote=None: must be"),
        ({"separator": None}, "separator=None: must be"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_opened(given: dict[str, Any], shown: str) -> None:
    with pytest.raises(ArgumentError, match=shown.replace("(", r"\(")):
        dp.CsvFiles("nowhere.csv", **given)


@pytest.mark.parametrize("name", ["a.parquet", "postgresql://host/db::t", "spark:db.t"])
def test_a_format_for_what_is_not_csv_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    import polars as pl

    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"g": [1]}).write_parquet("a.parquet")
    with pytest.raises(SourceError, match="is not a CSV file"):
        header_of(dp.CsvFiles(name, decimal=","))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.csv.gz", b"g,v\n1,2\n", "cannot be read, as its ending .gz says"),
        ("a.csv.gz", gzip.compress(b"g,v\n" * 9, mtime=0)[:12], "cannot be read, as its ending .gz says"),
        ("a.csv.zst", b"g,v\n1,2\n", "cannot be read, as its ending .zst says"),
        ("a.csv", gzip.compress(b"g,v\n", mtime=0), "is not UTF-8 CSV text"),
        ("a.csv", "g;v\n".encode("utf-16"), "is UTF-16; write csv"),
        ("a.csv", b"g;v\n1;2\n", 'instead of commas; write csv = { separator = ";" } in a plan file'),
        ("a.tsv", b"g,v\n1,2\n", "separated by commas instead of tabs"),
    ],
)
def test_files_of_another_kind_are_refused_when_they_are_opened(
    write: Callable[[bytes, str], str], name: str, content: bytes, shown: str
) -> None:
    pytest.importorskip("zstandard")
    with pytest.raises(SourceError) as caught:
        header_of(write(content, name))
    assert shown in str(caught.value)


@pytest.mark.slow
def test_a_packed_file_that_is_cut_is_the_constant_error(tmp_path: Path) -> None:
    whole = gzip.compress(("g,v,i\n" + "".join(f"b,{n % 7},{n * n}\n" for n in range(300_000))).encode())
    (tmp_path / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="could not be read to its end"):
        counted(tmp_path / "a.csv.gz")


GROWTH = """
import resource
from tests.unit.engines.duckdb.test_csv_formats import counted
counted("short.csv.gz")  # what reads it is loaded
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert counted("long.csv.gz") == {(1, 0): (1, 2), (-1, -1): (1, -1)}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_packed_line_without_end_is_one_row_in_constant_memory(tmp_path: Path) -> None:
    """In a process of its own: the most that this one ever held would hide what the line takes."""
    for name, millions in (("short", 0), ("long", 64)):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wb", compresslevel=1) as file:
            file.write(b"g,v,i\nb,1,1\n")
            for _ in range(millions):
                file.write(b"x" * 2**20)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    grown = subprocess.run(
        [sys.executable, "-c", GROWTH], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert int(grown.stdout) < 48 * 1024


def test_the_format_is_part_of_the_digest_only_where_one_is_given(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text(","), encoding="utf-8")
    (tmp_path / "b.csv").write_text(text(";"), encoding="utf-8")
    digests = []
    for source in (str(tmp_path / "a.csv"), dp.CsvFiles(tmp_path / "a.csv"), dp.CsvFiles(tmp_path / "b.csv", separator=";")):
        with session_over(source, SCHEMA) as session:
            digests.append(session.table.agg(dp.count()).digest)
    assert digests[0] == digests[1] == dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()).digest != digests[2]
    assert SCHEMA.read_as(CsvFormat(separator=";")).to_json()[0]["csv"] == {"separator": ";"}


def test_a_plan_file_says_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(text(";").encode("windows-1252"))
    form = 'csv = { separator = ";", decimal = ",", encoding = "cp1252" }'
    plan = plan_text("one-key").replace('source = "a.txt"', f'source = "a.txt"\n{form}')
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    loaded = load_plan(tmp_path / "plan.toml")
    assert loaded.csv == CsvFormat(separator=";", decimal=",", encoding="windows-1252")
    done = run("release", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert dp.Release.load(tmp_path / "out").table["count"].to_list() == [2, 2, 0]
    for old, new, shown in (
        ('";", decimal', '"::", decimal', "data.csv.separator: separator='::': must be one character"),
        ('"cp1252"', '"klingon"', "data.csv.encoding: encoding='klingon': cannot be read"),
        ('decimal = ","', "decimal = 1", "data.csv.decimal: must be a text in quotes"),
        ("decimal =", "decimals =", "data.csv.decimals: no such key"),
    ):
        (tmp_path / "plan.toml").write_text(plan.replace(old, new), encoding="utf-8")
        with pytest.raises(dp.PlanError) as caught:
            load_plan(tmp_path / "plan.toml")
        assert shown in str(caught.value)


# Planted errors ---------------------------------------------------------------------------------------------------------


def test_a_decimal_mark_that_is_not_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_with_points", lambda table, *_: table)
    with pytest.raises(AssertionError):
        test_every_encoding_and_separator_gives_the_same_cells(tmp_path, "utf-8", ";")


def test_a_decoder_that_swallows_a_line_end_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = csv_bytes.utf8_blocks

    def swallowing(path: Path, _encoding: str, size: int) -> Any:
        return (block.replace(b"\x85\n", b"") for block in real(path, "utf-8", size))

    monkeypatch.setattr(csv_lines, "utf8_blocks", swallowing)
    with pytest.raises(AssertionError):
        test_no_cell_decides_where_other_rows_begin(tmp_path, "iso-8859-1", monkeypatch)
