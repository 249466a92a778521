"""How often the approximate intervals of numbers computed from fitted rows hold the number of the data.

    python benchmarks/rows_intervals.py FILE.parquet [RELEASES]

takes 4,000 persons and seven columns of the excerpt of `tables.py`, releases its 21 two-way tables at ρ = 1/2 so many times
(20 without a number), fits rows to each, and ten files of simulated noise to these. Asked are 15 numbers of persons with the
values that some person has in one column, 15 in two columns and 15 in three, which no table says.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from tables import read

import discreet as dp
from discreet.releases.rows.approximate import about

COLUMNS = ["PUMA", "SEX", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE"]
PERSONS, FILES, ASKED, LEVEL = 4_000, 10, 15, 0.95

Cell = dict[str, object]


def asked_of(frame: pl.DataFrame) -> dict[int, list[Cell]]:
    """The cells, by how many columns they are of."""
    draw = np.random.default_rng(0)

    def cell(ways: int) -> Cell:
        row = frame.row(int(draw.integers(len(frame))), named=True)
        return {name: row[name] for name in draw.choice(COLUMNS, ways, replace=False).tolist()}

    return {ways: [cell(ways) for _ in range(ASKED)] for ways in (1, 2, 3)}


def number(frame: pl.DataFrame, cell: Cell) -> int:
    """How many rows have these values."""
    return frame.filter(*(pl.col(name).eq_missing(pl.lit(value)) for name, value in cell.items())).height


def main(path: Path, releases: int) -> None:
    whole, every = read(path)
    schema = dp.Schema({name: whole[name] for name in COLUMNS})
    frame = every.select(COLUMNS).sample(PERSONS, seed=3)
    asked = asked_of(frame)
    held: dict[int, list[bool]] = {ways: [] for ways in asked}
    for _ in range(releases):
        with tempfile.TemporaryDirectory() as folder:
            given = {"dataset": "persons", "budget": dp.ZCDP("0.5"), "ledger": Path(folder) / "budget.db"}
            session = dp.Session(frame, schema, neighbours=dp.AddRemove(), **given)
            made = session.release(session.table.agg(dp.tables(*dp.ways(COLUMNS, 2))), name="pairs").rows()
        simulated = list(made.simulated(FILES))
        for ways, cells in asked.items():
            for cell in cells:
                found = about(number(made.frame, cell), [number(one, cell) for one in simulated], LEVEL)
                held[ways].append(found.low <= number(frame, cell) <= found.high)
    for ways, told in held.items():
        print(f"{ways} columns: {100 * np.mean(told):.1f} % of {len(told)} intervals of {LEVEL:.0%}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
