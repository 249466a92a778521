"""What is asked of each group, and how a noisy answer becomes an estimate with its interval.

* `kinds`: What is asked of each group of rows
* `margins`: Noisy margins of one table made to agree: the generalised least-squares estimate, in closed form
* `quantiles`: Quantiles of every group from the noisy counts of a tree, with intervals that invert noisy cumulative
  counts
* `ratios`: Counts, sums and means with their intervals
* `variances`: Variances, standard deviations and shares with their intervals, never NaN and always within what is
  possible
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.statistics.kinds import (
        Count,
        Histogram,
        Kind,
        Mean,
        Median,
        Quantiles,
        Share,
        Statistic,
        Std,
        Sum,
        Tables,
        Variance,
        count,
        histogram,
        interval_of,
        kind_of,
        levels_of,
        mean,
        median,
        outputs,
        quantiles,
        share,
        statistic_json,
        std,
        sum_of,
        tables,
        variance,
    )

__all__ = [
    "Count",
    "Histogram",
    "Kind",
    "Mean",
    "Median",
    "Quantiles",
    "Share",
    "Statistic",
    "Std",
    "Sum",
    "Tables",
    "Variance",
    "count",
    "histogram",
    "interval_of",
    "kind_of",
    "levels_of",
    "mean",
    "median",
    "outputs",
    "quantiles",
    "share",
    "statistic_json",
    "std",
    "sum_of",
    "tables",
    "variance",
]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"kinds": __all__})  # loaded when they are first used
