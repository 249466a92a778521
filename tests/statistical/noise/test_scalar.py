"""The fast samplers against their exact laws. Every acceptance errs with probability 1e-9; every mutant must be rejected."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import system_bits
from discreet.noise.single import _draw, _reference, _weights, scalar
from discreet.noise.single.tables import CELLS, Envelope, build, stack

SIZE = 1_000_000
TABLES = {DiscreteLaplace: _weights.laplace, DiscreteGaussian: _weights.gaussian, RoundedGaussian: _weights.rounded_weights}
GRID = [
    *((DiscreteLaplace, p) for p in ("0.3", "1", "7/3", "63", "64", "1000", "123457/3", "1e9", "1e12")),
    *((DiscreteGaussian, p) for p in ("0.2", "1", "7/3", "2303", "2304", "1e6", "1e12", "1e24", "9e33")),
    *((RoundedGaussian, p) for p in ("0.05", "1", "7/3", "63.9", "64", "2304", "1e6", "1e12", "1e24", "9e33")),
]


def scaled(law, parameter: Fraction, factor: Fraction) -> Fraction:
    """The parameter of the law whose scale is `factor` times as large."""
    return parameter * factor if law is DiscreteLaplace else parameter * factor**2


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("law", "parameter"), GRID)
def test_a_sampler_follows_its_law_and_not_one_two_percent_wider(law, parameter, fits) -> None:
    exact = law(parameter)
    sample = exact.sample(SIZE, system_bits())
    assert fits(sample, exact)
    (field,) = exact.__dataclass_fields__
    assert not fits(sample, law(scaled(law, getattr(exact, field), Fraction(51, 50))))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("law", "parameter"), GRID)
def test_a_hundred_million_draws_follow_the_law(law, parameter, chi_square_counts) -> None:
    """Declared error 1e-9 per parameter."""
    exact, bits = law(parameter), system_bits()
    counter = chi_square_counts(exact, 10**8)
    for _ in range(50):
        counter.add(exact.sample(2_000_000, bits))
    assert counter.p_value() > 1e-9


@pytest.mark.exhaustive
def test_one_cell_given_to_another_block_shows_at_a_hundred_million_draws(chi_square_counts) -> None:
    weights = _weights.gaussian(Fraction(1))
    table = one_cell_off(build(weights), weights.reach - 4)  # the block of -4 owns nine cells
    bits = system_bits()
    counter = chi_square_counts(DiscreteGaussian(1), 10**8)
    for _ in range(50):
        counter.add(_draw.draw(table, 2_000_000, bits))
    assert counter.p_value() < 1e-9


@pytest.mark.parametrize("parameter", ["1e-6", "1e-3", "1e-300"])
@pytest.mark.parametrize("law", TABLES)
def test_where_everything_is_zero_nothing_else_comes_out(law, parameter) -> None:
    exact = law(parameter)
    size = 200_000
    assert exact.tail(0)[1] * size < 1e-9
    assert not exact.sample(size, system_bits()).any()


def coarse(weights: _weights.Weights, cells: int = 64) -> Envelope:
    """A table with so few cells that acceptance probabilities are far from 1 and the second test decides a lot."""
    return stack([build(weights, cells)] * (CELLS // cells))


def undecided(table: Envelope, margin: float) -> Envelope:
    """16 bits of V decide nothing, and 64 bits only what lies farther than `margin` from A."""
    high = np.where(table.high > 0, CELLS, 0).astype(np.uint32)
    return replace(table, packed=table.packed & ~np.int32(0xFFFF), high=high, margin=margin)


def one_cell_off(table: Envelope, to: int = 0) -> Envelope:
    """The first cell of the block that starts at 0 is given to the block `to`, in every part."""
    packed, block_of = table.packed.copy(), table.block_of.copy()
    for part in range(len(table.units)):
        start = part * CELLS // len(table.units)
        stop = start + CELLS // len(table.units)
        zero = start + int(np.flatnonzero((packed[start:stop] >> 16 == 0) & (packed[start:stop] & 0xFFFF > 0))[0])
        given = int(np.searchsorted(table.block_of[start:stop], table.block_of[start] + to)) + start
        packed[zero], block_of[zero] = packed[given], block_of[given]
    return replace(table, packed=packed, block_of=block_of)


SMALL = [(DiscreteLaplace, "1.5"), (DiscreteGaussian, "4"), (RoundedGaussian, "4")]


@pytest.mark.parametrize(("law", "parameter"), SMALL)
def test_the_law_does_not_depend_on_the_envelope(law, parameter, fits) -> None:
    weights = TABLES[law](Fraction(parameter))
    sample = _draw.draw(coarse(weights), 300_000, system_bits())
    assert fits(sample, law(parameter))
    assert not fits(_draw.draw(one_cell_off(coarse(weights)), 300_000, system_bits()), law(parameter))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("margin", [0.05, 1.0])
@pytest.mark.parametrize(("law", "parameter"), [*SMALL, (RoundedGaussian, "300"), (DiscreteLaplace, "100")])
def test_forced_ambiguity_exercises_the_exact_path(law, parameter, margin, fits, monkeypatch) -> None:
    decided = []
    decide = _draw._decide
    monkeypatch.setattr(_draw, "_decide", lambda *args: decided.append(1) or decide(*args))
    table = undecided(coarse(TABLES[law](Fraction(parameter)), 4096), margin)
    sample = _draw.draw(table, 10_000, system_bits())
    assert len(decided) > (300 if margin < 1 else 5000)
    assert fits(sample, law(parameter))


@pytest.mark.slow
def test_drawing_v_again_instead_of_extending_it_is_noticed(fits, monkeypatch) -> None:
    # V is ambiguous within 100 % of A: drawn again it accepts with probability min(1, 2A) A instead of A.
    monkeypatch.setattr(_draw, "LazyUniform", lambda bits, value, known: LazyUniform(bits))
    table = undecided(coarse(_weights.gaussian(Fraction(4)), 32), 1.0)
    assert not fits(_draw.draw(table, 7000, system_bits()), DiscreteGaussian(4))


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("law", "parameter"), [*SMALL, (DiscreteGaussian, "1e6"), (RoundedGaussian, "1e6")])
def test_tails_that_hold_most_of_the_mass_are_exact(law, parameter, fits) -> None:
    table = build(replace(TABLES[law](Fraction(parameter)), reach=1 if Fraction(parameter) < 100 else 60))
    assert fits(_draw.draw(table, 3000, system_bits()), law(parameter))


@pytest.mark.slow
def test_a_wrong_tail_is_noticed(fits, monkeypatch) -> None:
    weights = replace(_weights.gaussian(Fraction(4)), reach=1)
    right = Envelope.tail_start
    monkeypatch.setattr(Envelope, "tail_start", lambda table, side: right(table, 1))  # the left tail starts one too near
    assert not fits(_draw.draw(build(weights), 4000, system_bits()), DiscreteGaussian(4))
    monkeypatch.undo()
    geometric = _reference.geometric
    monkeypatch.setattr(_reference, "geometric", lambda scale, bits: geometric(scale * 2, bits))
    assert not fits(_draw.draw(build(weights), 4000, system_bits()), DiscreteGaussian(4))


@pytest.mark.parametrize(("scale", "cells"), [("0.3", 3), ("7/3", 30), ("1000", 60)])
def test_geometric(scale, cells, counts_fit) -> None:
    drawn = scalar.geometric(scale, SIZE, system_bits())
    assert drawn.min() >= 0
    width = max(1, int(Fraction(scale) * 16 / cells))

    def law(t: float) -> np.ndarray:
        edges = np.exp(-np.arange(cells + 1) * width / t)
        return np.append(edges[:-1] - edges[1:], edges[-1])

    observed = np.bincount(np.minimum(drawn // width, cells), minlength=cells + 1)
    t = float(Fraction(scale))
    assert counts_fit(observed, law(t))
    assert not counts_fit(observed, law(t * 1.02))


@pytest.mark.parametrize(
    ("law", "parameter"), [(RoundedGaussian, "1e12"), (DiscreteGaussian, "1e24"), (DiscreteLaplace, "1e17")]
)
def test_every_residue_is_as_frequent_as_the_next(law, parameter, counts_fit) -> None:
    """Neighbouring inputs give outputs on one and the same lattice: no value of x + Y tells where x was."""
    sample = law(parameter).sample(SIZE, system_bits())
    for shift in (0, 10):
        assert counts_fit(np.bincount((sample >> shift) & 63, minlength=64), np.full(64, 1 / 64))
    assert not counts_fit(np.bincount((sample // 2 * 2) & 63, minlength=64), np.full(64, 1 / 64))


def around(sigma2: Fraction, centre: Fraction, first: int, last: int) -> np.ndarray:
    """The law of a discrete Gaussian about `centre` on [first, last]."""
    exponents = [-((k - centre) ** 2) / (2 * sigma2) for k in range(first, last + 1)]
    top = max(exponents)
    weights = np.array([np.exp(float(e - top)) for e in exponents])
    return weights / weights.sum()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sigma2", ["0.05", "1/3", "1", "4", "25", "100", "2400"])
def test_every_centre_has_its_own_exact_law(sigma2, counts_fit) -> None:
    s, size = Fraction(sigma2), 200_000
    centres = [Fraction(1, 3), Fraction(-1, 2), Fraction(1, 2), Fraction(-7, 16), Fraction(10**6) + Fraction(499, 1000)]
    which = np.arange(size * len(centres)) % len(centres)
    numerators = np.array([c.numerator for c in centres])[which]
    denominators = np.array([c.denominator for c in centres])[which]
    drawn = scalar.discrete_gaussian_around(s, numerators, denominators, system_bits())
    spread = int(8 * float(s) ** 0.5) + 3
    for i, centre in enumerate(centres):
        first = round(centre) - spread
        observed = np.bincount(drawn[which == i] - first, minlength=2 * spread + 1)
        assert counts_fit(observed, around(s, centre, first, first + 2 * spread))
        moved = centre + Fraction(float(s) ** 0.5) / 12
        assert not counts_fit(observed, around(s, moved, first, first + 2 * spread))


@pytest.mark.parametrize("sigma2", ["1/100", "4"])
def test_centres_on_the_exact_path(sigma2, counts_fit, monkeypatch) -> None:
    s, centre, size = Fraction(sigma2), Fraction(2, 5), 20_000
    monkeypatch.setattr(scalar, "_build_centred", lambda p: replace(scalar_centred(p), margin=0.5))
    drawn = scalar.discrete_gaussian_around(s, np.full(size, 2), 5, system_bits())
    spread = int(8 * float(s) ** 0.5) + 3
    assert counts_fit(np.bincount(drawn + spread, minlength=2 * spread + 1), around(s, centre, -spread, spread))


scalar_centred = scalar._build_centred


def test_a_common_power_of_two_denominator(counts_fit) -> None:
    drawn = scalar.discrete_gaussian_around(9, np.full(200_000, -5), 4, system_bits())
    assert counts_fit(np.bincount(drawn + 31, minlength=60), around(Fraction(9), Fraction(-5, 4), -31, 28))


def test_the_fast_samplers_agree_with_the_reference(fits) -> None:
    bits = system_bits()
    slow = np.array([_reference.discrete_gaussian(Fraction(4), bits, Fraction(2, 5)) for _ in range(4000)])
    fast = scalar.discrete_gaussian_around(4, np.full(4000, 2), 5, bits)
    law = around(Fraction(4), Fraction(2, 5), -20, 20)
    both = np.bincount(np.concatenate([slow, fast]) + 20, minlength=41)
    assert both[law * 8000 < 1e-9].sum() == 0
