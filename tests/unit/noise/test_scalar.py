"""What the scalar samplers accept and refuse."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.errors import ArgumentError

SAMPLERS = [noise.discrete_laplace, noise.discrete_gaussian, noise.rounded_gaussian, noise.geometric]


@pytest.mark.parametrize("draw", SAMPLERS)
@pytest.mark.parametrize("parameter", [2, "2", 2.0, Decimal(2), Fraction(2), "1e-6", "1e12", "1/3", 0.1, 1e-300, "1e17"])
def test_exact_parameters_give_int64_arrays(draw, parameter) -> None:
    drawn = draw(parameter, 5)
    assert drawn.dtype == np.int64
    assert drawn.shape == (5,)


@pytest.mark.parametrize("draw", SAMPLERS)
@pytest.mark.parametrize("bad", [0, -1, "-0.5", float("nan"), float("inf"), -float("inf"), True, None, "ten", 10**40])
def test_bad_parameters_are_refused(draw, bad) -> None:
    with pytest.raises(ArgumentError, match=r"scale|sigma2"):
        draw(bad, 3)


@pytest.mark.parametrize("draw", SAMPLERS)
@pytest.mark.parametrize("bad", [-1, 2.5, "3", None, True, 2**40, 10**30])
def test_bad_sizes_are_refused(draw, bad) -> None:
    with pytest.raises(ArgumentError, match="size"):
        draw(1, bad)


@pytest.mark.parametrize("draw", SAMPLERS)
def test_nothing_and_numpy_sizes(draw) -> None:
    assert draw(1, 0).shape == (0,)
    assert draw(1, np.int64(3)).shape == (3,)
