"""discreet: publish statistics from confidential tables.

Some numbers are exact because they must be, the others carry exact integer noise, and one guarantee counts everything
that was done. Four nouns: a `Schema` says what is public, a `Session` holds the budget, a `Table` is asked, a `Release`
comes out.
"""

from discreet._version import __version__
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
