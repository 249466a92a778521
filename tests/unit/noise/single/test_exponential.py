"""Choices by doubles: nothing that rounding could have moved is called sure, and bounded integers have no bias."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise.bits import Bits
from discreet.noise.single.exponential import _place, _rectangles, below_each


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


def test_only_what_is_beyond_the_last_whole_multiple_is_drawn_again() -> None:
    # 2^64 - 1 is a multiple of 3: only the last word has no residue of its own.
    words = iter([2**64 - 1, 2**64 - 2, 5])
    bits = Bits(lambda count: b"".join(next(words).to_bytes(8, "little") for _ in range(count // 8)))
    assert below_each(np.array([3]), bits).tolist() == [(2**64 - 2) % 3]
    assert next(words) == 5


def test_choices_are_looked_at_in_parts_of_a_million_weights() -> None:
    parts = list(_rectangles(np.full(3000, 1024)))
    assert [width for _, width in parts] == [1024] * 3
    assert [len(rows) for rows, _ in parts] == [1024, 1024, 952]
    assert np.concatenate([rows for rows, _ in parts]).tolist() == list(range(3000))
