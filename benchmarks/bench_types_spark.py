"""What a release on local Spark costs beside the plain Spark query of the same clamp, type by type, in one process.

    python benchmarks/bench_types_spark.py [--rows N] [--runs N] [--only TEXT] [--results FILE] [--files FOLDER]
                                                            (default 2e7 rows, 5 runs; needs the extra `spark` and Java 17)

The columns and requests are those of `bench_types.py`. Each is released from a path and from a DataFrame of the same file.
Times are medians of the processor time of the driver and of its Java process, in alternating runs of one warm session. What
a request costs whatever the rows is measured on a file of 1,000 rows and taken off all three sides. Of numbers two grids
are measured, the finest and the coarsest. Spark cannot read timestamps in nanoseconds, and a release from Spark refuses
those in milliseconds. Each line is written to the results as soon as it is measured, in the place of the one before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench_spark import session
from bench_types import FEW, FIRST, LAST, Case, cases, file_of, request_of, schema_of, write

ROWS, RUNS, WARM = 20_000_000, 5, 2
SIDES = ("plain", "path", "frame")


def chosen(only: str | None) -> Iterator[Case]:
    """The first and the last grid of each column that Spark can read and whose line would contain this text."""
    by_column: dict[tuple[str, bool], list[Case]] = {}
    for case in cases():
        by_column.setdefault(case.made, []).append(case)
    for grids in by_column.values():
        for case in grids[:1] if len(grids) == 1 else (grids[0], grids[-1]):
            unread = case.name.startswith(("timestamp ns", "timestamp ms"))
            if not unread and (only is None or only in f"{case.name}{', nulls' * case.made[1]}"):
                yield case


def plain_query(case: Case, path: Path) -> str:
    """The query of `bench_types` as Spark spells it."""
    literal = "DATE" if case.name.startswith("date") else "TIMESTAMP_NTZ"
    query = case.plain.replace("'{path}'", f"parquet.`{path}`")
    for day in (FIRST, LAST):
        query = query.replace(f"TIMESTAMP '{day}'", f"{literal} '{day}'")
    return query


def calls(case: Case, path: Path, spark: Any) -> dict[str, Callable[[], object]]:
    """The plain query and a whole release from both kinds of source, in open sessions."""
    import discreet as dp

    query, schema = plain_query(case, path), schema_of(case)
    frame = spark.read.parquet(str(path))
    names = iter(range(10**6))

    def releasing(source: Any) -> Callable[[], object]:
        opened = dp.Session(
            source, schema, dataset="types", ledger=":memory:", budget=dp.ZCDP(10_000), neighbours=dp.AddRemove()
        )
        request = request_of(opened.table)
        return lambda: opened.release(request, spend=1, name=str(next(names)))

    return {
        "plain": lambda: spark.sql(query).toArrow(),
        "path": releasing(f"spark:{path}"),
        "frame": releasing(frame),
    }


def processor_seconds(java: int) -> float:
    """The processor time of this process and of the Java process, with all of their threads."""
    fields = Path(f"/proc/{java}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(case: Case, folder: Path, rows: int, runs: int, spark: Any) -> dict[str, Any]:
    """Medians of alternating runs, what no rows cost taken off."""
    java = int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001 - there is no other way to ask
    sides = {
        (side, size): call
        for size in (FEW, rows)
        for side, call in calls(case, file_of(folder, case.made, size), spark).items()
    }
    times: dict[tuple[str, int], list[float]] = {key: [] for key in sides}
    for run in range(runs + WARM):  # the first runs compile
        for key, call in sides.items():
            start = processor_seconds(java)
            call()
            if run >= WARM:
                times[key].append(processor_seconds(java) - start)
    median = {key: statistics.median(taken) for key, taken in times.items()}
    seconds = {side: median[side, rows] - median[side, FEW] for side in SIDES}
    ratios = {f"{side}_ratio": seconds[side] / seconds["plain"] for side in ("path", "frame")}
    return {"name": case.name, "nulls": case.made[1], **seconds, **ratios}


def show(one: dict[str, Any]) -> None:
    shown = f"{one['name']}{', nulls' * one['nulls']}"
    print(
        f"  {shown:32s} plain {one['plain']:6.3f} s   path {one['path']:6.3f} s {one['path_ratio']:5.2f} ×"
        f"   frame {one['frame']:6.3f} s {one['frame_ratio']:5.2f} ×",
        flush=True,
    )


def keep(one: dict[str, Any], path: Path, rows: int) -> None:
    """The line is in the results, in the place of an older one, and lines of another number of rows are not."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = kept.get("types_spark", {})
    lines = before["columns"] if before.get("rows") == rows else []
    by_case = {(line["name"], line["nulls"]): line for line in [*lines, one]}
    kept["types_spark"] = {"rows": rows, "day": time.strftime("%Y-%m-%d"), "columns": list(by_case.values())}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=ROWS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", help="what the names of the cases contain")
    parser.add_argument("--results", type=Path, help="a JSON file whose entry 'types_spark' gets the measured lines")
    parser.add_argument("--files", type=Path, help="a folder that keeps the files for the next time")
    return parser.parse_args()


def main() -> int:
    """A line for each case."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        print("  left out: the extra `spark` is not installed")
        return 0
    asked = arguments()
    warnings.simplefilter("ignore")
    spark = session()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.files or Path(temporary)
        folder.mkdir(exist_ok=True)
        for case in chosen(asked.only):
            for size in (FEW, asked.rows):
                write(folder, case.made, size)
            one = measured(case, folder, asked.rows, asked.runs, spark)
            show(one)
            if asked.results:
                keep(one, asked.results, asked.rows)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
