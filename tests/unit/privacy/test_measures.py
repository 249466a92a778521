"""Measures: exact, refused when wrong, added and scaled by their own rule."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ArgumentError
from discreet.privacy import (
    GDP,
    RDP,
    ZCDP,
    ApproxDP,
    Measure,
    PureDP,
    convert,
    coordinates,
    from_coordinates,
    from_json,
    kind_name,
    scale,
    to_json,
)
from discreet.privacy._digits import short_down

EVERY = [PureDP("0.3"), ApproxDP(1, "1e-6"), ZCDP("0.213"), GDP("0.7"), RDP([(2, "0.1"), ("4.5", "0.3"), (64, 2)])]
BUDGETS = [guarantee for guarantee in EVERY if not isinstance(guarantee, RDP)]


def test_parameters_are_exact_in_every_spelling() -> None:
    spelled = [PureDP(0.1), PureDP("0.1"), PureDP(Decimal("0.1")), PureDP(Fraction(1, 10)), PureDP("1/10")]
    assert len(set(spelled)) == 1
    assert spelled[0].epsilon == Fraction(1, 10)


def test_the_examples_of_the_public_contract() -> None:
    assert ZCDP("0.213").group(2) == ZCDP("0.852")
    assert 10 * PureDP("0.1") == PureDP("1")
    assert PureDP(1) != ZCDP(1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True, None, "abc", "", "1/0", -1, "-0.1", [1], 1j, "1e9999"])
@pytest.mark.parametrize("make", [PureDP, ZCDP, GDP, lambda x: ApproxDP(x, "1e-6"), lambda x: RDP([(2, x)])])
def test_what_is_no_amount_is_refused_by_name(make: object, bad: object) -> None:
    with pytest.raises(ArgumentError, match=r"(epsilon|rho|mu|tau)="):
        make(bad)  # type: ignore[operator]


@pytest.mark.parametrize("bad", [1, "1.0", 2, -1, math.nan, True])
def test_delta_lies_in_zero_to_one(bad: object) -> None:
    with pytest.raises(ArgumentError, match="delta="):
        ApproxDP(1, bad)  # type: ignore[arg-type]
    for guarantee in EVERY:
        with pytest.raises(ArgumentError, match="delta="):
            guarantee.epsilon_at(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "curve", [[], [(2, 1), (4, 1), (3, 1)], [(1, 1)], [("0.5", 1)], [(2, 1), (2, 1)], [(3, 1), (2, 1)], [(2, 1, 1)], 3, [2]]
)
def test_curves_that_are_none_are_refused(curve: object) -> None:
    with pytest.raises(ArgumentError, match=r"(curve|order)"):
        RDP(curve)  # type: ignore[arg-type]


@pytest.mark.parametrize("first", EVERY, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("second", EVERY, ids=lambda g: type(g).__name__)
def test_only_equal_measures_add(first: Measure, second: Measure) -> None:
    if type(first) is type(second):
        assert type(first + second) is type(first)  # type: ignore[operator]
        return
    with pytest.raises(ArgumentError, match="convert both first"):
        first + second  # type: ignore[operator]


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("bad", [-1, 1.5, True, "2"])
def test_repetitions_and_groups_are_counted_in_integers(guarantee: Measure, bad: object) -> None:
    with pytest.raises((ArgumentError, TypeError)):
        bad * guarantee  # type: ignore[operator]
    with pytest.raises(ArgumentError, match="a="):
        guarantee.group(bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="a="):
        guarantee.group(0)


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda g: type(g).__name__)
def test_one_is_neutral_and_zero_is_nothing(guarantee: Measure) -> None:
    assert guarantee.group(1) == guarantee
    assert 1 * guarantee == guarantee
    nothing = 0 * guarantee
    assert nothing + guarantee == guarantee  # type: ignore[operator]
    assert nothing.delta_at(0) == 0
    assert nothing.epsilon_at("1e-9") == 0


@pytest.mark.parametrize("guarantee", BUDGETS, ids=lambda g: type(g).__name__)
def test_repetition_is_repeated_addition(guarantee: Measure) -> None:
    thrice = guarantee + guarantee + guarantee  # type: ignore[operator]
    if isinstance(guarantee, GDP):  # two roots instead of one, each at most 2**-80 too large
        assert (
            3 * guarantee.mu**2 <= (3 * guarantee).mu ** 2 <= thrice.mu**2 <= 3 * guarantee.mu**2 * (1 + Fraction(1, 2**70))
        )
    else:
        assert 3 * guarantee == thrice


def test_group_privacy_of_approximate_dp_is_the_geometric_sum_rounded_up() -> None:
    group = ApproxDP("0.5", "0.01").group(2)
    assert group.epsilon == 1
    exact = Fraction(1, 100) * (1 + Fraction(math.exp(0.5)))
    assert 0 <= group.delta / exact - 1 < Fraction(1, 10**15) or abs(group.delta / exact - 1) < Fraction(1, 10**15)
    assert ApproxDP(0, "0.01").group(5) == ApproxDP(0, "0.05")
    assert ApproxDP(3, 0).group(5) == ApproxDP(15, 0)
    with pytest.raises(ArgumentError, match="not be a guarantee"):
        ApproxDP(5, "0.1").group(3)
    with pytest.raises(ArgumentError, match="not be a guarantee"):
        2 * ApproxDP(1, "0.5")


def test_group_privacy_of_renyi_curves_follows_mironov() -> None:
    curve = RDP([(2, "0.1"), (8, "0.5")])
    assert curve.group(2) == RDP([(4, "1.5")])
    assert curve.group(3) == RDP([(2, "4.5")])
    with pytest.raises(ArgumentError, match="order of at least"):
        curve.group(5)


def test_pure_dp_stays_exact_at_delta_zero() -> None:
    assert PureDP("0.1").epsilon_at(0) == 0.1
    assert PureDP("0.1").delta_at("0.1") == 0
    assert PureDP("0.1").to_approx(0) == ApproxDP(Fraction(0.1), 0)


def test_a_pure_guarantee_is_randomised_response_at_worst() -> None:
    e = math.e
    assert PureDP(1).delta_at(0) == pytest.approx((e - 1) / (e + 1), rel=1e-15)
    assert ApproxDP(1, "0.1").delta_at(0) == pytest.approx(0.1 + 0.9 * (e - 1) / (e + 1), rel=1e-15)
    assert ApproxDP(1, "0.1").epsilon_at("0.05") == math.inf
    assert ApproxDP(1, "0.1").epsilon_at("0.1") == 1
    inside = ApproxDP(1, "0.1").epsilon_at("0.2")
    assert 0 < inside < 1
    assert ApproxDP(1, "0.1").delta_at(Fraction(inside)) <= 0.2


def test_what_is_printed_is_a_bound_too() -> None:
    # The shortest decimal form of a double can lie below it; read back exactly, it must still be on the safe side.
    stepped = 0
    for k in range(1, 200):
        guarantee = ZCDP(Fraction(k, 97))
        raw = convert.zcdp_epsilon(guarantee.rho, "1e-6")
        shown = guarantee.epsilon_at("1e-6")
        assert Fraction(repr(shown)) >= Fraction(raw)
        assert shown <= math.nextafter(raw, math.inf)
        stepped += shown != raw
    assert stepped > 20
    assert PureDP("0.1").epsilon_at(0) == 0.1


@pytest.mark.parametrize("huge", ["1e300", "1e1000", "1e-300", "1e-1000"])
def test_extreme_parameters_give_bounds_never_nan(huge: str) -> None:
    for guarantee in (PureDP(huge), ApproxDP(huge, "1e-1000"), ZCDP(huge), GDP(huge), RDP([(2, huge)])):
        for delta in ("1e-1000", "1e-300", "0.5"):
            assert guarantee.epsilon_at(delta) >= 0
        for epsilon in (0, "1e-1000", 1, "1e1000"):
            assert 0 <= guarantee.delta_at(epsilon) <= 1
        assert guarantee.delta_at(0) > 0


def test_for_approx_is_rounded_down_and_verified() -> None:
    for epsilon, delta in [(1, "1e-6"), ("0.1", "1e-9"), (0, "1e-6"), (10, "1e-10"), ("0.001", "1e-5"), (1, "1e-100")]:
        for kind in (ZCDP, GDP):
            found = kind.for_approx(epsilon, delta)
            assert found.delta_at(epsilon) <= float(delta)
            (value,) = coordinates(found)
            larger = from_coordinates(kind, (value * (1 + Fraction(1, 10**11)),))
            assert larger.delta_at(epsilon) > float(delta)
    document = to_json(ZCDP.for_approx(1, "1e-6"))
    assert document["kind"] == "zcdp"
    assert float(document["rho"]) == pytest.approx(0.024355970359538, rel=1e-13)
    assert ZCDP.for_approx(1, 0) == ZCDP(0)


def test_conversions_by_name() -> None:
    assert PureDP("0.4").to_zcdp() == ZCDP("0.08")
    assert GDP("0.4").to_zcdp() == ZCDP("0.08")
    assert ZCDP("0.5").to_rdp([2, 8]) == RDP([(2, 1), (8, 4)])
    approximate = ZCDP("0.5").to_approx("1e-6")
    assert approximate == ApproxDP(Fraction(ZCDP("0.5").epsilon_at("1e-6")), "1e-6")
    with pytest.raises(ArgumentError, match="no finite"):
        ZCDP(1).to_approx(0)


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda g: type(g).__name__)
def test_json_is_canonical_and_comes_back(guarantee: Measure) -> None:
    assert from_json(to_json(guarantee)) == guarantee
    assert to_json(guarantee)["kind"] == kind_name(guarantee) == kind_name(type(guarantee))
    assert hash(from_json(to_json(guarantee))) == hash(guarantee)


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"kind": "zcpd", "rho": "1"},
        {"kind": "zcdp"},
        {"kind": "zcdp", "rho": 0.5},
        {"kind": "zcdp", "rho": "0.5", "mu": "1"},
        {"kind": "zcdp", "rho": "-1"},
        {"kind": "rdp", "curve": "x"},
    ],
)
def test_other_documents_are_refused(document: object) -> None:
    with pytest.raises(ArgumentError):
        from_json(document)


@pytest.mark.parametrize("guarantee", BUDGETS, ids=lambda g: type(g).__name__)
def test_shares_never_cost_more_than_they_are(guarantee: Measure) -> None:
    parts = [scale(guarantee, Fraction(k, 7)) for k in (1, 2, 4)]  # type: ignore[arg-type]
    spent = [sum(column) for column in zip(*(coordinates(part) for part in parts), strict=True)]
    assert all(s <= w for s, w in zip(spent, coordinates(guarantee), strict=True))  # type: ignore[arg-type]
    assert from_coordinates(type(guarantee), coordinates(guarantee)) == guarantee  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="share"):
        scale(guarantee, Fraction(8, 7))  # type: ignore[arg-type]


def test_coordinates_that_fit_nothing_are_refused() -> None:
    with pytest.raises(ArgumentError, match="additive"):
        coordinates(EVERY[-1])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="coordinates"):
        from_coordinates(ZCDP, (Fraction(1), Fraction(1)))
    with pytest.raises(ArgumentError, match="negative"):
        from_coordinates(ZCDP, (Fraction(-1),))


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda g: type(g).__name__)
def test_explanations_are_sentences_with_their_number(guarantee: Measure) -> None:
    words = guarantee.explain()
    assert words.endswith(".")
    assert any(digit in words for digit in "0123456789")
    assert len(words.split()) > 15


def test_an_amount_without_a_delta_names_no_event() -> None:
    for with_delta in (ZCDP("0.1", delta="1e-7"), GDP(1, delta="1e-7")):
        without = replace(with_delta, delta=Fraction(0))
        assert with_delta.explain().startswith("Apart from an event of probability δ = 1e-7, ")
        assert "event" not in without.explain()
        assert without.explain()[1:] in with_delta.explain()


def test_measures_are_frozen() -> None:
    with pytest.raises(AttributeError):
        PureDP(1).epsilon = Fraction(2)  # type: ignore[misc]


def test_importing_the_package_stays_light() -> None:
    code = "import sys, discreet.privacy; sys.exit(any(name in sys.modules for name in ('flint', 'scipy', 'mpmath')))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_strength_that_is_no_number_is_refused_by_name() -> None:
    for bad in (math.inf, math.nan):
        with pytest.raises(ArgumentError, match="value"):
            short_down(bad)
    assert short_down(0.0) == 0
    assert 0 <= Fraction(1 / 3) - short_down(1 / 3) <= Fraction(1, 10**16)
