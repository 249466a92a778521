"""A cube with every cell once: the short ways to it give what adding up in a dictionary gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.cube.cube import Cube, compact, order_of

FAR = [[2**62, -(2**62)], [-(2**62), 2**62], [2**62, -(2**62)]]
SORTED = [[0, 1], [0, 2], [3, -1]]
NO_ROWS = [[0, 0], [0, 1]]

KEYS = st.lists(st.lists(st.integers(-3, 5), min_size=2, max_size=2), min_size=1, max_size=12)


@given(keys=KEYS, data=st.data())
@example(keys=FAR, data=None)
@example(keys=SORTED, data=None)
@example(keys=SORTED[::-1], data=None)
@example(keys=NO_ROWS, data=[0, 4])
def test_every_cell_is_there_once_in_order(keys: list[list[int]], data: st.DataObject | list[int] | None) -> None:
    if data is None:
        rows = [1] * len(keys)
    else:
        rows = (
            data
            if isinstance(data, list)
            else data.draw(st.lists(st.integers(0, 3), min_size=len(keys), max_size=len(keys)))
        )
    counted: Counter[tuple[int, ...]] = Counter()
    for key, number in zip(keys, rows, strict=True):
        counted[tuple(key)] += number
    wide = np.array(rows, np.int64).reshape(-1, 1)
    found = compact(Cube(np.array(keys, np.int64), np.array(rows, np.int64), wide, wide * 7))
    expected = sorted((key, number) for key, number in counted.items() if number)
    assert [tuple(key) for key in found.keys.tolist()] == [key for key, _ in expected]
    assert found.rows.tolist() == found.nonnull[:, 0].tolist() == [number for _, number in expected]
    assert found.sums[:, 0].tolist() == [7 * number for _, number in expected]


def test_what_is_in_order_already_is_not_copied() -> None:
    rows = np.array([1, 2, 3])
    nothing = np.zeros((3, 0), np.int64)
    cube = Cube(np.array(SORTED), rows, nothing, nothing)
    assert compact(cube) is cube
    assert compact(compact(Cube(cube.keys[::-1], rows, nothing, nothing))).rows.tolist() == [3, 2, 1]


@given(st.lists(st.integers(-2, 2), max_size=9), st.sampled_from([1, 3, 2**53, 2**57, 2**58, 2**59, 2**60, 2**61]))
def test_cells_in_the_order_of_far_and_near_keys(keys: list[int], far: int) -> None:
    """Near keys are sorted as one number with the cells, far ones are not; both keep equal ones as they come."""
    order = order_of([np.array(keys, np.int64) * far], len(keys))
    assert order.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
