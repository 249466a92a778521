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
from tmlt.analytics import AddOneRow, GroupedQueryBuilder, KeySet, PureDPBudget, Query, QueryBuilder, Session


def opened(path: Path) -> tuple[Session, GroupedQueryBuilder]:
    """A session of the active Spark, and the groups of the table."""
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(EPSILON),
        source_id="wages",
        dataframe=SparkSession.builder.getOrCreate().read.parquet(str(path)),
        protected_change=AddOneRow(),
    )
    return session, QueryBuilder("wages").groupby(KeySet.from_dict({"state": STATES, "sex": SEXES}))


def answer(session: Session, query: Query, epsilon: float, name: str) -> dict[tuple[str, str], float]:
    """The column `name` of an evaluation, by group."""
    rows = session.evaluate(query, PureDPBudget(epsilon)).collect()
    return {(row["state"], row["sex"]): row[name] for row in rows}


def request(path: Path) -> list[Line]:
    session, grouped = opened(path)
    rows = answer(session, grouped.count(), EPSILON / 2, "count")
    totals = answer(session, grouped.sum("wage", 0, TOP), EPSILON / 2, "wage_sum")
    return [quotient(*cell, rows[cell], totals[cell]) for cell in rows]


if __name__ == "__main__":
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.memory", "4g")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    measure(lambda path: path, request, ["tmlt-analytics", "pyspark"])
