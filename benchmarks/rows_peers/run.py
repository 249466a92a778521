"""Rows by other programs beside fitted rows: the same persons, columns, charge and measure; their time and memory.

    python benchmarks/rows_peers/run.py PERSONS.parquet --private-pgm CHECKOUT     all of them
    python benchmarks/rows_peers/run.py PERSONS.parquet --only "MST of OpenDP"     one; several --only are allowed
    python benchmarks/rows_peers/run.py PERSONS.parquet --only "AIM of OpenDP" --options '{"queries": 2}' --columns 8

The persons are the excerpt of `tables.py`: 44,163 persons and 19 columns, of which all codes and null are categories that
are public. Each program gets an environment of its own under --environments, with pinned versions, and one thread for
computing; it is ended after --minutes of the processor, or with --gigabytes of memory. What it says and the rows that
it makes are kept under --kept. private-pgm is run from a checkout of github.com/ryan112358/mbi, and left out without it.

A line is printed for each: variation over tables of two and of three columns and the score, as `rows.py` measures them; the
number of rows; processor time, time by the clock and memory of the whole program. SmartNoise and OpenDP need mbi 1.1.0,
whose rows are worse than its models (docs/accuracy.md): a second line is of rows that it draws from the same model.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from limits import Taken, watched

sys.path.append(str(Path(__file__).resolve().parents[1]))  # beside this folder is what benchmarks share
from environments import Library, cache, environment
from rows import Coded, codes, distances
from tables import read

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Program:
    """A way to make rows: the library, the first argument of what asks it, and options that are not its defaults."""

    library: str
    kind: str
    options: str = "{}"


SMARTNOISE = Library(
    "ask_smartnoise.py", ("smartnoise-synth==1.0.8", "mbi==1.1.0", "smartnoise-sql==1.0.10", "jax==0.10.2", "setuptools<81")
)
OPENDP = Library("ask_opendp.py", ("opendp[mbi]==0.16.0", "jax==0.10.2", "pandas==3.1.1"))
PRIVATE_PGM = Library(
    "ask_private_pgm.py",
    ("jax==0.10.2", "chex==0.1.92", "optax==0.2.8", "scipy==1.17.1", "networkx", "attrs", "pandas==3.1.1", "matplotlib"),
)
LIBRARIES = {"discreet": Library("ask_discreet.py"), "smartnoise": SMARTNOISE, "opendp": OPENDP, "private-pgm": PRIVATE_PGM}
PROGRAMS = {
    "fitted rows": Program("discreet", "{persons}"),
    "MST of SmartNoise Synth": Program("smartnoise", "mst"),
    "MST of OpenDP": Program("opendp", "MST", '{"rho": 0.49999999999999756}'),
    "MST of private-pgm": Program("private-pgm", "{private_pgm}/mechanisms/mst.py"),
    "AIM of SmartNoise Synth, few rounds": Program("smartnoise", "aim", '{"rounds": 38}'),
    "AIM of OpenDP, few rounds": Program("opendp", "AIM", '{"queries": 2, "rounds": 19}'),
    "AIM of private-pgm, few rounds": Program("private-pgm", "{private_pgm}/mechanisms/aim.py", '{"rounds": 38}'),
    "AIM of SmartNoise Synth": Program("smartnoise", "aim"),
    "AIM of OpenDP": Program("opendp", "AIM"),
    "AIM of private-pgm": Program("private-pgm", "{private_pgm}/mechanisms/aim.py"),
}
"""OpenDP's MST refuses ρ = 1/2 itself, for a rounding, and takes the charge that is named. With few rounds half of ρ goes
into single columns, and about as many tables are chosen as there are columns; by default 304 rounds share it."""


def prepared(persons: Path, columns: int | None, folder: Path) -> tuple[Coded, list[int], list[Path]]:
    """The persons as numbers, the number of values of each column and null, and the files that every program reads."""
    schema, frame = read(persons)
    names = frame.columns[:columns]
    numbers = dict(zip(frame.columns, codes(frame, schema), strict=True))
    sizes = [len(schema[name].values) + 1 for name in names]
    domain = {name: size - (frame[name].null_count() == 0) for name, size in zip(names, sizes, strict=True)}
    files = [folder / f"persons-{len(names)}.csv", folder / f"domain-{len(names)}.json"]
    pl.DataFrame({name: numbers[name] for name in names}).write_csv(files[0])
    files[1].write_text(json.dumps(domain), encoding="utf-8")
    return ([numbers[name] for name in names], np.ones(len(frame), int)), sizes, files


def coded(path: Path, names: list[str], sizes: list[int]) -> Coded:
    """The rows that a program has made, as numbers; what is null is the last one."""
    frame = pl.read_csv(path).select(names)
    filled = [frame[name].fill_null(size - 1).cast(pl.Int64).to_numpy() for name, size in zip(names, sizes, strict=True)]
    return filled, np.ones(len(frame), int)


def nearness(true: Coded, made: Coded, sizes: list[int]) -> list[str]:
    """Variation over two and over three columns, the score, and how many rows there are."""
    two, three = (distances(true, made, sizes, ways).mean() for ways in (2, 3))
    return [f"{two:.4f}", f"{three:.4f}", f"{1000 * (1 - three):.1f}", f"{len(made[1]):,}"]


def costs(taken: Taken) -> list[str]:
    """Processor time, time by the clock, and memory."""
    return [f"{taken.processor:.0f} s", f"{taken.seconds:.0f} s", f"{taken.peak / 1e9:.1f} GB"]


def asked(name: str, files: list[Path], given: argparse.Namespace) -> tuple[Taken, Path, Path] | str:
    """What a program took, what it said and its rows; or why it was not run."""
    program = PROGRAMS[name]
    if program.library == "private-pgm" and given.private_pgm is None:
        return "left out, --private-pgm names no checkout"
    library = LIBRARIES[program.library]
    python = environment(program.library, library, given.environments)
    if isinstance(python, str):
        return python
    begun = given.kept / f"{name.replace(' ', '-')}-{time.strftime('%Y%m%d-%H%M%S')}"
    log, target = begun.with_suffix(".log"), begun.with_suffix(".csv")
    kind = program.kind.format(persons=given.persons, private_pgm=given.private_pgm)
    command = [python, "-u", HERE / library.program, kind, *files, target, given.options or program.options]
    return watched([*map(str, command)], log, 60 * given.minutes, round(given.gigabytes * 1e9)), log, target


def main(given: argparse.Namespace) -> None:
    """A line for each program, and where it was ended the last lines that it wrote."""
    given.kept.mkdir(parents=True, exist_ok=True)
    true, sizes, files = prepared(given.persons, given.columns, given.kept)
    names = [*json.loads(files[1].read_text(encoding="utf-8"))]
    for name in given.only or PROGRAMS:
        outcome = asked(name, files, given)
        if isinstance(outcome, str):
            print(name, outcome, sep=" | ", flush=True)
            continue
        taken, log, target = outcome
        if taken.ended:
            print(name, taken.ended, *costs(taken), sep=" | ")
            print(*log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:], sep="\n", flush=True)
            continue
        print(name, *nearness(true, coded(target, names, sizes), sizes), *costs(taken), sep=" | ", flush=True)
        drawn = target.with_suffix(".drawn.csv")
        if drawn.exists():
            print(f"{name}, rows drawn", *nearness(true, coded(drawn, names, sizes), sizes), sep=" | ", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rows by other programs, beside fitted rows.")
    parser.add_argument("persons", type=Path)
    parser.add_argument("--only", action="append", choices=PROGRAMS)
    parser.add_argument("--options", help="an object of JSON, instead of the options of the program")
    parser.add_argument("--columns", type=int, help="so many of the first columns")
    parser.add_argument("--private-pgm", type=lambda text: Path(text).resolve(), help="a checkout of it")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--gigabytes", type=float, default=8)
    parser.add_argument("--environments", type=Path, default=cache() / "environments")
    parser.add_argument("--kept", type=Path, default=cache() / "rows")
    main(parser.parse_args())
