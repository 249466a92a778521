"""The slow samplers, which the fast ones are compared with, follow their exact laws; wrong laws are noticed."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.noise.bits import system_bits
from discreet.noise.single import _reference

CASES = [
    (DiscreteLaplace, _reference.discrete_laplace, "0.4"),
    (DiscreteLaplace, _reference.discrete_laplace, "7/3"),
    (DiscreteLaplace, _reference.discrete_laplace, "1000"),
    (DiscreteGaussian, _reference.discrete_gaussian, "0.5"),
    (DiscreteGaussian, _reference.discrete_gaussian, "20"),
    (DiscreteGaussian, _reference.discrete_gaussian, "1e6"),
    (RoundedGaussian, _reference.rounded_gaussian, "0.3"),
    (RoundedGaussian, _reference.rounded_gaussian, "20"),
    (RoundedGaussian, _reference.rounded_gaussian, "1e12"),
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("law", "draw", "parameter"), CASES)
def test_the_reference_follows_its_law_and_not_its_neighbours(law, draw, parameter, fits) -> None:
    bits, exact = system_bits(), Fraction(parameter)
    sample = np.array([draw(exact, bits) for _ in range(6000)])
    assert fits(sample, law(exact))
    assert not fits(sample, law(exact * Fraction(7, 4)))  # scale × 1.75, or × 1.32 for a variance
    assert not fits(sample + 1, law(exact)) or exact > 100  # one cell off, where a cell is wide enough to show


def test_the_reference_tells_the_two_gaussians_apart(fits) -> None:
    bits = system_bits()
    sample = np.array([_reference.rounded_gaussian(Fraction("0.3"), bits) for _ in range(4000)])
    assert not fits(sample, DiscreteGaussian("0.3"))


def test_the_reference_geometric(fits) -> None:
    bits = system_bits()
    sample = np.array([_reference.geometric(Fraction("7/3"), bits) for _ in range(6000)])
    signs = bits.below_array(2, 6000) * 2 - 1
    # (k + 1/2) with a fair sign, moved down to integers: symmetric about -1/2 with geometric sides.
    observed = np.bincount(np.minimum(sample, 12), minlength=13)
    q = np.exp(-3 / 7)
    expected = np.array([(1 - q) * q**k for k in range(12)] + [q**12])
    assert signs.size == 6000
    assert abs(observed / 6000 - expected).max() < 0.05
