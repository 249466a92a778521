"""discreet: publish statistics from confidential tables.

Some numbers are exact because they must be, the others carry exact integer noise, and one guarantee counts everything
that was done. Four nouns: a `Schema` says what is public, a `Session` holds the budget, a `Table` is asked, a `Release`
comes out.
"""

import typing as _typing
from importlib.util import find_spec as _find_spec

from discreet._moved import keep_old_names as _keep_old_names
from discreet._version import __version__
from discreet.exact.on_demand import turn_to_load as _load

if _typing.TYPE_CHECKING:
    from discreet.approvals.demand import Demand
    from discreet.approvals.signing import Approval, approve
    from discreet.domain.about import About, Labels
    from discreet.domain.areas import DerivedColumn, Hierarchy
    from discreet.domain.columns import Category, Date, Number
    from discreet.domain.combinations import Keys
    from discreet.domain.discovery import Discover, top
    from discreet.domain.draws import Poisson, WithoutReplacement
    from discreet.domain.geojson import read_map
    from discreet.domain.groups import bins
    from discreet.domain.identifiers import Identifier
    from discreet.domain.imputation import Normal, Uniform, Weights
    from discreet.domain.maps import Map
    from discreet.domain.neighbours import AddRemove, ReplaceOne
    from discreet.domain.of_persons import distinct, earliest, latest, only, rows, total
    from discreet.domain.reading import CsvFiles
    from discreet.domain.schema import Schema
    from discreet.domain.texts import Text
    from discreet.engines import DatabaseTable, Limits
    from discreet.errors import (
        ArgumentError,
        BudgetExceeded,
        DiscreetError,
        InternalError,
        LedgerError,
        NotApproved,
        PlanError,
        ReleaseFailed,
        RowsDiffer,
        SchemaError,
        SourceError,
    )
    from discreet.invariants import (
        AtLeast,
        Impossible,
        Invariants,
        LinearInvariant,
        Margins,
        Occupied,
        Rounded,
        SizeClasses,
        Sums,
        Suppressed,
        Totals,
    )
    from discreet.plan.plan import Plan
    from discreet.plan.table import Table
    from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
    from discreet.quotes.row_numbers import choose_n
    from discreet.releases.choosing import choose_clamp
    from discreet.releases.choosing_bounds import choose_bound
    from discreet.releases.derived.before_sampling import before_sampling
    from discreet.releases.derived.change import change
    from discreet.releases.derived.combine import combine
    from discreet.releases.derived.operands import Numbers, constants, numbers
    from discreet.releases.derived.poststratified import poststratified
    from discreet.releases.derived.ratio import ratio
    from discreet.releases.derived.result import Derived
    from discreet.releases.document import Release
    from discreet.releases.guarantee import Guarantee
    from discreet.releases.hypotheses.anova import test_anova
    from discreet.releases.hypotheses.coefficients import test_coefficient
    from discreet.releases.hypotheses.differences import test_difference
    from discreet.releases.hypotheses.independence import test_independence
    from discreet.releases.hypotheses.means import test_means
    from discreet.releases.hypotheses.proportions import test_proportion
    from discreet.releases.hypotheses.result import Tested
    from discreet.releases.hypotheses.several import holm
    from discreet.releases.measured import verify
    from discreet.releases.quality import Quality
    from discreet.releases.rows import Households, Rows, fit_households, fit_rows
    from discreet.releases.views import consistent, view_deviations
    from discreet.releases.whole_files import write_whole
    from discreet.session.beside import Persons
    from discreet.session.extracting import extract
    from discreet.session.populations import Population
    from discreet.session.session import Session
    from discreet.session.windows import Windows
    from discreet.statistics.agreeing_areas import agreeing_areas
    from discreet.statistics.correlation import correlation
    from discreet.statistics.correlations import correlations
    from discreet.statistics.count_tables import tables
    from discreet.statistics.counts import count
    from discreet.statistics.covariance import covariance
    from discreet.statistics.designs import CertifiedPoissonDesign, DesignEffect, PoissonDesign, ReplacementDesign
    from discreet.statistics.histograms import histogram
    from discreet.statistics.in_full import counted_in_full
    from discreet.statistics.joint_means import means
    from discreet.statistics.means import mean
    from discreet.statistics.persons import persons
    from discreet.statistics.principal_components import principal_components
    from discreet.statistics.quantile import median, quantiles
    from discreet.statistics.regression import regression
    from discreet.statistics.shares import share
    from discreet.statistics.sums import sum_of as sum  # noqa: A004 (the statistic is called sum)
    from discreet.statistics.survey_weights import Weight
    from discreet.statistics.variances import std, variance
    from discreet.statistics.ways import ways
    from discreet.statistics.weighted_means import weighted_mean
    from discreet.statistics.weighted_ratios import weighted_ratio
    from discreet.statistics.weighted_shares import weighted_share
    from discreet.statistics.weighted_sums import weighted_sum

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "About",
    "AddRemove",
    "Approval",
    "ApproxDP",
    "ArgumentError",
    "AtLeast",
    "BudgetExceeded",
    "Category",
    "CertifiedPoissonDesign",
    "CsvFiles",
    "DatabaseTable",
    "Date",
    "Demand",
    "Derived",
    "DerivedColumn",
    "DesignEffect",
    "Discover",
    "DiscreetError",
    "Guarantee",
    "Hierarchy",
    "Households",
    "Identifier",
    "Impossible",
    "InternalError",
    "Invariants",
    "Keys",
    "Labels",
    "LedgerError",
    "Limits",
    "LinearInvariant",
    "Map",
    "Margins",
    "Normal",
    "NotApproved",
    "Number",
    "Numbers",
    "Occupied",
    "Persons",
    "Plan",
    "PlanError",
    "Poisson",
    "PoissonDesign",
    "Population",
    "PureDP",
    "Quality",
    "Release",
    "ReleaseFailed",
    "ReplaceOne",
    "ReplacementDesign",
    "Rounded",
    "Rows",
    "RowsDiffer",
    "Schema",
    "SchemaError",
    "Session",
    "SizeClasses",
    "SourceError",
    "Sums",
    "Suppressed",
    "Table",
    "Tested",
    "Text",
    "Totals",
    "Uniform",
    "Weight",
    "Weights",
    "Windows",
    "WithoutReplacement",
    "__version__",
    "agreeing_areas",
    "approve",
    "before_sampling",
    "bins",
    "change",
    "choose_bound",
    "choose_clamp",
    "choose_n",
    "combine",
    "consistent",
    "constants",
    "correlation",
    "correlations",
    "count",
    "counted_in_full",
    "covariance",
    "distinct",
    "earliest",
    "extract",
    "fit_households",
    "fit_rows",
    "histogram",
    "holm",
    "latest",
    "mean",
    "means",
    "median",
    "numbers",
    "only",
    "persons",
    "poststratified",
    "principal_components",
    "quantiles",
    "ratio",
    "read_map",
    "regression",
    "rows",
    "share",
    "std",
    "sum",
    "tables",
    "test_anova",
    "test_coefficient",
    "test_difference",
    "test_independence",
    "test_means",
    "test_proportion",
    "top",
    "total",
    "variance",
    "verify",
    "view_deviations",
    "ways",
    "weighted_mean",
    "weighted_ratio",
    "weighted_share",
    "weighted_sum",
    "write_whole",
]

