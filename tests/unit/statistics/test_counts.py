from __future__ import annotations

import numpy as np
import pytest

from discreet.statistics.counts import count_estimate


@pytest.mark.parametrize("noisy", [[3, -5, 0], [2**62 + 5, -(2**70), 7]])
@pytest.mark.parametrize("half", [0, 12, 2**53 - 1])
def test_counts_are_integers_whatever_the_noise_was(noisy, half):
    """The type of the array says how large the noise was, so it must not decide that of the release."""
    small = all(abs(value) < 2**62 for value in noisy)
    for kind in [object] + [np.int64] * small:
        got = count_estimate(
            np.array(noisy, dtype=kind), np.array([half] * len(noisy), dtype=None if half < 2**63 else object)
        )
        assert [part.dtype for part in (got.value, got.low, got.high)] == [np.int64] * 3
        assert got.value.tolist() == [max(-(2**62), min(value, 2**62)) for value in noisy]
        assert (got.high - got.value).tolist() == (got.value - got.low).tolist() == [half] * len(noisy)


@pytest.mark.parametrize("kind", [object, np.int64])
@pytest.mark.parametrize("half", [2**53, 2**62, 2**70])
def test_counts_with_intervals_beyond_doubles_are_real_and_rounded_outwards(half, kind):
    noisy = [3, -5, 2**61 + 1]
    got = count_estimate(np.array(noisy, dtype=kind), np.array([half] * len(noisy), dtype=None if half < 2**63 else object))
    assert [part.dtype for part in (got.value, got.low, got.high)] == [np.float64] * 3
    for value, low, high in zip(noisy, got.low, got.high, strict=True):
        assert int(low) <= value - half
        assert value + half <= int(high)
