"""Blocks that sum to 0: the bijection behind the sampler by enumeration, and the law of a cell against convolutions."""

import itertools
from collections import Counter
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.noise import DiscreteLaplace
from discreet.noise.bits import Bits, system_bits
from discreet.noise.lattice import sum_zero
from discreet.noise.lattice.sum_zero import sum_zero_laplace
from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell
from discreet.noise.single import scalar


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All weak compositions."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


def subsets(p: int) -> list[tuple[bool, ...]]:
    return list(itertools.product([False, True], repeat=p))


def words(p: int) -> dict[tuple[bool, ...], int]:
    """Every word that a pair of subsets gives, with the number of rises that it should have."""
    found = {}
    for upper, lower in itertools.product(subsets(p), repeat=2):
        if sum(upper) == sum(lower):
            word = sum_zero._join_rises(np.array([p]), np.array(upper, dtype=bool), np.array(lower, dtype=bool))
            assert tuple(word.tolist()) not in found
            found[tuple(word.tolist())] = sum(upper)
    return found


@pytest.mark.parametrize("p", [0, 1, 2, 3, 4, 5])
def test_pairs_of_subsets_are_words_with_as_many_rises(p) -> None:
    found = words(p)
    assert len(found) == comb(2 * p, p)
    for word, rises in found.items():
        assert sum(word) == p
        assert rises == sum(here and not before for before, here in itertools.pairwise(word))


@pytest.mark.parametrize(("cells", "most"), [(1, 4), (2, 6), (3, 4), (4, 3), (5, 2)])
def test_words_and_gaps_are_the_pairs_of_compositions(cells, most) -> None:
    """Theorem L2.1: for every r, as many words with gaps of that r lead to v as there are pairs G, G' with v = G - G'."""
    drawn: Counter = Counter()
    for word, rises in words(cells - 1).items():
        for r in range(rises, most + 1):
            for gaps in compositions(r - rises, 2 * cells - 1):  # the last gap is after the last bar: no cell depends on it
                v = sum_zero._noise(np.array([cells]), np.array(word, dtype=bool), np.array(gaps[:-1], dtype=np.int64))
                drawn[r, tuple(v.tolist())] += 1
    pairs = Counter(
        (r, tuple(a - b for a, b in zip(g, h, strict=True)))
        for r in range(most + 1)
        for g, h in itertools.product(compositions(r, cells), repeat=2)
    )
    assert drawn == pairs


def test_blocks_laid_end_to_end_are_those_blocks() -> None:
    bits = system_bits()
    cells = 1 + bits.below_array(5, 200)
    bars = cells - 1
    upper = bits.below_array(2, int(bars.sum())).astype(bool)
    lower = sum_zero._uniform_subsets(bars, sum_zero._per_block(upper, bars), bits)
    gaps = bits.below_array(3, 2 * upper.size)
    word = sum_zero._join_rises(bars, upper, lower)
    blocks = np.split(sum_zero._noise(cells, word, gaps.copy()), np.cumsum(cells)[:-1])
    stops = np.cumsum(bars)
    for block, start, stop in zip(blocks, stops - bars, stops, strict=True):
        alone = sum_zero._join_rises(np.array([block.size - 1]), upper[start:stop], lower[start:stop])
        assert word[2 * start : 2 * stop].tolist() == alone.tolist()
        v = sum_zero._noise(np.array([block.size]), alone, gaps[2 * start : 2 * stop].copy())
        assert block.tolist() == v.tolist()


@pytest.mark.parametrize("scale", ["1e-300", "0.1", "1", "2", "7/3", "200", "1e17"])
@pytest.mark.parametrize("p", [0, 1, 2, 9, 40])
def test_a_subset_is_kept_with_its_probability(scale, p) -> None:
    with mpmath.workdps(60):
        t = mpmath.mpf(Fraction(scale).numerator) / Fraction(scale).denominator
        f = [comb(p, j) * mpmath.exp(-j / t) for j in range(p + 1)]
        assert f[sum_zero._mode(Fraction(scale), p)] == max(f)
        for j in range(p + 1):
            low, high = sum_zero._keeping_bounds(Fraction(scale), p, j)
            assert low <= f[j] / max(f) * (1 + mpmath.mpf("1e-40"))
            assert f[j] / max(f) <= high * (1 + mpmath.mpf("1e-40"))
            assert high - low <= 1e-15
        assert 2 * mpmath.fsum(x * x for x in f) >= max(f) * mpmath.fsum(f)  # at least half of them are kept


