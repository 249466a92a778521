"""A process watched until it ends or goes beyond a limit: its processor time, time by the clock, and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))  # beside this folder is what benchmarks share
from measured import tree

INTERVAL = 1.0
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
"""Of computing; JAX compiles in threads of its own all the same."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of the processor and by the clock, the largest resident bytes, and why it ended; empty if by itself."""

    processor: float
    seconds: float
    peak: int
    ended: str


def watched(command: list[str], log: Path, seconds: float, largest: int) -> Taken:
    """What the command took; it is ended after so many seconds of the processor, or with so many resident bytes."""
    start, settings = time.monotonic(), {**os.environ, **ONE_THREAD}
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=settings, stdout=file, stderr=file, start_new_session=True)
    processor, peak, ended = 0.0, 0, ""
    while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
        members = tree(process.pid)
        processor = max(processor, sum(ticks for ticks, _ in members) / os.sysconf("SC_CLK_TCK"))
        peak = max(peak, sum(size for _, size in members))
        if peak > largest or processor > seconds:
            ended = f"ended above {largest / 1e9:.0f} GB" if peak > largest else f"ended after {seconds / 60:.0f} min"
            os.killpg(process.pid, signal.SIGKILL)
            waited = os.wait4(process.pid, 0)
            break
        time.sleep(INTERVAL)
    process.returncode = code = os.waitstatus_to_exitcode(waited[1])
    used = waited[2]
    ended = ended or (f"failed with exit code {code}" if code else "")
    own = used.ru_utime + used.ru_stime  # of all its threads, and of the children that it has waited for
    return Taken(max(processor, own), time.monotonic() - start, max(peak, used.ru_maxrss * 1024), ended)
