"""tmlt-analytics as its tutorials use it: Spark as it comes, and a query for each statistic, the mean among them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from measured import EPSILON, SEXES, STATES, TOP, Line, measure
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

SPARK = SparkSession.builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
SPARK.sparkContext.setLogLevel("OFF")


def request(path: Path) -> list[Line]:
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(EPSILON),
        source_id="wages",
        dataframe=SPARK.read.parquet(str(path)),
        protected_change=AddOneRow(),
    )
    grouped = QueryBuilder("wages").groupby(KeySet.from_dict({"state": STATES, "sex": SEXES}))
    queries = {
        "count": grouped.count(),
        "wage_sum": grouped.sum("wage", 0, TOP),
        "wage_average": grouped.average("wage", 0, TOP),
    }
    answers = {}
    for name, query in queries.items():
        rows = session.evaluate(query, PureDPBudget(EPSILON / 3)).collect()
        answers[name] = {(row["state"], row["sex"]): row[name] for row in rows}
    return [(*cell, *(answers[name][cell] for name in queries)) for cell in answers["count"]]


if __name__ == "__main__":
    measure(lambda path: path, request, ["tmlt-analytics", "pyspark"])