@given(st.lists(st.integers(1, 60), max_size=40), st.sampled_from(["1e-900", "0.2", "1", "7/3", "200", "1e9", "1e17"]))
@example([], "1")
@example([1], "1")
@example([1, 1, 2, 1], "1e17")
@example([3000], "1e17")
def test_every_block_sums_to_zero(sizes, scale) -> None:
    v = sum_zero_laplace(scale, np.array(sizes, dtype=np.int64), system_bits())
    assert v.dtype == np.int64
    assert v.size == sum(sizes)
    for block in np.split(v, np.cumsum(sizes, dtype=int)):
        assert sum(block.tolist()) == 0


def test_ten_thousand_large_and_small_blocks_sum_to_zero() -> None:
    sizes = np.append(1 + system_bits().below_array(12, 9990), np.full(10, 5000))
    v = sum_zero_laplace("5/2", sizes, system_bits())
    assert not np.add.reduceat(v, np.cumsum(sizes) - sizes).any()
    assert np.count_nonzero(v) > v.size // 2


def test_nothing_but_zero_where_the_scale_is_tiny() -> None:
    assert SumZeroLaplaceCell("1e-3", 300).tail(0)[1] * 90_000 < 1e-9
    assert not sum_zero_laplace("1e-3", np.full(300, 300), system_bits()).any()


def test_places_beyond_int64_are_python_integers(monkeypatch) -> None:
    sizes = np.array([1, 2, 5])
    monkeypatch.setattr(sum_zero, "_INSIDE", 0.0)
    assert sum_zero_laplace(3, sizes, system_bits()).dtype == np.int64  # the values fit all the same
    draw = scalar.geometric
    monkeypatch.setattr(scalar, "geometric", lambda t, n, bits: draw(t, n, bits).astype(object) + (1 << 70))
    v = sum_zero_laplace(3, sizes, system_bits())
    assert v.dtype == object
    assert max(abs(x) for x in v) >= 1 << 63
    assert (v[0], v[1:3].sum(), v[3:].sum()) == (0, 0, 0)


def test_places_that_may_not_fit_are_noticed(monkeypatch) -> None:
    gaps = np.array([0, (1 << 62) - 1, 0, 1 << 62], dtype=np.int64)  # their sum would still fit, with rises not
    monkeypatch.setattr(scalar, "geometric", lambda t, n, bits: gaps.copy() if n == 4 else np.ones(n, dtype=np.int64))
    v = sum_zero_laplace(3, np.array([3]), system_bits())
    assert sum(v.tolist()) == 0


@pytest.mark.parametrize("bad", [0, -1, "-0.5", float("nan"), float("inf"), True, None, "ten", 10**18])
def test_bad_scales_are_refused(bad) -> None:
    with pytest.raises(ArgumentError, match="scale"):
        sum_zero_laplace(bad, np.array([2]), system_bits())
    with pytest.raises(ArgumentError, match="scale"):
        SumZeroLaplaceCell(bad, 2)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ([2, 0], "at least one cell"),
        ([3, -1], "at least one cell"),
        ([2.0], "integers"),
        ([True], "integers"),
        ([[2]], "one-dimensional"),
        (3, "one-dimensional"),
        ([2**33, 1], "several calls"),
        ([2**63 - 1] * 3, "several calls"),
        (np.array([2**64 - 1], dtype=np.uint64), "several calls"),
    ],
)
def test_bad_sizes_are_refused(bad, why) -> None:
    with pytest.raises(ArgumentError, match=rf"sizes.*{why}"):
        sum_zero_laplace(1, bad, system_bits())


def test_a_failing_source_gives_no_noise() -> None:
    with pytest.raises(OSError, match="instead of"):
        sum_zero_laplace(1, np.array([5]), Bits(lambda _count: b""))


