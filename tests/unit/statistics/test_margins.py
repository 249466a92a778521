from __future__ import annotations

from itertools import product
from math import inf, nan, prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.laws.mutants import Mutant

from discreet.errors import ArgumentError
from discreet.statistics import margins as margins_module
from discreet.statistics.margins import Margin, reconcile

from .margin_variances import reconciled_variances

SIZES = (2, 3, 1, 2)


def summed_out(axes, sizes):
    """The matrix that takes a flat table of these sizes to its flat margin over `axes`, in their order."""
    shape = [sizes[axis] for axis in axes]
    matrix = np.zeros((prod(shape), prod(sizes)))
    for cell, place in enumerate(product(*map(range, sizes))):
        matrix[np.ravel_multi_index([place[axis] for axis in axes], shape) if axes else 0, cell] = 1
    return matrix


def dense(margins, n):
    """The estimate of margins of a table of `SIZES`, and their variances."""
    return dense_of_shape(margins, n, SIZES)


def dense_of_shape(margins, n, sizes):
    """Generalised least squares as in the book: the fitted margins and their variances, by a pseudo-inverse.

    The normal equations for the table, bordered by the condition on the grand total where it is public.
    """
    design = np.concatenate([summed_out(margin.axes, sizes) for margin in margins])
    precision = np.concatenate([np.full(margin.values.size, 1 / margin.variance) for margin in margins])
    noisy = np.concatenate([margin.values.ravel() for margin in margins]).astype(float)
    normal = design.T @ (precision[:, None] * design)
    right = design.T @ (precision * noisy)
    held = np.concatenate([np.zeros(one.values.size, bool) if one.known is None else one.known.ravel() for one in margins])
    conditions, values = design[held], noisy[held]
    if n is not None:
        conditions, values = np.vstack([conditions, np.ones(design.shape[1])]), np.append(values, n)
    if len(values):
        normal = np.block([[normal, conditions.T], [conditions, np.zeros((len(values), len(values)))]])
        right = np.append(right, values)
    inverse = np.linalg.pinv(normal, rcond=1e-10)
    table = (inverse @ right)[: design.shape[1]]
    covariance = design @ inverse[: design.shape[1], : design.shape[1]] @ design.T
    cuts = np.cumsum([margin.values.size for margin in margins])[:-1]
    return np.split(design @ table, cuts), np.split(np.diag(covariance), cuts)


@st.composite
def noisy_margins(draw):
    margins = []
    for _ in range(draw(st.integers(1, 4))):
        axes = tuple(draw(st.lists(st.sampled_from(range(len(SIZES))), unique=True, max_size=3)))
        size = prod(SIZES[axis] for axis in axes)
        values = draw(st.lists(st.integers(-20, 100), min_size=size, max_size=size))
        shaped = np.array(values, dtype=np.int64).reshape([SIZES[axis] for axis in axes])
        margins.append(Margin(axes, shaped, draw(st.sampled_from([0.5, 1.0, 7.0, 40.0]))))
    return margins


PAIR = [Margin((1, 0), np.arange(6).reshape(3, 2), 1.0), Margin((0, 3), np.array([[5, -1], [9, 4]]), 7.0)]


@settings(max_examples=60)
@given(noisy_margins(), st.none() | st.integers(0, 90))
@example(PAIR, None)
@example(PAIR, 20)
@example([*PAIR, *PAIR, Margin((), np.array(18), 0.5)], None)
def test_the_closed_form_is_the_generalised_least_squares_estimate(margins, n):
    fitted, variances = dense(margins, n)
    found = reconcile(margins, n=n)
    for margin, there, wanted in zip(margins, found, fitted, strict=True):
        assert there.dtype == np.float64
        assert there.shape == margin.values.shape
        assert np.allclose(there.ravel(), wanted, rtol=1e-8, atol=1e-7)
    for there, wanted in zip(reconciled_variances(margins, n=n), variances, strict=True):
        assert np.allclose(there, wanted, rtol=1e-8, atol=1e-8)


