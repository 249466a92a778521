"""US military personnel by branch, grade, race and gender, alongside the exact strength of each branch.

The noise of the table adds up to 0 in each branch, so the published table has exactly the published totals. Independent
noise for two rows (the naive way to the same guarantee) has a larger error and other totals.
"""

import polars as pl

import discreet as dp
from discreet import datasets

schema = dp.Schema(
    branch=dp.Category(["air force", "army", "marine corps", "navy"]),
    grade=dp.Category(["enlisted", "officer", "warrant officer"]),
    race=dp.Category(["ami/aln", "asian", "black", "multi", "p/i", "unk", "white"]),
    gender=dp.Category(["female", "male"]),
)
# Nothing in these data is confidential any more, so errors may be shown.
truth = pl.read_parquet(datasets.path("military"))


def released(by, invariants, spend):
    """The quote and the release of the counts by some columns."""
    laws = {name: dp.Weights(dict.fromkeys(schema[name].values, 1)) for name in by if name != "branch"}
    with dp.Session(
        datasets.path("military"),
        schema,
        dataset="military",
        ledger=":memory:",
        budget=dp.ZCDP("0.5"),
        neighbours=dp.ReplaceOne(rows=1_414_593),
        invariants=invariants,
    ) as session:
        request = session.table.impute(laws).group_by(*by).agg(dp.count())
        return session.quote(request, spend=spend), session.release(request, spend=spend, name="personnel")


def errors(release, by):
    """The root mean square error of a cell, and the largest error of a branch."""
    exact = truth.group_by(by).agg(pl.len().cast(pl.Int64).alias("exact"))
    cells = release.table.filter(pl.col("branch").is_not_null()).join(exact, on=by, how="left").fill_null(0)
    off = cells.select("branch", error=pl.col("count") - pl.col("exact"))
    return (off["error"] ** 2).mean() ** 0.5, off.group_by("branch").agg(pl.col("error").sum())["error"].abs().max()


for by in (["branch", "gender"], ["branch", "grade", "race", "gender"]):
    quote, release = released(by, dp.Totals("branch"), spend="0.1")
    _, naive = released(by, None, spend=dp.ZCDP("0.1").rho / quote.group**2)
    print(f"{', '.join(by)}: {len(release.table)} cells\n{quote}\n{release.guarantee}\n")
    for name, one in (("on the lattice", release), ("naive two-fold", naive)):
        cell, branch = errors(one, by)
        print(f"{name}: error of a cell {cell:.2f}, of the strength of a branch up to {branch}")
    print()
print(release.tables["totals_branch"])