# The law of one cell.


def by_convolution(scale: Fraction, cells: int) -> list:
    """P(v₁ = k), k = 0, 1, …, from the masses of discrete Laplace variables as multiples of 2^-200: to 40 digits."""
    t = mpmath.mpf(scale.numerator) / scale.denominator
    last = int(80 * t) + 40
    one = np.array([int(mpmath.exp(-abs(k) / t) * 2**200) for k in range(-last, last + 1)], dtype=object)
    others = np.array([int(k == 0) << 200 for k in range(-last, last + 1)], dtype=object)
    for _ in range(cells - 1):
        others = np.convolve(others, one)[last : 3 * last + 1] >> 200
    masses = (one * others)[last:]  # the other cells sum to -k as often as to k
    whole = int(masses[0] + 2 * masses[1:].sum())
    return [mpmath.mpf(int(mass)) / whole for mass in masses]


@pytest.mark.parametrize(("scale", "cells"), [("0.05", 3), ("0.5", 2), ("1", 4), ("2", 2), ("2", 3), ("1", 7), ("7/3", 5)])
def test_the_law_of_a_cell_encloses_the_convolution(scale, cells) -> None:
    law = SumZeroLaplaceCell(scale, cells)
    with mpmath.workdps(50):
        masses = by_convolution(Fraction(scale), cells)
        slack = mpmath.mpf("1e-25")
        for k in (0, 1, 2, 5, 12):
            beyond = mpmath.fsum(masses[k + 1 :])
            for (low, high), exact in [
                (law.pmf(k), masses[k]),
                (law.pmf(-k), masses[k]),
                (law.tail(k), 2 * beyond),
                (law.cdf(k), 1 - beyond),
                (law.cdf(-k), beyond + masses[k]),
            ]:
                assert low - slack <= exact <= high + slack
                assert high <= low * (1 + 1e-15)
        variance = 2 * mpmath.fsum(k * k * mass for k, mass in enumerate(masses))
        assert variance - slack <= law.variance() <= variance * (1 + 1e-15)


@pytest.mark.parametrize(
    ("scale", "cells", "at_zero", "absolute", "variance"),
    [
        ("2", 2, 0.46211716, 1.70183626, 1.841347),
        ("2", 3, 0.15327922, 3.66452865, 3.162992),
        ("1", 4, 0.27101508, 2.24301828, 0.876211),
    ],
)
def test_known_values(scale, cells, at_zero, absolute, variance) -> None:
    """P(v = 0), E|v|₁ and Var v₁. All of v is 0 with P(v = 0) = Π P(a cell is 0, those before it being 0)."""
    law = SumZeroLaplaceCell(scale, cells)
    smaller = [SumZeroLaplaceCell(scale, m).pmf(0)[0] for m in range(2, cells + 1)]
    assert np.prod(smaller) == pytest.approx(at_zero, abs=1e-8)
    assert cells * sum(law.tail(k)[0] for k in range(60)) == pytest.approx(absolute, abs=1e-8)
    assert law.variance() == pytest.approx(variance, abs=1e-6)


@pytest.mark.parametrize(("cells", "variance"), [(5, 4.629), (10, 6.048), (100, 7.637), (10**6, 7.8354)])
def test_known_variances_of_larger_blocks(cells, variance) -> None:
    assert SumZeroLaplaceCell(2, cells).variance() == pytest.approx(variance, abs=6e-4)


@pytest.mark.parametrize(("scale", "cells"), [(2, 100), (2, 30_000), (20, 1000), ("0.3", 20_000)])
def test_large_blocks_against_a_transform(scale, cells) -> None:
    """P(v₁ = k) is proportional to q^|k| P(S = k), S the sum of the others, whose masses a Fourier transform gives."""
    t, places = float(Fraction(scale)), np.arange(1 << 16)
    q = np.exp(-1 / t)
    one = ((1 - q) ** 2 / (1 - 2 * q * np.cos(2 * np.pi * places / places.size) + q * q)) ** (cells - 1)
    masses = np.fft.ifft(one).real[:1000] * q ** np.arange(1000)
    masses /= masses[0] + 2 * masses[1:].sum()
    law = SumZeroLaplaceCell(scale, cells)
    for k in (0, 1, 3, int(4 * t)):
        assert law.pmf(k)[0] == pytest.approx(masses[k], rel=1e-9)
        assert law.tail(k)[0] == pytest.approx(2 * masses[k + 1 :].sum(), rel=1e-9)