# Where the public names are. Each is loaded when it is first used, so that commands begin at once.
_HOMES = {
    "discreet.approvals.demand": ("Demand",),
    "discreet.approvals.signing": ("Approval", "approve"),
    "discreet.engines": ("DatabaseTable", "Limits"),
    "discreet.errors": (
        "ArgumentError",
        "BudgetExceeded",
        "DiscreetError",
        "InternalError",
        "LedgerError",
        "NotApproved",
        "PlanError",
        "ReleaseFailed",
        "RowsDiffer",
        "SchemaError",
        "SourceError",
    ),
    "discreet.domain.areas": ("DerivedColumn", "Hierarchy"),
    "discreet.domain.combinations": ("Keys",),
    "discreet.domain.about": ("About", "Labels"),
    "discreet.domain.draws": ("Poisson", "WithoutReplacement"),
    "discreet.domain.geojson": ("read_map",),
    "discreet.domain.groups": ("bins",),
    "discreet.domain.maps": ("Map",),
    "discreet.invariants": (
        "AtLeast",
        "Impossible",
        "Invariants",
        "LinearInvariant",
        "Margins",
        "Occupied",
        "Rounded",
        "SizeClasses",
        "Sums",
        "Suppressed",
        "Totals",
    ),
    "discreet.domain.imputation": ("Normal", "Uniform", "Weights"),
    "discreet.domain.neighbours": ("AddRemove", "ReplaceOne"),
    "discreet.domain.of_persons": ("distinct", "earliest", "latest", "only", "rows", "total"),
    "discreet.plan.plan": ("Plan",),
    "discreet.privacy": ("GDP", "RDP", "ZCDP", "ApproxDP", "PureDP"),
    "discreet.quotes.row_numbers": ("choose_n",),
    "discreet.releases.choosing": ("choose_clamp",),
    "discreet.releases.choosing_bounds": ("choose_bound",),
    "discreet.releases.derived.before_sampling": ("before_sampling",),
    "discreet.releases.derived.change": ("change",),
    "discreet.releases.derived.combine": ("combine",),
    "discreet.releases.derived.operands": ("Numbers", "constants", "numbers"),
    "discreet.releases.derived.poststratified": ("poststratified",),
    "discreet.releases.derived.ratio": ("ratio",),
    "discreet.releases.derived.result": ("Derived",),
    "discreet.releases.whole_files": ("write_whole",),
    "discreet.releases.document": ("Release",),
    "discreet.releases.guarantee": ("Guarantee",),
    "discreet.releases.hypotheses.anova": ("test_anova",),
    "discreet.releases.hypotheses.coefficients": ("test_coefficient",),
    "discreet.releases.hypotheses.differences": ("test_difference",),
    "discreet.releases.hypotheses.independence": ("test_independence",),
    "discreet.releases.hypotheses.means": ("test_means",),
    "discreet.releases.hypotheses.proportions": ("test_proportion",),
    "discreet.releases.hypotheses.result": ("Tested",),
    "discreet.releases.hypotheses.several": ("holm",),
    "discreet.releases.measured": ("verify",),
    "discreet.releases.quality": ("Quality",),
    "discreet.releases.rows": ("Households", "Rows", "fit_households", "fit_rows"),
    "discreet.domain.reading": ("CsvFiles",),
    "discreet.domain.columns": ("Category", "Date", "Number"),
    "discreet.domain.discovery": ("Discover", "top"),
    "discreet.domain.identifiers": ("Identifier",),
    "discreet.domain.texts": ("Text",),
    "discreet.domain.schema": ("Schema",),
    "discreet.session.extracting": ("extract",),
    "discreet.session.beside": ("Persons",),
    "discreet.session.populations": ("Population",),
    "discreet.session.session": ("Session",),
    "discreet.session.windows": ("Windows",),
    "discreet.statistics.agreeing_areas": ("agreeing_areas",),
    "discreet.statistics.ways": ("ways",),
    "discreet.statistics.correlation": ("correlation",),
    "discreet.statistics.correlations": ("correlations",),
    "discreet.statistics.count_tables": ("tables",),
    "discreet.statistics.counts": ("count",),
    "discreet.statistics.in_full": ("counted_in_full",),
    "discreet.statistics.persons": ("persons",),
    "discreet.statistics.covariance": ("covariance",),
    "discreet.statistics.designs": ("CertifiedPoissonDesign", "DesignEffect", "PoissonDesign", "ReplacementDesign"),
    "discreet.statistics.histograms": ("histogram",),
    "discreet.statistics.joint_means": ("means",),
    "discreet.statistics.means": ("mean",),
    "discreet.statistics.principal_components": ("principal_components",),
    "discreet.statistics.quantile": ("median", "quantiles"),
    "discreet.statistics.regression": ("regression",),
    "discreet.statistics.shares": ("share",),
    "discreet.statistics.sums": ("sum",),
    "discreet.statistics.survey_weights": ("Weight",),
    "discreet.statistics.variances": ("std", "variance"),
    "discreet.statistics.weighted_means": ("weighted_mean",),
    "discreet.statistics.weighted_ratios": ("weighted_ratio",),
    "discreet.statistics.weighted_shares": ("weighted_share",),
    "discreet.statistics.weighted_sums": ("weighted_sum",),
    "discreet.plan.table": ("Table",),
    "discreet.releases.views": ("consistent", "view_deviations"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not _typing.TYPE_CHECKING:  # type checkers see the imports above, and that there is nothing else

    def __getattr__(name: str) -> object:
        """A public name, or a module of this package, loaded when it is first used."""
        if name in _HOME:
            found = getattr(_load(_HOME[name]), "sum_of" if name == "sum" else name)
            globals()[name] = found
            return found
        if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
            return _load(f"{__name__}.{name}")
        words = _load("discreet.statistics.other_words")
        if name in words.EARLIER:
            return __getattr__(words.EARLIER[name])
        near = words.nearest_way(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


_keep_old_names()
