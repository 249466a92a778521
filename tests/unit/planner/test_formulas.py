"""What the page computes is what the quote says, or on its careful side, wherever its controls stand."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import discreet as dp
from discreet.allocate import quote
from discreet.invariants.beside import beside
from discreet.plan import resize_of
from discreet.planner import Planned, Scene, planner_document
from discreet.planner.document import Chosen
from discreet.planner.releases import _resized
from discreet.privacy import coordinates

ROWS = 3000
SCHEMA = dp.Schema(
    s=dp.Category([f"s{k}" for k in range(6)]), sex=dp.Category(["F", "M"]), v=dp.Number(0, 100, "0.5"), w=dp.Number(-5, 90)
)
WHOLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS)).impute({"v": dp.Uniform(), "w": dp.Uniform()})
FILLED = WHOLE.impute({"s": dp.Weights({"s1": 1}), "sex": dp.Weights({"F": 1})})
PRIVATE = dp.Table(SCHEMA, dp.AddRemove(rows_per_person=2)).impute({"v": dp.Uniform(), "w": dp.Uniform()})
FILLED_PRIVATE = PRIVATE.impute({"s": dp.Weights({"s1": 1}), "sex": dp.Weights({"F": 1})})
REQUESTS = {
    "counts": WHOLE.group_by("s").agg(dp.count(), dp.share(), dp.histogram("w", [0, 20, 50])),
    "moments": PRIVATE.group_by("s").agg(dp.count(), dp.mean("v"), dp.std("w"), dp.variance("v")),
    "one number": WHOLE.agg(dp.std("w")),
    "together": PRIVATE.group_by("s").agg(dp.count(), dp.mean("v")).simultaneous(),
    "sum": PRIVATE.group_by("sex").agg(dp.count(), dp.sum("w")),
    "quantiles": WHOLE.group_by("sex").agg(dp.median("w"), dp.count()),
    "resized": FILLED.resize(2500, proportion="0.4").group_by("s").agg(dp.count(), dp.mean("v")),
    "copied": FILLED_PRIVATE.resize(2500, proportion="1.5").group_by("s").agg(dp.count(), dp.sum("v")),
    "resized variance": FILLED.resize(2500, proportion="0.9").agg(dp.std("w")),
}
BESIDE = {
    "lattice": WHOLE.group_by("s", "sex").agg(dp.count()),
    "mean": WHOLE.group_by("s").agg(dp.mean("v"), dp.count()),
    "resized": WHOLE.impute({"sex": dp.Weights({"F": 1})}).resize(2500, proportion="0.4").group_by("sex").agg(dp.count()),
}
BUDGETS = [dp.PureDP(1), dp.ZCDP("0.5"), dp.GDP(1), dp.ApproxDP(1, "1e-6")]
NONE = (Scene("", None),)


def document(request, spend, scenes=NONE, totals=()):
    first = quote(request, spend, scenes[0].beside)
    chosen = Chosen(
        dataset="d",
        neighbours=request.neighbours,
        budget=spend,
        remaining=coordinates(spend),
        frozen=False,
        report_delta=Fraction(1, 10**9),
        totals=totals,
        scenes=scenes,
        kind="toml",
        written=("",),
    )
    return planner_document(chosen, [Planned("r", first)])


def of_amount(spend, amount):
    """The measure of a spend whose number is `amount`."""
    if isinstance(spend, dp.ApproxDP):
        return dp.ApproxDP(amount, spend.delta * amount / spend.epsilon)
    return type(spend)(amount)


def settings(found, rng, many):
    """States of the controls: the first one as the plan is, the others by chance."""
    (release,) = found["releases"]
    yield {}
    for _ in range(many):
        low, high = release["ends"]
        state = {"spend": f"{low * (high / low) ** rng.random():.3g}"}
        if release["resize"]:
            stops, parts = release["resize"]["stops"], release["resize"]["proportions"]
            state["rows"] = str(rng.choice(stops) if stops else rng.randint(300, 20000))
            state["proportion"] = rng.choice(parts) if parts else f"{rng.randint(1, 60) / 20:g}"
        yield state


def check(page, request, spend, scenes=NONE, totals=(), many=4):
    """Every error, cost and advertised guarantee of the page against the quote; gives how far above it they are at most."""
    found = document(request, spend, scenes, totals)
    opened = page(found)
    rng, loosest, at = random.Random(1), 1.0, {scene.on: scene.beside for scene in scenes}
    for changes in settings(found, rng, many):
        for on, totals_beside in at.items():
            opened.state["on"] = on
            opened.state["releases"][0] |= changes
            chosen = opened.state["releases"][0]
            plan = request
            if resize_of(plan) is not None:
                plan = _resized(plan, int(chosen["rows"]), Fraction(chosen["proportion"]))
            told, truth = opened.outcome(), quote(plan, of_amount(spend, Fraction(chosen["spend"])), totals_beside)
            assert not told["refused"]
            pairs = list(zip(told["errors"], (error for _, error in truth.expected), strict=True))
            if totals_beside is not None:
                pairs.append((float(told["advertised"]), float(coordinates_number(truth.advertised))))
            for shown, exactly in pairs:
                assert shown >= exactly * (1 - 1e-9), (chosen, on, pairs)
                loosest = max(loosest, shown / exactly if exactly else 1.0 + shown)
            if not changes:
                assert loosest <= 1 + 1e-6, "the plan as it is has its own quote"
    return loosest


def coordinates_number(spend):
    return spend.mu if isinstance(spend, dp.GDP) else coordinates(spend)[0]


@pytest.mark.parametrize("spend", BUDGETS[:3], ids=str)
@pytest.mark.parametrize("name", ["counts", "moments", "one number", "together"])
def test_closed_forms_are_the_quote(page, name, spend):
    assert check(page, REQUESTS[name], spend, many=8) <= 1 + 1e-6


@pytest.mark.parametrize(("name", "spend"), [("sum", BUDGETS[1]), ("quantiles", BUDGETS[2]), ("moments", BUDGETS[3])], ids=str)
def test_tables_are_on_the_careful_side(page, name, spend):
    assert check(page, REQUESTS[name], spend) <= 1.3
