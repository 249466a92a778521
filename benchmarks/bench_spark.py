"""A private release on local Spark beside the plain Spark query, in one process: ratios of time.

    python benchmarks/bench_spark.py [ROWS]        (default 1,000,000; needs the extra `spark` and Java 17)

Count, sum and mean of a wage in 51 states × 2 sexes, both from one Parquet file in one warm session. The cube alone, one
scan, is shown beside complete releases, whose source is named by its path or is a DataFrame: its files are compared before
and after.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_release import make_table, timed

ROWS = 1_000_000
RUNS = 5


def session() -> Any:
    """A local session on two cores, without pages and log."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    opened = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    opened.sparkContext.setLogLevel("OFF")
    return opened


def asked(table: Any) -> Any:
    """Count, sum and mean of the wage by state and sex."""
    import discreet as dp

    statistics = dp.count(), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip")
    return table.group_by("state", "sex").agg(*statistics)


def main() -> int:
    """The medians of alternating runs, printed with their ratios."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        print("  left out: the extra `spark` is not installed")
        return 0
    import discreet as dp
    from discreet.engines import open_source

    warnings.simplefilter("ignore")
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "persons.parquet"
        make_table(path, rows)
        spark = session()
        states = [f"State {i:02d}" for i in range(51)]
        schema = dp.Schema(state=dp.Category(states), sex=dp.Category(["F", "M"]), wage=dp.Number(0, 4095))
        frame = spark.read.parquet(str(path))
        frame.createOrReplaceTempView("persons")
        clamped = "CASE WHEN wage < 0 THEN 0 WHEN wage > 4095 THEN 4095 ELSE wage END"
        query = f"SELECT state, sex, count(*), count(w), sum(w) FROM (SELECT *, {clamped} AS w FROM persons) GROUP BY 1, 2"
        names = iter(range(10**6))

        request = asked(dp.Table(schema, dp.AddRemove()))

        def releasing(source: Any) -> Callable[[], object]:
            opened = dp.Session(source, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove())
            return lambda: opened.release(request, spend="0.001", name=str(next(names)))

        engine = open_source(frame, schema)
        wanted = request.layout.scans[0]
        work = {
            "plain query": lambda: spark.sql(query).toArrow(),
            "cube": lambda: engine.aggregate(wanted.axes, wanted.moments),
            "release, path": releasing(f"spark:{path}"),
            "release, frame": releasing(frame),
        }
        times: dict[str, list[float]] = {name: [] for name in work}
        for run in range(RUNS + 2):
            for name, call in work.items():
                taken = timed(call)
                if run >= 2:  # the first runs compile
                    times[name].append(taken)
        median = {name: statistics.median(taken) for name, taken in times.items()}
        for name, taken in median.items():
            print(f"  {rows:>12,} rows  {name:14} {taken:7.3f} s   ratio {taken / median['plain query']:.2f}")
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
