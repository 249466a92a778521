"""tmlt-analytics on a local Spark, whose start is not in the time; the processor time of the Java process is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)
from visits import BOUND, GROUPS, RHO, measure, shop


def request(path: Path) -> dict[str, float]:
    session = Session.from_dataframe(
        privacy_budget=RhoZCDPBudget(RHO),
        source_id="visits",
        dataframe=SparkSession.builder.getOrCreate().read.parquet(str(path)).select("person", "shop"),
        protected_change=AddRowsWithID("person"),
    )
    bounded = QueryBuilder("visits").enforce(MaxGroupsPerID("shop", BOUND)).enforce(MaxRowsPerGroupPerID("shop", 1))
    keys = KeySet.from_dict({"shop": [shop(number) for number in range(GROUPS)]})
    found = session.evaluate(bounded.groupby(keys).count(), RhoZCDPBudget(RHO)).collect()
    return {row["shop"]: row["count"] for row in found}


if __name__ == "__main__":
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "4g")
    builder.config("spark.ui.showConsoleProgress", "false").getOrCreate().sparkContext.setLogLevel("OFF")
    measure(request)
