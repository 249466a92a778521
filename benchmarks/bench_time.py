"""What the values of a table do to the time of a release: valid, null, out of bounds, junk, malformed; ratios to the first.

    python benchmarks/bench_time.py [ROWS]        (default 1,000,000)

Each release is a count and a mean of one value in 51 groups (of a date, the number that are not null). The variants of one
source alternate in one process; medians of processor time and of wall time are compared. Written for docs/security.md.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROWS, RUNS = 1_000_000, 5
STATE = "'State ' || lpad(CAST(i * 7919 % 51 AS VARCHAR), 2, '0')"
WAGE = "CAST(i * 104729 % 4096 AS VARCHAR)"
JUNK = "lpad(CAST(i * 104729 % 10000019 AS VARCHAR), 8, 'x')"


@dataclass(frozen=True)
class Source:
    """One kind of file: the schema's value column, the SQL of state and value in each variant, and how they are written."""

    value: Any
    variants: Mapping[str, tuple[str, str]]
    options: str = ""


def parquet_sources() -> dict[str, Source]:
    import discreet as dp

    number, dates = dp.Number(0, 4095), dp.Date("2000-01-01", "2011-03-18")
    huge, days = "1e20::DECIMAL(38,10)", f"{WAGE}::INTEGER"
    far = "DATE '2000-01-01' + CAST({} AS INTEGER)".format
    return {
        "Parquet, texts": Source(number, texts()),
        "Parquet, integers": Source(number, typed("INTEGER", f"{WAGE}::INTEGER", "1000000 + i % 1000")),
        # As a million different texts are stored: every text by itself, no text once for all.
        "Parquet, integers, no dictionary": Source(
            number, typed("INTEGER", f"{WAGE}::INTEGER", "1000000 + i % 1000"), ", DICTIONARY_SIZE_LIMIT 0"
        ),
        "Parquet, dates, no dictionary": Source(
            dates, typed("DATE", far(days), far("10000 + i % 1000"), infinite="'infinity'"), ", DICTIONARY_SIZE_LIMIT 0"
        ),
        "Parquet, doubles": Source(number, typed("DOUBLE", f"{WAGE}::DOUBLE", "1e300", nan="'nan'", infinite="'inf'")),
        "Parquet, decimals of 15 digits": Source(number, typed("DECIMAL(15,2)", f"{WAGE}::DECIMAL(15,2)", "1000000.25")),
        "Parquet, decimals of 38 digits": Source(number, typed("DECIMAL(38,10)", f"{WAGE}::DECIMAL(38,10)", huge)),
        "Parquet, dates": Source(dates, typed("DATE", far(days), far("10000 + i % 1000"), infinite="'infinity'")),
        "Parquet, timestamps": Source(dates, typed("TIMESTAMP", far(days), far("10000 + i % 1000"), infinite="'infinity'")),
    }


def texts() -> dict[str, tuple[str, str]]:
    return {
        "valid": (STATE, WAGE),
        "out of bounds": (STATE, f"'9' || {WAGE} || '00'"),
        "null": ("CAST(NULL AS VARCHAR)", "CAST(NULL AS VARCHAR)"),
        "one junk text": ("'no state'", "'no number'"),
        "junk, all different": (JUNK, JUNK),
        "all first": ("'State 00'", "'0'"),
        "all last": ("'State 50'", "'4095'"),
        "not normalised": ("'Sta' || chr(779) || 'te 00'", WAGE),
    }


def typed(type_: str, valid: str, outside: str, **others: str) -> dict[str, tuple[str, str]]:
    null = ("CAST(NULL AS VARCHAR)", f"CAST(NULL AS {type_})")
    further = {name: (STATE, f"CAST({value} AS {type_})") for name, value in others.items()}
    shown = {"valid": (STATE, valid), "out of bounds": (STATE, outside), "null": null, "junk keys": (JUNK, valid), **further}
    return {name: (state, f"CAST({value} AS {type_})") for name, (state, value) in shown.items()}


