"""Nothing about a row can raise, warn, log or print: not while it is counted, and not when the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Every kind of source, filled with hostile values; engines are left open in the ways that programs leave them open.
PROGRAM = """
import ctypes, datetime, logging, sys, threading, warnings
from pathlib import Path

warnings.simplefilter("always")
logging.basicConfig(level=logging.DEBUG)

import duckdb, pandas, polars, pyarrow
from discreet.engines import open_source
from discreet.neighbours import AddRemove
from discreet.plan import layout
from discreet.schema import Category, Date, Number, Schema
from discreet.groups import bins
from discreet.statistics import count, sum_of
from discreet.table import Table

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
        wanted = layout(plan)
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
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


# A relation belongs to the caller's connection: while the caller keeps that alive for ever, the driver says so.
OURS = ["csv", "parquet", "polars", "arrow", "pandas"]
CASES = [(kind, left) for kind in [*OURS, "relation"] for left in ("closed", "global", "cycle", "exit")]
CASES += [(kind, left) for kind in OURS for left in ("daemon", "leaked")]
QUICK = {("csv", "closed"), ("parquet", "leaked"), ("pandas", "daemon")}


@pytest.mark.parametrize(
    ("kind", "left"), [case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
)
def test_hostile_rows_leave_no_trace(kind: str, left: str, tmp_path: Path) -> None:
    done = run(kind, left, tmp_path)
    assert done.stderr == ""
    assert done.stdout == ("" if left == "exit" else "done\n")
    assert done.returncode == 0


def test_a_trace_would_be_seen(tmp_path: Path) -> None:
    """The driver does print when a connection outlives the interpreter: an engine that kept one would be found."""
    leak = "import ctypes, duckdb; ctypes.pythonapi.Py_IncRef(ctypes.py_object(duckdb.connect()))"
    done = subprocess.run([sys.executable, "-c", leak], capture_output=True, text=True, timeout=60, check=False)
    assert "leaked" in done.stderr
