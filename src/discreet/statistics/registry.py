"""All kinds of statistics, in one tuple, and by their words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.base import Kind
from discreet.statistics.correlation import Correlation
from discreet.statistics.correlations import Correlations
from discreet.statistics.count_tables import Tables
from discreet.statistics.counts import Count
from discreet.statistics.covariance import Covariance
from discreet.statistics.histograms import Histogram
from discreet.statistics.in_full import InFull
from discreet.statistics.joint_means import Means
from discreet.statistics.means import Mean
from discreet.statistics.person_values import MeanPerPerson, SumPerPerson
from discreet.statistics.person_variances import StdPerPerson, VariancePerPerson
from discreet.statistics.persons import Persons
from discreet.statistics.principal_components import PrincipalComponents
from discreet.statistics.quantile import Median, Quantiles
from discreet.statistics.regression import Regression
from discreet.statistics.shares import Share
from discreet.statistics.sums import Sum
from discreet.statistics.variances import Std, Variance
from discreet.statistics.weighted_means import WeightedMean
from discreet.statistics.weighted_ratios import WeightedRatio
from discreet.statistics.weighted_shares import WeightedShare
from discreet.statistics.weighted_sums import WeightedSum

__all__ = ["STATISTICS", "by_word"]

STATISTICS: tuple[type[Kind], ...] = (
    Count,
    Sum,
    Mean,
    Means,
    Share,
    Variance,
    Std,
    Covariance,
    Correlation,
    Correlations,
    PrincipalComponents,
    Regression,
    WeightedSum,
    WeightedMean,
    WeightedShare,
    WeightedRatio,
    Median,
    Quantiles,
    Histogram,
    Tables,
    AgreeingAreas,
)
"""Those of rows. The law tests go through this tuple; plan files, pages and the command line read it."""

_OF_PERSONS: tuple[type[Kind], ...] = (Persons, InFull, SumPerPerson, MeanPerPerson, VariancePerPerson, StdPerPerson)
"""Those that only a table of persons answers."""


def by_word() -> Mapping[str, type[Kind]]:
    """The kinds by the words that plan files and documents have for them."""
    return MappingProxyType({kind.word: kind for kind in (*STATISTICS, *_OF_PERSONS)})