def csv_variants() -> dict[str, str]:
    plain = f"{STATE} || ',' || {WAGE} || ','"
    return {
        "valid": plain,
        "valid, all cells quoted": f"'\"' || {STATE} || '\",\"' || {WAGE} || '\",\"\"'",
        "out of bounds": f"{STATE} || ',9' || {WAGE} || '00,'",
        "empty cells": "',,'",
        "junk, all different": f"{JUNK} || ',' || {JUNK} || ','",
        "not UTF-8": f"'@' || {STATE} || ',@@' || {WAGE} || ','",
        "an open quote": f"{STATE} || ',\"' || {WAGE} || ','",
        "an open quote in the first cell": f"'\"' || {plain}",
        "a quote within a cell": f"'S\"' || {plain}",
        "a quote at the end of a cell": f"{STATE} || '\",' || {WAGE} || ','",
        "all quoted, a quote at the end": f"'\"' || {STATE} || '\",\"' || {WAGE} || '\",x\"'",
        "a quote after every character": '\'a"b"c"d"e"f",1"2",\'',
        "commas next to quotes": f"'\",S,\",' || {WAGE} || ',\",\"'",
        "text behind a closed quote": f"'\"S\"' || {plain}",
        "doubled quotes": f'\'"""S""",\' || {WAGE} || \',\'',
        "a cell too many": f"{plain} || ','",
        "a cell too few": f"{STATE} || {WAGE}",
        "nothing but commas": "',,,,,,,,,,,,'",
        "nothing but quotes": '\'""""""""""""\'',
        "a NUL": f"'#' || {plain}",
    }


def write_parquet(path: Path, state: str, value: str, rows: int, options: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {state} AS state, {value} AS value FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet{options})"
        )


def write_csv(path: Path, line: str, rows: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        lines = connection.execute(f"SELECT string_agg({line}, chr(10)) FROM range({rows}) t(i)").fetchone()
    content = lines[0].encode()  # type: ignore[index]
    path.write_bytes(b"state,value,other\n" + content.replace(b"@", b"\xff").replace(b"#", b"\0") + b"\n")


def measure(paths: Mapping[str, Path], value: Any) -> dict[str, list[tuple[float, float]]]:
    """Processor and wall seconds of releases, alternating; the first round only warms up."""
    import discreet as dp

    schema = dp.Schema(state=dp.Category([f"State {i:02d}" for i in range(51)]), value=value)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
    for run in range(RUNS + 1):
        for name, path in paths.items():
            with dp.Session(
                path, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1000), neighbours=dp.AddRemove()
            ) as session:
                table = session.table.group_by("state")
                number = isinstance(value, dp.Number)
                request = table.agg(dp.count(), dp.mean("value", nulls="skip") if number else dp.count("value"))
                start = time.process_time(), time.perf_counter()
                session.release(request, spend=1, name="r")
                spent = time.process_time() - start[0], time.perf_counter() - start[1]
            if run:
                times[name].append(spent)
    return times


def show(title: str, times: Mapping[str, list[tuple[float, float]]]) -> None:
    print(f"\n{title}")
    base: list[float] = []
    for name, runs in times.items():
        cpu, wall = (statistics.median(column) for column in zip(*runs, strict=True))
        base = base or [cpu, wall]
        print(f"  {name:34s} processor {cpu:6.3f} s {cpu / base[0]:5.2f} ×   wall {wall:6.3f} s {wall / base[1]:5.2f} ×")


def main() -> None:
    """Every variant of every source."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS
    only = sys.argv[2:]
    import discreet as dp

    with tempfile.TemporaryDirectory() as folder:
        for title, source in parquet_sources().items():
            if only and not any(word in title for word in only):
                continue
            paths = {}
            for name, (state, value) in source.variants.items():
                paths[name] = Path(folder) / f"{title} {name}.parquet"
                write_parquet(paths[name], state, value, rows, source.options)
            show(title, measure(paths, source.value))
        if not only or "CSV" in only:
            paths = {name: Path(folder) / f"{name}.csv" for name in csv_variants()}
            for name, line in csv_variants().items():
                write_csv(paths[name], line, rows)
            show("CSV", measure(paths, dp.Number(0, 4095)))


if __name__ == "__main__":
    main()
