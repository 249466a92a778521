"""PipelineDP on its local backend, from a list of tuples. Making the list is not in the measured time.

Every row is a person, so that bounds on contributions hold already, and are declared to: that spares it most of its work.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

import pipeline_dp
import pyarrow.parquet as pq
from measured import CELLS, EPSILON, TOP, Line, measure

Row = tuple[object, ...]
METRICS = [pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM, pipeline_dp.Metrics.MEAN]


def prepare(path: Path) -> list[Row]:
    table = pq.read_table(path, columns=["state", "sex", "wage"])
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, range(table.num_rows), strict=True))


def request(rows: list[Row], identifier: Callable[[Row], object] | None = None) -> list[Line]:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=0)
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=identifier,
        partition_extractor=itemgetter(0, 1),
        value_extractor=itemgetter(2),
    )
    asked = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=METRICS,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=TOP,
        contribution_bounds_already_enforced=identifier is None,
    )
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    found = engine.aggregate(rows, asked, extractors, public_partitions=CELLS)
    accountant.compute_budgets()
    return [(*cell, metrics.count, metrics.sum, metrics.mean) for cell, metrics in found]


if __name__ == "__main__":
    measure(prepare, request, ["pipeline-dp"])
