"""A private release beside the plain query, in one process: ratios of time, and peak memory.

    python benchmarks/bench_release.py [ROWS]        (default 10,000,000)

The table has 51 states × 2 sexes, an age with nulls and a wage on a grid of 4,096 steps. Both read the same Parquet file
with the same number of threads; runs alternate, medians are compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROWS = 10_000_000
RUNS = 7


def make_table(path: Path, rows: int) -> None:
    """The benchmark's table, written by DuckDB, with 2 % null ages and 1 % null wages."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"""COPY (SELECT 'State ' || lpad(CAST(floor(51 * sqrt(random())) AS INT)::VARCHAR, 2, '0') AS state,
                         CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
                         CASE WHEN random() < 0.02 THEN NULL ELSE CAST(110 * random() AS INT) END AS age,
                         CASE WHEN random() < 0.01 THEN NULL ELSE CAST(exp(6.5 + 2 * (random() - 0.3)) AS INT) END AS wage
                  FROM range({rows})) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"""
    )
    connection.close()


def peak_mib() -> int:
    """The largest resident size of this process so far, in MiB."""
    status = Path("/proc/self/status")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(path: Path, rows: int) -> None:
    """Alternating runs of the plain query and of a complete release: reserve, aggregate, noise, commit."""
    import duckdb

    import discreet as dp

    states = [f"State {i:02d}" for i in range(51)]
    schema = dp.Schema(
        state=dp.Category(states), sex=dp.Category(["F", "M"]), age=dp.Number(0, 110), wage=dp.Number(0, 4095)
    )
    plain = duckdb.connect()
    query = f"""SELECT state, sex, count(*), count(w), sum(w) FROM
                (SELECT state, sex, CASE WHEN wage < 0 THEN 0 WHEN wage > 4095 THEN 4095 ELSE wage END AS w FROM '{path}')
                GROUP BY state, sex"""
    with tempfile.TemporaryDirectory() as folder:
        session = dp.Session(
            path, schema, dataset="bench", ledger=f"{folder}/l.db", budget=dp.ZCDP(1000), neighbours=dp.ReplaceOne(rows=rows)
        )
        skip = {"nulls": "skip"}
        request = session.table.group_by("state", "sex").agg(dp.count(), dp.sum("wage", **skip), dp.mean("wage", **skip))
        names = iter(range(10**6))
        release = lambda: session.release(request, spend=1, name=f"run {next(names)}")  # noqa: E731
        timed(lambda: plain.execute(query).fetchall())
        first = timed(release)
        before = peak_mib()
        times = [(timed(lambda: plain.execute(query).fetchall()), timed(release)) for _ in range(RUNS)]
        session.close()
    query_time, release_time = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{rows:>11,} rows, count + sum + mean by state and sex")
    ratio = release_time / query_time
    print(f"  plain query {query_time:.3f} s   release {release_time:.3f} s   ratio {ratio:.2f} (bound 2.5)")
    print(f"  first release {first:.3f} s   peak memory {peak_mib()} MiB, {before} after the first (bound 1,024)")
    plain.close()


def best(code: str, runs: int = 9) -> float:
    """The best wall time of a fresh interpreter that runs `code`; interpreter start included."""
    return min(timed(lambda: subprocess.run([sys.executable, "-c", code], check=True)) for _ in range(runs))


def imports_and_first_steps() -> None:
    """Import time beside numpy and duckdb, `discreet check`, and a first small release, each in fresh interpreters."""
    nothing, base, ours = best("pass"), best("import numpy, duckdb"), best("import discreet")
    print(f"import discreet {ours:.3f} s   import numpy, duckdb {base:.3f} s   ratio {ours / base:.2f} (bound 1.5)")
    print(f"  without interpreter start ({nothing:.3f} s): ratio {(ours - nothing) / (base - nothing):.2f}")
    code = """
import time, discreet as dp
from discreet import datasets
start = time.perf_counter()
schema = dp.Schema(gender=dp.Category(["female", "male"]), income=dp.Number(0, 150_000, 100))
with dp.Session(datasets.path("acs12"), schema, dataset="d", ledger=":memory:", budget=dp.PureDP(1),
                neighbours=dp.AddRemove()) as session:
    request = session.table.group_by("gender").agg(dp.count(), dp.mean("income", nulls="skip"))
    session.release(request, name="first").table
print(f"first small release {time.perf_counter() - start:.3f} s after import (bound 1)")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    """The comparison at the asked size, then imports and first steps."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        subprocess.run([sys.executable, __file__, "--make", str(path), str(rows)], check=True)
        compare(path, rows)
    imports_and_first_steps()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make_table(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