@settings(max_examples=60)
@given(noisy_margins(), st.none() | st.integers(0, 90))
@example(PAIR, 20)
def test_margins_agree_on_what_they_share_and_no_cell_gets_worse(margins, n):
    found = reconcile(margins, n=n)
    for first, one in zip(margins, found, strict=True):
        if n is not None:
            assert np.isclose(one.sum(), n, atol=1e-9)
        for second, other in zip(margins, found, strict=True):
            shared = sorted(set(first.axes) & set(second.axes))
            sums = [np.einsum(values, list(margin.axes), shared) for margin, values in [(first, one), (second, other)]]
            assert np.allclose(*sums, atol=1e-9)
    for margin, variance in zip(margins, reconciled_variances(margins, n=n), strict=True):
        assert variance <= margin.variance * (1 + 1e-12)
    again = reconcile([Margin(m.axes, values, m.variance) for m, values in zip(margins, found, strict=True)], n=n)
    for values, same in zip(found, again, strict=True):
        assert np.allclose(values, same, atol=1e-9)


@st.composite
def partly_known(draw):
    """Margins of one table with noise, some of whose cells have none; and whether the grand total is public."""
    table = np.array(draw(st.lists(st.integers(0, 9), min_size=12, max_size=12))).reshape(SIZES)
    margins = []
    for one in draw(noisy_margins()):
        others = tuple(axis for axis in range(len(SIZES)) if axis not in one.axes)
        true = np.transpose(table.sum(axis=others), np.argsort(np.argsort(one.axes)))
        size = one.values.size
        known = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool).reshape(true.shape)
        margins.append(Margin(one.axes, np.where(known, true, one.values), one.variance, known))
    return margins, draw(st.sampled_from([None, int(table.sum())]))


@settings(max_examples=80)
@given(partly_known())
def test_known_cells_are_conditions_of_the_least_squares_estimate(given_):
    margins, n = given_
    fitted, _ = dense(margins, n)
    for margin, there, wanted in zip(margins, reconcile(margins, n=n), fitted, strict=True):
        assert np.allclose(there.ravel(), wanted, rtol=1e-7, atol=1e-6)
        assert np.allclose(there[margin.known], margin.values[margin.known], atol=1e-6)


@pytest.mark.parametrize("variance", [1e-200, 1e-300, 1.0])
def test_conditions_that_are_met_but_for_rounding_change_nothing(variance):
    """Numbers without noise cannot move: not to infinity either."""
    alone = Margin((), np.array(0.1 + 0.2), 1.0, np.array(True))
    assert reconcile([alone], n=3)[0] == pytest.approx(3)  # the public number of rows is kept
    table = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    exact = Margin((0, 1), table, variance, np.array([[True, False, True], [True, True, False]]))
    sums = Margin((0,), table.sum(axis=1) + 1e-9, 1e-200, np.array([True, True]))
    found = reconcile([exact, sums], n=None)
    assert all(np.isfinite(one).all() for one in found)
    assert np.allclose(found[0], table, atol=1e-6)


