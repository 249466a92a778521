"""The words that other programs have for a statistic, each with the nearest way to say it here."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EARLIER", "nearest_way"]

EARLIER: Mapping[str, str] = {"agreeing_tables": "tables"}
"""Words of statistics that programs, plans and documents may still have, and those of today."""

_SAME: Mapping[str, str] = {
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("n", "len", "length", "size", "rows", "nrow"), "count"),
    **dict.fromkeys(("total", "add"), "sum"),
    **dict.fromkeys(("stddev", "stdev", "sd", "standard_deviation"), "std"),
    **dict.fromkeys(("var",), "variance"),
    **dict.fromkeys(("corr", "cor"), "correlation"),
    **dict.fromkeys(("cov",), "covariance"),
    **dict.fromkeys(("ols", "lm", "linear_regression", "linreg", "slope"), "regression"),
    **dict.fromkeys(("quantile", "percentile", "percentiles", "deciles", "quartiles"), "quantiles"),
    **dict.fromkeys(("proportion", "percentage", "fraction", "ratio"), "share"),
    **dict.fromkeys(("crosstab", "margins", "pivot"), "tables"),
    **dict.fromkeys(("hist",), "histogram"),
}
_ELSEWISE: Mapping[str, str] = {
    **dict.fromkeys(("max", "maximum"), "one row decides a maximum; the nearest is a high quantile, quantiles at 0.95"),
    **dict.fromkeys(("min", "minimum"), "one row decides a minimum; the nearest is a low quantile, quantiles at 0.05"),
    **dict.fromkeys(
        ("count_distinct", "nunique", "n_distinct", "distinct", "n_unique", "approx_count_distinct"),
        "the number of different values is not offered; the nearest is to group by the column and count its categories",
    ),
    **dict.fromkeys(
        ("mode", "value_counts", "unique"), "the categories are declared; the nearest is to group by the column and count"
    ),
}


def nearest_way(word: str) -> str:
    """The end of a message about a word that is not a statistic; empty where nothing is near."""
    known = word.lower()
    if known in _SAME:
        return f"; here it is called {_SAME[known]}"
    return f"; {_ELSEWISE[known]}" if known in _ELSEWISE else ""
