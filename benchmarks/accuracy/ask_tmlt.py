"""tmlt-analytics on a local Spark. An evaluation takes seconds, so the data are repeated: groups are by repetition too.

Adding a row changes one group of one repetition, so each repetition has the noise that it would have by itself.
"""

from __future__ import annotations

import os
import sys
import warnings
from itertools import product

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import pandas as pd
from asked import QUARTILES, TOPS, Data, Release, Task, answer_all
from pyspark.sql import DataFrame, SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, RhoZCDPBudget, Session

MOST_ROWS = 2_000_000
SPARK = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.driver.memory", "4g")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
SPARK.sparkContext.setLogLevel("OFF")


def release_of(task: Task, data: Data) -> Release | str:
    warnings.simplefilter("ignore")
    if task.public_rows:
        return "no public number of rows"
    times = min(100, MOST_ROWS // data.rows)
    table = _repeated(data, times)
    kept = _evaluated(task, data, table, times)

    def release() -> list[float]:
        if not kept:
            kept.extend(_evaluated(task, data, table, times))
        return kept.pop()

    return release


def _repeated(data: Data, times: int) -> DataFrame:
    frame = pd.DataFrame(data.columns)
    frame["bin"] = (frame["age"] // 10).clip(0, 10).astype(str)
    repetitions = SPARK.createDataFrame(pd.DataFrame({"repetition": range(times)}))
    return SPARK.createDataFrame(frame).crossJoin(repetitions).cache()


def _evaluated(task: Task, data: Data, table: DataFrame, times: int) -> list[list[float]]:
    budget = PureDPBudget if task.measure == "epsilon" else RhoZCDPBudget
    session = Session.from_dataframe(
        privacy_budget=budget(task.amount * 1.000001), source_id="t", dataframe=table, protected_change=AddOneRow()
    )
    groupings = {"histogram": [("bin",)], "margins": data.pairs}.get(task.kind, [(data.by,)])
    levels = {**data.levels, "bin": tuple(str(one) for one in range(11))}
    bounds = (0, TOPS[task.column])
    parts = []
    for by in groupings:
        keys = KeySet.from_dict({"repetition": list(range(times)), **{name: list(levels[name]) for name in by}})
        query = QueryBuilder("t").groupby(keys)
        queries = {
            "sum": [query.sum(task.column, *bounds)],
            "mean": [query.average(task.column, *bounds)],
            "variance": [query.variance(task.column, *bounds)],
            "median": [query.median(task.column, *bounds)],
            "quartiles": [query.quantile(task.column, q, *bounds) for q in QUARTILES],
            "together": [query.count(), query.sum(task.column, *bounds)],
        }.get(task.kind, [query.count()])
        share = budget(task.amount / len(groupings) / len(queries))
        cells = list(product(*(levels[name] for name in by)))
        index = pd.MultiIndex.from_tuples([(time, *cell) for time in range(times) for cell in cells])
        for one in queries:
            found = session.evaluate(one, share).toPandas().set_index(["repetition", *by])
            parts.append(found.iloc[:, 0].reindex(index).to_numpy(dtype=float).reshape(times, len(cells)))
    if task.kind == "together":  # the mean is a quotient of the other two: nothing is paid for it
        parts.append((parts[1] / parts[0].clip(1)).clip(*bounds))
    if task.kind == "quartiles":
        return [[row[cell] for cell in range(len(parts[0][0])) for row in rows] for rows in zip(*parts, strict=True)]
    return [[value for row in rows for value in row] for rows in zip(*parts, strict=True)]


if __name__ == "__main__":
    answer_all(release_of)
