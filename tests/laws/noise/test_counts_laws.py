"""Laws that every drawn table of counts obeys: ranges, sums, empty cells."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.noise.bits import system_bits
from discreet.noise.counts import counts

cells = st.lists(st.one_of(st.just(0), st.integers(0, 300), st.integers(0, 10**6)), min_size=1, max_size=40)


@given(cells, st.fractions(0, 1, max_denominator=10**30))
@example([0], 1)
@example([10**7, 0, 3], "1/3")
def test_a_binomial_lies_between_nothing_and_everything(n, rate) -> None:
    n = np.array(n)
    drawn = counts.binomial(n, rate, system_bits())
    assert drawn.dtype == np.int64
    assert ((drawn >= 0) & (drawn <= n)).all()


@given(cells, st.lists(st.integers(0, 2**70), min_size=1, max_size=20).filter(any))
@example([5], [1])
@example([0, 7], [0, 0, 1])
@example([1000], [1, 0, 2**100, 0, 0])
def test_multinomial_rows_distribute_every_record(n, weights) -> None:
    drawn = counts.multinomial_rows(np.array(n), weights, system_bits())
    assert drawn.shape == (len(n), len(weights))
    assert (drawn >= 0).all()
    assert drawn.sum(axis=1).tolist() == n
    assert not drawn[:, [j for j, w in enumerate(weights) if w == 0]].any()


@given(cells, st.data())
def test_a_subset_has_its_size_and_fits_into_the_cells(n, data) -> None:
    m = data.draw(st.integers(0, sum(n)))
    drawn = counts.multivariate_hypergeometric(np.array(n), m, system_bits())
    assert drawn.sum() == m
    assert ((drawn >= 0) & (drawn <= np.array(n))).all()


@given(cells)
def test_all_and_none_are_certain(n) -> None:
    table = np.array(n)
    assert counts.multivariate_hypergeometric(table, sum(n), system_bits()).tolist() == n
    assert not counts.multivariate_hypergeometric(table, 0, system_bits()).any()
