"""What an audit says of itself: claims, arguments, JSON, and what it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

import discreet as dp
from discreet import audit as package
from discreet.audit import Attack, Audit, Kernel, Point, audit, audit_quote
from discreet.audit.claims import claim_of, grid_of
from discreet.errors import ArgumentError, PlanError
from discreet.mechanisms import ExponentialQuantiles
from discreet.privacy.amplify import Resampling
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import noisy_answers
from discreet.totals.exact_totals import exact_totals_of

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]), v=dp.Number(0, 10))
ADDED = dp.Table(SCHEMA, dp.AddRemove())
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=100))
FILLED = {"g": dp.Weights({"x": 1, "y": 1})}


def claim(request, spend, totals=None):
    asked = quote(request, spend, totals)
    return claim_of(asked, asked.measured)


# Claims -----------------------------------------------------------------------------------------------------------------


def test_gaussian_noise_claims_its_own_profile_and_not_only_that_of_its_rho():
    found = claim(ADDED.agg(dp.count()), dp.ZCDP("0.5"))
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
        assert found.delta_at(epsilon) == dp.GDP(1).delta_at(epsilon) < dp.ZCDP("0.5").delta_at(epsilon)


def test_noise_of_a_lattice_claims_what_its_rho_says():
    stands = exact_totals_of(dp.Totals("g"), SCHEMA, None, 100)
    request = REPLACED.group_by("g", "f").agg(dp.count())
    found = claim(request, dp.ZCDP("0.5"), stands)
    assert found.delta_at(Fraction(1)) == dp.ZCDP("0.5").delta_at(1)
    approximate = claim(request, dp.ApproxDP(1, "1e-6"), stands)
    assert approximate.delta_at(Fraction(1)) <= dp.ApproxDP(1, "1e-6").delta_at(1)


def test_pure_noise_under_an_approximate_budget_claims_no_delta():
    found = claim(ADDED.agg(dp.count()), dp.ApproxDP(1, "1e-6"))
    assert found.delta_at(Fraction(1)) == 0
    assert found.epsilon_at(Fraction(1, 10**6)) <= 1


@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ApproxDP(1, "1e-6"), dp.ZCDP("0.5"), dp.GDP(1)])
def test_a_resized_table_claims_the_profile_after_sampling(spend):
    request = REPLACED.impute(FILLED).resize(50, proportion="0.5").group_by("g").agg(dp.count())
    found = claim(request, spend)
    for epsilon in (Fraction(1, 2), Fraction(1)):
        assert 0 <= found.delta_at(epsilon) <= spend.delta_at(epsilon)
    sampled = Resampling(50, "0.5", dp.ReplaceOne(rows=100))
    if isinstance(spend, dp.PureDP):
        assert found.delta_at(Fraction(1, 2)) == sampled.profile(sampled.functional(spend)).delta_at("0.5")


def test_the_grid_begins_at_one_half_ends_where_delta_is_lost_and_has_the_epsilon_of_the_spend():
    assert grid_of(claim(ADDED.agg(dp.count()), dp.PureDP("0.1"))) == (Fraction(1, 10), Fraction(1, 2))
    grid = grid_of(claim(ADDED.agg(dp.count()), dp.ZCDP(2)))
    assert grid[0] == Fraction(1, 2)
    assert dp.GDP(2).delta_at(grid[-1]) < 1e-5 <= dp.GDP(2).delta_at(grid[-2])


# The function -----------------------------------------------------------------------------------------------------------


def test_an_audit_says_what_it_found():
    found = audit(ADDED.agg(dp.count()), dp.PureDP(1), runs=20_000)
    assert isinstance(found, Audit)
    assert not found.refuted
    assert found.confidence == 1 - Fraction(1, 10**9)
    assert (found.delta, found.claimed) == (0, 1.0)
    assert 0.7 < found.epsilon < 1
    assert [point.epsilon for point in found.points] == [Fraction(1, 2), 1]
    assert all(point.found <= point.claimed for point in found.points)
    (attack,) = found.attacks
    assert (attack.what, attack.runs) == ("a row added", 20_000)
    assert found.not_audited == ()
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["epsilon_found"] == found.epsilon
    assert shown["plan_digest"] == ADDED.agg(dp.count()).digest
    assert shown["profile"][0].keys() == {"epsilon", "delta_claimed", "delta_found", "attack"}


@pytest.mark.slow
def test_a_table_that_is_drawn_anew_in_every_run_has_a_hundredth_of_the_runs():
    resized = REPLACED.impute(FILLED).resize(50, proportion="0.5").group_by("g").agg(dp.count())
    found = audit(resized, dp.PureDP(30), runs=40_000)
    assert not found.refuted
    assert [attack.runs for attack in found.attacks] == [400]
    assert found.epsilon > 0  # half of the time the row of one person shows itself


def test_more_than_is_claimed_is_refuted_at_a_point_or_at_delta():
    point = Point(Fraction(1), claimed=0.1, found=0.1, attack=1)
    assert not point.refuted
    assert replace(point, found=0.11).refuted
    honest = Audit("", dp.PureDP(1), Fraction(1), Fraction(0), 1.0, 1.0, (point,), (Attack("", 1, 1.0, (0.1,), ""),), ())
    assert not honest.refuted
    assert replace(honest, epsilon=1.001).refuted
    assert replace(honest, points=(replace(point, found=0.11),)).refuted
    assert replace(honest, claimed=inf).to_json()["epsilon_claimed"] is None


def test_the_profile_is_tested_where_it_is_asked_for():
    found = audit(ADDED.agg(dp.count()), dp.GDP(1), runs=2000, epsilons=["1.5", 1, 1])
    assert [point.epsilon for point in found.points] == [1, Fraction(3, 2)]


def test_the_noise_beside_published_totals_is_that_of_these_totals():
    request = REPLACED.group_by("g", "f").agg(dp.count())
    found = audit(request, dp.PureDP(1), invariants=dp.Totals("g"), totals={"g": {"x": 100}}, runs=2000)
    assert not found.refuted
    assert all("g=x" in one.what and "g=y" not in one.what for one in found.attacks)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 10}, "runs=10: must be at least 1000"),
        ({"runs": 10**9}, "runs=1000000000: must be at most 20000000"),
        ({"runs": "many"}, "runs='many': must be a whole number"),
        ({"runs": True}, "runs=True: must be a whole number"),
        ({"epsilons": []}, "must be a list of 1 to 100 numbers"),
        ({"epsilons": "1"}, "must be a list of 1 to 100 numbers"),
        ({"epsilons": ["0.1"]}, "epsilons=0.1: must be between 1/2 and 100"),
        ({"epsilons": [float("nan")]}, "epsilons"),
        ({"spend": 1}, "budget=1: must be PureDP"),
        ({"spend": dp.PureDP(0)}, "must be greater than 0"),
        ({"request": "count"}, "request='count': must be a request made with table.agg"),
        ({"totals": {"g": {"x": 1}}}, "totals: are given without invariants"),
        ({"invariants": dp.Totals("g")}, "nobody can be added or removed"),
    ],
)
def test_wrong_arguments_are_named_before_any_work(arguments, message, monkeypatch):
    monkeypatch.setattr(package.auditing, "audit_quote", None)
    request = arguments.pop("request", ADDED.agg(dp.count()))
    spend = arguments.pop("spend", dp.PureDP(1))
    with pytest.raises((ArgumentError, PlanError)) as refused:
        audit(request, spend, **arguments)
    assert message in str(refused.value)


def test_what_is_public_anyway_is_refused_as_by_a_quote():
    with pytest.raises(PlanError, match="public already"):
        audit(REPLACED.agg(dp.count()), dp.PureDP(1))


# What is left out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("add", [dp.AddRemove(), dp.ReplaceOne(rows=20)], ids=str)
def test_noise_that_tells_an_audit_nothing_is_left_out_and_named(add):
    asked = quote(dp.Table(SCHEMA, add).agg(dp.count("v"), dp.sum("v", nulls="skip")), dp.PureDP(1))
    other = replace(asked.measured[1], law=ExponentialQuantiles(5, 1, (Fraction(1, 2),), Fraction(1)))
    found = audit_quote(replace(asked, measured=(asked.measured[0], other)), runs=2000)
    assert found.not_audited == (f"not audited: {other.query.words()}",)
    assert found.attacks
    with pytest.raises(PlanError, match="nothing of the request can be audited; not audited: "):
        audit_quote(replace(asked, measured=(other,)), runs=2000)


def test_the_kernel_is_given_what_a_release_would_give_it():
    """The quote's own queries, spend and plan, and the laws of the quote themselves where cells are independent."""
    asked = quote(ADDED.agg(dp.count(), dp.sum("v", nulls="skip")), dp.PureDP(1))
    seen = []

    def noisy(quoted, exact, bits):
        seen.append(quoted)
        return noisy_answers(quoted, exact, bits)

    audit_quote(asked, runs=2000, kernel=Kernel(noisy=noisy))
    for quoted in seen:
        assert quoted.plan is asked.plan
        assert all(one.law is other.law for one, other in zip(quoted.measured, asked.measured, strict=True))


def test_an_answer_that_depends_on_nothing_random_is_not_drawn_twice():
    """Without resampling the exact answers are found once for each data set, and every run has noise of its own."""
    asked, calls, drawn = quote(ADDED.agg(dp.count()), dp.PureDP("0.001")), [], []

    def exact(quoted, cubes, bits):
        calls.append(cubes)
        return Kernel().exact(quoted, cubes, bits)

    def noisy(quoted, answers, bits):
        drawn.append(noisy_answers(quoted, answers, bits)[0])
        return [drawn[-1]]

    audit_quote(asked, runs=4000, kernel=Kernel(exact, noisy))
    assert len(calls) < 20
    assert len(np.concatenate(drawn)) >= 8000
    assert len(np.unique(np.concatenate(drawn))) > 3000
