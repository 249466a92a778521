"""How many intervals of tables contain the true counts: five data sets, three guarantees, and what is public beside them.

`python benchmarks/table_coverage.py FOLDER [DRAWS]` reads the excerpt of the American Community Survey of 2019, three tables
that are used as examples, and the persons of the armed forces from a folder (docs/accuracy.md says where they are from), and
prints for each request the part of all intervals that contain the count, over so many draws of the noise, and that of the
table with the fewest. Cells without noise are not counted. All tables of two columns are asked for, and of three where the
columns are few.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from tables import prepare, read

import discreet as dp
from discreet.engines import open_source
from discreet.noise.bits import no_bits, system_bits
from discreet.quotes.quote import Quote
from discreet.releases.assemble import answers_of
from discreet.releases.evaluate import exact_answers, noisy_answers, run_scans

SPENDS = {"zCDP": dp.ZCDP("0.1"), "pure": dp.PureDP(1), "approximate": dp.ApproxDP(1, "1e-6")}
EXAMPLES = ("czech_autoworkers", "rochdale", "titanic")


@dataclass(frozen=True)
class Data:
    """A data set, and how many columns its tables have."""

    name: str
    schema: dp.Schema
    frame: pl.DataFrame
    ways: tuple[int, ...]


def data_sets(folder: Path) -> Iterator[Data]:
    schema, frame = read(folder / "tutorial" / "acs2019_persons.parquet")
    yield Data("ACS", schema, frame, (2,))
    for name in EXAMPLES:
        table = pl.read_csv(folder / "tables" / f"{name}.csv")
        rows = table.select(pl.exclude("count").repeat_by("count").explode()).drop_nulls()
        yield Data(name, categories(rows), rows, (2, 3))
    persons = pl.read_parquet(folder / "scale" / "us_military_persons.parquet").select(pl.all().cast(pl.String))
    yield Data("military", categories(persons), persons, (2, 3))


def categories(frame: pl.DataFrame) -> dp.Schema:
    return dp.Schema(**{name: dp.Category(sorted(frame[name].drop_nulls().unique().to_list())) for name in frame.columns})


def cases(one: Data) -> Iterator[tuple[str, dp.Invariants | None, dp.Neighbours]]:
    """Without anything public; beside exact totals of a column; and beside the cells of two columns that nobody is in."""
    rows = dp.ReplaceOne(rows=len(one.frame))
    yield "rows added or removed", None, dp.AddRemove()
    first, second = one.schema.columns if len(one.schema.columns) == 2 else list(one.schema.columns)[:2]
    yield f"exact totals of {first}", dp.Totals(first), rows
    there = set(one.frame.select(first, second).unique().rows())
    labels = [[*one.schema[name].values, None] for name in (first, second)]
    empty = [(a, b) for a in labels[0] for b in labels[1] if (a, b) not in there]
    yield f"{len(empty)} impossible cells", dp.Impossible(first, second, cells=empty), rows


def coverage(asked: Quote, exact: list[np.ndarray], draws: int) -> tuple[float, float]:
    """The part of all intervals with noise that contain the count, and that in the table with the fewest."""
    (line,) = asked.lines
    truth = [one.counts.value for one in line.recipe.tables(answers_of(asked, line, exact))]
    inside, many = np.zeros(len(truth)), np.zeros(len(truth))
    for _ in range(draws):
        drawn = line.recipe.tables(answers_of(asked, line, noisy_answers(asked, exact, system_bits())))
        for place, (one, right) in enumerate(zip(drawn, truth, strict=True)):
            noisy = one.counts.high > one.counts.low
            held = (one.counts.low <= right + 1e-9) & (right <= one.counts.high + 1e-9)
            inside[place] += (held & noisy).sum()
            many[place] += noisy.sum()
    some = many > 0
    return float(inside.sum() / many.sum()), float((inside[some] / many[some]).min())


def main(folder: Path, draws: int) -> None:
    for one in data_sets(folder):
        for told, invariants, neighbours in cases(one):
            for measure, spend in SPENDS.items():
                began = process_time()
                session = dp.Session(
                    one.frame,
                    one.schema,
                    dataset="d",
                    ledger=":memory:",
                    budget=spend,
                    neighbours=neighbours,
                    invariants=invariants,
                )
                if invariants is not None:
                    session.publish_totals()
                table = prepare(session.table, "imputed") if one.name == "ACS" and invariants is None else session.table
                plan = table.agg(dp.tables(*dp.ways(list(one.schema.columns), *one.ways)))
                asked = session.quote(plan, spend=spend)
                exact = exact_answers(asked, run_scans(open_source(one.frame, one.schema), plan.layout), no_bits())
                found, least = coverage(asked, exact, draws)
                print(
                    f"{one.name}, {told}, {measure}: {found:.2%} of the intervals, {least:.2%} in the table with the fewest "
                    f"({process_time() - began:.0f} s)",
                    flush=True,
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
