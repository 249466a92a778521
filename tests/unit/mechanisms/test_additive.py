"""Noise meets values: no sum overflows, whatever the noise is, and empty answers stay empty."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.mechanisms.adding import add_noise
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.registry import noise_for
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise.bits import system_bits
from discreet.privacy import GDP, ZCDP, PureDP


@dataclass(frozen=True, slots=True)
class Fixed:
    """A law whose every value is `value`, as int64 where it fits."""

    value: int

    def sample(self, size: int, _bits: object) -> np.ndarray[Any, Any]:
        return np.full(size, self.value, dtype=np.int64 if -(2**63) <= self.value < 2**63 else np.object_)


@pytest.mark.parametrize("value", [2**62 - 1, -(2**62) + 1, 0])
@pytest.mark.parametrize("noise", [0, 2**62 - 1, 2**62, 2**62 + 1, -(2**62), 2**63 - 1, -(2**63) + 1, 2**63, -(2**90)])
def test_no_sum_overflows(value: int, noise: int) -> None:
    found = add_noise(np.array([value, -value], dtype=np.int64), Fixed(noise), system_bits())  # type: ignore[arg-type]
    assert [int(one) for one in found] == [value + noise, noise - value]


def test_values_beyond_machine_integers_and_no_values_at_all_are_served() -> None:
    large = add_noise(np.array([2**70, 1], dtype=np.object_), Fixed(3), system_bits())  # type: ignore[arg-type]
    assert large.tolist() == [2**70 + 3, 4]
    assert len(add_noise(np.array([], dtype=np.int64), Fixed(3), system_bits())) == 0  # type: ignore[arg-type]


def test_the_scale_of_each_measure_is_exact() -> None:
    change = Sensitivity(3, 5)
    assert noise_for(change, PureDP("0.5")) == LaplaceNoise(Fraction(6))
    assert noise_for(change, ZCDP("0.5")) == GaussianNoise(Fraction(5))
    assert noise_for(change, GDP("0.5")) == GaussianNoise(Fraction(20))


@pytest.mark.parametrize("nothing", [PureDP(0), ZCDP(0), GDP(0)])
def test_a_guarantee_or_a_change_of_nothing_has_no_noise(nothing: PureDP | ZCDP | GDP) -> None:
    with pytest.raises(InternalError, match="infinite noise"):
        noise_for(Sensitivity(1, 1), nothing)
    with pytest.raises(InternalError, match="needs no noise"):
        noise_for(Sensitivity(0, 0), PureDP(1))


def test_small_noise_is_added_in_64_bits() -> None:
    small = add_noise(np.array([5, -5], dtype=np.int64), Fixed(3), system_bits())  # type: ignore[arg-type]
    assert small.dtype == np.int64
    assert add_noise(np.array([5], dtype=np.int64), Fixed(2**62), system_bits()).dtype == np.object_  # type: ignore[arg-type]