@given(
    scale=st.fractions(min_value=Fraction("1e-6"), max_value=Fraction(10**6), max_denominator=10**6),
    cells=st.one_of(st.integers(2, 30), st.integers(2, 3000)),
    coverage=st.fractions(min_value=0, max_value=Fraction(999_999, 1_000_000), max_denominator=10**6),
)
@example(scale=Fraction(2), cells=10**5, coverage=Fraction(19, 20))
@example(scale=Fraction(10**17), cells=2, coverage=1 - Fraction(1, 10**60))
@example(scale=Fraction(10**17), cells=3, coverage=Fraction(0))
@example(scale=Fraction(10**17), cells=10**5, coverage=Fraction(19, 20))
@example(scale=Fraction(1, 10**300), cells=7, coverage=Fraction(999, 1000))
@example(scale=Fraction(200), cells=50, coverage=1 - Fraction(1, 10**300))
def test_half_widths_and_quantiles_are_the_smallest(scale, cells, coverage) -> None:
    law = SumZeroLaplaceCell(scale, cells)
    w, beyond = law.half_width(coverage), 1 - coverage
    assert Fraction(law.tail(w)[0]) <= beyond
    if w:
        assert Fraction(law.tail(w - 1)[1]) > beyond
    assert w <= DiscreteLaplace(scale).half_width(coverage)
    p = 1 - beyond / 2
    k = law.quantile(p)
    assert Fraction(law.cdf(k)[1]) >= p
    assert Fraction(law.cdf(k - 1)[0]) < p
    assert law.quantile(1 - p) == -k  # equality of a rational and a probability never occurs


def test_a_cell_is_stochastically_smaller_than_a_free_one() -> None:
    free = DiscreteLaplace(3)
    for k in range(40):
        tails = [SumZeroLaplaceCell(3, m).tail(k)[1] for m in (2, 3, 10, 1000)]
        assert tails == sorted(tails)
        assert tails[-1] <= free.tail(k)[0]


def test_a_cell_alone_is_zero() -> None:
    law = SumZeroLaplaceCell(5, 1)
    assert law.pmf(0) == law.cdf(0) == (1.0, 1.0)
    assert law.pmf(1) == law.pmf(-1) == law.tail(0) == law.cdf(-1) == (0.0, 0.0)
    assert law.half_width("0.999999") == law.quantile("0.01") == law.quantile("0.99") == 0
    assert law.variance() == 0.0


def test_two_cells_are_a_discrete_laplace_of_half_the_scale() -> None:
    law, half = SumZeroLaplaceCell("7/3", 2), DiscreteLaplace("7/6")
    for k in range(20):
        assert law.tail(k) == pytest.approx(half.tail(k), rel=1e-15)
    assert law.variance() == pytest.approx(half.variance(), rel=1e-15)
    assert law.half_width("0.95") == half.half_width("0.95")


@pytest.mark.parametrize("bad", [0, -1, 2.5, "3", None, True, 2**40])
def test_bad_numbers_of_cells_are_refused(bad) -> None:
    with pytest.raises(ArgumentError, match="cells"):
        SumZeroLaplaceCell(2, bad)


def test_impossible_questions_are_refused_and_a_law_is_a_value() -> None:
    law = SumZeroLaplaceCell("0.5", 3)
    assert law == SumZeroLaplaceCell(Fraction(1, 2), np.int64(3))
    assert hash(law) == hash(SumZeroLaplaceCell(0.5, 3))
    with pytest.raises(ArgumentError, match="k=-1"):
        law.tail(-1)
    for bad in (1, "1.5", -0.1, float("nan")):
        with pytest.raises(ArgumentError, match="coverage"):
            law.half_width(bad)
    for bad in (0, 1, "-0.1"):
        with pytest.raises(ArgumentError, match="probability"):
            law.quantile(bad)
