"""What a release costs beside the plain query of the same clamp, type by type: processor time, one thread, one run.

    python benchmarks/bench_types.py [--rows N] [--runs N] [--only TEXT] [--results FILE]        (default 4e6 rows, 5 runs)

For every type of column, with nulls and without: a Parquet file of made-up values, of states and of sexes. Numbers are
counted and added up by state and sex, within bounds that 6 % of them exceed; dates, texts and booleans are what is counted
by. The plain query is what an analyst would write, in a connection that is open; a release is a whole request in a session
that is open. What a request costs whatever the rows, measured on a file of 1,000 of them and at most 0.05 s, is taken off
both. With `--results benchmarks/peers/results.json`, `benchmarks/peers/run.py page` then renews the table of docs/peers.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_release import peak_mib

ROWS, FEW, RUNS = 4_000_000, 1000, 5
FIXED = 0.05
SEXES = ["F", "M"]
STATES = [f"State {number:02d}" for number in range(51)]
FIRST, LAST = "2015-01-01", "2024-12-31"
SHARE = 0.05
"""Of the cells that are null, where there are nulls."""


@dataclass(frozen=True, slots=True)
class Case:
    """One column of a file and what is asked of it.

    Args:
        name: as it is shown.
        made: the name of the values in `made`, and whether some are null.
        declared: the arguments of the schema's column, as text where they are numbers or days.
        plain: the query, with {path} for the file.
    """

    name: str
    made: tuple[str, bool]
    declared: tuple[Any, ...]
    plain: str


INTEGERS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
DECIMALS = {"decimal(4,1)": "300", "decimal(9,2)": "200000", "decimal(18,2)": "200000", "decimal(38,2)": "200000"}
BY_ITSELF = "SELECT x, count(*) FROM '{path}' GROUP BY x"
TEXTS = ("text, dictionary", "text, plain")
STAMPS = ("timestamp ms", "timestamp us", "timestamp ns")


def cases() -> Iterator[Case]:
    """Every type, grid by grid, without nulls and with them."""
    for nulls in (False, True):
        for name, bits in INTEGERS.items():
            top, coarse = {8: ("100", "10"), 16: ("20000", "100")}.get(bits, ("200000", "100"))
            yield from _summed(name, top, ("1", coarse), nulls=nulls)
        for name in ("float32", "float64"):
            yield from _summed(name, "200000", ("1", "0.01", "100"), nulls=nulls)
        for name, top in DECIMALS.items():
            yield from _summed(name, top, ("0.1" if name == "decimal(4,1)" else "0.01", "1", "100"), nulls=nulls)
        for name in TEXTS:
            yield Case(name, (name, nulls), (STATES,), "SELECT x, count(*) FROM '{path}' GROUP BY x")
        yield Case("boolean", ("boolean", nulls), ([True, False],), "SELECT x, count(*) FROM '{path}' GROUP BY x")
        yield Case(
            "int64, codes", ("int64, codes", nulls), (list(range(51)),), "SELECT x, count(*) FROM '{path}' GROUP BY x"
        )
        for name in ("date", *STAMPS):
            yield _by_day(name, nulls=nulls)


def _summed(name: str, top: str, steps: tuple[str, ...], *, nulls: bool) -> Iterator[Case]:
    clamped = f"CASE WHEN x < 0 THEN 0 WHEN x > {top} THEN {top} ELSE x END"
    query = f"SELECT g, s, count(*), count(w), sum(w) FROM (SELECT g, s, {clamped} AS w FROM '{{path}}') GROUP BY g, s"
    for step in steps:
        yield Case(f"{name}, step {step}", (name, nulls), ("0", top, step), query)


def _by_day(name: str, *, nulls: bool) -> Case:
    type_ = "DATE" if name == "date" else "TIMESTAMP_NS" if name.endswith("ns") else "TIMESTAMP"
    first, last = (f"{type_} '{day}'" for day in (FIRST, LAST))
    day = "w" if name == "date" else "CAST(w AS DATE)"
    clamped = f"CASE WHEN x < {first} THEN {first} WHEN x > {last} THEN {last} ELSE x END"
    query = f"SELECT {day}, count(*) FROM (SELECT {clamped} AS w FROM '{{path}}') GROUP BY 1"
    return Case(f"{name}, by day", (name, nulls), (FIRST, LAST), query)


def made(name: str, rows: int, *, nulls: bool) -> Any:
    """The values of a file as an Arrow table: a state g, a sex s and a column x, the same at each call."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    random = np.random.default_rng(16)
    states = pa.array(STATES).take(pa.array((51 * np.sqrt(random.random(rows))).astype(np.int64)))
    wages = np.exp(random.normal(11.0, 0.78, rows))  # 6 % above 200,000
    missing = random.random(rows) < SHARE if nulls else None
    days = random.integers(16_000, 20_200, rows)  # from 2013 to 2025
    columns: dict[str, Callable[[], Any]] = {
        **{text: lambda: pa.array(STATES).take(pa.array(random.integers(0, 51, rows))) for text in TEXTS},
        **{f"timestamp {unit}": lambda unit=unit: _stamps(days, random, unit) for unit in ("ms", "us", "ns")},
        "float32": lambda: pa.array(wages.astype(np.float32)),
        "float64": lambda: pa.array(wages),
        "date": lambda: pa.array(days.astype("datetime64[D]")),
        "boolean": lambda: pa.array(random.random(rows) < 0.5),
        "int64, codes": lambda: pa.array(random.integers(0, 51, rows)),
    }
    values = columns[name]() if name in columns else _scaled(name, wages)
    if missing is not None:
        values = pa.compute.if_else(pa.array(missing), None, values)
    sexes = pa.array(SEXES).take(pa.array(random.integers(0, 2, rows)))
    return pa.table({"g": states, "s": sexes, "x": values})


