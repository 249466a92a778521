"""The statistics of each group, and the estimates with intervals from noisy answers: one file for one statistic.

* `agreeing_areas`: The numbers of rows in the areas of every level of a tree, in tables that add up from level to level
* `area_recipe`: How the tables of all levels of a tree are measured and put together
* `agreed_cells`: What recipes of tables that agree have in common: public effects, cells as they are printed, and words
* `base`: The base of every statistic: a kind of question with its words, checks and queries, and the recipe of its
  estimate
* `coefficients`: From the noisy moments of features to the coefficients of a regression, in the units of their columns
* `common`: What several kinds of statistics have in common: columns they read, one number for each group, checks, and
  words
* `completed_means`: The mean of a column with any answer of those who gave none
* `completed_quantiles`: Quantiles of a column with any answer of those who gave none
* `completed_sums`: The sum of a column with any answer of those who gave none
* `completed_variances`: The variance of a column with any answer of those who gave none
* `completions`: The rows about which nothing is recorded: how many may be in a cell, from public counts or from noisy ones
* `correlation`: The correlation of two columns, over the rows in which both are known: their covariance over both standard
  deviations
* `filled`: Tables with null groups whose rows a public law spreads over the other groups
* `fits`: How well a regression fits: R² and the F statistic
* `noise_matrices`: Bounds of the norm of a matrix of noises
* `implied_cells`: Cells of tables that follow from other public cells and sums
* `in_full`: How many persons are counted in full: the number of those whom no bound of the request cuts, and of the others
* `joint_means`: The means of several columns and their count, from one vector of sums
* `correlations`: The correlations of all pairs of several columns, from one vector of sums
* `condition_systems`: The equations behind conditions on tables that agree, in doubles, and what they take off variances
* `conditioned_cells`: The cells of tables that meet public sums, each with the half-width of what noise it still has
* `conditions`: Public sums of cells as conditions on tables that agree: estimates are moved to meet them, and still agree
* `count_tables`: The numbers of rows in several tables, margins of one: frames of their own, which agree
* `counted`: The numbers of rows behind an estimate: public because n or the totals are, or a query with noise
* `counts`: The number of rows, or of rows whose column is not null
* `designs`: Sampling designs: how the error of the draw follows from the weighted file, and in which words that is said
* `dispersion`: The variance as one number with noise of its own, where the number of rows is public
* `effect_tables`: Tables of counts that agree, from noisy effects: unbiased counts, each cell with its own interval
* `effects`: Tables that are put together from the noisy answers of their effects
* `emptied`: Cells in which nobody can be, whatever the area: the estimates of tables that are 0 there, and still agree
* `estimate`: Values with their intervals, and the range of a quotient over a box: what several statistics are made of
* `covariance`: The covariance of two columns, over the rows in which both are known: never NaN and always within what is
  possible
* `extended_quantiles`: Quantiles of a column before its clamp, from those after it: a clamp costs nothing
* `histograms`: The numbers of rows in bins of a column, as a frame of its own in a release
* `joint_noise`: Half-widths of a combination of the noises of several queries in a cell
* `joint_variance`: The variance with an interval from the joint law of its noises
* `levels`: The levels of a tree of areas, from the columns of a schema: which there are, and which lie in which
* `linear_sets`: Confidence sets for the solution of linear equations whose matrix and right side have noise
* `matrices`: Matrices of several columns of numbers: the covariances of all pairs with their ranges
* `means`: The mean of a column within its bounds: origin + unit · total / count
* `moments`: Sums of products of columns, measured as one vector: what regressions rest on
* `originals`: Sums of a column in a request for originals: in parts, so that the prepared and the recorded sum share what
  they can
* `own_counts`: Tables of counts that are measured each by itself: the bins of a histogram, or one table
* `outer`: The groups of a request where some rows have no label: the cells that such a row may belong to
* `other_words`: The words that other programs have for a statistic, each with the nearest way to say it here
* `person_counting`: What one person counts for in a request, and the totals over persons that recipes are made of
* `person_divided`: The recipes of statistics for which each person is divided among values: histograms and quantiles
* `person_moments`: The recipes of numbers over persons: totals, shares, means and variances, made of totals in units of 1/W
* `person_recipes`: The statistics that a table of persons answers: what each needs of a person, and its recipe
* `person_values`: The sum and the mean of what each person has in a column, within public bounds: the kinds, and the bounds
  on the grid
* `person_variances`: The variance of what each person has in a column, within public bounds, and its root: the kinds
* `persons`: The number of persons in each group of a table of persons
* `population`: Numbers of the population: a weighted statistic with a second interval, for its noise and the error of the
  draw together
* `population_tails`: Intervals for numbers of a population: noise of known laws and an error of the draw that is taken to be
  normal
* `possible`: The values that are possible for a statistic, whatever the rows are: from a release document, so that anyone
  can tell
* `printed_cells`: The cells of tables from effects as a document prints them: doubles, and ends in decimals that suit their
  noise
* `principal_components`: The principal components of several columns, from the noisy matrix of their covariances
* `quantile`: Quantiles of a column, and the median: values chosen by their rank, intervals from the noisy counts of a
  tree
* `quantile_trees`: Quantiles whose values are chosen by their rank, with intervals from a tree of noisy counts
* `public_totals`: What is public about the cells of a table beside its effects: sums of cells, and lists of totals
* `quantile_intervals`: Intervals of quantiles that are chosen around the values, and the values of codes
* `ranks`: Quantiles of every group from the noisy counts of a tree, with intervals that invert noisy cumulative counts
* `recipe`: How a statistic is answered: the noise behind its queries, their noisy answers, and the recipe that makes
  estimates
* `registry`: All kinds of statistics, in one tuple, and by their words
* `regression`: Linear regression by least squares, over the rows in which all columns are known: coefficients with
  intervals
* `shares`: The number of rows of the group over the number of rows of all groups
* `sums`: The sum of a column
* `survey_weights`: Survey weights: a column that says for how many persons of a population a row stands
* `table_axes`: The one domain that all tables of a statistic are margins of: its axes, their levels, its effects
* `table_demands`: What is asked of several tables: how much the variances of each count, and how wide its intervals may be
* `tilted_means`: The mean of a column with the tilted interval: the form that requests with `original` have
* `tilts`: The interval of a quotient of a noisy sum and a noisy count, from one statement about the noise of both
* `totals`: The integer query behind a sum: where its values are taken from, and what a step of it is worth
* `tree_cells`: Tables of all levels of a tree, put together from the noisy answers of the effects of each level
* `tree_given`: Shares of levels and tables that somebody states, as shares of the effects that are measured
* `tree_shares`: How levels and effects divide what is spent on the tables of all levels
* `trees`: Least squares on a tree: numbers that are measured in every area of every level, so that they add up
* `variances`: The variance of a column, and its root, the standard deviation: never NaN and always within what is
  possible
* `weighted_means`: The weighted mean of a column (Hájek): the weighted sum over the sum of the weights
* `weighted_quotients`: The recipe of a quotient of two weighted sums over the same rows: weighted means and ratios
* `weighted_ratios`: The weighted ratio of two columns: one weighted sum over another, over the rows in which all is known
* `ways`: All tables of so many of some columns
* `weighted_shares`: The weighted share of each group: the sum of its weights over the sum of the weights of all groups
* `weighted_sums`: The weighted sum of a column: the total that a sample estimates for its population
* `whole_effects`: The effects of tables that were measured whole: each is told by every table that contains it
* `whole_shares`: How tables that are measured whole divide what is spent on them
* `whole_tables`: Tables of counts that are measured whole, each by itself, and made to agree by least squares
* `whole_widths`: Half-widths of tables that are measured whole and meet public sums of cells
* `widest`: Bounds of the half-width of an interval in a group of a given number of rows, whatever these rows are
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.statistics.agreeing_areas import AgreeingAreas, agreeing_areas
    from discreet.statistics.base import Kind, Statistic, outputs, statistic_json
    from discreet.statistics.correlation import Correlation, correlation
    from discreet.statistics.count_tables import Tables, tables
    from discreet.statistics.counts import Count, count
    from discreet.statistics.covariance import Covariance, covariance
    from discreet.statistics.histograms import Histogram, histogram
    from discreet.statistics.in_full import InFull, counted_in_full
    from discreet.statistics.means import Mean, mean
    from discreet.statistics.persons import Persons, persons
    from discreet.statistics.quantile import Median, Quantiles, median, quantiles
    from discreet.statistics.registry import STATISTICS
    from discreet.statistics.regression import Regression, regression
    from discreet.statistics.shares import Share, share
    from discreet.statistics.sums import Sum, sum_of
    from discreet.statistics.survey_weights import Weight
    from discreet.statistics.variances import Std, Variance, std, variance
    from discreet.statistics.weighted_means import WeightedMean, weighted_mean
    from discreet.statistics.weighted_ratios import WeightedRatio, weighted_ratio
    from discreet.statistics.weighted_shares import WeightedShare, weighted_share
    from discreet.statistics.weighted_sums import WeightedSum, weighted_sum

__all__ = [
    "STATISTICS",
    "AgreeingAreas",
    "Correlation",
    "Count",
    "Covariance",
    "Histogram",
    "InFull",
    "Kind",
    "Mean",
    "Median",
    "Persons",
    "Quantiles",
    "Regression",
    "Share",
    "Statistic",
    "Std",
    "Sum",
    "Tables",
    "Variance",
    "Weight",
    "WeightedMean",
    "WeightedRatio",
    "WeightedShare",
    "WeightedSum",
    "agreeing_areas",
    "correlation",
    "count",
    "counted_in_full",
    "covariance",
    "histogram",
    "mean",
    "median",
    "outputs",
    "persons",
    "quantiles",
    "regression",
    "share",
    "statistic_json",
    "std",
    "sum_of",
    "tables",
    "variance",
    "weighted_mean",
    "weighted_ratio",
    "weighted_share",
    "weighted_sum",
]

if not TYPE_CHECKING:
    # Loaded when they are first used.
    __getattr__ = on_demand(
        __name__,
        {
            "agreeing_areas": ("AgreeingAreas", "agreeing_areas"),
            "base": ("Kind", "Statistic", "outputs", "statistic_json"),
            "correlation": ("Correlation", "correlation"),
            "count_tables": ("Tables", "tables"),
            "counts": ("Count", "count"),
            "in_full": ("InFull", "counted_in_full"),
            "persons": ("Persons", "persons"),
            "covariance": ("Covariance", "covariance"),
            "histograms": ("Histogram", "histogram"),
            "means": ("Mean", "mean"),
            "quantile": ("Median", "Quantiles", "median", "quantiles"),
            "registry": ("STATISTICS",),
            "regression": ("Regression", "regression"),
            "shares": ("Share", "share"),
            "sums": ("Sum", "sum_of"),
            "survey_weights": ("Weight",),
            "variances": ("Std", "Variance", "std", "variance"),
            "weighted_means": ("WeightedMean", "weighted_mean"),
            "weighted_ratios": ("WeightedRatio", "weighted_ratio"),
            "weighted_shares": ("WeightedShare", "weighted_share"),
            "weighted_sums": ("WeightedSum", "weighted_sum"),
        },
    )
