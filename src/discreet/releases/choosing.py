"""Bounds of a clamp that are chosen from public or released numbers: what `dp.choose_clamp` reads them from."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.domain.columns import Number
from discreet.domain.neighbours import Neighbours, is_relation, neighbours_of, whole_number
from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount
from discreet.privacy.amounts import Spend, spend_of
from discreet.privacy.measures import is_budget
from discreet.quotes.assumptions import Given
from discreet.quotes.clamps import Bin, ClampChoice, best_clamp, make_spread, spread_of_bins, spread_of_quantiles
from discreet.releases.document import Release

__all__ = ["choose_clamp"]

Counts = Mapping[tuple[Amount, Amount], Given]


def choose_clamp(
    histogram: Release | Counts | None = None,
    *,
    quantiles: Mapping[Amount, Amount] | None = None,
    rows: int | None = None,
    spend: Spend,
    column: Number | str | None = None,
    neighbours: Neighbours | None = None,
) -> ClampChoice:
    """The clamp of a mean with the least bound of its whole error: noise, and what is cut off.

    The proof is O7 of docs/proofs/original.md. It takes a release with a histogram, which says everything else as well, or
    public numbers. **Never give counts or quantiles that were read off the data.** Every value of a bin is taken to be at
    the end that is cut off, and every count to be at the end of its interval: so the bound holds wherever the counts are
    within theirs.

    Args:
        histogram: a release of one histogram without groups, whose bins hold all values of a column; or for each bin, a
            pair of its ends, a public count, or the least and the most: `{(0, 25_000): 800, (25_000, 450_000): (90, 110)}`.
        quantiles: instead, public quantiles of the column by their orders, such as `{"0.5": 30_000, "0.99": 190_000}`.
        rows: the number of known values; only for quantiles.
        spend: what the release of the mean will cost: for a release an amount of its measure, else a measure.
        column: which column of the release; for public numbers `dp.Number` with its bounds and step.
        neighbours: the neighbouring relation, for public numbers.

    Raises:
        ArgumentError: no histogram, or one that does not hold all values; public numbers without column or neighbours.
        PlanError: the spend is too little for any noise.
    """
    if isinstance(histogram, Release):
        if quantiles is not None or rows is not None or neighbours is not None or isinstance(column, Number):
            raise ArgumentError("choose_clamp(): the release says everything; give spend, and perhaps the name of a column")
        return _of_release(histogram, column, spend)
    if (histogram is None) == (quantiles is None):
        raise ArgumentError("choose_clamp(): give either a histogram or quantiles")
    if not isinstance(column, Number) or not is_relation(neighbours) or neighbours is None:
        raise ArgumentError(
            "choose_clamp(): public numbers need column=dp.Number(…), and neighbours=dp.AddRemove() or ReplaceOne(rows=…)"
        )
    if not is_budget(spend):
        raise ArgumentError(f'spend={printed(spend)}: must be a measure here, such as dp.ZCDP("0.5")')
    if histogram is not None:
        return best_clamp(spread_of_bins(column, histogram), spend, neighbours)
    spread = spread_of_quantiles(column, quantiles or {}, whole_number(rows, "rows", least=1))
    return best_clamp(spread, spend, neighbours)


def _of_release(release: Release, column: str | None, spend: Spend) -> ClampChoice:
    """The clamp for what a release says."""
    document = release.document
    plan, shown = document["plan"], _histogram(document, column)
    declared = next(one for one in plan["schema"] if one["name"] == shown["column"])
    if declared["type"] != "number":
        raise ArgumentError(f"histogram: column '{shown['column']}' has no numbers; a mean needs some")
    grid = Number(declared["lower"], declared["upper"], step=declared["step"])
    frame = next(one for one in document["frames"] if one["name"] == shown["name"])
    _, _, lows, highs = (one["values"][: len(shown["labels"])] for one in frame["columns"])
    bins = [
        Bin(grid.value(first), grid.value(last - 1), (Fraction(max(0, low)), Fraction(max(0, high))))
        for first, last, low, high in zip(shown["edges"][:-1], shown["edges"][1:], lows, highs, strict=True)
    ]
    amount = spend_of(spend, release.guarantee.measure)
    return best_clamp(make_spread(grid, bins), amount, neighbours_of(plan["neighbours"]))


def _histogram(document: Mapping[str, Any], column: str | None) -> Mapping[str, Any]:
    """The one histogram of a release, of the column.

    Raises:
        ArgumentError: there is none or several, or it is of groups, or of a table that was prepared.
    """
    found = [one for one in document["statistics"] if one["statistic"] == "histogram" and column in (None, one["column"])]
    if len(found) != 1:
        named = f" of column '{column}'" if column is not None else ""
        raise ArgumentError(f"histogram: the release has {len(found)} histograms{named}; it must have one: name its column")
    if document["plan"]["group_by"] or "frames" not in document:
        raise ArgumentError("histogram: the release has one for each group; release one of all rows")
    changed = [
        one["step"] for one in document["plan"]["steps"] if one.get("column", found[0]["column"]) == found[0]["column"]
    ]
    if changed:
        raise ArgumentError(
            f"histogram: it is of a table that was prepared ({', '.join(changed)}); release one of the values"
        )
    return dict(found[0])
