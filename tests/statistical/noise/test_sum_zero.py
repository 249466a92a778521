"""Blocks that sum to 0 against their exact law by enumeration. Every acceptance errs with probability 1e-9."""

from fractions import Fraction
from math import comb, exp

import mpmath
import numpy as np
import pytest

from discreet.noise import _lazy
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits, system_bits
from discreet.noise.lattice import sum_zero
from discreet.noise.lattice.sum_zero import sum_zero_laplace
from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell
from discreet.noise.single import _reference, scalar

SIZE = 400_000
REACH = {2: 60, 3: 25, 4: 12}


def law(scale: float, cells: int) -> np.ndarray:
    """P(v₁, …) over a box of all cells but the last, which they determine; the last entry is all the rest."""
    axis = np.abs(np.arange(-REACH[cells], REACH[cells] + 1))
    signed = np.arange(-REACH[cells], REACH[cells] + 1)
    norms, last = axis, signed
    for _ in range(cells - 2):
        norms, last = np.add.outer(norms, axis), np.add.outer(last, signed)
    weights = np.exp(-(norms + np.abs(last)) / scale).ravel()
    p, x = cells - 1, exp(-2 / scale)
    whole = sum(comb(p, j) ** 2 * x**j for j in range(p + 1)) / (1 - x) ** p
    return np.append(weights / whole, max(0.0, 1 - weights.sum() / whole))


def codes(v: np.ndarray, cells: int) -> np.ndarray:
    """The place of every block in `law`, counted."""
    reach = REACH[cells]
    code, outside = np.zeros(v.size // cells, dtype=np.int64), np.zeros(v.size // cells, dtype=bool)
    for column in v.reshape(-1, cells).T[:-1]:
        code = code * (2 * reach + 1) + column + reach
        outside |= np.abs(column) > reach
    width = (2 * reach + 1) ** (cells - 1)
    return np.bincount(np.where(outside, width, code), minlength=width + 1)


def sample(scale: object, cells: int, size: int = SIZE) -> np.ndarray:
    return sum_zero_laplace(scale, np.full(size, cells), system_bits())


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("scale", "cells"), [("1/2", 2), ("2", 2), ("1/2", 3), ("2", 3), ("0.7", 4), ("1.5", 4)])
def test_blocks_have_their_exact_law_and_not_one_four_percent_wider(scale, cells, counts_fit) -> None:
    t, observed = float(Fraction(scale)), codes(sample(scale, cells), cells)
    assert counts_fit(observed, law(t, cells))
    assert not counts_fit(observed, law(t * 1.04, cells))


def no_square(scale, bars, chosen, bits):
    """Keeps every subset: as if the mass of r were C(r + d - 1, d - 1) q^(2r), without the square of the number."""
    return np.ones(bars.size, dtype=bool)


def no_rise(cells, word, gaps, right=sum_zero._noise):
    """Lets a bar of G stand where the bar of G' before it stands."""
    gaps = gaps.copy()
    gaps[1:] -= word[1:] & ~word[:-1]
    return right(cells, word, gaps)


def no_word(bars, upper, lower):
    """Bars of either kind in turn."""
    return np.tile([True, False], upper.size)


def first_places(sizes, chosen, bits):
    """The first places instead of a uniform subset."""
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place < np.repeat(chosen, sizes)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "mutant"),
    [("_keep", no_square), ("_noise", no_rise), ("_join_rises", no_word), ("_uniform_subsets", first_places)],
)
def test_a_wrong_sampler_is_rejected(name, mutant, counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(sum_zero, name, mutant)
    assert not counts_fit(codes(sample("1.5", 4), 4), law(1.5, 4))


def test_independent_noise_made_to_sum_to_zero_is_rejected(counts_fit) -> None:
    free = scalar.discrete_laplace("1.5", 4 * SIZE, system_bits()).reshape(-1, 4)
    free[:, 3] = -free[:, :3].sum(axis=1)
    assert not counts_fit(codes(free.ravel(), 4), law(1.5, 4))


def test_the_law_does_not_depend_on_how_comparisons_are_decided(counts_fit, monkeypatch) -> None:
    decided = []
    monkeypatch.setattr(sum_zero, "_keeping_bounds", lambda scale, p, j: (0.0, 1.0))
    monkeypatch.setattr(_lazy, "LazyUniform", lambda *args, **kw: decided.append(1) or LazyUniform(*args, **kw))
    assert counts_fit(codes(sample("1.5", 4, 10_000), 4), law(1.5, 4))
    assert len(decided) > 10_000


def test_equal_keys_do_not_prefer_a_place(counts_fit, monkeypatch) -> None:
    """Keys of two random bits are equal most of the time."""
    bits = system_bits()
    coarse = Bits(lambda count: (np.frombuffer(bits.read(count), dtype=np.uint64) & np.uint64(3 << 62)).tobytes())
    drawn = sum_zero._uniform_subsets(np.full(20_000, 5), np.full(20_000, 2), coarse).reshape(-1, 5)
    assert (drawn.sum(axis=1) == 2).all()
    observed = np.bincount(drawn @ (1 << np.arange(5)), minlength=32)
    pairs = np.array([float(bin(code).count("1") == 2) / 10 for code in range(32)])
    assert counts_fit(observed, pairs)
    assert not counts_fit(observed, pairs * np.where(np.arange(32) & 1, 1.2, 1 - 0.2 * 4 / 6))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("scale", "cells"), [("4", 9), ("1e15", 5), ("0.4", 30), ("3", 60)])
