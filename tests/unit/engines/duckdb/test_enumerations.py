"""Texts of Parquet files are members of an enumeration where their categories are few, and looked up where they are many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import cubes_of
from discreet.engines.duckdb.dialect import _MOST_MEMBERS as MOST
from discreet.engines.duckdb.dialect import PARQUET
from discreet.engines.sql import aggregate_sql

WORDS = ["it's", "a'); --", "ENUM('x')", "new\\line", "N"]


@pytest.mark.parametrize(("many", "enumerated"), [(0, True), (MOST, False)])
def test_counts_are_those_of_the_words(tmp_path: Path, many: int, enumerated: bool) -> None:
    words = [*WORDS, *(f"word {number}" for number in range(many))]
    rows = [*words, *WORDS, None, "no category", "NO", "it''s"]
    pq.write_table(
        pa.table({"x": rows, "y": ["p", "q"] * (len(rows) // 2) + ["p"] * (len(rows) % 2)}), tmp_path / "a.parquet"
    )
    schema = dp.Schema(x=dp.Category(words), y=dp.Category(["p", "q"]))
    plan = dp.Table(schema, dp.AddRemove()).group_by("x", "y").agg(dp.count())
    scan = plan.layout.scans[0]
    engine = open_source(str(tmp_path / "a.parquet"), schema)
    (cube,) = cubes_of(engine, [(scan.axes, scan.moments)])
    found: Counter[object] = Counter()
    for (x, _), n in zip(cube.keys.tolist(), cube.rows.tolist(), strict=True):
        found[words[x] if x >= 0 else None] += n
    known = [row if row in words else None for row in rows]
    assert found == Counter(known)
    assert (
        "ENUM(" in aggregate_sql(PARQUET, "rows", engine.header, scan.axes, scan.moments).split("AS c0")[0]
    ) is enumerated
