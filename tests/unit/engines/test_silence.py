"""Nothing about a row can raise, warn, log, print or stay behind: not while it is counted, not when the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import PATIENCE, session_over

from discreet.exact import clock as clock_module

# Every kind of source, filled with hostile values; engines are left open in the ways that programs leave them open.
PROGRAM = """
import ctypes, datetime, logging, sys, threading, warnings
from pathlib import Path

warnings.simplefilter("always")
logging.basicConfig(level=logging.DEBUG)

import duckdb, pandas, polars, pyarrow
from discreet.engines import open_source
from discreet.domain.neighbours import AddRemove

from discreet.domain.columns import Category, Date, Number
from discreet.domain.schema import Schema
from discreet.domain.groups import bins
from discreet.statistics import count, sum_of
from discreet.plan.table import Table

kind, left, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
schema = Schema(a=Number(0, 10, "0.1"), b=Category(["F", "M"]), c=Date("2020-01-01", "2020-12-31"), d=Number(-5, 5))
texts = ["secret", "", "1e999", "7.", "\\0", "F\\u0301", "F ", "'; DROP TABLE x; --", "9999-12-31", "0000-00-00"]
texts += ["\\x1b[2J", None]
numbers = [float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, -0.0, 2.0**63, 1.0, 0.05, 0.15, None]
days = [datetime.date.min, datetime.date.max, None] * 4
table = pyarrow.table({"a": texts, "b": texts, "c": days, "d": numbers})


def source():
    if kind == "csv":
        path = folder / "a.csv"
        lines = [b"a,b,c,d"] + [",".join([t or ""] * 4).encode() for t in texts]
        path.write_bytes(b"\\r\\n".join(lines + [b'"', b"\\xff,\\xff,\\xff,\\xff", b"1", b"x" * 2_000_000, b'"a"b,c']))
        return str(path)
    if kind == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, folder / "a.parquet")
        return str(folder / "a.parquet")
    if kind == "folder":
        import pyarrow.parquet

        (folder / "p" / "b=F").mkdir(parents=True)
        pyarrow.parquet.write_table(table.drop(["b"]), folder / "p" / "b=F" / "a.parquet")
        return str(folder / "p")
    if kind == "sqlite":
        import sqlite3

        connection = sqlite3.connect(folder / "a.db")
        connection.execute("CREATE TABLE t (a, b, c, d)")
        cells = [*texts, *numbers, b"secret", 2**63 - 1]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(cell,) * 4 for cell in cells])
        connection.commit()
        connection.close()
        return f"{folder / 'a.db'}::t"
    if kind == "duckdb":
        connection = duckdb.connect(folder / "a.duckdb")
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
        connection.close()
        return f"{folder / 'a.duckdb'}::t"
    if kind == "stream":
        return lambda: table.to_reader(max_chunksize=3)
    if kind == "pandas":
        mixed = [object(), 10**5000, "\\ud800", b"secret", pandas.NaT, pandas.NA, 7j, [], {}, None, True, 7]
        return pandas.DataFrame({"a": mixed, "b": mixed, "c": mixed, "d": numbers})
    if kind == "relation":
        return duckdb.connect().from_arrow(table)
    return {"arrow": table, "polars": polars.DataFrame(table)}[kind]


def used():
    engine = open_source(source(), schema)
    start = Table(schema, AddRemove())
    engine.snapshot()
    for plan in (
        start.group_by("b").agg(count(), sum_of("a", nulls="skip"), sum_of("d", nulls="skip")),
        start.group_by(bins("c", ["2020-01-01", "2020-06-01", "2020-12-31"])).agg(count()),
    ):
        (wanted,) = plan.layout.scans
        assert engine.aggregate(wanted.axes, wanted.moments).rows.sum() >= 12
    return engine


if left == "closed":
    used().close()
elif left == "global":
    kept = used()
elif left == "cycle":
    class Cycle:
        pass
    cycle = Cycle()
    cycle.itself, cycle.engine = cycle, used()
    del cycle
elif left == "exit":
    kept = used()
    raise SystemExit(0)
elif left == "daemon":
    ready = threading.Event()
    def forever():
        kept = used()
        ready.set()
        threading.Event().wait()
    threading.Thread(target=forever, daemon=True).start()
    ready.wait()
elif left == "leaked":
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(used()))
print("done")
"""


def run(kind: str, left: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "dev", "-X", "frozen_modules=on", "-c", PROGRAM, kind, left, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "default::ResourceWarning"}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)


# A relation belongs to the caller's connection: while the caller keeps that alive for ever, the driver says so.
OURS = ["csv", "parquet", "folder", "sqlite", "duckdb", "stream", "polars", "arrow", "pandas"]
CASES = [(kind, left) for kind in [*OURS, "relation"] for left in ("closed", "global", "cycle", "exit")]
CASES += [(kind, left) for kind in OURS for left in ("daemon", "leaked")]
QUICK = {("csv", "closed"), ("parquet", "leaked"), ("sqlite", "daemon")}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("kind", "left"), [case if case in QUICK else pytest.param(*case, marks=pytest.mark.exhaustive) for case in CASES]
)
def test_hostile_rows_leave_no_trace(kind: str, left: str, tmp_path: Path) -> None:
    done = run(kind, left, tmp_path)
    assert done.stderr == ""
    assert done.stdout == ("" if left == "exit" else "done\n")
    assert done.returncode == 0


def test_a_trace_would_be_seen(tmp_path: Path) -> None:
    """The driver does print when a connection outlives the interpreter: an engine that kept one would be found."""
    leak = "import ctypes, duckdb; ctypes.pythonapi.Py_IncRef(ctypes.py_object(duckdb.connect()))"
    done = subprocess.run([sys.executable, "-c", leak], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "leaked" in done.stderr


# Whole releases, in folders of their own: what is left behind, and what a failure shows.
SENTINEL = "738291"
RELEASES = """
import logging, sys, traceback, warnings
from pathlib import Path

