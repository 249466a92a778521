"""The rate at which copies are sampled: a dyadic number that is never more than the one that is accounted for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.cube import resample
from discreet.cube.cube import Cube
from discreet.domain.row_samples import dyadic_below
from discreet.domain.steps import Resize
from discreet.noise.bits import system_bits

RATES = [Fraction(1, 3), Fraction(2, 3), Fraction(1, 7), Fraction(10**30, 10**30 + 1), Fraction(1, 2**64 + 1)]
EXACT = [Fraction(1), Fraction(1, 2), Fraction(3, 4), Fraction(1, 2**64)]


@pytest.mark.parametrize("rate", [*RATES, *EXACT], ids=str)
def test_the_sampled_rate_is_the_largest_dyadic_number_up_to_the_one_that_is_charged(rate: Fraction) -> None:
    """More would amplify less than the account says: K would be larger than its law."""
    found = dyadic_below(rate)
    assert found <= rate < found + Fraction(1, 2**64)
    assert 2**64 % found.denominator == 0
    assert found == rate or rate in RATES


@pytest.mark.parametrize("proportion", ["1/3", "2/3", "4/3"])
def test_copies_are_sampled_at_that_rate(proportion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Fraction] = []

    def binomial(counts: np.ndarray, rate: Fraction, bits: object) -> np.ndarray:
        seen.append(rate)
        return counts

    monkeypatch.setattr(resample, "binomial", binomial)
    step = Resize(10, Fraction(proportion))
    nothing = np.zeros((1, 0), dtype=np.int64)
    cube = Cube(np.zeros((1, 1), dtype=np.int64), np.array([3], dtype=np.int64), nothing, nothing)
    resample._sample(cube, step, None, system_bits())
    charged = dp.privacy.amplify.Resampling(10, proportion, dp.AddRemove()).rate
    assert len(seen) == 1
    assert charged - Fraction(1, 2**64) < seen[0] < charged
