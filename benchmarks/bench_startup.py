"""How long a person waits for nothing but a beginning: `python benchmarks/bench_startup.py [RUNS]` (9).

Each program runs in turn with an interpreter that only loads numpy and DuckDB, which no request on rows can do without, on
the shipped data. Printed are the medians of wall time and of processor time with children, the least of both, and the
least processor time as a ratio to that of the two libraries. Promised are wall times on a machine that does nothing else;
under load the ratio is what can be compared. Modules are compiled beforehand, as they are where a wheel was installed,
whatever PYTHONDONTWRITEBYTECODE says.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 9
PLAN = """\
[data]
dataset = "acs12"
source = "example:acs12"
neighbours = "replace-one"
rows = 2000
ledger = "budget.db"

[columns.gender]
type = "category"
categories = ["female", "male"]

[columns.hrs_work]
type = "number"
lower = 0
upper = 100
clamp = [0, 80]
impute = { distribution = "uniform" }

[budget]
measure = "zcdp"
rho = 0.5

[[release]]
name = "Hours by gender"
group_by = ["gender"]
statistics = ["count", { mean = "hrs_work" }]
spend = 0.1
"""
CALL = "from discreet.cli import main; import sys; sys.argv = ['discreet', *{}]; main()"
REFERENCE = "import numpy, duckdb"
PROGRAMS = {
    REFERENCE: (REFERENCE, None),
    "python -c pass": ("pass", None),
    "import discreet": ("import discreet", 0.25),
    "discreet --help": (CALL.format(["--help"]), None),
    "discreet quote": (CALL.format(["quote", "plan.toml"]), 0.5),
    "discreet release": (CALL.format(["release", "plan.toml", "--out", "out"]), 0.8),
}


def timed(code: str, folder: Path, compiled: Path) -> tuple[float, float]:
    """Wall and processor seconds of one run in an empty folder with the plan."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = str(compiled)
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=surroundings, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, spent


def main() -> int:
    """The table; 1 if a wall time is above what is promised."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / "run", Path(folder) / "compiled"
        for code, _ in PROGRAMS.values():
            timed(code, *places)
        for _ in range(runs):
            for name, (code, _) in PROGRAMS.items():
                found[name].append(timed(code, *places))
    reference = min(cpu for _, cpu in found[REFERENCE])
    print(f"{'':20}{'wall':>8}{'cpu':>8}{'least':>8}{'least':>8}{'ratio':>8}{'promised':>10}")
    late = False
    for name, (_, promised) in PROGRAMS.items():
        walls, cpus = zip(*found[name], strict=True)
        wall, cpu = statistics.median(walls), statistics.median(cpus)
        late |= promised is not None and wall > promised
        numbers = "".join(f"{number:8.3f}" for number in (wall, cpu, min(walls), min(cpus)))
        print(f"{name:20}{numbers}{min(cpus) / reference:8.2f}{promised or '':>10}")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
