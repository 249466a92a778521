"""The table of visits that every library is asked about, and how a request is measured: in a process of its own.

Only the standard library is imported at first: this is read in the environment of each peer.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
from measured import peak, tree_cpu

GROUPS, BOUND, RHO = 1_000, 4, 0.125


def shop(number: int) -> str:
    """The name of a group."""
    return f"shop {number:03d}"


def write_visits(path: Path, rows: int) -> None:
    """Visits of a tenth as many persons, some of whom come much more often than others, to shops of Zipf's law."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    drawn, persons, left = np.random.default_rng(2), rows // 10, rows
    often = np.cumsum(drawn.lognormal(0, 1.2, persons))
    liked = np.cumsum(1 / np.arange(1, GROUPS + 1))
    names = pa.array([shop(number) for number in range(GROUPS)])
    schema = pa.schema({"person": pa.int64(), "shop": pa.string(), "amount": pa.float64()})
    with pq.ParquetWriter(path, schema) as writer:
        while left:
            some = min(left, 1_000_000)
            who = np.searchsorted(often, drawn.random(some) * often[-1]).clip(0, persons - 1)
            where = np.searchsorted(liked, drawn.random(some) * liked[-1]).clip(0, GROUPS - 1)
            amounts = np.minimum(drawn.exponential(30, some), 300).round(1)
            writer.write_table(pa.table([pa.array(who * 7919 + 13), names.take(pa.array(where)), amounts], schema=schema))
            left -= some


def measure(request: Callable[[Path], dict[str, float]]) -> None:
    """A line with seconds, processor seconds, peak memory and the sum of the answers of one request.

    Command line: a small table, for what is loaded late, and the table.
    """
    small, table = map(Path, sys.argv[1:3])
    request(small)
    wall, used = time.perf_counter(), tree_cpu()
    found = request(table)
    taken = {"wall": time.perf_counter() - wall, "cpu": tree_cpu() - used}
    print(json.dumps(taken | {"peak": peak() / 2**30, "groups": len(found), "total": sum(found.values())}))
