"""C2 under the worst arithmetic that it allows: no bound is below the truth, and none is wider than the roundings.

The kernels are run on numbers whose every operation is off by half a unit in the last place, and every exp, log and
log1p by as much as C2 assumes, in the direction that lowers the result. So a term of an error bound that is too small
shows as a bound below the truth, and one that is too large as room that nothing needs: on every processor, to a
hundredth of a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.privacy import _zcdp, _zcdp_arrays

from .worst_arithmetic import UNIT, Machine, Worst, least

LIBRARY = {"scalar": 4, "array": 8}


@pytest.fixture(autouse=True)
def _own_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("exp", "log1p"):
        exactly = getattr(_zcdp, name)

        def either(x: Any, name: str = name, exactly: Callable[[float], float] = exactly) -> Any:
            return getattr(x, name)() if isinstance(x, Worst) else exactly(x)

        monkeypatch.setattr(_zcdp, name, either)


def one(*values: Worst) -> list[Any]:
    """Arrays of one element each."""
    return [np.array([value], dtype=object) for value in values]


def delta_bound(kind: str, machine: Machine, rho: float, epsilon: float, u: float) -> Any:
    d = machine.number(epsilon) - rho
    if kind == "scalar":
        return _zcdp.delta_at_order(machine.number(u), d, machine.number(rho))  # type: ignore[arg-type]
    return _zcdp_arrays._delta_bound(*one(machine.number(rho), d, machine.number(u)))[0]


def log_delta(u: mpf, d: mpf, rho: mpf) -> mpf:
    return u * (u * rho - d) - u * mp.log1p(1 / u) - mp.log1p(u)


def units(bound: mpf, truth: mpf) -> float:
    """By how many units of 2⁻⁵³ the bound is larger."""
    return float((bound - truth) / UNIT)


# (ρ, ε, u), of which in turn u|d| = ε − ρ and its products, u·uρ, L, M and the last two sums weigh most.
@pytest.mark.parametrize("kind", LIBRARY)
@pytest.mark.parametrize(
    ("rho", "epsilon", "u"),
    [
        (1e-3, 1.0, 40.0),
        (0.02, 1.0, 40.0),
        (1e-6, 1.0, 300.0),
        (1e-80, 1e-70, 1e30),
        (1e-9, 1e-9, 1e-3),
        (1e-30, 1e-30, 20.0),
    ],
)
def test_delta_makes_up_for_the_worst_roundings_and_no_more(kind: str, rho: float, epsilon: float, u: float) -> None:
    with mp.workdps(120):
        found, machine = least(lambda machine: delta_bound(kind, machine, rho, epsilon, u), LIBRARY[kind])
        order, exponent = mpf(u), machine.exponent
        truth = log_delta(order, mpf(epsilon) - mpf(rho), mpf(rho))
        assert found >= mp.exp(truth)
        spare = units(exponent, truth)
        # C2 has one unit of L that only an order rounded in α − 1 needs.
        assert 0 <= spare <= 1.02 * float(order * mp.log1p(1 / order)) + 0.02
        assert 0 <= units(mp.log(found), exponent) <= 2.1


@pytest.mark.parametrize(("tau", "epsilon", "alpha"), [(1e-3, 1.0, 41.0), (0.01, 0.0100001, 30.0), (1e-9, 1.1e-9, 20.0)])
def test_delta_of_one_renyi_order_makes_up_for_a_rounded_order_too(tau: float, epsilon: float, alpha: float) -> None:
    def compute(machine: Machine) -> Any:
        return _zcdp.delta_at_order(machine.number(alpha) - 1, machine.number(epsilon) - tau, 0.0)  # type: ignore[arg-type]

    with mp.workdps(120):
        found, machine = least(compute, LIBRARY["scalar"])
        u = mpf(alpha) - 1
        truth = log_delta(u, mpf(epsilon) - mpf(tau), mpf(0))
        assert found >= mp.exp(truth)
        assert 0 <= units(machine.exponent, truth) <= 0.2


def epsilon_bound(kind: str, machine: Machine, rho: float, l: float, u: float) -> Any:  # noqa: E741
    order, length = machine.number(u), machine.rounded(mpf(l), machine.library)
    if kind == "scalar":
        return _zcdp.epsilon_at_order(order, rho + order * rho, length)  # type: ignore[arg-type]
    return _zcdp_arrays._epsilon_bound(*one(machine.number(rho), length, order))[0]


# (ρ, log 1/δ, u), of which in turn τ, the quotient, its l, its M and L weigh most.
@pytest.mark.parametrize("kind", LIBRARY)
@pytest.mark.parametrize(
    ("rho", "l", "u"), [(3.0, 1.0, 40.0), (1e-9, 14.0, 2.0), (1e-9, 700.0, 40.0), (0.1, 300.0, 1e12), (1.0, 30.0, 0.01)]
)  # fmt: skip
def test_epsilon_makes_up_for_the_worst_roundings_and_no_more(kind: str, rho: float, l: float, u: float) -> None:  # noqa: E741
    with mp.workdps(120):
        found, _ = least(lambda machine: epsilon_bound(kind, machine, rho, l, u), LIBRARY[kind])
        order = mpf(u)
        big_l, slack = mp.log1p(1 / order), (mpf(l) - mp.log1p(order)) / order
        truth = (order + 1) * mpf(rho) + slack - big_l
        # The quotient counts once more where an order was rounded in α − 1, and L as often as in δ; the final factor of
        # arrays covers two roundings, of which they have one.
        unneeded = abs(slack) + 4 * big_l + (truth if kind == "array" else 0)
        assert 0 <= units(found, truth) <= 1.02 * float(unneeded) + 0.03 * float(truth)


@pytest.mark.parametrize(("tau", "l", "alpha"), [(1e-9, 14.0, 5.0), (1e-9, 700.0, 40.0), (0.5, 30.0, 20.0)])
def test_epsilon_of_one_renyi_order_makes_up_for_a_rounded_order_too(tau: float, l: float, alpha: float) -> None:  # noqa: E741
    def compute(machine: Machine) -> Any:
        length = machine.rounded(mpf(l), machine.library)
        twice = machine.rounded(machine.rounded(mpf(tau)).value)  # C2 allows two roundings in τ
        return _zcdp.epsilon_at_order(machine.number(alpha) - 1, twice, length)  # type: ignore[arg-type]

    with mp.workdps(120):
        found, _ = least(compute, LIBRARY["scalar"])
        u = mpf(alpha) - 1
        big_l = mp.log1p(1 / u)
        truth = mpf(tau) + (mpf(l) - mp.log1p(u)) / u - big_l
        assert 0 <= units(found, truth) <= 3.02 * float(big_l) + 0.02 * float(truth)


@pytest.mark.parametrize("kind", LIBRARY)
def test_what_is_below_every_double_costs_two_of_the_smallest(kind: str) -> None:
    with mp.workdps(120):
        machine = Machine(LIBRARY[kind])
        assert 0 < delta_bound(kind, machine, 1e-6, 1.0, 4000.0).value < mpf(15e-324)


def everything() -> None:
    for point in ((1e-80, 1e-70, 1e30), (1e-9, 1e-9, 1e-3)):
        test_delta_makes_up_for_the_worst_roundings_and_no_more("scalar", *point)
    test_epsilon_makes_up_for_the_worst_roundings_and_no_more("scalar", 3.0, 1.0, 40.0)


@pytest.mark.parametrize("name", ["_ERROR_L", "_LIB", "_EXP_UP", "SUM_UP"])
def test_a_constant_cut_down_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    short = {"_ERROR_L": _zcdp._ERROR_L - 2, "_LIB": _zcdp._LIB - 1}.get(name, 1.0)
    monkeypatch.setattr(_zcdp, name, short)
    with pytest.raises(AssertionError):
        everything()
