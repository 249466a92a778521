"""Choices by doubles: nothing that rounding could have moved is called sure, and bounded integers have no bias."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise.exponential import _place


@pytest.mark.parametrize("weights", [[1.0, 1.0], [0.75, 0.5, 0.25], [1.0] + [2.0**-10] * 40])
def test_no_place_beside_an_end_of_a_weight_is_sure_and_all_others_are(weights: list[float]) -> None:
    every = np.array(weights)
    ends = np.cumsum(every)
    starts, lengths = np.array([0]), np.array([len(weights)])

    def placed(share: float) -> tuple[int, bool]:
        drawn = np.array([min(int(math.ldexp(share, 64)), 2**64 - 1)], dtype=np.uint64)
        place, sure = _place(every, starts, lengths, len(weights), drawn)
        return int(place[0]), bool(sure[0])

    total = float(ends[-1])
    for position, end in enumerate(ends[:-1].tolist()):
        for off in (-(2.0**-42), 0.0, 2.0**-42):  # weights are known to 2^-41 only
            assert not placed(end / total + off)[1]
        assert placed(end / total - 2.0**-30) == (position, True)
        assert placed(end / total + 2.0**-30) == (position + 1, True)
    assert placed(0.0) == (0, True)
    assert not placed(1.0 - 2.0**-45)[1]
