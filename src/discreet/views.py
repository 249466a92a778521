"""Other looks at a release: computed from the published document alone, at no charge, and labelled as what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ArgumentError, printed
from discreet.release import Release

if TYPE_CHECKING:
    import polars as pl

__all__ = ["consistent"]


def consistent(release: Release, statistic: str | None = None) -> pl.DataFrame:
    """The counts of a release as non-negative integers that add up to everything that is public about them.

    The group columns, the unbiased counts as they were published, and a column `<name>_consistent`: among the non-negative
    integer tables that have the exact totals (or the public number of rows), one near the published counts in least
    squares. It looks better and is biased: small counts are moved up, large ones down. It has no intervals of its own.

    Args:
        release: with at least one count of rows.
        statistic: the name of the count; the first one if it is left out.

    Raises:
        ArgumentError: no such count of rows, or totals for which the solver found no table.
    """
    from discreet.estimates.consistent import consistent_counts

    if not isinstance(release, Release):
        raise ArgumentError(f"release={printed(release)}: must be a Release")
    document = release.document
    counts = [line["name"] for line in document["statistics"] if line["statistic"] == "count" and line["column"] is None]
    name = statistic if statistic is not None else next(iter(counts), None)
    if name is None or name not in counts:
        shown = ", ".join(counts) if counts else "none; ask for count()"
        raise ArgumentError(f"statistic={printed(statistic)}: the release has these counts of rows: {shown}")
    table = release.table
    noisy = np.rint(table[name].to_numpy()).astype(np.int64)
    sums = [
        (np.zeros(len(noisy), np.int64) if one["labels"] is None else np.array(one["labels"], np.int64), one["totals"])
        for one in document.get("known_sums", [])
    ]
    found = consistent_counts(noisy, [(labels, np.array(totals, dtype=np.int64)) for labels, totals in sums])
    groups = table.columns[: len(document["plan"]["group_by"])]
    return table.select(*groups, name).with_columns(_series(f"{name}_consistent", found.values.tolist()))


def _series(name: str, values: list[int]) -> pl.Series:
    import polars as pl

    return pl.Series(name, values, dtype=pl.Int64)