warnings.simplefilter("always")
logging.basicConfig(level=logging.DEBUG)

import polars
import discreet as dp

source, ledger, rows = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10**6))
with dp.Session(
    source, schema, dataset="d", ledger=ledger, budget=dp.PureDP(1), neighbours=dp.ReplaceOne(rows=rows)
) as session:
    if "later" in sys.argv:  # the rows come after they were compared
        session._engine.count_rows = lambda: rows
    table = session.table.impute({"v": dp.Uniform()}).group_by("g")
    try:
        session.release(table.agg(dp.count(), dp.mean("v"), dp.median("v")), name="r")
    except (dp.ReleaseFailed, dp.RowsDiffer):
        traceback.print_exc()
"""


def released(folder: Path, source: Path, rows: int, *how: str) -> tuple[str, Path]:
    """What a release printed, and its ledger; it could write into its working, home and temporary folders."""
    places = [folder / name for name in ("work", "home", "temporary", "ledgers")]
    for place in places:
        place.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(places[1]), "TMPDIR": str(places[2])}
    command = [sys.executable, "-W", "error", "-c", RELEASES, str(source), str(places[3] / "budget.db"), str(rows), *how]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment, cwd=places[0]
    )
    assert (done.returncode, done.stdout) == (0, "")
    left = [path.name for place in places for path in place.rglob("*")]
    assert left == (["budget.db"] if how or not done.stderr else [])
    return done.stderr, places[3] / "budget.db"


def written(path: Path, rows: list[str]) -> Path:
    path.write_text("g,v\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_a_release_leaves_its_ledger_and_nothing_else(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", [f"x{SENTINEL},{SENTINEL}", f"x,{SENTINEL}", "y,=1+1", '"'])
    printed, ledger = released(tmp_path / "one", source, 4)
    assert printed == ""
    assert SENTINEL.encode() not in ledger.read_bytes()
    assert ledger.stat().st_mode & 0o777 == 0o600


MANY = {"none": [], "many": ["x,1", "\0", '"', "y", "", f"{SENTINEL},,,"] * 300}


@pytest.mark.slow
def test_failures_of_all_data_look_the_same(tmp_path: Path) -> None:
    """Whatever the rows were, the traceback is the same to the letter, and the ledger is of the same size."""
    printed = {
        name: released(tmp_path / name, written(tmp_path / f"{name}.csv", rows), 99, "later") for name, rows in MANY.items()
    }
    texts = {text.replace(f"{name}.csv", "") for name, (text, _) in printed.items()}
    assert len(texts) == 1
    assert "this attempt ended before anything was drawn for it" in texts.pop()
    assert len({ledger.stat().st_size for _, ledger in printed.values()}) == 1
    assert all(SENTINEL.encode() not in ledger.read_bytes() for _, ledger in printed.values())


@pytest.mark.slow
def test_refusals_of_all_data_look_the_same(tmp_path: Path) -> None:
    """As for failures; and there is no ledger, for nothing was charged."""
    printed = {name: released(tmp_path / name, written(tmp_path / f"{name}.csv", rows), 99) for name, rows in MANY.items()}
    texts = {text.replace(f"{name}.csv", "") for name, (text, _) in printed.items()}
    assert len(texts) == 1
    assert "does not have the declared number of rows (rows=99)" in texts.pop()


def shape_of(value: object) -> object:
    """A document without its numbers and digests: what an onlooker sees who can only count."""
    if isinstance(value, dict):
        return {key: shape_of(one) for key, one in value.items() if key not in {"digest", "head"}}
    if isinstance(value, list):
        return [shape_of(one) for one in value]
    return "a number" if isinstance(value, int | float) and not isinstance(value, bool) else value


TABLES = {
    "no rows": ([], []),
    "all valid": (["x", "y"] * 500, [1.0, 10**6] * 500),
    "all null": ([None] * 1000, [None] * 1000),
    "all outside": (["z"] * 1000, [1e300] * 1000),
}


@pytest.mark.slow
def test_releases_of_all_data_have_the_same_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    import discreet as dp

    class Still:
        """A clock that stands still, so that the dates of documents are compared too."""

        @staticmethod
        def now(zone: object) -> object:
            return real(2026, 1, 1, tzinfo=zone)  # type: ignore[arg-type]

    real = clock_module.datetime
    monkeypatch.setattr(clock_module, "datetime", Still)

    schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10**6))
    shapes = []
    for groups, values in TABLES.values():
        frame = pl.DataFrame({"g": pl.Series(groups, dtype=pl.String), "v": pl.Series(values, dtype=pl.Float64)})
        session = session_over(frame, schema, budget=dp.ZCDP(1))
        with session:
            table = session.table.impute({"v": dp.Uniform()}).group_by("g")
            asked = table.agg(dp.count(), dp.mean("v"), dp.median("v"), dp.histogram("v", [0, 1000, 10**6]))
            shapes.append(shape_of(session.release(asked, name="r").document))
    assert all(shape == shapes[0] for shape in shapes)
    assert shape_of({"columns": [1, 2]}) != shape_of({"columns": [1]})
