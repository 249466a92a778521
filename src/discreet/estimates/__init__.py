"""Noisy integers in, numbers for people out: estimates and intervals. Pure post-processing, so floats are free here.

Every interval covers the value of the table that was asked (after clamp, impute and resize), at the stated level at least.
Variances, quantiles, histograms and views that are consistent or non-negative join `ratios` here.
"""

from discreet.estimates.ratios import Estimate, count_estimate, mean_estimate, sum_estimate

__all__ = ["Estimate", "count_estimate", "mean_estimate", "sum_estimate"]