def _stamps(days: Any, random: Any, unit: str) -> Any:
    import pyarrow as pa

    seconds = days * 86_400 + random.integers(0, 86_400, len(days))
    return pa.array((seconds * 1_000_000 + random.integers(0, 10**6, len(days))).astype("datetime64[us]")).cast(
        pa.timestamp(unit), safe=False
    )


def _scaled(name: str, wages: Any) -> Any:
    """The wages in a type of integers or decimals, moved into its range."""
    import numpy as np
    import pyarrow as pa

    if name.startswith("decimal"):
        width, scale = (int(number) for number in name[8:-1].split(","))
        unscaled = np.minimum(wages * float(DECIMALS[name]) / 200_000 * 10**scale, 10 ** min(width, 15) - 1)
        cents = pa.array(unscaled.astype(np.int64)).cast(pa.decimal128(19, 0))
        return (
            pa.compute.multiply(cents, pa.scalar(1, pa.decimal128(1, 0)))
            .cast(pa.decimal128(38, 0))
            .view(pa.decimal128(38, scale))
            .cast(pa.decimal128(width, scale))
        )
    bits = INTEGERS[name]
    top = {8: 100, 16: 20_000}.get(bits, 200_000)
    return pa.array(np.minimum(wages * top / 200_000, np.iinfo(name).max).astype(name))


def write(folder: Path, made_of: tuple[str, bool], rows: int) -> None:
    """The file is there, as the commonest writer would write it."""
    import pyarrow.parquet as pq

    path, (name, nulls) = file_of(folder, made_of, rows), made_of
    if not path.exists():
        pq.write_table(made(name, rows, nulls=nulls), path, use_dictionary=["g", "s"] if name == "text, plain" else True)


def file_of(folder: Path, made_of: tuple[str, bool], rows: int) -> Path:
    name, nulls = made_of
    return folder / f"{name}{' with nulls' * nulls} {rows}.parquet"


