"""Bad inputs through the public door: each refused precisely before anything is spent, or answered without a trace.

The numbers are those of the table of bad inputs the design keeps; files and cells are tried further in tests/unit/engines.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import discreet as dp

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))
POISON = [
    None,
    "NaN",
    "inf",
    "-inf",
    "-0.0",
    "1e999",
    "5e-324",
    "0x1p3",
    "1_000",
    "１２",
    " 7 ",
    "+7",
    "7.0",
    "=cmd()",
    "1e5",
]


def session(source, **more):
    arguments = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(1), "neighbours": dp.AddRemove(), **more}
    return dp.Session(source, arguments.pop("schema", SCHEMA), **arguments)


def released(source, **more):
    with session(source, **more) as one:
        table = one.table.impute({"v": dp.Uniform()})
        return one.release(table.group_by("g").agg(dp.count(), dp.mean("v")), name="r")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.csv", None, "check the path"),
        ("binary.csv", b"g,v\0\x01\x02", "not UTF-8 CSV"),  # 1
        ("zipped.csv", b"\x1f\x8b\x08\0", "not UTF-8 CSV"),  # 12
        ("twice.csv", b"g,v,g\n", "twice"),  # 6
        ("case.csv", b"G,v\n", "did you mean 'G'"),  # 6
        ("short.csv", b"g\nx\n", "'v'"),  # 6
        ("empty.csv", b"", "header"),  # 7
        ("table.xlsx", b"PK\x03\x04", "is packed like an Excel workbook"),  # 10
        ("bad.parquet", b"PAR1 no", "not a readable Parquet"),
    ],
)
def test_files_are_refused_before_anything_is_spent(tmp_path, name, content, says):
    path, ledger = tmp_path / name, tmp_path / "ledger.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(dp.SourceError) as refused:
        session(path, ledger=ledger)
    assert says in str(refused.value)
    assert not ledger.exists()


def test_directories_and_pipes_are_refused(tmp_path):  # 8, 9
    with pytest.raises(dp.SourceError, match="holds no Parquet file"):
        session(tmp_path)
    with pytest.raises(dp.SourceError, match="matches no file"):
        session(str(tmp_path / "*.csv"))
    if Path("/dev/null").exists():
        with pytest.raises(dp.SourceError):
            session("/dev/null")


def test_wrong_types_are_refused_by_name(tmp_path):
    for frame, says in [
        (pl.DataFrame({"g": [1], "v": [1]}), "'g'"),
        (pl.DataFrame({"g": ["x"], "v": [True]}), "'v'"),
        (pl.DataFrame({"g": ["x"], "v": [[1]]}), "'v'"),
    ]:
        with pytest.raises(dp.SourceError, match=says):
            session(frame)
    with pytest.raises(dp.SourceError, match="list"):
        session([1, 2])


def test_a_header_alone_is_a_release_of_noise(tmp_path):  # 7
    path = tmp_path / "d.csv"
    path.write_bytes(b"g,v\n")
    release = released(path)
    assert release.table.shape == (3, 7)
    assert release.guarantee.measure == dp.PureDP(1)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("bad", POISON)
def test_no_cell_can_change_the_shape_or_raise(tmp_path, bad):  # 2, 5, 13, 14, 15, 16
    shapes = set()
    for rows in ([], [("x", bad)], [(bad, "3")], [(bad, bad)] * 3):
        path = tmp_path / f"d{len(shapes)}.csv"
        path.write_text("g,v\n" + "".join(f"{g or ''},{v or ''}\n" for g, v in rows), encoding="utf-8")
        table = released(path).table
        assert table["mean_v"].is_finite().all()
        shapes.add((tuple(table.columns), tuple(table.dtypes), tuple(table["g"])))
    assert len(shapes) == 1


def test_malformed_rows_stay_rows(tmp_path):  # 3, 4, 5
    body = b'\xef\xbb\xbfg,v\r\nx,1\r\n"x,2\nx\ny,3,4\r\n\xff\xfe,5\ny,"7"\r' + b"z" * 2_000_000 + b",1\nx,9"
    path = tmp_path / "d.csv"
    path.write_bytes(body)
    with session(path, budget=dp.PureDP(10**6), neighbours=dp.ReplaceOne(rows=8)) as one:
        table = one.release(one.table.group_by("g").agg(dp.count(), dp.count("v")), name="r").table
    assert table["count"].to_list() == [2, 1, 5]
    assert table["count_v"].to_list() == [2, 1, 1]


def test_a_domain_of_a_billion_cells_is_refused_with_the_number():  # 23
    wide = dp.Schema({name: dp.Category([str(i) for i in range(1000)]) for name in "abc"})
    with pytest.raises(dp.PlanError, match="1003003001"):
        dp.Table(wide, dp.AddRemove()).group_by("a", "b", "c").agg(dp.count())
    half = dp.Schema(v=dp.Number(0, 25_000_000))
    with pytest.raises(dp.PlanError, match="coarser step"):
        dp.Table(half, dp.AddRemove()).impute({"v": dp.Uniform()}).resize(10, proportion="1/2").agg(dp.mean("v"))


def test_group_by_what_is_not_declared_or_not_grouped():  # 30
    table = dp.Table(SCHEMA, dp.AddRemove())
    with pytest.raises(dp.PlanError, match="not declared"):
        table.group_by("id")
    with pytest.raises(dp.PlanError, match="bins"):
        table.group_by("v")
    with pytest.raises(dp.PlanError, match="increase strictly"):
        table.group_by(dp.bins("v", [10, 5]))
    with pytest.raises(dp.PlanError, match='nulls="skip"'):
        table.agg(dp.mean("v"))
    with pytest.raises(dp.PlanError, match="categorical"):
        table.agg(dp.sum("g"))


def test_stderr_stays_empty_on_the_worst_table(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("g,v\n" + "\n".join(f"{a},{a}" for a in POISON if a) + '\n"\n\0\n', encoding="utf-8")
    code = (
        "import sys, discreet as dp\n"
        "schema = dp.Schema(g=dp.Category(['x','y']), v=dp.Number(0,100))\n"
        "s = dp.Session(sys.argv[1], schema, dataset='d', ledger=':memory:',"
        " budget=dp.PureDP(1), neighbours=dp.AddRemove())\n"
        "s.release(s.table.group_by('g').agg(dp.count(), dp.mean('v', nulls='skip')), name='r')\n"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", code, str(path)], check=False, capture_output=True, text=True)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", "")
