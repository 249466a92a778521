"""What is fuzzed: targets that read a file, the inputs to start from, and what is asked of every input.

* `csv`: refused when it is opened, in words that depend on the first line alone; or the cube of the reference engine over
  rows found by a separate, slower reading of the file, whatever the size of blocks.
* `session`: after opening a release of the one public shape, or the one constant failure; charged in full both times.
* `plan`: understood, twice in the same way, or a `PlanError` of printable text that names the file and quotes no data.
* `release`: understood, saved and read back with equal bytes, or an `ArgumentError`; nothing is left of a file that is not
  whole. The digest is also put right first, so that documents that were never written by discreet are read too.

Nothing else is raised. scripts/fuzz.py has the loop.
"""

# ruff: noqa: PT017 (the targets run outside of pytest too)

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

import discreet as dp
from discreet.audit.engines.conformance import first_difference
from discreet.cube.scans import Scan
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.duckdb import csv_lines
from discreet.engines.reference import ReferenceEngine
from discreet.exact.canonical import canonical, digest
from discreet.pages.report import render
from discreet.planfile.read import load_plan

sys.path.insert(0, str(Path(__file__).parent))
import fuzz_seeds as seeds

SECRET = "738291"  # noqa: S105 ( stands in the data beside every plan file; no message may show it)
LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads bytes: inputs to start from, pieces to insert, and the check, which raises on a finding."""

    seeds: tuple[bytes, ...]
    pieces: tuple[bytes, ...]
    check: Callable[[bytes], None]
    change: Callable[[bytes, random.Random], bytes] | None = None


# CSV tables ------------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, Any] = {
    "age": dp.Number(0, 100, "0.5"),
    "sex": dp.Category(["F", "M", "é"]),
    "day": dp.Date("2020-01-01", "2020-12-31"),
    "yes": dp.Category([False, True]),
    "n": dp.Category([0, 7, -7]),
}
TEXT = ColumnType("text", "text")


def cells_by_hand(line: str, longest: int = 2**17) -> list[str] | None:
    """The cells of a line, read letter by letter; None where it is not well-formed. The slow statement of the format."""
    if "\0" in line:
        return None
    cells, cell, state = [], "", "start"
    for char in line:
        if state == "start" and char == '"':
            state = "quoted"
        elif state == "quoted":
            if char == '"':
                state = "quote"
            else:
                cell += char
        elif state == "quote" and char == '"':
            cell, state = cell + '"', "quoted"
        elif char == ",":
            cells, cell, state = [*cells, cell], "", "start"
        elif state == "quote":
            return None
        else:
            cell, state = cell + char, "plain"
    cells.append(cell)
    return None if state == "quoted" or any(len(one) > longest for one in cells) else cells


def rows_by_hand(content: bytes, longest: int) -> tuple[list[str] | None, list[list[str | None]]]:
    """The names and the rows of a file, without blocks."""
    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    header, *lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    names = cells_by_hand(header.decode(errors="replace"))
    rows: list[list[str | None]] = []
    for line in lines:
        cells = cells_by_hand(line.decode(errors="replace")) if len(line) <= longest else None
        if line or len(names or ()) == 1:
            rows.append([*cells] if cells is not None and len(cells) == len(names or ()) else [None] * len(names or ()))
    return names, rows


def check_csv(data: bytes) -> None:
    """The cube of a CSV file is the reference's; a refusal depends on its first line alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        names, rows = rows_by_hand(data, csv_lines.MAX_LINE)
        schema = dp.Schema({name: one for name, one in COLUMNS.items() if name in (names or ())} or COLUMNS)
        path.write_bytes(data)
        refusal = same_cube(path, schema, names, rows)
        if refusal is not None:
            assert has_reason(data, names), f"refused without a reason: {refusal}"
            path.write_bytes(data.replace(b"\r", b"\n").split(b"\n")[0])
            assert refusal == same_cube(path, schema, names, []), "a refusal depends on more than the first line"
            return
        # The same file in blocks of a few bytes, with a limit that lines can exceed.
        blocks, longest = (1, 2, 3, 7, 64, 200, 2000)[sum(data) % 7], 120
        with mock.patch.object(csv_lines, "_BLOCK", blocks), mock.patch.object(csv_lines, "MAX_LINE", longest):
            names, rows = rows_by_hand(data, longest)
            found: Counter[tuple[str | None, ...]] = Counter()
            for block in csv_lines.row_blocks(path, len(names or ())):
                lines = block.text.decode().split("\n")[:-1]
                assert len(lines) == block.count
                found.update(tuple(line.split("\0")) for line in lines)
                found[(None,) * len(names or ())] += block.nulls
            assert +found == Counter(map(tuple, rows)), "rows depend on the size of blocks"