def plain(case: Case, path: Path) -> Callable[[], object]:
    """The query of an analyst, in a connection of one thread."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    query = case.plain.format(path=path)
    return lambda: connection.execute(query).fetchall()


def schema_of(case: Case) -> Any:
    """The column as it is declared; beside numbers, the states and sexes that they are grouped by."""
    import discreet as dp

    if case.declared[0] == FIRST:
        return dp.Schema(x=dp.Date(*case.declared))
    if isinstance(case.declared[0], list):
        return dp.Schema(x=dp.Category(*case.declared))
    return dp.Schema(x=dp.Number(*case.declared), g=dp.Category(STATES), s=dp.Category(SEXES))


def request_of(table: Any) -> Any:
    """Counts and a sum of a number by state and sex; the counts of everything else by itself."""
    import discreet as dp

    column = table.schema["x"]
    if isinstance(column, dp.Number):
        return table.group_by("g", "s").agg(dp.count(), dp.count("x"), dp.sum("x", nulls="skip"))
    by = dp.bins("x", [column.value(code) for code in range(column.size)]) if isinstance(column, dp.Date) else "x"
    return table.group_by(by).agg(dp.count())


def release(case: Case, path: Path, ledger: Path) -> Callable[[], object]:
    """A whole request, in an open session of one thread."""
    import discreet as dp

    session = dp.Session(
        path,
        schema_of(case),
        dataset="types",
        ledger=ledger,
        budget=dp.ZCDP(10_000),
        neighbours=dp.AddRemove(),
        limits=dp.Limits(threads=1),
    )
    request = request_of(session.table)
    names = iter(range(10**6))
    return lambda: session.release(request, spend=1, name=str(next(names)))


def spent(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measured(case: Case, folder: Path, rows: int, runs: int) -> dict[str, Any]:
    """Medians of processor seconds of alternating runs, what no rows cost taken off."""
    with tempfile.TemporaryDirectory() as ledgers:
        calls = {}
        for size in (FEW, rows):
            path = file_of(folder, case.made, size)
            calls["plain", size] = plain(case, path)
            calls["release", size] = release(case, path, Path(ledgers) / f"{size}.db")
        times: dict[tuple[str, int], list[float]] = {key: [] for key in calls}
        for run in range(runs + 1):
            for key, call in calls.items():
                taken = spent(call)
                if run:
                    times[key].append(taken)
    median = {key: statistics.median(taken) for key, taken in times.items()}
    seconds = {side: median[side, rows] - min(FIXED, median[side, FEW]) for side in ("plain", "release")}
    return {"name": case.name, "nulls": case.made[1], **seconds, "ratio": seconds["release"] / seconds["plain"]}


def chosen(only: str | None) -> dict[tuple[str, bool], list[Case]]:
    """The cases whose line would contain this text, by their files."""
    found: dict[tuple[str, bool], list[Case]] = {}
    for case in cases():
        if only is None or only in f"{case.name}{', nulls' * case.made[1]}":
            found.setdefault(case.made, []).append(case)
    return found


def one_file(folder: Path, wanted: list[Case], rows: int, runs: int) -> dict[str, Any]:
    """The measurements of one column, and the peak of the process that made them."""
    results = [measured(case, folder, rows, runs) for case in wanted]
    return {"results": results, "peak_mib": peak_mib()}


def in_process(arguments: list[str]) -> dict[str, Any]:
    """What this program says in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def show(one: dict[str, Any], peak: int) -> None:
    shown = f"{one['name']}{', nulls' * one['nulls']}"
    print(
        f"  {shown:32s} plain {one['plain']:6.3f} s   release {one['release']:6.3f} s   {one['ratio']:5.2f} ×   {peak} MiB"
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=ROWS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", help="what the names of the cases contain")
    parser.add_argument("--results", type=Path, help="a JSON file whose entry 'types' is replaced by the measurements")
    parser.add_argument("--files", type=Path, help="a folder that keeps the files for the next time")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Every column in a process of its own; a line for each case."""
    asked = arguments()
    wanted = chosen(asked.only)
    if asked.one:
        made_of = asked.one[0], asked.one[1] == "nulls"
        print(json.dumps(one_file(asked.files, wanted[made_of], asked.rows, asked.runs)))
        return
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.files or Path(temporary)
        folder.mkdir(exist_ok=True)
        passed = ["--rows", str(asked.rows), "--runs", str(asked.runs), "--files", str(folder)]
        passed += ["--only", asked.only] if asked.only else []
        for name, nulls in wanted:
            for size in (FEW, asked.rows):
                write(folder, (name, nulls), size)
            found = in_process([*passed, "--one", name, "nulls" if nulls else "none"])
            for one in found["results"]:
                show(one, found["peak_mib"])
                results.append({**one, "peak_mib": found["peak_mib"]})
    if asked.results:
        kept = json.loads(asked.results.read_text(encoding="utf-8")) if asked.results.exists() else {}
        kept["types"] = {"rows": asked.rows, "day": time.strftime("%Y-%m-%d"), "columns": results}
        asked.results.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