WRONG = [
    Mutant(margins_module, "reconcile", "precisions[()] if n is None else inf", "precisions[()]"),  # a public total moves
    Mutant(margins_module, "_meet", "sizes) * precisions[axes])", "sizes))"),  # all effects as if of one variance
    Mutant(margins_module, "_meet", "means[axes] - moved", "means[axes] + moved"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: one.new)
def test_conditions_that_are_met_otherwise_are_noticed(wrong, monkeypatch):
    wrong.plant(monkeypatch)
    table = np.arange(6).reshape(2, 3)
    known = np.array([[True, False, False], [False, True, False]])
    noisy = Margin((0, 1), table + np.array([[0, 3, -2], [5, 0, 1]]), 2.0, known)
    margins = [Margin((0, 1), noisy.values, 2.0, known), Margin((0,), np.array([9.0, 10.0]), 7.0)]
    fitted, _ = dense_of_shape(margins, 15, (2, 3))
    found = margins_module.reconcile(margins, n=15)
    assert not all(np.allclose(one.ravel(), wanted, atol=1e-6) for one, wanted in zip(found, fitted, strict=True))


def test_margins_of_one_table_are_left_alone():
    table = np.random.default_rng(0).poisson(5, (4, 5, 6, 7))
    every = tuple(range(4))
    margins = [
        Margin(axes, table.sum(axis=tuple(set(every) - set(axes))), 3.0) for axes in [(0, 1), (0, 2), (1, 2, 3), (3,), ()]
    ]
    for margin, values in zip(margins, reconcile(margins, n=int(table.sum())), strict=True):
        assert np.allclose(values, margin.values, atol=1e-9)


def test_the_error_is_as_announced():
    """The mean squared error of 500 draws is within 6 standard deviations of it (p < 1e-8), and 10 below the noisy one."""
    rng = np.random.default_rng(3)
    table = rng.poisson(5, (6, 4, 3))
    truth = [((0, 1), table.sum(axis=2), 4.0), ((0, 2), table.sum(axis=1), 1.0), ((0,), table.sum(axis=(1, 2)), 2.0)]
    errors = [[], [], []]
    for _ in range(500):
        noisy = [
            Margin(axes, exact + rng.normal(0, variance**0.5, exact.shape), variance) for axes, exact, variance in truth
        ]
        for place, values in enumerate(reconcile(noisy, n=int(table.sum()))):
            errors[place].append(float(np.mean((values - truth[place][1]) ** 2)))
    announced = reconciled_variances([Margin(*line) for line in truth], n=int(table.sum()))
    for (_, _, variance), draws, wanted in zip(truth, errors, announced, strict=True):
        deviation = np.std(draws) / len(draws) ** 0.5
        assert abs(np.mean(draws) - wanted) < 6 * deviation
        assert variance - wanted > 10 * deviation


def test_all_two_way_margins_of_large_axes_agree():
    rng = np.random.default_rng(4)
    sizes = (100, 80, 60, 50, 40)
    margins = [Margin((a, b), rng.integers(0, 1000, (sizes[a], sizes[b])), 2.0) for a in range(5) for b in range(5) if a < b]
    found = reconcile(margins, n=500_000)
    ages = [values.sum(axis=1) for margin, values in zip(margins, found, strict=True) if margin.axes[0] == 0]
    assert np.allclose(ages, ages[0], atol=1e-6)
    assert reconcile([]) == []


@pytest.mark.parametrize(
    ("axes", "values", "variance", "words"),
    [
        ((0, 0), np.ones((2, 2)), 1.0, "axes: each axis"),
        ((-1,), np.ones(2), 1.0, "axes: each axis"),
        ((0, 1), np.ones(2), 1.0, "values: needs 2 axes"),
        ((0,), np.ones(0), 1.0, "values: needs 1 axes"),
        ((0,), np.array([1.0, nan]), 1.0, "values: must be finite"),
        ((0,), np.ones(2), 0.0, "variance=0.0: must be positive"),
        ((0,), np.ones(2), nan, "variance=nan: must be positive"),
        ((0,), np.ones(2), inf, "variance=inf: must be positive"),
    ],
)
def test_margins_of_the_wrong_kind_are_refused(axes, values, variance, words):
    with pytest.raises(ArgumentError, match=words):
        Margin(axes, values, variance)


def test_margins_of_different_tables_are_refused():
    margins = [Margin((0,), np.ones(2), 1.0), Margin((1, 0), np.ones((2, 3)), 1.0)]
    for function in (reconcile, reconciled_variances):
        with pytest.raises(ArgumentError, match="axis 0 has 2 values in one margin and 3 in another"):
            function(margins)
