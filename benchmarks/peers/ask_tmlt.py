"""tmlt-analytics on a local Spark. The Parquet file is read in the measured time; the start of Spark is not in it.

Two evaluations: the mean is a quotient of the other two, which spares it a third.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from measured import EPSILON, SEXES, STATES, TOP, Line, measure, quotient
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

SPARK = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.driver.memory", "4g")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
SPARK.sparkContext.setLogLevel("OFF")


def request(path: Path) -> list[Line]:
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(EPSILON),
        source_id="wages",
        dataframe=SPARK.read.parquet(str(path)),
        protected_change=AddOneRow(),
    )
    grouped = QueryBuilder("wages").groupby(KeySet.from_dict({"state": STATES, "sex": SEXES}))
    half = PureDPBudget(EPSILON / 2)
    rows, totals = (
        {(row["state"], row["sex"]): row[name] for row in session.evaluate(query, half).collect()}
        for query, name in ((grouped.count(), "count"), (grouped.sum("wage", 0, TOP), "wage_sum"))
    )
    return [quotient(*cell, rows[cell], totals[cell]) for cell in rows]


if __name__ == "__main__":
    measure(lambda path: path, request, ["tmlt-analytics", "pyspark"])
