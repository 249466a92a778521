"""A measurement from outside: the table, the process on a core of its own, its memory, its limits, and the errors."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from measured import CELLS, TOP, tree

SECONDS, BYTES = 600, 16 * 10**9
"""A measurement ends after so long, or with so much resident memory, whatever was to come."""
INTERVAL = 0.1
LIMITS = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
STATISTICS = {"count": statistics.fmean, "sum": statistics.fmean, "mean": statistics.median}
"""What the absolute errors of all cells and requests become. The noise of counts and sums is the same in every cell; that of
means is the larger the smaller the cell, and a mean of their errors would be that of the smallest."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Watched:
    """How a process ended, what it took at its end or when it was ended, and its memory at every look, with the time."""

    ended: str
    looks: tuple[tuple[float, int], ...]
    others: float


def table(folder: Path, rows: int) -> Path:
    """A table of so many persons, made if need be: 51 states of very different sizes, two sexes, a long-tailed wage."""
    path = folder / f"wages-{rows}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        query = f"""SELECT 'State ' || lpad(CAST(floor(51 * sqrt(random())) AS INT)::VARCHAR, 2, '0') AS state,
                           CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
                           CAST(exp(10.5 + 1.1 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) AS BIGINT) AS wage
                    FROM range({rows})"""
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({query}) TO '{path}.part' (FORMAT parquet, ROW_GROUP_SIZE 1000000)")
        Path(f"{path}.part").replace(path)
    return path


def truth(path: Path) -> dict[tuple[str, str], tuple[float, float, float]]:
    """The exact statistics of every cell, kept beside the table."""
    kept = path.with_suffix(".truth.json")
    if not kept.exists():
        wage = f"least(greatest(wage, 0), {TOP})"
        query = f"SELECT state, sex, count(*), sum({wage})::BIGINT, avg({wage}) FROM '{path}' GROUP BY state, sex"
        with duckdb.connect() as connection:
            kept.write_text(json.dumps(connection.execute(query).fetchall()), encoding="utf-8")
    return {(state, sex): tuple(known) for state, sex, *known in json.loads(kept.read_text(encoding="utf-8"))}


def errors(path: Path, requests: Iterable[Record]) -> dict[str, float]:
    """One absolute error for each statistic, as `STATISTICS` says; a cell that is not in an answer was answered by 0."""
    right = truth(path)
    found: dict[str, list[float]] = {name: [] for name in STATISTICS}
    for request in requests:
        given = {(line[0], line[1]): line[2:] for line in request["lines"]}
        for cell in CELLS:
            for place, name in enumerate(STATISTICS):
                answer = given.get(cell, (0.0, 0.0, 0.0))[place]
                found[name].append(abs(answer - right.get(cell, (0, 0, 0))[place]))
    return {name: STATISTICS[name](values) for name, values in found.items()}


def watched(command: list[str]) -> Watched:
    """The command on a core that nothing else of this program uses, ended where it goes beyond the limits."""
    *rest, core = sorted(os.sched_getaffinity(0))
    start, busy, own = time.monotonic(), _busy(), time.process_time()
    os.sched_setaffinity(0, {core})  # a process begins on the cores of the one that started it
    settings = {**os.environ, **LIMITS}
    process = subprocess.Popen(command, env=settings, start_new_session=True, stdout=subprocess.DEVNULL)
    os.sched_setaffinity(0, set(rest) or {core})
    looks: list[tuple[float, int]] = []
    ticks, ended = 0, ""
    try:
        while process.poll() is None and not ended:
            members = tree(process.pid)
            ticks, size = max(ticks, sum(used for used, _ in members)), sum(resident for _, resident in members)
            looks.append((time.monotonic(), size))
            ended = "> 16 GB" if size > BYTES else "> 10 min" if time.monotonic() - start > SECONDS else ""
            time.sleep(INTERVAL)
    finally:
        _end(process)
        os.sched_setaffinity(0, {*rest, core})
    others = _busy() - busy - ticks / os.sysconf("SC_CLK_TCK") - (time.process_time() - own)
    code = process.returncode
    ended = ended or ("" if code == 0 else f"failed with exit code {code}")
    return Watched(ended, tuple(looks), max(0.0, others / (time.monotonic() - start)))


def outcome(command: list[str], path: Path, kept: Path) -> Record:
    """What is written down of a measurement; `kept` is the file into which the process writes, the last argument but two."""
    kept.unlink(missing_ok=True)
    seen = watched(command)
    said: Record = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    requests: list[Record] = said.get("requests", [])
    record: Record = {"versions": said.get("versions", {}), "others": round(seen.others, 2)}
    record["day"] = time.strftime("%Y-%m-%d", time.gmtime())
    if seen.ended and not requests:
        return record | {"ended": seen.ended, "stage": said.get("stage", "start")}
    during = [size for moment, size in seen.looks if said["began"] <= moment <= said["ended"]]
    return record | {
        "seconds": statistics.median(request["wall"] for request in requests),
        "processor": statistics.median(request["cpu"] for request in requests),
        "requests": len(requests),
        "ready": said["ready"],
        "peak": max([said["peak"], *during]),
        "errors": errors(path, requests),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and all of its session are over."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _busy() -> float:
    """Processor seconds that the machine has worked so far."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
