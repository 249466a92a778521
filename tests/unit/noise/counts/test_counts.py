"""Counts for cubes: exact laws by enumeration of forced bits, and what is refused."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.noise.bits import Bits, system_bits
from discreet.noise.counts import counts
from discreet.noise.single import _coins


class Exhausted(Exception):
    """The forced bits did not suffice for a draw."""


def lanes(pattern: tuple[int, ...]) -> Bits:
    """A source whose words carry one bit of `pattern` after the other, `width` of them per call."""
    rest = list(pattern)

    def read(count: int) -> bytes:
        if not rest:
            raise Exhausted
        return rest.pop(0).to_bytes(count, "little")

    return Bits(read)


@pytest.fixture(params=["compared", "halved"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to find the successes."""
    if request.param == "halved":
        monkeypatch.setattr(_coins, "_SMALL_CELLS", 0)
    return request.param


@pytest.mark.one_in(3)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("rate", ["1/2", "3/4", "3/8", "5/16"])
def test_a_dyadic_binomial_is_exact_by_enumeration(n: int, rate: str, way: str) -> None:
    # Each level reads one word of which the first n (or fewer) bits are used: enumerate all of them.
    p = Fraction(rate)
    levels = p.denominator.bit_length() - 1
    mass = [Fraction(0)] * (n + 1)
    for pattern in itertools.product(range(2**n), repeat=levels):
        k = int(counts.binomial(np.array([n]), p, lanes(pattern))[0])
        mass[k] += Fraction(1, 2 ** (n * levels))
    assert mass == [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@pytest.mark.parametrize("rate", ["1/3", "5/7"])
def test_the_decided_part_of_a_rational_binomial_never_exceeds_its_law(rate: str, monkeypatch) -> None:
    monkeypatch.setattr(_coins, "_SMALL_CELLS", 0)
    n, levels, p = 2, 6, Fraction(rate)
    decided = [Fraction(0)] * (n + 1)
    undecided = Fraction(0)
    for pattern in itertools.product(range(2**n), repeat=levels):
        try:
            k = int(counts.binomial(np.array([n]), p, lanes(pattern))[0])
            decided[k] += Fraction(1, 2 ** (n * levels))
        except Exhausted:
            undecided += Fraction(1, 2 ** (n * levels))
    law = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert all(d <= exact for d, exact in zip(decided, law, strict=True))
    assert undecided <= n * Fraction(1, 2**levels)


@pytest.mark.parametrize("rate", ["1/3", "5/7", "9/16", "1/1000"])
def test_compared_words_are_the_comparison_of_their_records_one_by_one(rate: str) -> None:
    p, levels, given = Fraction(rate), 200, []

    def read(count: int) -> bytes:
        given.append(system_bits().read(count))
        return given[-1]

    words = np.zeros(1, dtype=np.uint64)
    _coins._compare(words, p.numerator, p.denominator, Bits(read))
    digits = [np.unpackbits(np.frombuffer(part, dtype=np.uint8), bitorder="little") for part in given[:levels]]
    found = np.unpackbits(words.view(np.uint8), bitorder="little")
    for record in range(64):
        u = sum(Fraction(int(part[record]), 2 ** (i + 1)) for i, part in enumerate(digits))
        assert bool(found[record]) == (u < p)
        assert not (u < p < u + Fraction(1, 2 ** len(digits))) or p.denominator == 16


def test_fair_counts_agree_with_counting_bits_one_by_one() -> None:
    n = np.array([0, 1, 63, 64, 65, 0, 200, 7, 0])
    words = system_bits().words(-(-int(n.sum()) // 64))
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    expected = [int(part.sum()) for part in np.split(bits[: n.sum()], np.cumsum(n)[:-1])]
    assert _coins.fair(n, Bits(lambda _count: words.tobytes())).tolist() == expected


def test_fair_counts_agree_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    n = system_bits().below_array(300, 500)
    stream = system_bits().read(8 * 4000)

    def source() -> Bits:
        position = 0

        def read(count: int) -> bytes:
            nonlocal position
            position += count
            return stream[position - count : position]

        return Bits(read)

    whole = _coins.fair(n, source())
    monkeypatch.setattr(_coins, "_CHUNK_WORDS", 3)
    assert _coins.fair(n, source()).tolist() == whole.tolist()


@pytest.mark.parametrize("rate", [0, "0", 1, Fraction(1)])
def test_certain_rates_need_no_bits(rate: object) -> None:
    n = np.array([[0, 5], [10**12, 3]])
    none = Bits(lambda count: b"")
    assert counts.binomial(n, rate, none).tolist() == (n * int(Fraction(rate))).tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [-1, "1.1", float("nan"), True])
def test_bad_rates_are_refused(rate: object) -> None:
    with pytest.raises(ArgumentError, match="rate"):
        counts.binomial(np.array([1]), rate, system_bits())  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [np.array([-1]), np.array([1.5]), np.array([2**62, 2**62]), np.array([2**50, 1])])
def test_bad_counts_are_refused_without_showing_them(n: np.ndarray) -> None:
    with pytest.raises(ArgumentError, match=r"^n: must"):
        counts.binomial(n, "1/2", system_bits())
    with pytest.raises(ArgumentError, match=r"^counts: must"):
        counts.multivariate_hypergeometric(n, 0, system_bits())


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1], [1.5], [True]])
def test_bad_weights_are_refused(weights: list[object]) -> None:
    with pytest.raises(ArgumentError, match="weights"):
        counts.multinomial_rows(np.array([3]), weights, system_bits())  # type: ignore[arg-type]