def test_a_cell_follows_its_law(scale, cells, fits) -> None:
    size = 400_000 // cells
    drawn = sample(scale, cells, size).reshape(size, cells)
    place = int(system_bits().below(cells))
    assert fits(drawn[:, place], SumZeroLaplaceCell(scale, cells))
    assert not fits(drawn[:, place], SumZeroLaplaceCell(Fraction(scale) * Fraction(5, 4), cells))


def half_norms(scale: float, cells: int, last: int) -> np.ndarray:
    """The law of |v|₁/2, which is J and p geometrics of ratio x, P(J = j) proportional to C(p, j)² x^j; then the rest."""
    p, x = cells - 1, exp(-2 / scale)
    j = np.array([float(comb(p, i) ** 2) * x**i for i in range(p + 1)])
    sums = np.array([float(comb(i + p - 1, p - 1)) * x**i for i in range(last)]) * (1 - x) ** p
    masses = np.convolve(j / j.sum(), sums)[:last]
    return np.append(masses, 1 - masses.sum())


@pytest.mark.parametrize(("scale", "cells"), [("1", 20), ("2", 80)])
def test_the_norm_of_larger_blocks_has_its_law(scale, cells, counts_fit) -> None:
    size, last = 400_000 // cells, int(4 * float(scale) * cells)
    norms = np.abs(sample(scale, cells, size)).reshape(size, cells).sum(axis=1) // 2
    observed = np.bincount(np.minimum(norms, last), minlength=last + 1)
    assert counts_fit(observed, half_norms(float(scale), cells, last))
    assert not counts_fit(observed, half_norms(float(scale) * 1.03, cells, last))


@pytest.mark.parametrize("scale", ["2", "200"])
def test_a_block_of_a_hundred_thousand_cells(scale) -> None:
    """Its norm lies within 7 standard deviations, hundredths of its mean; and neighbouring cells are no more alike."""
    cells, law = 100_000, SumZeroLaplaceCell(scale, 100_000)
    v = sum_zero_laplace(scale, np.array([cells]), system_bits()).astype(float)
    assert v.sum() == 0
    assert abs((v * v).mean() / law.variance() - 1) < 7 * (5 / cells) ** 0.5  # kurtosis 6 at most
    for distance in (1, 2, 1000, cells // 2):
        assert abs((v[distance:] * v[:-distance]).mean() / law.variance()) < 7 / (cells - distance) ** 0.5


def test_blocks_are_independent_of_one_another(counts_fit) -> None:
    sizes = np.tile([2, 3, 2], SIZE // 4)
    v = sum_zero_laplace(1, sizes, system_bits()).reshape(-1, 7)
    one = np.array([mpmath.tanh(1) * mpmath.exp(-2 * abs(k)) for k in range(-3, 4)], dtype=float)
    inside = (np.abs(v[:, [0, 5]]) <= 3).all(axis=1)
    observed = np.bincount((v[inside, 0] + 3) * 7 + v[inside, 5] + 3, minlength=49)
    together = np.outer(one, one).ravel()
    assert counts_fit(observed, together / together.sum())
    copied = np.bincount((v[inside, 0] + 3) * 7 + v[inside, 0] + 3, minlength=49)
    assert not counts_fit(copied, together / together.sum())


def reference(scale: Fraction, cells: int, bits: Bits) -> list[int]:
    """The meaning of `sum_zero_laplace` for one block: independent discrete Laplace variables, until they sum to 0."""
    while True:
        v = [_reference.discrete_laplace(scale, bits) for _ in range(cells)]
        if sum(v) == 0:
            return v


def two_samples_p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's chi-square for two samples of one size and one law, cells of less than 20 joined."""
    enough = first + second >= 20
    a, b = (np.append(counts[enough], counts[~enough].sum()) for counts in (first, second))
    statistic = float(((a - b) ** 2 / np.maximum(a + b, 1)).sum())
    return float(mpmath.gammainc((a.size - 1) / 2, statistic / 2, regularized=True))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("scale", "cells"), [("3/4", 3), ("1", 4)])
def test_the_fast_blocks_agree_with_the_reference(scale, cells, counts_fit) -> None:
    size, bits = 1000, system_bits()
    slow = codes(np.array([reference(Fraction(scale), cells, bits) for _ in range(size)]).ravel(), cells)
    assert counts_fit(slow, law(float(Fraction(scale)), cells))
    assert two_samples_p_value(slow, codes(sample(scale, cells, size), cells)) > 1e-9
    assert two_samples_p_value(slow, codes(sample(Fraction(scale) * 2, cells, size), cells)) < 1e-9
