"""The same release by discreet, by five other libraries, and by the plain query: time, processor time, memory, error.

    python benchmarks/peers/run.py measure                     everything, the most important first; then `page`
    python benchmarks/peers/run.py measure --only opendp       one of them; several --only and --rows are allowed
    python benchmarks/peers/run.py prepare                     only the environments and the tables
    python benchmarks/peers/run.py page                        docs/peers.md and its plots from what was measured

Each peer gets an environment of its own under --environments, with pinned versions, and the tables lie under --tables.
Every measurement replaces the one before it in results.json as soon as it is there; none begins that would not end
within --minutes, going by how long it took the last time, and --newer leaves out those of the last hours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # beside this folder is what benchmarks share
from environments import Library, cache, environment
from page import written
from watch import Record, outcome, table, truth

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MILLION = 1_000_000
WARM = 10_000
TMLT = ("tmlt-analytics==0.21.0", "setuptools<81")
LIBRARIES = {
    "plain query": Library("ask_duckdb.py"),
    "discreet": Library("ask_discreet.py"),
    "discreet, session open": Library("ask_discreet_open.py"),
    "opendp": Library("ask_opendp.py", ("opendp[polars]==0.16.0",)),
    "smartnoise-sql": Library("ask_smartnoise.py", ("smartnoise-sql==1.0.10", "setuptools<81", "pyarrow==26.0.1")),
    "diffprivlib": Library(
        "ask_diffprivlib.py", ("diffprivlib==0.6.6", "scikit-learn==1.8.0", "pandas==3.1.1", "pyarrow==26.0.1")
    ),
    "pipeline-dp": Library("ask_pipelinedp.py", ("pipeline-dp==0.3.1", "pyarrow==26.0.1")),
    "pipeline-dp, bounds enforced": Library("ask_pipelinedp_ids.py", ("pipeline-dp==0.3.1", "pyarrow==26.0.1")),
    "tmlt-analytics": Library("ask_tmlt.py", TMLT, needs="java"),
    "tmlt-analytics, as it comes": Library("ask_tmlt_plain.py", TMLT, needs="java"),
}
OURS = ("plain query", "discreet")
QUICK = ("discreet, session open", "opendp", "smartnoise-sql", "diffprivlib")
SLOW = ("tmlt-analytics", "pipeline-dp")


@dataclass(frozen=True, slots=True)
class Measurement:
    """A library at a size."""

    library: str
    rows: int

    @property
    def key(self) -> str:
        """Its name among the results."""
        return f"{self.library} | {self.rows}"

    @property
    def least(self) -> int:
        """How many requests there are at least: the median of three, but of the slow ones at their largest a single one."""
        return 1 if self.library not in (*OURS, *QUICK) and self.rows > MILLION else 3

    @property
    def guess(self) -> float:
        """Seconds that it may take, where it was never measured."""
        if self.least == 1:
            return 600.0
        return 150.0 if self.rows <= MILLION and self.library not in (*OURS, *QUICK) else 60.0


def everything() -> list[Measurement]:
    """All measurements, the most important first."""
    pairs = [(name, MILLION) for name in (*OURS, *QUICK, *SLOW)]
    pairs += [(name, 10 * MILLION) for name in (*OURS, *QUICK)]
    pairs += [(name, size * MILLION) for size in (100, 30, 3) for name in OURS]
    pairs += [(name, 10 * MILLION) for name in SLOW]
    pairs += [(name, MILLION) for name in ("pipeline-dp, bounds enforced", "tmlt-analytics, as it comes")]
    return [Measurement(*pair) for pair in pairs]


def chosen(asked: argparse.Namespace) -> list[Measurement]:
    """The measurements that were asked for: at other sizes than those of `everything`, of every library."""
    if asked.rows is None:
        return [one for one in everything() if one.library in (asked.only or LIBRARIES)]
    return [Measurement(name, rows) for rows in asked.rows for name in asked.only or LIBRARIES]


def measured(one: Measurement, asked: argparse.Namespace) -> Record:
    """The record of a measurement, whatever becomes of it."""
    python = environment(one.library.split(",")[0], LIBRARIES[one.library], asked.environments)
    if isinstance(python, str):
        return {"ended": python, "stage": "environment"}
    path = table(asked.tables, one.rows)
    truth(path)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "outcome.json"
        files = [HERE / LIBRARIES[one.library].program, table(asked.tables, WARM), path, kept]
        return outcome([*map(str, [python, *files]), str(one.least), str(asked.seconds)], path, kept)


def measure(asked: argparse.Namespace) -> None:
    """Every measurement that was asked for and that there is time for, each written down at once."""
    start = time.monotonic()
    results: Record = json.loads(asked.results.read_text(encoding="utf-8")) if asked.results.exists() else {}
    known: Record = results.setdefault("measurements", {})
    for one in chosen(asked):
        before = known.get(one.key, {})
        if time.time() - before.get("at", 0) < 3600 * asked.newer:
            continue
        if time.monotonic() - start + 1.2 * before.get("took", one.guess) > 60 * asked.minutes:
            print(f"{one.key}: no time left", flush=True)
            continue
        began = time.monotonic()
        record = measured(one, asked)
        known[one.key] = record | {"at": round(time.time()), "took": round(time.monotonic() - began, 1)}
        results["machine"] = machine()
        beside = asked.results.with_suffix(".part")
        beside.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        beside.replace(asked.results)
        print(f"{one.key}: {_said(record)}", flush=True)


def prepare(asked: argparse.Namespace) -> None:
    """The environments and the tables are there."""
    for name, library in LIBRARIES.items():
        print(name, environment(name.split(",")[0], library, asked.environments), flush=True)
    for rows in sorted({WARM, *(one.rows for one in chosen(asked))}):
        truth(table(asked.tables, rows))


def machine() -> Record:
    """What kind of machine this is; nothing that names it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cores": os.cpu_count(), "memory": memory, "system": platform.system(), "python": platform.python_version()}


def _said(record: Record) -> str:
    if "ended" in record:
        return f"{record['ended']} ({record['stage']})"
    return f"{record['seconds']:.3f} s, processor {record['processor']:.3f} s, peak {record['peak'] / 1e6:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time, memory and error of the same release beside other libraries.")
    parser.add_argument("what", choices=("measure", "prepare", "page"))
    parser.add_argument("--only", action="append", choices=LIBRARIES)
    parser.add_argument("--rows", action="append", type=lambda text: int(float(text)))
    parser.add_argument("--environments", type=Path, default=cache() / "environments")
    parser.add_argument("--tables", type=Path, default=cache() / "tables")
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    parser.add_argument("--seconds", type=float, default=20, help="after which no further request of a measurement begins")
    parser.add_argument("--minutes", type=float, default=35, help="within which all has to end")
    parser.add_argument("--newer", type=float, default=0, help="hours: what was measured since then is not measured again")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    if asked.what == "page":
        written(ROOT / "docs", json.loads(asked.results.read_text(encoding="utf-8")))
    else:
        (measure if asked.what == "measure" else prepare)(asked)


if __name__ == "__main__":
    main()