@pytest.mark.parametrize("m", [-1, 11, 2.0, True])
def test_impossible_sample_sizes_are_refused(m: object) -> None:
    with pytest.raises(ArgumentError, match="m"):
        counts.multivariate_hypergeometric(np.array([4, 6]), m, system_bits())  # type: ignore[arg-type]


def test_weights_of_any_size_are_exact_rationals() -> None:
    drawn = counts.multinomial_rows(np.array([1000]), [10**40, 0, 10**40], system_bits())[0]
    assert drawn.sum() == 1000
    assert drawn[1] == 0
    assert 200 < drawn[0] < 800


class Listed:
    """A source that gives these integers, whatever is asked."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.bounds = numbers, []

    def below_array(self, bound: int, size: int) -> np.ndarray:
        self.bounds.append(bound)
        return self.numbers[:size]


@pytest.mark.parametrize("weights", [[1], [3, 1], [0, 2, 0, 0, 5, 0], [1] * 20, [2**61, 0, 2**61]])
def test_a_record_is_in_a_cell_for_as_many_numbers_as_its_weight(weights: list[int]) -> None:
    """Each number below the sum of the weights is one outcome of equal chance: all of them, or the ends of every stretch."""
    total = sum(weights)
    ends = np.cumsum(weights)
    numbers = np.arange(total) if total < 100 else np.array([0, 2**61 - 1, 2**61, 2**62 - 1])
    source = Listed(numbers)
    cells = counts.categorical(len(numbers), weights, source)  # type: ignore[arg-type]
    assert source.bounds == [total]
    assert cells.tolist() == [next(j for j, end in enumerate(ends) if number < end) for number in numbers]
    if total < 100:
        assert np.bincount(cells, minlength=len(weights)).tolist() == weights
        wrong = np.searchsorted(ends, numbers, side="left")  # gives the first number of each cell to the one before
        assert len(weights) == 1 or np.bincount(wrong, minlength=len(weights)).tolist() != weights


def test_records_one_by_one_are_refused_as_the_counts_are() -> None:
    assert counts.categorical(0, [1, 2], system_bits()).tolist() == []
    with pytest.raises(ArgumentError, match="at most 2\\*\\*62"):
        counts.categorical(1, [2**62, 1], system_bits())
    for weights in ([], [0], [-1, 2], [0.5]):
        with pytest.raises(ArgumentError, match="weights"):
            counts.categorical(1, weights, system_bits())  # type: ignore[arg-type]
