"""What the scalar samplers accept and refuse."""

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.errors import ArgumentError
from discreet.noise.bits import Bits, system_bits
from discreet.noise.single import scalar

SAMPLERS = [noise.discrete_laplace, noise.discrete_gaussian, noise.rounded_gaussian, noise.geometric]


@pytest.mark.parametrize("draw", SAMPLERS)
@pytest.mark.parametrize(
    "parameter", [2, "2", 2.0, Decimal(2), Fraction(2), "1e-6", "1e12", "1/3", 0.1, 1e-300, "1e-900", "1e17"]
)
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


@pytest.mark.parametrize(("parameter", "bytes_a_draw"), [("1", 4), ("1e6", 6), ("1e16", 8)])
def test_a_counted_source_shows_what_a_draw_costs(parameter, bytes_a_draw) -> None:
    used, bits = [], system_bits()

    def read(count: int) -> bytes:
        used.append(count)
        return bits.read(count)

    size = 300_000
    scalar.discrete_gaussian(parameter, size, Bits(read))
    assert bytes_a_draw * size <= sum(used) <= bytes_a_draw * size * 1.05 + 1000


@pytest.mark.parametrize("draw", [scalar.rounded_gaussian, scalar.discrete_laplace])
def test_memory_beyond_the_result_does_not_grow_with_it(draw) -> None:
    bits = system_bits()
    draw("1e6", 1000, bits)
    extra = []
    for size in (10**6, 4 * 10**6):
        tracemalloc.start()
        draw("1e6", size, bits)
        extra.append(tracemalloc.get_traced_memory()[1] - 8 * size)
        tracemalloc.stop()
    assert max(extra) < 4_000_000


def test_a_failing_source_gives_no_noise() -> None:
    with pytest.raises(OSError, match="instead of"):
        scalar.rounded_gaussian(1, 10, Bits(lambda _count: b""))


def test_threads_draw_from_one_stream() -> None:
    bits = system_bits()
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda s: scalar.rounded_gaussian(s, 50_000, bits).std(), ["100", "400"] * 4))
    assert all(abs(s - e) < 0.05 * e for s, e in zip(drawn, [10, 20] * 4, strict=True))


def test_noise_loads_neither_cipher_nor_balls_before_they_are_needed() -> None:
    code = "import sys, discreet.noise; print([m for m in ('flint', 'cryptography', 'scipy') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_tables_are_built_once_and_cannot_be_changed() -> None:
    table = scalar._gaussian(Fraction(17))
    assert scalar._gaussian(Fraction(34, 2)) is table
    with pytest.raises(ValueError, match="read-only"):
        table.packed[0] = 0
    with pytest.raises(AttributeError):
        table.margin = 1.0
