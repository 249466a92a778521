"""The three examples of the resize notes (seed 001, section 4.5) on a table of 100 rows: what they cost and what they do.

The intervals are for the resized table. They do not cover what copying, sampling and filling change.
"""

from fractions import Fraction

import polars as pl

import discreet as dp

wages = pl.DataFrame({"wage": [100 * (1 + k % 20) for k in range(100)]})
schema = dp.Schema(wage=dp.Number(0, 2000, step=100))
CASES = [
    (150, "1", "all 100 records and 50 imputed ones; the noise is what it would be without resize"),
    (100, "0.75", "75 random records and 25 imputed ones; nobody is certain to be in it, so the noise is smaller"),
    (90, "1.5", "90 of two copies of each record; a person can be in it twice, so the noise is larger"),
]

with dp.Session(
    wages, schema, dataset="wages", ledger=":memory:", budget=dp.PureDP(3), neighbours=dp.ReplaceOne(rows=100)
) as session:
    for rows, proportion, meaning in CASES:
        table = session.table.impute({"wage": dp.Uniform()}).resize(rows, proportion=proportion)
        request = table.agg(dp.count(), dp.mean("wage"))
        quote = session.quote(request, spend=1)
        name, error = quote.expected[1]
        release = session.release(request, spend=1, name=f"resize({rows}, {proportion})")
        mean, low, high = release.table.select("mean_wage", "mean_wage_low", "mean_wage_high").row(0)
        print(f"resize(X, {rows}, {Fraction(proportion)}): {meaning}")
        scale = float(quote.measured[0].law.scale)
        print(f"  one person moves {quote.group} row(s); the noise of the sum has scale {scale:.1f}")
        print(f"  {release.table['count'][0]} rows, mean wage {mean:.0f} ({low:.0f} to {high:.0f})\n")
