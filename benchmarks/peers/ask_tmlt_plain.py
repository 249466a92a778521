"""tmlt-analytics as its tutorials use it: Spark as it comes, and a query for each statistic, the mean among them."""

from __future__ import annotations

from pathlib import Path

from ask_tmlt import answer, opened
from measured import EPSILON, TOP, Line, measure
from pyspark.sql import SparkSession


def request(path: Path) -> list[Line]:
    session, grouped = opened(path)
    queries = {
        "count": grouped.count(),
        "wage_sum": grouped.sum("wage", 0, TOP),
        "wage_average": grouped.average("wage", 0, TOP),
    }
    found = [answer(session, query, EPSILON / 3, name) for name, query in queries.items()]
    return [(*cell, *(answers[cell] for answers in found)) for cell in found[0]]


if __name__ == "__main__":
    spark = SparkSession.builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    measure(lambda path: path, request, ["tmlt-analytics", "pyspark"])
