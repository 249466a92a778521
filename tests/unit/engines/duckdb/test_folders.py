"""A folder of Parquet files as a source: which files count, what folder names say about rows, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.builders import cube_of, session_over

import discreet as dp
from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import Cube
from discreet.domain.columns import Category, Date, Number
from discreet.domain.groups import bins
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import ColumnType, Header
from discreet.engines.duckdb import folders
from discreet.engines.duckdb import parquet as module
from discreet.engines.duckdb.database import Database
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

SCHEMA = Schema(state=Category(["CA", "NY", "é/%"]), year=Number(2000, 2030), x=Number(0, 10))
START = Table(SCHEMA, AddRemove())
WHOLE = START.group_by("state", bins("year", [2000, 2020, 2030])).agg(count(), sum_of("x", nulls="skip"))


def written(path: Path, x: Sequence[object], **others: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame({"x": x, **others}, strict=False).write_parquet(path)
    return path


def cube(source: object, plan: Plan = WHOLE) -> Cube:
    (wanted,) = plan.layout.scans
    return cube_of(source, plan.schema, wanted)


def expected(rows: Sequence[tuple[object, ...]], plan: Plan = WHOLE) -> Cube:
    kinds = {"state": ColumnType("text", "text"), "year": ColumnType("text", "text"), "x": ColumnType("integer", "BIGINT")}
    (wanted,) = plan.layout.scans
    return ReferenceEngine(kinds, rows).aggregate(wanted.axes, wanted.moments)


# Folder of one file: the state and year of its rows.
PARTITIONS: Mapping[str, tuple[str | None, str | None]] = {
    "state=CA/year=2020": ("CA", "2020"),
    "state=CA/year=2019.5": ("CA", "2019.5"),
    "state=NY/year= 7e0 ": ("NY", " 7e0 "),
    "state=%C3%A9%2F%25/year=1_000": ("é/%", "1_000"),
    "state=e%CC%81%2F%25/year=2021": ("e\u0301/%", "2021"),  # equal after normalisation
    "state=TX/year=2020": ("TX", "2020"),
    "state=ca/year=2020": ("ca", "2020"),
    "state=__HIVE_DEFAULT_PARTITION__/year=2020": (None, "2020"),
    "state=/year=__HIVE_DEFAULT_PARTITION__": ("", None),
    "state=CA=CA/year=nan": ("CA=CA", "nan"),
    "state=100%/year=%zz": ("100%", "%zz"),
    "state=';--/year=\"": ("';--", '"'),
    "state=%FF/year=2020": ("\ufffd", "2020"),
    "2024/state=CA/plain/year=2030": ("CA", "2030"),
}


@pytest.fixture
def partitioned(tmp_path: Path) -> tuple[Path, list[tuple[object, ...]]]:
    rows: list[tuple[object, ...]] = []
    for i, (folder, (state, year)) in enumerate(PARTITIONS.items()):
        for part in range(2):
            x = [i % 11, part, None]
            written(tmp_path / "persons" / folder / f"part-{part}.parquet", x)
            rows += [(state, year, value) for value in x]
    return tmp_path / "persons", rows


def test_partitions_are_columns_of_text(partitioned: tuple[Path, list[tuple[object, ...]]]) -> None:
    folder, rows = partitioned
    for source in (folder, str(folder), f"{folder}/"):
        assert first_difference(expected(rows), cube(source)) is None
    for plan in (START.agg(count()), START.group_by("state").agg(count()), START.agg(sum_of("year", nulls="skip"))):
        assert first_difference(expected(rows, plan), cube(folder, plan)) is None


def test_a_mixed_up_partition_would_be_seen(
    partitioned: tuple[Path, list[tuple[object, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rows = partitioned
    monkeypatch.setattr(module, "_FILE", "file_row_number")
    assert first_difference(expected(rows), cube(folder)) is not None


def test_days_in_milliseconds_stand_beside_partitions(tmp_path: Path) -> None:
    days = pl.Series(["2020-01-01", "2020-06-01"]).str.to_date().cast(pl.Datetime("ms"))
    for state, x in (("NY", [1, 2]), ("CA", [3, 4])):
        path = tmp_path / f"state={state}" / "a.parquet"
        path.parent.mkdir()
        pl.DataFrame({"x": x, "day": days}).write_parquet(path)
    schema = Schema(state=Category(["CA", "NY"]), x=Number(0, 10), day=Date("2020-01-01", "2020-12-31"))
    by = bins("day", ["2020-01-01", "2020-03-01", "2020-12-31"])
    found = cube(tmp_path, Table(schema, AddRemove()).group_by("state", by).agg(sum_of("x", nulls="skip")))
    assert {tuple(k): s for k, s in zip(found.keys.tolist(), found.sums.tolist(), strict=True)} == {
        (0, 1): [3],
        (0, 2): [4],
        (1, 1): [1],
        (1, 2): [2],
    }
    assert cube(tmp_path, Table(schema, AddRemove()).group_by(by).agg(count())).rows.tolist() == [2, 2]


def test_what_hive_and_spark_do_not_look_at(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", [1])
    for name in ("_SUCCESS", ".a.parquet.crc", "_temporary/0/b.parquet", ".hidden/c.parquet", "_metadata", ".x=1/d.parquet"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no Parquet")
    assert cube(tmp_path, Table(Schema(x=Number(0, 10)), AddRemove()).agg(count())).rows.tolist() == [1]
    written(tmp_path / "new" / "_y=5" / "a.parquet", [1])
    plan = Table(Schema(_y=Number(0, 10)), AddRemove()).agg(sum_of("_y", nulls="skip"))
    assert cube(tmp_path / "new", plan).sums.tolist() == [[5]]


def test_folders_above_the_source_name_no_column(tmp_path: Path) -> None:
    written(tmp_path / "x=9" / "state=CA" / "year=2020" / "a.parquet", [1])
    assert first_difference(expected([("CA", "2020", 1)]), cube(tmp_path / "x=9")) is None
    with pytest.raises(SourceError, match="'state': declared in the schema"):
        open_source(tmp_path / "x=9" / "state=CA" / "year=2020", SCHEMA)


def test_folders_that_are_refused(tmp_path: Path) -> None:
    def refused(message: str, *files: str, name: str) -> None:
        for file in files:
            written(tmp_path / name / file, [1])
        with pytest.raises(SourceError, match=message):
            open_source(tmp_path / name, Schema(x=Number(0, 10)))

    (tmp_path / "empty" / "state=CA").mkdir(parents=True)
    refused("holds no Parquet file", name="empty")
    refused(
        "b.parquet': its folders name no column, the folders of .* name 's'", "s=1/a.parquet", "z/b.parquet", name="uneven"
    )
    refused("name 't', 's', the folders of .* name 's', 't'", "s=1/t=2/a.parquet", "t=1/s=2/a.parquet", name="order")
    refused("two of its folders name the same column", "s=1/S=2/a.parquet", name="twice")
    refused("'x' is in the file and in the name of its folder", "x=1/a.parquet", name="both")
    refused("'X' is in the file and in the name of its folder", "X=1/a.parquet", name="case")
    refused(
        r"a folder may hold Parquet files only; move this file, .* CSV files by '.*mixed/\*\.csv'", "b.csv", name="mixed"
    )
    refused("is a Delta table", "_delta_log/a.parquet", "b.parquet", name="delta")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "there").symlink_to(tmp_path / "both")
    refused("'.*there': is a link, which is not followed", "a.parquet", name="linked")
    written(tmp_path / "inner" / "s=1" / "a.parquet", [1], file_index=[1])
    refused("no column can be called 'file_index'", name="inner")
    written(tmp_path / "types" / "s=2" / "b.parquet", ["1"])
    refused(
        "b.parquet': its columns and types differ from the columns and types of '.*a.parquet'", "s=1/a.parquet", name="types"
    )


def test_values_of_partitions_are_no_reason_to_refuse(tmp_path: Path) -> None:
    """A folder that is there because one person lives there may not decide whether there is a release."""
    written(tmp_path / "state=Atlantis" / "year=never" / "a.parquet", [1])
    assert first_difference(expected([("Atlantis", "never", 1)]), cube(tmp_path)) is None


def test_files_that_come_or_go_are_noticed(tmp_path: Path) -> None:
    for source in (str(tmp_path / "d"), str(tmp_path / "d" / "**" / "*.parquet")):
        written(tmp_path / "d" / "state=CA" / "a.parquet", [1])
        engine = open_source(source, Schema(x=Number(0, 10)))
        first = engine.snapshot()
        assert engine.snapshot() == first
        other = written(tmp_path / "d" / "state=NY" / "b.parquet", [2])
        with pytest.raises(SourceError, match="files came or went"):
            engine.snapshot()
        other.unlink()
        assert engine.snapshot() == first
        (tmp_path / "d" / "state=CA" / "a.parquet").unlink()
        with pytest.raises(SourceError, match=r"a.parquet': cannot be opened"):
            engine.snapshot()


def test_a_file_that_comes_while_the_folder_is_read_discards_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "d" / "a.parquet", [1])
    session = session_over(tmp_path / "d", Schema(x=Number(0, 10)))
    counted = module.cube_of

    def late(*arguments: object) -> Cube:
        written(tmp_path / "d" / "b.parquet", [2])
        return counted(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "cube_of", late)
    with pytest.raises(dp.ReleaseFailed):
        session.release(session.table.agg(dp.count()), spend="0.5", name="r")
    assert session.spent == dp.PureDP("0.5")
    with pytest.raises(SourceError, match="open it again"):
        session.release(session.table.agg(dp.count()), spend="0.5", name="s")
    assert session.spent == dp.PureDP("0.5")


def test_many_partitions_are_one_statement(tmp_path: Path) -> None:
    for k in range(200):
        written(tmp_path / f"state={'CA' if k % 2 else 'NY'}" / f"year={2000 + k % 31}" / f"{k}.parquet", [k % 11])
    rows = [("CA" if k % 2 else "NY", str(2000 + k % 31), k % 11) for k in range(200)]
    assert first_difference(expected(rows), cube(tmp_path)) is None


def test_files_of_one_schema_are_opened_once_and_others_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b'[1]*", "c"):
        written(tmp_path / name / "x.parquet", [1])
    looked: list[str] = []
    header = module._parquet_header

    def counted(database: Database, path: Path) -> Header:
        looked.append(path.parent.name)
        return header(database, path)

    monkeypatch.setattr(module, "_parquet_header", counted)
    open_source(tmp_path, Schema(x=Number(0, 10)))
    assert looked == ["a"]
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "c" / "x.parquet", use_pyarrow=True)  # as another program writes it
    pl.DataFrame({"x": [1], "y": [1]}).select("y", "x").write_parquet(tmp_path / "b'[1]*" / "x.parquet")
    with pytest.raises(SourceError, match="its columns and types differ"):
        open_source(tmp_path, Schema(x=Number(0, 10)))
    assert looked[1] == "a"
    assert "b'[1]*" in looked[2:]


def test_the_order_of_files_is_that_of_their_names(tmp_path: Path) -> None:
    for name in ("b=2/a.parquet", "b=10/c.parquet", "b=1/z.parquet"):
        written(tmp_path / name, [1])
    shown = [str(path.relative_to(tmp_path)) for path in folders.parquet_files(tmp_path)]
    assert shown == sorted(shown)
