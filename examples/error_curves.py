"""Error curves of contingency tables whose margins are published exactly: noise on the lattice against naive noise.

The tables have two questions, and everybody knows the margins of both: tables with the same margins differ in a = 2 or 3
rows. Naive noise is drawn cell by cell for a promise that is a times as strong, so that it covers a rows. Noise on the
tables whose margins are 0 has the same guarantee, keeps the margins exactly, and is smaller in every cell. Nothing is
simulated: these are the laws of the quotes.
"""

from collections.abc import Iterator
from fractions import Fraction

import polars as pl

import discreet as dp

LADDER = ["0.01", "0.03", "0.1", "0.3", "1", "3"]
SHAPES = [(2, 2), (3, 3), (5, 5), (10, 10)]


def opened(rows: int, columns: int, invariants: dp.Invariants | None) -> dp.Session:
    """A session on a table of two questions, with 30 persons for every pair of answers."""
    first, second = [f"a{i}" for i in range(rows)], [f"b{j}" for j in range(columns)]
    persons = pl.DataFrame([(a, b) for a in first for b in second] * 30, schema=["first", "second"], orient="row")
    return dp.Session(
        persons,
        dp.Schema(first=dp.Category(first), second=dp.Category(second)),
        dataset="two questions",
        ledger=":memory:",
        budget=dp.ZCDP(100),
        neighbours=dp.ReplaceOne(rows=len(persons)),
        invariants=invariants,
    )


def curve(rows: int, columns: int) -> Iterator[tuple[float, float]]:
    """For each ρ the standard deviation in a cell: of the chosen noise, and of the naive noise."""
    with opened(rows, columns, dp.Margins(["first"], ["second"])) as beside, opened(rows, columns, None) as alone:
        beside.publish_totals()  # free of charge; they also show that no answer is missing
        request = beside.table.group_by("first", "second").agg(dp.count())
        for rho in LADDER:
            chosen = beside.quote(request, spend=rho)
            naive = alone.quote(request, spend=Fraction(rho) / chosen.beside.adjacency.a**2)
            yield tuple(quote.measured[0].law.variance() ** 0.5 for quote in (chosen, naive))


print("standard deviation of the noise in a cell: on the lattice / naive, and their ratio\n")
print("      ρ " + "".join(f"{f'{rows} × {columns}':>24}" for rows, columns in SHAPES))
curves = [list(curve(*shape)) for shape in SHAPES]
for rho, *points in zip(LADDER, *curves, strict=True):
    cells = (f"{chosen:7.2f} / {naive:6.2f} {naive / chosen:6.2f}×" for chosen, naive in points)
    print(f"{rho:>7} " + "".join(f"{cell:>24}" for cell in cells))
