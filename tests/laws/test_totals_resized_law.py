"""The charge of a resized table beside exact totals counts all rows that change."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import arb

import discreet as dp
from discreet.quotes import allocate
from discreet.totals.exact_totals import exact_totals_of

from .totals_laws import CASES, ROWS, WIDE, fibres, fraction, records


def resized(rows, proportion):
    table = dp.Table(WIDE, dp.ReplaceOne(rows=ROWS)).impute({"f": dp.Weights({"p": 1, "q": 1})})
    return table.resize(rows, proportion=proportion).group_by("f").agg(dp.count())


def sampled_law(table, copies, size):
    """The law of the counts of p and q when `size` of all copies are kept; the rows have no nulls."""
    values = [record[1] for record, count in zip(records(WIDE), table, strict=True) for _ in range(copies * count)]
    kept = list(combinations(values, size))
    law = defaultdict(Fraction)
    for chosen in kept:
        law[chosen.count("p"), chosen.count("q")] += Fraction(1, len(kept))
    return law


def worst_resized(spend, rows, proportion, copies, size):
    """The largest log-ratio of the noisy counts of two semi-adjacent tables, sampling and noise together."""
    invariants, _, _ = CASES["partition of three"]
    without_nulls = [record[1] is not None for record in records(WIDE)]
    worst = 0.0
    for fibre in fibres("partition of three"):
        full = fibre.tables[fibre.tables[:, without_nulls].sum(axis=1) == ROWS]
        quoted = allocate.quote(resized(rows, proportion), spend, exact_totals_of(invariants, WIDE, fibre.totals, ROWS))
        scale = fraction(quoted.measured[0].law.scale)
        weights = [(-arb(k) / scale).exp() for k in range(2 * rows + 1)]
        laws = {tuple(map(int, table)): sampled_law(table, copies, size) for table in full}
        # Beyond the points 0, …, rows the ratio no longer changes. The null group is 0 in both.
        densities = {
            table: [
                sum((fraction(mass) * weights[abs(p - i) + abs(q - j)] for (i, j), mass in law.items()), start=arb(0))
                for p, q in product(range(rows + 1), repeat=2)
            ]
            for table, law in laws.items()
        }
        for first, second in permutations(densities, 2):
            if np.abs(np.subtract(first, second)).sum() <= 2 * fibre.a:
                ratios = [one / other for one, other in zip(densities[first], densities[second], strict=True)]
                worst = max(worst, *(float(one.log().upper()) for one in ratios))
    return worst


RESIZED = [(2, "2/3", 1, 2), (3, "4/3", 2, 3)]


@pytest.mark.parametrize(("rows", "proportion", "copies", "size"), RESIZED)
def test_a_resized_table_counts_all_rows_that_change(rows, proportion, copies, size):
    spend = dp.PureDP("0.75")
    worst = worst_resized(spend, rows, proportion, copies, size)
    assert worst <= 0.75 * (1 + 1e-12)
    assert worst > 0.5


@pytest.mark.parametrize(("rows", "proportion", "copies", "size"), RESIZED)
def test_a_resize_that_forgets_the_other_rows_is_noticed(rows, proportion, copies, size, monkeypatch):
    real = allocate.resampling_of
    monkeypatch.setattr(allocate, "resampling_of", lambda plan, _beside: real(plan, None))
    assert worst_resized(dp.PureDP("0.75"), rows, proportion, copies, size) > 0.76