def has_reason(data: bytes, names: list[str] | None) -> bool:
    """Whether the beginning of a file is no header that declares a known column, each name once."""
    first = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").split(b"\n")[0]
    try:
        first.decode()
    except UnicodeDecodeError:
        return True
    packed = data.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ"))
    return packed or not names or len(set(names)) < len(names) or not set(names) & set(COLUMNS)


def same_cube(path: Path, schema: dp.Schema, names: list[str] | None, rows: list[list[str | None]]) -> str | None:
    """The refusal of a file, or None after its cube was found equal to the reference's."""
    try:
        engine = open_source(str(path), schema)
    except dp.SourceError as error:
        assert len(str(error)) < 2 * len(str(path)) + LONGEST
        return str(error)
    try:
        assert names is not None
        wanted = csv_layout(tuple(schema.columns))
        found = engine.aggregate(wanted.axes, wanted.moments)
    finally:
        engine.close()
    expected = ReferenceEngine(dict.fromkeys(names, TEXT), rows).aggregate(wanted.axes, wanted.moments)
    difference = first_difference(expected, found)
    assert difference is None, difference
    return None


@cache
def csv_layout(names: tuple[str, ...]) -> Scan:
    """The layout of a request that counts every one of these columns."""
    schema = dp.Schema({name: COLUMNS[name] for name in names})
    groups = [name for name, column in schema.columns.items() if isinstance(column, dp.Category)]
    sums = [dp.sum(name, nulls="skip") for name, column in schema.columns.items() if type(column) is dp.Number]
    others = [dp.count(name) for name, column in schema.columns.items() if isinstance(column, dp.Date)]
    return dp.Table(schema, dp.AddRemove()).group_by(*groups).agg(dp.count(), *sums, *others).layout.scans[0]


# Releases of CSV tables ------------------------------------------------------------------------------------------------

FIRST_LINE = b"g,v\n"
SESSION_SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10, "0.5"))
SHAPE = ["g", "count", "count_low", "count_high", "mean_v", "mean_v_low", "mean_v_high"]


def check_session(data: bytes) -> None:
    """The release of any rows has the one public shape or is the one failure; both times everything is charged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(FIRST_LINE + data)
        for neighbours in (dp.AddRemove(), dp.ReplaceOne(rows=3)):
            session = dp.Session(
                path, SESSION_SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(1), neighbours=neighbours
            )
            with session:
                wanted = session.table.impute({"v": dp.Uniform()}).group_by("g").agg(dp.count(), dp.mean("v"))
                released(session, wanted, may_fail=isinstance(neighbours, dp.ReplaceOne))


def released(session: dp.Session, wanted: Any, *, may_fail: bool) -> None:
    """The request was released in its public shape, or failed in the constant words."""
    try:
        table = session.release(wanted, name="r").table
    except dp.RowsDiffer as refused:
        assert may_fail
        assert str(refused.found) not in str(refused).replace("rows=3", "")
        assert refused.__cause__ is None
        assert session.spent == dp.PureDP(0)
        assert refused.__context__ is None
        return
    assert session.spent == dp.PureDP(1)
    assert table.columns == SHAPE
    assert table["g"].to_list() == ["x", "y", None]
    assert all(table[name].is_not_null().all() for name in SHAPE[1:])


# Plan files ------------------------------------------------------------------------------------------------------------


def change_lines(data: bytes, chance: random.Random) -> bytes:
    """A text in which one line was left out, doubled, moved, taken from a seed, or had its value replaced."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    how = chance.choice(("cut", "doubled", "moved", "seed", "value", "value", "part", "part"))
    if how == "cut":
        del lines[place]
    elif how == "doubled":
        lines.insert(chance.randrange(len(lines) + 1), lines[place])
    elif how == "moved":
        lines.insert(chance.randrange(len(lines)), lines.pop(place))
    elif how == "seed":
        lines.insert(place, chance.choice(chance.choice(seeds.PLAN_SEEDS).split(b"\n")))
    else:
        # A value within a line ends before a comma or a closing bracket; the value of a line is all of it.
        starts = [at for at, byte in enumerate(lines[place]) if byte in (b"=" if how == "value" else b"=[,")]
        if starts:
            start = chance.choice(starts) + 1
            rest = b"" if how == "value" else re.sub(rb"^[^,\]}]*", b"", lines[place][start:], count=1)
            lines[place] = lines[place][:start] + b" " + chance.choice(seeds.VALUES) + rest
    return b"\n".join(lines)


