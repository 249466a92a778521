"""Reading a long ledger beside the least that could be read: `python benchmarks/bench_ledger.py [ENTRIES]` (100,000).

The bare loop fetches every row and follows the chain of SHA-256 digests, and knows nothing of what the entries mean. The
first operation of a ledger does that and checks numbers, names, states and exact totals; `verify` also checks release
bytes, keyed hashes and pages. Runs alternate in one process; times are processor time, the best of several.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from discreet.ledger import Identity, Ledger, Publication, Reservation

ENTRIES = 100_000
COMMITS = 200
RUNS = 7
WHO = Identity("wages", '{"invariants":["by state"]}', "zcdp", (Fraction(10**6),))
DETAILS = '{"noise":[{"law":"rounded gaussian","query":"count by state","scale":"3.25"}]}'


def asked(names: range) -> list[Reservation]:
    """Releases at 100 different charges."""
    return [
        Reservation(f"release {name}", (Fraction(1 + name % 100, 1000),), "d" * 64, b"source", DETAILS) for name in names
    ]


def written(path: Path, entries: int) -> float:
    """A ledger with that many entries; the seconds that a reservation and its commit took, one after the other."""
    with Ledger.open(path) as ledger:
        ledger.commit(ledger.publish(WHO, Publication("totals", "d" * 64, b"source")), b"totals")
        numbers = ledger.reserve(WHO, asked(range(entries - 4 * COMMITS - 3)))
        start = time.perf_counter()
        for name in range(COMMITS):
            (number,) = ledger.reserve(WHO, asked(range(len(numbers) + name, len(numbers) + name + 1)))
            with ledger.attempt(number) as attempt:
                ledger.draw(attempt)
            ledger.commit(number, b"payload")
        return (time.perf_counter() - start) / COMMITS


def bare(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (digest,) = connection.execute("SELECT genesis FROM head").fetchone()
        for body, claimed in connection.execute("SELECT body, digest FROM entries ORDER BY sequence"):
            digest = hashlib.sha256((digest + body).encode()).hexdigest()
            if digest != claimed:
                raise SystemExit("broken chain")


def opened(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.spent(WHO.dataset)


def verified(path: Path) -> None:
    with Ledger.open(path) as ledger:
        if not ledger.verify().intact:
            raise SystemExit("not intact")


def seconds(call: Callable[[Path], None], path: Path) -> float:
    start = time.process_time()
    call(path)
    return time.process_time() - start


def main() -> None:
    entries = int(float(sys.argv[1])) if len(sys.argv) > 1 else ENTRIES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "budget.db"
        latency = written(path, entries)
        calls = (bare, opened, verified)
        base, first, whole = (
            min(column) for column in zip(*[[seconds(c, path) for c in calls] for _ in range(RUNS)], strict=True)
        )
    print(f"{entries:,} entries: bare loop {base:.3f} s")
    print(f"  open and total {first:.3f} s   ratio {first / base:.1f} (bound 5)")
    print(f"  open and verify {whole:.3f} s   ratio {whole / base:.1f} (bound 6)")
    print(f"  both, one after the other {first + whole:.3f} s (bound 1 s on a quiet core)")
    print(f"  reserve and commit one release, durably, beside them: {latency * 1000:.1f} ms")


if __name__ == "__main__":
    main()
