"""Arrays whose axes have names: every order and every margin, cell by cell."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from discreet.exact.axes import in_order, margin_of

SIZES = {"a": 2, "b": 3, "c": 4}


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("kind", [np.int64, np.object_, np.float64])
def test_margins_are_the_sums_over_all_other_axes_in_the_wanted_order(kind: type, after: int) -> None:
    before = (5, 1)[:after]
    drawn = np.random.default_rng(3).integers(-9, 9, size=(*before, *SIZES.values())).astype(kind)
    for many, axes in product(range(4), permutations(SIZES)):
        values = in_order(drawn, [*SIZES], axes, after=after)
        for wanted in (order for some in combinations(SIZES, many) for order in permutations(some)):
            found = margin_of(values, axes, wanted, after=after)
            letters = "xy"[:after]
            assert (found == np.einsum(f"{letters}abc->{letters}{''.join(wanted)}", drawn.astype(np.float64))).all()
            assert found.dtype == kind


def test_a_sum_of_pythons_integers_stays_one() -> None:
    found = margin_of(np.array([1 << 70, 1], dtype=np.object_), (7,), ())
    assert found.dtype == np.object_
    assert found[()] == (1 << 70) + 1
    small = margin_of(np.array([1, 2], dtype=np.object_), (7,), ())
    assert small.dtype == np.object_
