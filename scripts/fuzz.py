"""Coverage-guided fuzzing of everything that reads a file: CSV tables, whole releases from CSV, plan files, release files.

    .venv/bin/python scripts/fuzz.py csv --seconds 300
    .venv/bin/python scripts/fuzz.py plan --seconds 300 --with atheris     (needs `pip install atheris`)

The targets, and what is asked of every input, are in tests/hostile/fuzz_targets.py. The loop of this file needs nothing but
Python: it keeps every input that reaches a new pair of consecutive lines of `discreet`, and changes what it kept.
Besides what a target asks, no input may take more than ten seconds of processor time, warn, or make anything print.
tests/hostile/test_fuzz.py runs the loop for a fixed number of inputs with fixed random numbers.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import discreet as dp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "hostile"))
from fuzz_targets import LONGEST, Target, targets

PACKAGE = str(Path(dp.__file__).parent)
MOST_SECONDS = 10.0


@dataclass(slots=True)
class Outcome:
    """What a run did: inputs tried, pairs of lines reached, inputs kept, and inputs that broke a rule with their error."""

    executions: int = 0
    reached: set[tuple[CodeType, int, int]] = field(default_factory=set)
    kept: list[bytes] = field(default_factory=list)
    findings: list[tuple[bytes, BaseException]] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """How many lines of the package were reached."""
        return len({(code.co_filename, line) for code, _, line in self.reached})


# The loop --------------------------------------------------------------------------------------------------------------


def fuzz(target: Target, *, seconds: float = math.inf, executions: int = 10**9, seed: int = 0, findings: int = 1) -> Outcome:
    """Changed inputs are tried until the time, the number of executions or of findings is used up."""
    outcome, chance = Outcome(), random.Random(seed)  # noqa: S311 (which inputs are tried is no secret)
    started = time.monotonic()
    fresh = list(target.seeds)
    with silent() as printed:
        while outcome.executions < executions and time.monotonic() - started < seconds:
            data = fresh.pop() if fresh else changed(target, outcome.kept, chance)
            finding = tried(target.check, data, outcome)
            if finding is None and printed():
                finding = AssertionError("something was printed")
            if finding is not None:
                outcome.findings.append((data, finding))
                if len(outcome.findings) >= findings:
                    break
    return outcome


def tried(check: Callable[[bytes], None], data: bytes, outcome: Outcome) -> BaseException | None:
    """What one input raised; the input is kept when it reached a pair of lines for the first time."""
    before, started = len(outcome.reached), time.process_time()
    finding: BaseException | None = None
    sys.settrace(tracer(outcome.reached))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check(data)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 (a panic of a driver is a finding too)
        finding = error
    finally:
        sys.settrace(None)
    outcome.executions += 1
    # Processor time: what other programs do meanwhile is not the fault of the input.
    if finding is None and time.process_time() - started > MOST_SECONDS:
        finding = TimeoutError(f"took more than {MOST_SECONDS} seconds of processor time")
    if len(outcome.reached) > before or not outcome.kept:
        outcome.kept.append(data)
    return finding


def tracer(reached: set[tuple[CodeType, int, int]]) -> Callable[[FrameType, str, Any], Any]:
    """A trace function that adds each pair of consecutive lines within one function of the package."""

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        last = 0

        def stepped(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last
            if event == "line":
                reached.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return stepped

        return stepped

    return called


def changed(target: Target, kept: Sequence[bytes], chance: random.Random) -> bytes:
    """A kept input, newer ones more often, after a few small changes."""
    data = kept[-1 - min(int(chance.expovariate(4 / len(kept))), len(kept) - 1)]
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        if target.change is not None and chance.random() < 0.7:
            data = target.change(data, chance)
        else:
            data = edited(data, chance, target.pieces, kept)
    return data[: 2 * LONGEST]


def edited(data: bytes, chance: random.Random, pieces: Sequence[bytes], kept: Sequence[bytes]) -> bytes:
    """One piece cut out, doubled, inserted, flipped, or taken over from another input."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((0, 1, 1, 2, 4, 8, 32)))
    other = chance.choice(kept)
    place = chance.randrange(len(other) + 1)
    new = {
        "cut": b"",
        "doubled": data[start:end] * 2,
        "piece": chance.choice(pieces),
        "byte": bytes([chance.randrange(256)]),
        "other": other[place : place + chance.choice((1, 4, 16, 64))],
        "line": chance.choice(other.split(b"\n")) + b"\n",
    }[chance.choice(("cut", "doubled", "piece", "piece", "byte", "other", "line"))]
    return data[:start] + new + data[end:]


@contextmanager
def silent() -> Iterator[Callable[[], bool]]:
    """Standard output and error, of Python and of all libraries, go to a file; the function says whether it holds any."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        python = os.fdopen(os.dup(sink.fileno()), "w", buffering=1)
        try:
            with python, redirect_stdout(python), redirect_stderr(python):
                yield lambda: os.fstat(sink.fileno()).st_size > 0
        finally:
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)


# The command -----------------------------------------------------------------------------------------------------------


def fuzz_with_atheris(target: Target, seconds: int) -> None:
    """The loop is that of libFuzzer, which ends the process, with exit code 77 on a finding."""
    import atheris

    for one in [one for one in gc.get_objects() if isinstance(one, FunctionType)]:
        if (one.__module__ or "").startswith("discreet"):
            atheris.instrument_func(one)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(target.seeds):
            (Path(folder) / str(number)).write_bytes(seed)
        options = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], folder, "-close_fd_mask=3", f"-max_len={8 * LONGEST}", *options], target.check)
        atheris.Fuzz()


def main() -> int:
    """One target is fuzzed for the given time. Exit code 1 when something was found."""
    parser = argparse.ArgumentParser(description="Coverage-guided fuzzing of what reads files.")
    parser.add_argument("target", choices=sorted(targets()))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--findings", type=int, default=10, help="stop after so many")
    parser.add_argument("--with", dest="engine", choices=["loop", "atheris"], default="loop")
    asked = parser.parse_args()
    target = targets()[asked.target]
    if asked.engine == "atheris":
        fuzz_with_atheris(target, asked.seconds)
    done = fuzz(target, seconds=asked.seconds, seed=asked.seed, findings=asked.findings)
    print(f"{asked.target}: {done.executions} executions, {done.lines} lines, {len(done.reached)} pairs of lines reached, ")
    print(f"    {len(done.kept)} inputs kept, {len(done.findings)} findings (seed {asked.seed})")
    for data, error in done.findings:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        print(f"{type(error).__name__}: {error} {last}\n    {data!r}")
    return bool(done.findings)


if __name__ == "__main__":
    sys.exit(main())
