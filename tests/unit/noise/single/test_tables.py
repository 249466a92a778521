"""Block envelopes: the lemma's conditions in certified arithmetic, and enumeration of all prefixes of a forced source."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet.exact.balls import ball, enclosure
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits, system_bits
from discreet.noise.single import _draw, _reference, _weights, scalar
from discreet.noise.single.tables import CELLS, Envelope, build

LAWS = {
    "laplace": (_weights.laplace, ["1e-3", "0.7", "7/3", "24", "1000/7", "1e9", "1e17"]),
    "geometric": (_weights.geometric, ["1e-3", "0.7", "7/3", "24", "1000/7", "1e9", "1e17"]),
    "gaussian": (_weights.gaussian, ["1e-3", "0.7", "7/3", "255", "2304", "1e6", "1e12", "1e34"]),
    "rounded": (_weights.rounded_weights, ["1e-3", "0.7", "7/3", "63.99", "64", "256", "2304", "1e6", "1e12", "1e34"]),
}
CASES = [(name, parameter) for name, (_, parameters) in LAWS.items() for parameter in parameters]


def weights_of(name: str, parameter: str) -> _weights.Weights:
    return LAWS[name][0](Fraction(parameter))


def places(table: Envelope) -> list[tuple[int, int, int]]:
    """For a few dozen blocks of the centre: the block and its two ends."""
    count = table.owned.size - 3
    first = -table.weights.reach * (table.weights.sides - 1)
    chosen = sorted({*range(0, count, max(1, count // 25)), max(0, -first - 1), max(0, -first), count - 1})
    width = 1 << table.weights.shift
    return [(b, (first + b) * width, (first + b + 1) * width - 1) for b in chosen]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_weights_in_double_precision_are_within_their_stated_error(name, parameter) -> None:
    table = build(weights_of(name, parameter))
    for _block, left, right in places(table):
        for x in (left, (left + right) // 2, right):
            rough = float(table.weights.rough(np.array([float(x)]))[0])
            with ctx.workprec(200):
                exact = table.weights.ball(x)
                if exact < arb(2) ** -1000:
                    continue  # below the doubles; the block owns a cell and is decided exactly
                assert abs(arb(rough) / exact - 1) < arb(2) ** -41, (x, rough)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_every_block_has_enough_cells_and_safe_thresholds(name, parameter) -> None:
    table = build(weights_of(name, parameter))
    assert int(table.owned.sum()) == CELLS == table.packed.size == table.block_of.size
    assert table.owned[-1] < CELLS // 20 or Fraction(parameter) < 1  # few cells reject at once
    starts = np.concatenate([[0], np.cumsum(table.owned)[:-1]])
    for block, left, right in places(table):
        low = int(table.packed[starts[block]]) & 0xFFFF
        high = int(table.high[block])
        with ctx.workprec(200):
            ends = [table.central_acceptance(x, block) for x in (left, right)]
            for a in ends:
                assert a <= 1 or abs(a - 1) < arb(2) ** -150
                assert a >= arb(fmpq(low, CELLS)), "below low everything is accepted"
                assert a <= arb(fmpq(high, CELLS)) or high == CELLS, "from high on everything is rejected"
        assert int(table.packed[starts[block]]) >> 16 << table.weights.shift == left


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_tails_are_under_their_envelope(name, parameter) -> None:
    table = build(weights_of(name, parameter))
    for block in (table.owned.size - 3, table.owned.size - 2):
        side = table.tail_side(block)
        if not table.owned[block]:
            assert (side, table.weights.sides) == (-1, 1)
            continue
        start = table.tail_start(side)
        for y in (0, 1, 2, 10, start):
            with ctx.workprec(200):
                a = table.tail_acceptance(side * (start + y), y, block)
                assert a <= arb(fmpq(int(table.high[block]), CELLS))
                ratio = table.weights.ball(start + y + 1) / table.weights.ball(start + y)
                bound = (-1 / ball(table.weights.fall(start))).exp()
                assert not ratio > bound * (1 + arb(2) ** -100)


@pytest.mark.parametrize(
    ("name", "parameter"), [("laplace", "1e17"), ("geometric", "1e17"), ("gaussian", "1e34"), ("rounded", "1e34")]
)
def test_blocks_of_the_largest_scales_stay_far_inside_int64(name, parameter) -> None:
    weights = weights_of(name, parameter)
    assert (weights.reach + 1) << weights.shift < 1 << 62
    assert weights.reach < 1 << 13  # the block's number fits into the upper half of `packed`


@pytest.mark.parametrize("sigma2", ["1/3", "4", "1000", "1e6"])
def test_a_family_bounds_every_member(sigma2) -> None:
    table = scalar._build_centred(Fraction(sigma2))
    parts = len(table.units)
    period = table.owned.size // parts
    starts = np.concatenate([[0], np.cumsum(table.owned)[:-1]])
    for part in sorted({0, parts // 2, parts - 1}):
        for f in (Fraction(part, parts) - Fraction(1, 2), Fraction(part + 1, parts) - Fraction(1, 2)):
            for local in range(0, period - 3, max(1, period // 20)):
                block = part * period + local
                left = (local - table.weights.reach) << table.weights.shift
                low = int(table.packed[starts[block]]) & 0xFFFF
                for x in (left, left + (1 << table.weights.shift) - 1):
                    with ctx.workprec(200):
                        a = table.central_acceptance(x * (x - 2 * f), block)
                        assert arb(fmpq(low, CELLS)) <= a
                        assert a <= arb(fmpq(int(table.high[block]), CELLS))


def forced(*arrays: np.ndarray) -> Bits:
    """A source that gives these arrays one after the other, one per call."""
    rest = [array.tobytes() for array in arrays]
    return Bits(lambda count: rest.pop(0)[:count])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "parameter"), [("gaussian", "1"), ("rounded", "7/3"), ("laplace", "7/3"), ("gaussian", "300")]
)
def test_all_cells_and_prefixes_of_v_are_decided_as_the_law_says(name, parameter) -> None:
    """Every one of the 2^16 cells, with every 16-bit prefix of V that lies near a decision, and both ends of the rest."""
    table = build(weights_of(name, parameter))
    cells = np.arange(CELLS, dtype=np.uint16)
    centre = table.block_of < table.owned.size - 3
    bounds = [
        enclosure(lambda x=x, b=b: table.central_acceptance(x, b))
        for b, x in enumerate(range(-table.weights.reach, table.weights.reach))
    ]
    least = np.array([low for low, _ in bounds])
    most = np.array([high for _, high in bounds])
    prefixes = {0, 1, 2, CELLS // 2, CELLS - 1} | {
        min(CELLS - 1, int(CELLS * a) + d) for a in least[::7] for d in (-1, 0, 1) if CELLS * a + d >= 0
    }
    for v16 in sorted(prefixes):
        for rest in (0, (1 << 48) - 1):
            out = np.empty(CELLS, dtype=np.int64)
            prefix = np.full(CELLS, v16, dtype=np.uint16)
            more = np.full(CELLS, rest << 16, dtype=np.uint64)
            tail = system_bits()  # the tails' geometric numbers; their cells are not looked at
            given = forced(cells, prefix, more)
            source = Bits(lambda count, given=given, tail=tail: given.read(count) if given_left(given) else tail.read(count))
            rejected, _ = _draw._candidates(table, out, _draw._Scratch(CELLS), source)
            accepted = np.ones(CELLS, dtype=bool)
            accepted[rejected] = False
            v = (v16 << 48) + rest
            low, high = Fraction(v, 1 << 64), Fraction(v + 1, 1 << 64)
            block = table.block_of[centre]
            sure_yes = np.array([high <= Fraction(a) for a in least])[block]
            sure_no = np.array([low >= Fraction(a) for a in most])[block]
            assert accepted[centre][sure_yes].all()
            assert not accepted[centre][sure_no].any()
            assert (sure_yes | sure_no).mean() > 0.99
            assert (out[centre] == block.astype(int) - table.weights.reach).all()
            assert not accepted[table.block_of == table.owned.size - 1].any()


def given_left(bits: Bits) -> bool:
    return bool(bits._read.__closure__[0].cell_contents)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "parameter"), [("gaussian", "1"), ("rounded", "7/3"), ("laplace", "7/3")])
def test_the_decided_mass_is_below_the_law_and_the_undecided_mass_vanishes(name, parameter) -> None:
    """Sums over all 2^32 pairs of a cell and 16 bits of V, by counting: exactly the first stage of the lemma."""
    table = build(weights_of(name, parameter))
    starts = np.concatenate([[0], np.cumsum(table.owned)[:-1]])
    undecided = Fraction(0)
    for block in range(table.owned.size - 3):
        x = block - table.weights.reach
        n, low, high = int(table.owned[block]), int(table.packed[starts[block]]) & 0xFFFF, int(table.high[block])
        decided, possible = Fraction(n * low, CELLS**2), Fraction(n * high, CELLS**2)
        with ctx.workprec(200):
            mass = table.weights.ball(x) / arb(table.units[0]) / CELLS  # proportional to p(x), the same factor for all x
            assert ball(decided) <= mass
            assert mass <= ball(possible) * (1 + arb(2) ** -100)
        undecided += possible - decided
    assert undecided < Fraction(2, CELLS)


@pytest.mark.parametrize("bound", ["1/3", "0.7109375", "1/7"])
@pytest.mark.parametrize("word", [1, 2])
def test_a_lazy_uniform_is_exact_by_enumeration_of_all_prefixes(bound, word) -> None:
    exact = Fraction(bound)
    accepted = [Fraction(0), Fraction(0)]
    undecided = []
    for words in (1, 2, 3, 5):
        accepted, open_mass = [Fraction(0), Fraction(0)], Fraction(0)
        for pattern in itertools.product(range(1 << word), repeat=words):
            given = list(pattern)

            def read(_count: int, given: list[int] = given) -> bytes:
                if not given:
                    raise EOFError
                return bytes([given.pop(0) << (8 - word)])

            try:
                accepted[LazyUniform(Bits(read), word=word).below(lambda: ball(exact))] += Fraction(1, 1 << word * words)
            except EOFError:
                open_mass += Fraction(1, 1 << word * words)
        assert accepted[True] <= exact <= accepted[True] + open_mass
        assert accepted[False] <= 1 - exact
        undecided.append(open_mass)
    assert undecided[-1] <= Fraction(2, 1 << 5 * word)


def test_values_beyond_int64_become_python_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = _weights.laplace(Fraction(10**17))
    table = build(replace(weights, reach=1))
    monkeypatch.setattr(_reference, "geometric", lambda scale, bits: 10**20)
    drawn = _draw.draw(table, 1000, system_bits())
    far = [x for x in drawn.tolist() if abs(x) > 2**63]
    assert drawn.dtype == object
    assert far
    assert {abs(x) - 10**20 for x in far} <= {1 << weights.shift, (1 << weights.shift) + 1}
    assert drawn.size == 1000


def test_centred_values_beyond_int64_become_python_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    table = scalar._build_centred(Fraction(10**6))
    low = replace(table, weights=replace(table.weights, ball=lambda q: arb(1), fall=lambda t: Fraction(10**30)))
    half = np.arange(CELLS) % 2 == 0  # every other cell becomes a right tail that accepts whatever comes
    tail = table.owned.size - 3
    blocks = np.where(half, tail, table.block_of).astype(np.uint16)
    packed = np.where(half, 0, table.packed).astype(np.int32)
    high = table.high.copy()
    high[tail] = CELLS
    monkeypatch.setattr(scalar, "_build_centred", lambda s: replace(low, block_of=blocks, packed=packed, high=high))
    monkeypatch.setattr(_reference, "geometric", lambda scale, bits: 10**20)
    drawn = scalar.discrete_gaussian_around(10**6, np.full(300, 7), 1, system_bits())
    assert drawn.dtype == object
    assert any(x > 10**20 for x in drawn)
    assert all(isinstance(x, int) for x in drawn)


@pytest.mark.parametrize(
    ("numerators", "denominators"),
    [
        (np.array([0.5]), 1),
        (np.array([[1]]), 1),
        (np.array([1, 2]), np.array([1, 2, 3])),
        (np.array([1]), 0),
        (np.array([1]), np.array([-2])),
        (np.array([1]), 0.5),
        (np.array([2**61 + 1]), 1),
        (np.array([1]), 2**62),
    ],
)
def test_bad_centres_are_refused(numerators, denominators) -> None:
    with pytest.raises(ValueError, match="centres"):
        scalar.discrete_gaussian_around(1, numerators, denominators, system_bits())


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(2**61, 3), (-(2**61), 3), (2**61, 2**61), (2**49 + 1, 2), (-(2**49) - 1, 2), (2**50, 2**61), (-7, 2), (7, 2), (0, 5)],
)
def test_centres_are_split_exactly(numerator, denominator) -> None:
    from discreet.noise.single._centres import Centres

    stretch = Centres(np.array([numerator, 1]), np.array([denominator, 1]), 10).split(slice(0, 2))
    whole, rest = int(stretch.whole[0]), int(stretch.rest[0])
    assert whole + Fraction(rest, denominator) == Fraction(numerator, denominator)
    assert abs(rest) * 2 <= denominator
    assert stretch.fraction[0] == rest / denominator


def test_no_centres_give_no_values() -> None:
    assert scalar.discrete_gaussian_around(1, np.array([], dtype=np.int64), 1, system_bits()).shape == (0,)
