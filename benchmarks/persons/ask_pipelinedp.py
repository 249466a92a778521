"""PipelineDP on its local backend. The rows are there as Python tuples before the time begins to run."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from pathlib import Path

import pipeline_dp
import pyarrow.parquet as pq
from visits import BOUND, GROUPS, measure, shop


@cache
def rows(path: Path) -> list[tuple[int, str]]:
    table = pq.read_table(path, columns=["person", "shop"])
    return list(zip(table["person"].to_pylist(), table["shop"].to_pylist(), strict=True))


def request(path: Path) -> dict[str, float]:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    asked = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        max_partitions_contributed=BOUND,
        max_contributions_per_partition=1,
    )
    fields = pipeline_dp.DataExtractors(
        privacy_id_extractor=itemgetter(0), partition_extractor=itemgetter(1), value_extractor=lambda _: 0
    )
    found = engine.aggregate(rows(path), asked, fields, public_partitions=[shop(number) for number in range(GROUPS)])
    accountant.compute_budgets()
    return {name: metrics.privacy_id_count for name, metrics in found}


if __name__ == "__main__":
    import sys

    for place in (1, 2):
        rows(Path(sys.argv[place]))
    measure(request)
