"""The precision of enclosures: whoever else sets it, results stay, and what was set stays."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import FrameType

import pytest
from flint import arb, ctx

from discreet.domain.neighbours import AddRemove
from discreet.exact.precision import with_precision
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits
from discreet.noise.lattice import sum_zero_laws
from discreet.noise.single import laws
from discreet.privacy import GDP, ApproxDP, PureDP, convert
from discreet.privacy.amplify import Resampling
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace


@pytest.fixture(autouse=True)
def ordinary() -> Iterator[None]:
    ctx.prec = 53
    yield
    ctx.prec = 53


def conversions() -> list[object]:
    return [
        convert.gaussian_epsilon(Fraction(3, 7), Fraction(1, 10**6)),
        convert.gaussian_mu(Fraction(1), Fraction(1, 10**6)),
        convert.gaussian_delta(Fraction(3, 7), Fraction(1)),
        DiscreteGaussian(Fraction(30), 1).delta_at(Fraction(1, 3)),
        ApproxDP(Fraction(1, 3), Fraction(1, 10**6)).epsilon_at(Fraction(1, 10**5)),
    ]


def resized() -> list[object]:
    plan = Resampling(10, "3/2", AddRemove())
    inner = (PureDP("1/2"), ApproxDP("1/2", "1e-7"), DiscreteLaplace(2), GDP("1/2"))
    return [plan.guarantee(PureDP("1/3")), *(plan.profile(each).delta_at("1/3") for each in inner)]


def noise_laws() -> list[object]:
    """Without what other calls have left in memory: a number that is remembered is the same without any doing."""
    for remembered in (laws._half_width, sum_zero_laws._first, sum_zero_laws._whole_weight):
        remembered.cache_clear()
    shapes = (laws.DiscreteLaplace(Fraction(7, 3)), laws.DiscreteGaussian(Fraction(50)), laws.RoundedGaussian(Fraction(50)))
    cell = sum_zero_laws.SumZeroLaplaceCell(Fraction(5), 40)
    found = [[law.cdf(3), law.half_width(Fraction(19, 20)), law.variance()] for law in shapes]
    return [*found, cell.half_width(Fraction(19, 20)), cell.pmf(2)]


def lazy_comparisons() -> list[object]:
    """How many bits a comparison takes, and how it ends, for bits that are always the same."""
    drawn: list[int] = []

    def read(count: int) -> bytes:
        drawn.append(count)
        return bytes([0x55]) * count  # V begins like 1/3

    uniform = LazyUniform(Bits(read))
    return [uniform.below(lambda: arb(1) / 3 + arb(2) ** -150), uniform.below(lambda: arb(1).exp() / 9), drawn]


BATTERY = (conversions, resized, noise_laws, lazy_comparisons)

PERIOD = 1999  # calls and returns from one disturbance to the next: more than any one computation of the battery has


@pytest.mark.parametrize("bits", [2, 10, 1000])
@pytest.mark.parametrize("work", BATTERY)
def test_results_are_the_same_whatever_precision_the_user_has_set(work: Callable[[], object], bits: int) -> None:
    expected = work()
    ctx.prec = bits
    assert work() == expected
    assert (ctx.prec, ctx.dps) == (bits, with_precision(bits, lambda: (ctx.prec, ctx.dps - 1))[1])


@contextmanager
def disturbed(work: Callable[[], None], *, first: int) -> Iterator[None]:
    """Whatever runs is interrupted by `work` at the call numbered `first` and every `PERIOD` calls, as if by another thread.

    Real threads would interrupt each of a hundred tries now and then, and the last result of those may be looser.
    """
    calls = itertools.count(1)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if next(calls) % PERIOD == first:
            sys.setprofile(None)
            work()
            sys.setprofile(watch)

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)


def set_low() -> None:
    ctx.prec = 10


def set_high() -> None:
    ctx.dps = 400


def flip_and_back() -> None:
    with ctx.workprec(10):
        arb(2).sqrt()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("disturb", [set_low, set_high])
@pytest.mark.parametrize("work", BATTERY)
def test_results_are_the_same_while_others_set_the_precision(
    work: Callable[[], object], disturb: Callable[[], None]
) -> None:
    expected = work()
    for first in range(0, PERIOD, 50):
        with disturbed(disturb, first=first):
            found = work()
        assert found == expected


def test_threads_of_ours_do_not_disturb_each_other_and_leave_the_precision() -> None:
    expected = [work() for work in BATTERY]
    found: list[list[object]] = []
    threads = [threading.Thread(target=lambda: found.append([work() for work in BATTERY])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert (ctx.prec, ctx.dps) == (53, 15)


def set_the_same() -> None:
    ctx.prec = 80


@pytest.mark.parametrize(("disturb", "left"), [(set_low, 10), (flip_and_back, 80), (set_the_same, 80)])
def test_a_disturbed_computation_is_repeated_and_what_was_set_stands(disturb: Callable[[], None], left: int) -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(ctx.prec)
        if len(calls) == 1:
            disturb()
        return len(calls)

    assert with_precision(80, compute) == 2
    assert calls == [80, 80]
    assert ctx.prec == left


def test_a_computation_within_another_is_no_disturbance() -> None:
    calls: list[int] = []

    def outer() -> tuple[int, int, int]:
        calls.append(ctx.prec)
        return ctx.prec, with_precision(30, lambda: ctx.prec), ctx.prec

    assert with_precision(80, outer) == (80, 30, 80)
    assert calls == [80]


def test_a_computation_that_is_always_disturbed_ends() -> None:
    assert with_precision(80, lambda: set_low() or 7) == 7  # type: ignore[func-returns-value]
    assert ctx.prec == 10


def test_an_error_leaves_the_precision_as_it_was() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    ctx.prec = 33
    digits = ctx.dps
    with pytest.raises(ZeroDivisionError):
        with_precision(80, fail)
    assert (ctx.prec, ctx.dps) == (33, digits)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_is_not_born_in_the_middle_of_a_computation() -> None:
    begun = threading.Event()

    def slow() -> None:
        begun.set()
        time.sleep(0.2)  # gives way to the thread that forks

    thread = threading.Thread(target=with_precision, args=(80, slow))
    thread.start()
    begun.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:  # pragma: no cover - measured in the parent
        os._exit(0 if ctx.prec == 53 and with_precision(30, lambda: ctx.prec) == 30 else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