def check_plan(data: bytes) -> None:
    """A plan file is understood, twice in the same way, or refused in printable words that quote no data."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "s.csv").write_text(f"sex,age,day\nF,{SECRET},2020-05-01\n")
        (place / "c.txt").write_text("x\ny\n")
        path = place / "plan.toml"
        path.write_bytes(data)
        digests = []
        for _ in range(2):
            try:
                digests.append([(order.name, order.request.digest, repr(order.spend)) for order in load_plan(path).orders])
            except dp.PlanError as error:
                assert error.place.startswith("plan.toml")
                assert str(error).isprintable()
                assert SECRET not in str(error) or SECRET.encode() in data
                assert len(str(error)) < 2 * LONGEST
                digests.append([("", "", str(error))])
        assert digests[0] == digests[1]
        assert sorted(one.name for one in place.iterdir()) == ["c.txt", "plan.toml", "s.csv"]


# Release files ---------------------------------------------------------------------------------------------------------


def release_seeds() -> tuple[bytes, ...]:
    """Real releases: with groups, margins, frames, and exact totals."""
    frame = pl.DataFrame({"g": ["x", "y", None] * 4, "h": [False, True] * 6, "v": [0.5 * i for i in range(12)]})
    schema = dp.Schema(g=dp.Category(["x", "y"]), h=dp.Category([False, True]), v=dp.Number(0, 10, "0.5"))
    found = []
    for totals in (None, dp.Totals("g")):
        session = dp.Session(
            frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=12),
            invariants=totals,
        )  # fmt: skip
        with session:
            table = session.table.impute({"v": dp.Uniform()})
            wanted = table.group_by("g", "h").agg(dp.count(), dp.mean("v"), dp.histogram("v", [0, 5, 10]))
            found.append(session.release(wanted, spend="1/2", name="r").payload)
    return tuple(found)


def change_document(data: bytes, chance: random.Random) -> bytes:
    """A document in which one value became another, was left out, or was taken from elsewhere."""
    try:
        document = json.loads(data)
        places = list(inside(document))
        _, holder, key = chance.choice(places)
        how = chance.choice(("odd", "odd", "cut", "other", "more"))
        if how == "cut":
            del holder[key]
        elif how == "more" and isinstance(holder, list):
            holder.insert(key, chance.choice(seeds.ODD))
        else:
            holder[key] = chance.choice(seeds.ODD) if how == "odd" else chance.choice(places)[0]
        return json.dumps(document).encode()
    except (ValueError, IndexError, RecursionError):
        return data + b" "


def inside(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Every value within a document, with what holds it and under which key."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, one in pairs:
            yield one, holder, key
            waiting.append(one)


def with_digest(data: bytes) -> bytes | None:
    """The document with the digest that fits it, as one who makes it by hand can write it."""
    try:
        document = json.loads(data)
        body = {key: value for key, value in document.items() if key != "digest"}
        return canonical({**body, "digest": digest(body)}).encode()
    except (ValueError, AttributeError, RecursionError, TypeError):
        return None


def check_release(data: bytes) -> None:
    """A release file is understood and saved whole, or refused; also when its digest fits."""
    for payload in (data, with_digest(data)):
        if payload is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "release.json"
            path.write_bytes(payload)
            try:
                read_release(dp.Release.load(path), Path(folder) / "again")
            except dp.ArgumentError as error:
                assert len(str(error)) < LONGEST
            left = [one.name for one in (Path(folder) / "again").glob("*")]
            assert not left or "release.json" in left
            assert not [name for name in left if name.startswith(".")]


def read_release(release: dp.Release, folder: Path) -> None:
    """Every view of a release was taken, and what was saved is what was read."""
    assert all(isinstance(text, str) for text in (release.name, release.dataset, release.digest, str(release.guarantee)))
    assert release.table.height >= 0
    assert "table" in release.tables
    assert release.to_pandas().shape == release.table.shape
    release.save(folder)
    assert dp.Release.load(folder).payload == release.payload
    assert render(release).startswith("<!doctype html>")


def targets() -> dict[str, Target]:
    """Everything that can be fuzzed, by name."""
    return {
        "csv": Target(seeds.CSV_SEEDS, seeds.CSV_PIECES, check_csv),
        "session": Target(seeds.SESSION_SEEDS, seeds.CSV_PIECES, check_session),
        "plan": Target(seeds.PLAN_SEEDS, seeds.PLAN_PIECES, check_plan, change_lines),
        "release": Target(release_seeds(), seeds.RELEASE_PIECES, check_release, change_document),
    }
