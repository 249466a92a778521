"""What every library is asked, and how its program hands back the answers.

Only the standard library: this is imported in the environment of each peer.
A program for a library calls `answer_all` with a function from a task and its data to a function that makes one release.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

INCOME_TOP, INCOME_STEP, AGE_TOP = 200_000, 100, 110
EDGES = tuple(range(0, AGE_TOP + 1, 10))
QUARTILES = (0.25, 0.5, 0.75)
TOPS = {"income": INCOME_TOP, "age": AGE_TOP}

Columns = dict[str, list[str] | list[int]]
Release = Callable[[], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Data:
    """A prepared table without nulls: integer columns "income" and "age", and categories with their public levels."""

    name: str
    levels: dict[str, tuple[str, ...]]
    by: str
    columns: Columns

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns["age"])

    def cells(self, by: Sequence[str]) -> list[tuple[str, ...]]:
        """The cells of the public domain, the last column fastest: the order of every answer."""
        return list(product(*(self.levels[name] for name in by)))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of categories, whose two-way margins are asked."""
        return list(combinations(self.levels, 2))


@dataclass(frozen=True, slots=True)
class Task:
    """A question at a guarantee.

    `kind` is count, sum, mean, variance, median, quartiles, histogram, margins, or together (count, sum and mean).
    `measure` is "epsilon" or "rho", of size `amount`. With `public_rows` neighbours replace one row of the whole table,
    whose size is public; otherwise they add or remove a row, and statistics are by the groups of the data.
    """

    kind: str
    column: str
    measure: str
    amount: float
    public_rows: bool = False

    @property
    def key(self) -> str:
        """The name of the task among the answers."""
        return "|".join((self.kind, self.column, self.measure, "replace" if self.public_rows else "add"))


def tasks() -> list[Task]:
    found = []
    for measure, amount in (("epsilon", 1.0), ("rho", 0.5)):
        grouped = [("count", "age"), ("sum", "income"), ("mean", "income"), ("variance", "income"), ("median", "age")]
        grouped += [("median", "income"), ("quartiles", "age"), ("quartiles", "income"), ("histogram", "age")]
        grouped += [("margins", "age"), ("together", "income")]
        found += [Task(kind, column, measure, amount) for kind, column in grouped]
        found += [Task(kind, "income", measure, amount, public_rows=True) for kind in ("mean", "variance", "quartiles")]
    return found


def load(path: Path) -> Data:
    """The table that `run.py` has prepared: a CSV file and its description beside it."""
    described = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns: Columns = {name: [row[name] for row in rows] for name in described["levels"]}
    columns |= {name: [int(row[name]) for row in rows] for name in TOPS}
    return Data(path.stem, {name: tuple(levels) for name, levels in described["levels"].items()}, described["by"], columns)


def groups(data: Data, column: str, by: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """The numbers of a column in every cell, empty cells included."""
    found: dict[tuple[str, ...], list[int]] = {cell: [] for cell in data.cells(by)}
    for *cell, value in zip(*(data.columns[name] for name in by), data.columns[column], strict=True):
        found[tuple(str(level) for level in cell)].append(int(value))
    return found


def answer_all(release_of: Callable[[Task, Data], Release | str]) -> None:
    """Every task, each as often as asked or until its time is over, at least 20 times, as JSON into a file.

    `release_of` gives a function that makes one release, or the reason why the library has none.
    Command line: the prepared data, the file for the answers, the number of releases, the seconds for each task, and
    optionally which kinds of task are done again; the others keep their answers.
    """
    data, target = load(Path(sys.argv[1])), Path(sys.argv[2])
    wanted, seconds, only = int(sys.argv[3]), float(sys.argv[4]), sys.argv[5].split(",") if len(sys.argv) > 5 else []
    answers = json.loads(target.read_text(encoding="utf-8")) if only and target.exists() else {}
    for task in tasks():
        if not only or task.kind in only:
            answers[task.key] = _answers(release_of, task, data, wanted, seconds)
            target.write_text(json.dumps(answers), encoding="utf-8")


def _answers(
    release_of: Callable[[Task, Data], Release | str], task: Task, data: Data, wanted: int, seconds: float
) -> list[list[float]] | str:
    found: list[list[float]] = []
    try:
        release = release_of(task, data)
        if isinstance(release, str):
            return release
        start = time.monotonic()
        while len(found) < wanted and (len(found) < 20 or time.monotonic() - start < seconds):
            found.append([float(value) for value in release()])
    except Exception as failed:  # noqa: BLE001 (a peer that fails is shown, not the end of the others)
        print(task.key, repr(failed)[:1000], file=sys.stderr)
        return f"failed: {type(failed).__name__}"
    print(task.key, len(found), f"{time.monotonic() - start:.1f} s", file=sys.stderr)
    return found
