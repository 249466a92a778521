"""One local Spark session for all tests of this folder, small and silent, and openers of its sources."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.base import ColumnType, Engine, Header
from discreet.engines.spark.driver import open_spark_frame, open_spark_text

Rows = Sequence[Sequence[object]]

_ARROW = {
    "VARCHAR": pa.string(),
    "TINYINT": pa.int8(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.decimal128(20, 0),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
}
WIDE = {"128-bit integers", "missing codes in 128-bit integers"}  # Spark has no type for them


def _values(kind: ColumnType, values: Sequence[object]) -> pa.Array:
    if kind.kind == "decimal":
        return pa.array(values, type=pa.decimal128(kind.width, kind.scale))
    if kind.shown == "UBIGINT":  # what Spark makes of it
        values = [None if value is None else Decimal(str(value)) for value in values]
    return pa.array(values, type=_ARROW[kind.shown])


def arrow_table(header: Header, rows: Rows) -> pa.Table:
    columns = [_values(kind, [row[place] for row in rows]) for place, kind in enumerate(header.values())]
    return pa.Table.from_arrays(columns, names=list(header))


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pyspark")
    folder = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.sql.adaptive.enabled": "false",  # hundreds of tiny queries
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder),
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        opened = builder.getOrCreate()
    opened.sparkContext.setLogLevel("OFF")
    yield opened
    opened.stop()


@pytest.fixture
def set_to(session: Any) -> Callable[..., Any]:
    """A context in which the session has these settings."""

    @contextmanager
    def setting(settings: Mapping[str, str]) -> Iterator[None]:
        before = {name: session.conf.get(name, None) for name in settings}
        try:
            for name, value in settings.items():
                session.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)

    return setting


@pytest.fixture(scope="session")
def openers(session: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[Header, Rows], Engine]]:
    folder, numbers = tmp_path_factory.mktemp("sources"), count()

    def frame(header: Header, rows: Rows) -> Engine:
        return open_spark_frame(session.createDataFrame(arrow_table(header, rows)), tuple(header))

    def parquet(header: Header, rows: Rows) -> Engine:
        path = folder / f"{next(numbers)}.parquet"
        pq.write_table(arrow_table(header, rows), path)
        return open_spark_text(f"spark:{path}", tuple(header))

    return {"frame": frame, "parquet": parquet}


@pytest.fixture
def files(tmp_path: Path) -> Callable[[str, pa.Table], str]:
    def writing(name: str, table: pa.Table) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
        return str(path)

    return writing
