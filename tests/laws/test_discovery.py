"""D1 to D4 of docs/proofs/discovery.md: the law of found keys, enumerated, never exceeds what is charged, and reaches it.

The weights, the chance that a key is found and two rounds are written down a second time here. Every planted error breaks a
bound or an equality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import isqrt

import numpy as np
import pytest
from mpmath import erfc, exp, mp, mpf, sqrt

from discreet.audit.bounds import below
from discreet.cube.keys import MOST_KEYS, UNIT, is_key, key_weight
from discreet.errors import InternalError
from discreet.mechanisms.thresholds import Threshold, chance_of_own, threshold_for
from discreet.noise.bits import system_bits
from discreet.noise.single.laws import RoundedGaussian

mp.dps = 40

Law = dict[tuple[tuple[int, ...], ...], mpf]
Keys = Sequence[tuple[int, int]]
"""For each key the weight of others in persons of one key, and whether the person who is compared has it."""


def reaches(law: RoundedGaussian, gap: int) -> mpf:
    """P(Z ≥ gap) of a rounded Gaussian."""
    return erfc((mpf(gap) - mpf(1) / 2) / sqrt(2 * mpf(law.sigma2.numerator) / law.sigma2.denominator)) / 2


def weight_again(keys: int) -> int:
    return isqrt(UNIT**2 // keys)


def own(law: RoundedGaussian, gap: int, keys: int) -> mpf:
    """The chance that one of so many keys, which nobody else has, is found."""
    return 1 - (1 - reaches(law, gap - weight_again(keys))) ** keys


CASES = [(Fraction(4), Fraction(1, 100)), (Fraction(30), Fraction(1, 10**6)), (Fraction(1, 2), Fraction(1, 10**9))]


def made(variance: Fraction, delta: Fraction, at_least: int = 1) -> Threshold:
    return threshold_for(variance * UNIT**2, delta, at_least)


def test_no_person_adds_more_than_one_unit() -> None:
    for keys in range(1, MOST_KEYS + 1):
        assert key_weight(keys) == weight_again(keys) > 0
        assert keys * key_weight(keys) ** 2 <= UNIT**2  # w is rounded down
    assert key_weight(1) == UNIT
    assert key_weight(MOST_KEYS + 1) == 0


@pytest.mark.parametrize(("variance", "delta"), CASES)
def test_the_charge_is_the_largest_chance_and_hardly_more(variance: Fraction, delta: Fraction) -> None:
    found = made(variance, delta)
    steps = [*range(1, 80), *range(80, MOST_KEYS, 97), MOST_KEYS]
    truth = max(own(found.law, found.gap, keys) for keys in steps)
    charged = mpf(found.delta.numerator) / found.delta.denominator
    assert truth <= charged * (1 + mpf(10) ** -30)
    assert charged <= truth * (1 + mpf(10) ** -9)
    assert delta * (1 - Fraction(1, 10**5)) < found.delta <= delta


@pytest.mark.parametrize(("variance", "delta"), CASES)
def test_a_lower_threshold_is_charged_too_little(variance: Fraction, delta: Fraction) -> None:
    found = made(variance, delta)
    assert chance_of_own(found.law, found.gap - 1) > delta


@pytest.mark.parametrize(("variance", "delta"), CASES)
def test_planted_errors_in_the_chance_are_below_the_truth(variance: Fraction, delta: Fraction) -> None:
    """A charge for one key, for the mean of the keys, and without the rounding of the noise."""
    found = made(variance, delta)
    truth = max(own(found.law, found.gap, keys) for keys in (1, 2, 8, MOST_KEYS))
    assert reaches(found.law, found.gap - weight_again(MOST_KEYS)) < truth
    unrounded = RoundedGaussian(found.sigma2)
    one_more = max(1 - (1 - reaches(unrounded, found.gap + 1 - weight_again(g))) ** g for g in (1, 2, 8, MOST_KEYS))
    assert one_more < truth


def test_a_floor_raises_the_threshold_by_the_others() -> None:
    plain, floor = made(*CASES[0]), made(*CASES[0], at_least=5)
    assert floor.least == plain.least + 4 * UNIT
    assert floor.delta == plain.delta


def test_noise_far_below_the_weight_of_one_person_has_a_threshold_at_once() -> None:
    found = made(Fraction(1, 10**10), Fraction(1, 10**6))
    assert found.least < 2 * UNIT
    assert chance_of_own(found.law, 2 * UNIT) == Fraction(1, 2**1000)


def test_a_threshold_within_the_weight_of_one_person_is_refused() -> None:
    with pytest.raises(InternalError):
        Threshold(Fraction(UNIT), UNIT, 1)
    with pytest.raises(InternalError):
        made(Fraction(4), Fraction(1, 4))


# Two rounds, over all outcomes ------------------------------------------------------------------------------------------


def outcomes(keys: Keys, rounds: Sequence[Threshold], weigh: Callable[[int], int] = weight_again) -> Law:
    """The law of which keys are found in which round; others have each key alone, so that they weigh a unit in it."""
    law: Law = {(): mpf(1)}
    for one in rounds:
        after: Law = {}
        for seen, chance in law.items():
            gone = {place for found in seen for place in found}
            mine = sum(has for place, (_, has) in enumerate(keys) if place not in gone)
            totals = [0 if i in gone else o * UNIT + (weigh(mine) if has else 0) for i, (o, has) in enumerate(keys)]
            chances = [reaches(one.law, one.least - total) if total else mpf(0) for total in totals]
            for picked in product((0, 1), repeat=len(keys)):
                each = [q if x else 1 - q for x, q in zip(picked, chances, strict=True)]
                joint = chance * mp.fprod(each)
                if joint:
                    now = (*seen, tuple(i for i, x in enumerate(picked) if x))
                    after[now] = after.get(now, mpf(0)) + joint
        law = after
    return law


def distance(p: Mapping[object, mpf], q: Mapping[object, mpf], epsilon: mpf) -> mpf:
    """The exact δ at ε, in both orders."""
    names = {*p, *q}
    zero = mpf(0)
    return max(
        sum(max(p.get(o, zero) - exp(epsilon) * q.get(o, zero), zero) for o in names),
        sum(max(q.get(o, zero) - exp(epsilon) * p.get(o, zero), zero) for o in names),
    )


def of_gaussian(mu: mpf, epsilon: mpf) -> mpf:
    def normal(x: mpf) -> mpf:
        return erfc(-x / sqrt(2)) / 2

    return normal(mu / 2 - epsilon / mu) - exp(epsilon) * normal(-mu / 2 - epsilon / mu)


def charged(rounds: Sequence[Threshold], epsilon: mpf, apart: int = 1) -> mpf:
    """D4, where ‖·‖₂² of a change of the weights is at most `apart` squared units: 1 of a person, 2 of two states of one."""
    delta = sum(mpf(one.delta.numerator) / one.delta.denominator for one in rounds)
    mu = sqrt(sum(apart * mpf(UNIT) ** 2 * one.sigma2.denominator / one.sigma2.numerator for one in rounds))
    return delta + (1 - delta) * of_gaussian(mu, epsilon)


OTHERS: list[tuple[int, int, int]] = [  # keys that only she has, keys that others have too, how many others have each
    (1, 0, 0),
    (0, 1, 1),
    (0, 1, 6),
    (1, 1, 3),
    (0, 2, 3),
    (3, 0, 0),
    (1, 2, 4),
]
PAIRS = [
    (made(Fraction(9), Fraction(1, 50)), made(Fraction(2), Fraction(1, 50))),
    (made(Fraction(4), Fraction(1, 10)), made(Fraction(1), Fraction(1, 100))),
]


def compared(own_keys: int, shared: int, others: int, rounds: Sequence[Threshold], epsilon: mpf) -> mpf:
    keys = [(0, 1)] * own_keys + [(others, 1)] * shared
    return distance(outcomes(keys, rounds), outcomes([(o, 0) for o, _ in keys], rounds), epsilon)


@pytest.mark.parametrize("rounds", PAIRS)
@pytest.mark.parametrize("case", OTHERS)
def test_two_rounds_never_exceed_the_charge(rounds: Sequence[Threshold], case: tuple[int, int, int]) -> None:
    for epsilon in (mpf("0.1"), mpf(1)):
        assert compared(*case, rounds, epsilon) <= charged(rounds, epsilon)


def test_the_charge_of_one_round_is_reached() -> None:
    """By the person whose number of keys is the worst: no ε makes δ smaller. Here that is one key."""
    found = made(Fraction(1, 8), Fraction(1, 1000))
    reached = compared(1, 0, 0, [found], mpf(30))
    delta = mpf(found.delta.numerator) / found.delta.denominator
    assert delta * (1 - mpf(10) ** -6) <= reached <= delta


def test_weights_that_are_not_normalised_exceed_the_charge() -> None:
    rounds = [made(Fraction(1, 8), Fraction(1, 1000))]
    keys = [(0, 1)] * 3
    found = outcomes(keys, rounds, lambda _: UNIT)
    assert distance(found, outcomes([(0, 0)] * 3, rounds), mpf(1)) > charged(rounds, mpf(30)) * 2


def test_a_round_whose_delta_is_not_charged_exceeds_the_charge() -> None:
    rounds = [made(Fraction(1, 8), Fraction(1, 1000))] * 2
    reached = compared(1, 0, 0, rounds, mpf(30))
    assert charged(rounds[1:], mpf(30)) * mpf("1.9") < reached <= charged(rounds, mpf(30))


# Two states of one person (D6) -------------------------------------------------------------------------------------------

STATES: list[list[tuple[int, int, int]]] = [  # for each key the others who have it, and whether each state of the person has
    [(0, 1, 0), (0, 0, 1)],
    [(0, 1, 1), (0, 1, 0)],
    [(5, 1, 0), (5, 0, 1)],
    [(3, 1, 0), (3, 1, 0), (3, 0, 1), (3, 0, 1)],
    [(0, 1, 0), (4, 0, 1)],
]


def states_apart(keys: Sequence[tuple[int, int, int]], rounds: Sequence[Threshold], epsilon: mpf) -> mpf:
    before, after = ([(others, has[state]) for others, *has in keys] for state in (0, 1))
    return distance(outcomes(before, rounds), outcomes(after, rounds), epsilon)


@pytest.mark.parametrize("rounds", PAIRS)
@pytest.mark.parametrize("keys", STATES)
def test_names_of_two_states_of_a_person_are_told_apart_no_better_than_charged(
    keys: Sequence[tuple[int, int, int]], rounds: Sequence[Threshold]
) -> None:
    for epsilon in (mpf("0.1"), mpf(1)):
        assert states_apart(keys, rounds, epsilon) <= charged(rounds, epsilon, apart=2)


def test_two_states_of_a_person_are_told_apart_better_than_a_person_and_none() -> None:
    """The noise of whole persons is too little: the same two states exceed what it would be charged as."""
    rounds = [made(Fraction(9), Fraction(1, 1000))]
    least = -(-rounds[0].least // UNIT)
    keys = [(least, 1, 0), (least, 0, 1)]
    assert charged(rounds, mpf("0.1")) < states_apart(keys, rounds, mpf("0.1")) <= charged(rounds, mpf("0.1"), apart=2)


# What is drawn ----------------------------------------------------------------------------------------------------------


def test_keys_are_found_with_their_chance() -> None:
    """6.5 standard deviations of 20,000 draws each: a wrong alarm is rarer than 1e-9. A threshold off by W is noticed."""
    found, draws = made(Fraction(4), Fraction(1, 100)), 20_000
    for total in (2 * UNIT, found.least, found.least + UNIT):
        places, noisy = found.found(np.full(draws, total, dtype=np.int64), system_bits())
        chance = float(reaches(found.law, found.least - total))
        slack = 6.5 * (draws * chance * (1 - chance)) ** 0.5
        assert abs(len(places) - draws * chance) <= slack
        assert (noisy >= found.least).all()
    wrong = float(reaches(found.law, found.least - 2 * UNIT))
    assert abs(draws * chance - draws * wrong) > 2 * slack


@pytest.mark.parametrize(
    ("variance", "delta", "keys", "runs"),
    [
        (Fraction(1, 8), Fraction(1, 50), 1, 800_000),
        pytest.param(Fraction(4), Fraction(1, 5), MOST_KEYS, 72_000, marks=pytest.mark.slow),
    ],
)
def test_a_canary_with_names_of_its_own_shows_nine_tenths_of_the_charge_and_never_more(
    variance: Fraction, delta: Fraction, keys: int, runs: int
) -> None:
    """Without the canary no name of its own is found, so the chance that one is bounds δ from below, whatever ε is.

    With little noise one name is the worst number of them, with more it is the largest. The bound is above the truth once in
    10^9 times; it is six standard deviations of the draws below, and nine tenths of the truth are six more.
    """
    found, hits, each = made(variance, delta), 0, min(runs, 4_000_000 // keys)
    weights = np.full(each * keys, key_weight(keys), dtype=np.int64)
    for _ in range(runs // each):
        places, _ = found.found(weights, system_bits())
        hits += len(np.unique(np.asarray(places) // keys))
    shown = float(below(np.array([hits]), runs // each * each, 1e-9)[0])
    assert 0.9 * float(found.delta) < shown <= float(found.delta)


def test_texts_that_are_no_keys() -> None:
    assert [is_key(text, 3) for text in ("", "a", "abc", "abcd", "a\n", "\x00", "\ufffd", "é")] == [
        False, True, True, False, False, False, False, True,
    ]  # fmt: skip
