"""discreet: publish statistics from confidential tables.

Some numbers are exact because they must be, the others carry exact integer noise, and one guarantee counts everything
that was done. Four nouns: a `Schema` says what is public, a `Session` holds the budget, a `Table` is asked, a `Release`
comes out.
"""

import typing as _typing
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

from discreet._version import __version__

if _typing.TYPE_CHECKING:
    from discreet.engines import DatabaseTable, Limits
    from discreet.errors import (
        ArgumentError,
        BudgetExceeded,
        DiscreetError,
        InternalError,
        LedgerError,
        PlanError,
        ReleaseFailed,
        SchemaError,
        SourceError,
    )
    from discreet.groups import bins
    from discreet.invariants import Impossible, Invariants, LinearInvariant, Margins, Occupied, Totals
    from discreet.laws import Normal, Uniform, Weights
    from discreet.neighbours import AddRemove, ReplaceOne
    from discreet.plan import Plan
    from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
    from discreet.release import Guarantee, Release
    from discreet.schema import Category, Date, Number, Schema
    from discreet.session import Session
    from discreet.statistics import count, histogram, mean, median, quantiles, share, std, tables, variance
    from discreet.statistics import sum_of as sum  # noqa: A004 (the statistic is called sum)
    from discreet.table import Table
    from discreet.views import consistent

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "AddRemove",
    "ApproxDP",
    "ArgumentError",
    "BudgetExceeded",
    "Category",
    "DatabaseTable",
    "Date",
    "DiscreetError",
    "Guarantee",
    "Impossible",
    "InternalError",
    "Invariants",
    "LedgerError",
    "Limits",
    "LinearInvariant",
    "Margins",
    "Normal",
    "Number",
    "Occupied",
    "Plan",
    "PlanError",
    "PureDP",
    "Release",
    "ReleaseFailed",
    "ReplaceOne",
    "Schema",
    "SchemaError",
    "Session",
    "SourceError",
    "Table",
    "Totals",
    "Uniform",
    "Weights",
    "__version__",
    "bins",
    "consistent",
    "count",
    "histogram",
    "mean",
    "median",
    "quantiles",
    "share",
    "std",
    "sum",
    "tables",
    "variance",
]

# Where the public names are. Each is loaded when it is first used, so that commands begin at once.
_HOMES = {
    "discreet.engines": (
        "DatabaseTable",
        "Limits",
    ),
    "discreet.errors": (
        "ArgumentError",
        "BudgetExceeded",
        "DiscreetError",
        "InternalError",
        "LedgerError",
        "PlanError",
        "ReleaseFailed",
        "SchemaError",
        "SourceError",
    ),
    "discreet.groups": ("bins",),
    "discreet.invariants": (
        "Impossible",
        "Invariants",
        "LinearInvariant",
        "Margins",
        "Occupied",
        "Totals",
    ),
    "discreet.laws": (
        "Normal",
        "Uniform",
        "Weights",
    ),
    "discreet.neighbours": (
        "AddRemove",
        "ReplaceOne",
    ),
    "discreet.plan": ("Plan",),
    "discreet.privacy": (
        "GDP",
        "RDP",
        "ZCDP",
        "ApproxDP",
        "PureDP",
    ),
    "discreet.release": (
        "Guarantee",
        "Release",
    ),
    "discreet.schema": (
        "Category",
        "Date",
        "Number",
        "Schema",
    ),
    "discreet.session": ("Session",),
    "discreet.statistics": (
        "count",
        "histogram",
        "mean",
        "median",
        "quantiles",
        "share",
        "std",
        "tables",
        "variance",
        "sum",
    ),
    "discreet.table": ("Table",),
    "discreet.views": ("consistent",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not _typing.TYPE_CHECKING:  # type checkers see the imports above, and that there is nothing else

    def __getattr__(name: str) -> object:
        """A public name, or a module of this package, loaded when it is first used."""
        if name in _HOME:
            found = getattr(_import_module(_HOME[name]), "sum_of" if name == "sum" else name)
            globals()[name] = found
            return found
        if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
