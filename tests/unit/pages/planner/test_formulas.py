"""What the page computes is what the quote says, or on its careful side, wherever its controls stand."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

import discreet as dp
from discreet.pages.planner import Planned, Scene, planner_document
from discreet.pages.planner.document import Chosen
from discreet.pages.planner.releases import _resize
from discreet.plan.plan import resize_of
from discreet.privacy import coordinates
from discreet.quotes.allocate import quote
from discreet.quotes.whole import can_be_assumed
from discreet.statistics.registry import by_word
from discreet.totals.exact_totals import exact_totals_of

ROWS = 3000
SCHEMA = dp.Schema(
    s=dp.Category([f"s{k}" for k in range(6)]),
    sex=dp.Category(["F", "M"]),
    v=dp.Number(0, 100, "0.5"),
    w=dp.Number(-5, 90),
    u=dp.Number(0, 20),
    z=dp.Number(2, 9),
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
    "copied": FILLED_PRIVATE.resize(2500, proportion="1.5").group_by("s").agg(dp.count(), dp.mean("v")),
    "copied sum": FILLED_PRIVATE.resize(2500, proportion="1.5").group_by("s").agg(dp.count(), dp.sum("v")),
    "resized variance": FILLED.resize(2500, proportion="0.9").agg(dp.std("w")),
}
BESIDE = {
    "lattice": WHOLE.group_by("s", "sex").agg(dp.count()),
    "mean": WHOLE.group_by("s").agg(dp.mean("v"), dp.count()),
    "resized": WHOLE.impute({"sex": dp.Weights({"F": 1})}).resize(2500, proportion="0.4").group_by("sex").agg(dp.count()),
}
BUDGETS = [dp.PureDP(1), dp.ZCDP("0.5"), dp.GDP(1), dp.ApproxDP(1, "1e-6")]
NONE = (Scene("", None),)


def document(request, spend, scenes=NONE):
    first = quote(request, spend, scenes[0].beside)
    chosen = Chosen(
        dataset="d",
        neighbours=request.neighbours,
        budget=spend,
        remaining=coordinates(spend),
        frozen=False,
        report_delta=Fraction(1, 10**9),
        totals=("the totals",) * len(scenes[0].on),
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


def settings(found, rng, many, *, typed):
    """States of the controls: the first one as the plan is, the others by chance: where sliders stand, or typed amounts."""
    (release,) = found["releases"]
    yield {}
    for _ in range(many):
        low, high = release["ends"]
        state = {"spend": f"{low * (high / low) ** rng.random():.3g}" if typed else rng.choice(release["positions"])}
        if release["resize"]:
            state["rows"] = str(rng.choice(release["resize"]["stops"]))
            state["proportion"] = rng.choice(release["resize"]["proportions"])
        yield state


def check(page, request, spend, scenes=NONE, *, many=4, typed=False):
    """Every error, cost and advertised guarantee of the page against the quote; gives how far above it they are at most."""
    found = document(request, spend, scenes)
    opened = page(found)
    rng, loosest, at = random.Random(1), 1.0, {scene.on: scene.beside for scene in scenes}  # noqa: S311 (positions)
    for changes in settings(found, rng, many, typed=typed):
        for on, totals_beside in at.items():
            opened.state["on"] = on
            opened.state["releases"][0] |= changes
            chosen = opened.state["releases"][0]
            plan = request
            if resize_of(plan) is not None:
                plan = _resize(plan, int(chosen["rows"]), Fraction(chosen["proportion"]))
            told, truth = opened.outcome(), quote(plan, of_amount(spend, Fraction(chosen["spend"])), totals_beside)
            assert not told["refused"]
            assert told["sizes"] == [size.rows for size in truth.sizes]
            pairs = list(zip(flat(told["errors"]), flat(errors_of(truth)), strict=True))
            if totals_beside is not None:
                pairs.append((float(told["advertised"]), float(coordinates_number(truth.advertised))))
            for shown, exactly in pairs:
                assert shown >= exactly * (1 - 1e-9), (chosen, on, pairs)
                loosest = max(loosest, shown / exactly if exactly else 1.0 + shown)
            if not changes:
                assert loosest <= 1 + 1e-6, "the plan as it is has its own quote"
    return loosest


def errors_of(found):
    """For each statistic the error of a quote in a group of each size."""
    by_size = [found.errors(size) for size in found.sizes]
    return [[errors[line.statistic.name] for errors in by_size] for line in found.lines]


def flat(errors):
    return [error for sizes in errors for error in sizes]


def coordinates_number(spend):
    return spend.mu if isinstance(spend, dp.GDP) else coordinates(spend)[0]


@pytest.mark.one_in(9)
@pytest.mark.parametrize("spend", BUDGETS[:3], ids=str)
@pytest.mark.parametrize("name", ["counts", "moments", "one number", "together"])
def test_where_sliders_stand_errors_are_the_quote(page, name, spend):
    assert check(page, REQUESTS[name], spend, many=8) <= 1 + 1e-6


SKIP = {"nulls": "skip"}
EVERY = {
    "count": [dp.count("v")],
    "share": [dp.share()],
    "sum": [dp.sum("v", **SKIP)],
    "mean": [dp.mean("w", **SKIP)],
    "weighted_sum": [dp.weighted_sum("v", dp.Weight("u", most=20), **SKIP)],
    "weighted_mean": [dp.weighted_mean("v", dp.Weight("u", most=20), **SKIP)],
    "weighted_share": [dp.weighted_share(dp.Weight("u", most=20), design=dp.PoissonDesign(), **SKIP)],
    "weighted_ratio": [dp.weighted_ratio("v", "z", dp.Weight("u", most=20), **SKIP)],
    "variance": [dp.variance("v", **SKIP), dp.variance("w", interval="joint", **SKIP)],
    "std": [dp.std("v", **SKIP), dp.std("w", interval="joint", **SKIP)],
    "covariance": [dp.covariance("v", "w", **SKIP)],
    "correlation": [dp.correlation("v", "w", **SKIP)],
    "regression": [dp.regression("v", ["w"], **SKIP)],
    "means": [dp.means(["v", "w"], **SKIP)],
    "correlations": [dp.correlations(["v", "w"], **SKIP)],
    "principal_components": [dp.principal_components(["v", "w"], **SKIP)],
    "median": [dp.median("v", **SKIP), dp.median("w", interval="chosen", **SKIP)],
    "quantiles": [dp.quantiles("v", ["1/4", "3/4"], interval="chosen", **SKIP)],
    "histogram": [dp.histogram("w", [0, 20, 50])],
    "tables": [dp.tables(["s"], ["sex"])],
}


def test_every_statistic_is_compared_with_its_quote():
    of_persons = {"persons", "counted_in_full", *(f"{word}_per_person" for word in ("sum", "mean", "variance", "std"))}
    assert EVERY.keys() == by_word().keys() - of_persons - {"agreeing_areas"}


def test_the_errors_of_areas_are_the_quote(page):
    areas = {"state": ["b", "a", "b"], "county": ["9", "1", "5"]}
    schema = dp.Schema(area=dp.Hierarchy(areas, levels=["state", "county"]), sex=SCHEMA["sex"])
    asked = dp.Table(schema, dp.AddRemove()).agg(dp.agreeing_areas("area", by=[[], ["sex"]]))
    assert check(page, asked, dp.ZCDP("0.5"), many=3) <= 1 + 1e-6


@pytest.mark.parametrize("spend", [dp.ZCDP("0.5"), dp.PureDP(1), dp.ApproxDP(1, "1e-6")])
def test_the_errors_of_persons_are_the_quote(page, spend):
    table = dp.Table(dp.Schema(p=dp.Identifier(), sex=SCHEMA["sex"], v=SCHEMA["v"]), dp.AddRemove(person="p"))
    held = table.bound(groups=1, rows=3).group_by("sex")
    each = {"per_person": (0, 30)}
    for asked in (held.agg(dp.persons(), dp.count()), held.agg(dp.sum("v", **each), dp.mean("v", **each))):
        assert check(page, asked, spend, many=3) <= 1 + 1e-6


@pytest.mark.one_in(27)
@pytest.mark.parametrize("private", [False, True], ids=["n public", "n private"])
@pytest.mark.parametrize("word", EVERY)
def test_the_errors_of_every_statistic_are_the_quote(page, word, private):
    table = dp.Table(SCHEMA, dp.AddRemove() if private else dp.ReplaceOne(rows=ROWS))
    asked = table if word == "tables" else table.group_by("sex")
    assert check(page, asked.agg(*EVERY[word]), dp.ZCDP("0.5"), many=3) <= 1 + 1e-6


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "spend"), [("sum", BUDGETS[1]), ("quantiles", BUDGETS[2]), ("moments", BUDGETS[3])], ids=str
)
def test_typed_amounts_are_on_the_careful_side(page, name, spend):
    # In a group of ten rows an error grows faster than the spend shrinks.
    assert check(page, REQUESTS[name], spend, typed=True) <= 1.4


@pytest.mark.one_in(10)
@pytest.mark.parametrize("spend", BUDGETS[:2], ids=str)
@pytest.mark.parametrize("name", ["resized", "copied", "resized variance"])
def test_n_and_p_of_a_resize_are_the_quote(page, name, spend):
    assert check(page, REQUESTS[name], spend, many=6) <= 1 + 1e-6


@pytest.mark.one_in(2)
@pytest.mark.parametrize("spend", [dp.ZCDP("0.5"), dp.PureDP(1)])
def test_the_errors_of_what_each_person_has_are_the_quote(page, spend):
    schema = dp.Schema(p=dp.Identifier(), sex=SCHEMA["sex"], v=SCHEMA["v"])
    table = dp.Table(schema, dp.AddRemove(person="p"))
    each = dp.sum("v", per_person=(0, 50)), dp.mean("v", per_person=(0, 50)), dp.share()
    assert check(page, table.bound(groups=1).group_by("sex").agg(*each), spend, many=3) <= 1 + 1e-6
    persons = table.per_person(visits=dp.rows(0, 20), sex=dp.only("sex"))
    assert check(page, persons.group_by("sex").agg(dp.mean("visits", **SKIP)), spend, many=3) <= 1 + 1e-6


def test_half_and_twice_of_a_position_are_the_quote_too(page):
    """They stand in the page beside each error."""
    opened = page(document(REQUESTS["counts"], BUDGETS[1]))
    for position in opened.document["releases"][0]["positions"]:
        for factor in (Fraction(1, 2), 2):
            amount = Fraction(position) * factor
            opened.state["releases"][0]["spend"] = str(amount)
            wanted = flat(errors_of(quote(REQUESTS["counts"], dp.ZCDP(amount))))
            shown = flat(opened.outcome()["errors"])
            assert all(error <= told <= error * (1 + 1e-6) for told, error in zip(shown, wanted, strict=True))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "totals", "spend"),
    [
        ("lattice", dp.Margins(["s"], ["sex"]), BUDGETS[1]),
        ("mean", dp.Totals("s"), BUDGETS[0]),
        ("mean", dp.Totals("s"), BUDGETS[3]),
        ("resized", dp.Totals("s"), BUDGETS[0]),
        ("resized", dp.Totals("s"), BUDGETS[1]),
    ],
    ids=str,
)
def test_switching_exact_totals_on_and_off_is_the_quote(page, name, totals, spend):
    scenes = (Scene("1", exact_totals_of(totals, SCHEMA, None, ROWS)), Scene("0", None))
    assert check(page, BESIDE[name], spend, scenes, many=3) <= 1 + 1e-6


@pytest.mark.exhaustive
@pytest.mark.parametrize("spend", BUDGETS, ids=str)
@pytest.mark.parametrize("name", REQUESTS)
def test_no_position_of_the_controls_promises_too_much(page, name, spend):
    assert check(page, REQUESTS[name], spend, many=60, typed=True) <= 2.01


@pytest.mark.parametrize("spend", BUDGETS[1:3], ids=str)
def test_epsilon_is_rounded_up_and_by_little(page, spend):
    opened = page(document(REQUESTS["one number"], spend))
    rng = random.Random(2)  # noqa: S311 (amounts)
    for _ in range(40):
        amount = f"{10 ** rng.uniform(-2, 1):.6g}"
        shown, exactly = opened.call(f"epsilonOf(plan, {amount})"), type(spend)(amount).epsilon_at("1e-9")
        assert exactly <= shown <= exactly * 1.03
    assert opened.call("epsilonOf(plan, 1e9)") == "Infinity", "beyond the table there is no bound"


def test_the_charge_adds_up_exactly(page):
    opened = page(document(REQUESTS["one number"], dp.ZCDP("0.3")))
    opened.document["releases"] *= 3
    opened._engine.eval("plan.releases = [plan.releases[0], plan.releases[0], plan.releases[0]]")
    opened.state["releases"] = [{"spend": "0.1"} for _ in range(3)]
    assert opened.call("charge(plan, state.releases.map((_, k) => outcome(plan, state, k)))") == [["3", "10"]]
    assert (
        opened.call("fits(charge(plan, state.releases.map((_, k) => outcome(plan, state, k))), left(plan, state))") is True
    )
    opened.state["releases"][0]["spend"] = "0.1000000000000000000000001"
    assert (
        opened.call("fits(charge(plan, state.releases.map((_, k) => outcome(plan, state, k))), left(plan, state))") is False
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "meant"),
    [("0.1", "0.1"), (" 1/3 ", "1/3"), ("2e-7", "0.0000002"), (".5", "0.5"), ("5.", "5"), ("1E3", "1000"), ("010/4", "2.5")],
)
def test_amounts_are_read_as_the_plan_reads_them(page, text, meant):
    opened = page(document(REQUESTS["one number"], dp.ZCDP(1)))
    assert opened.call(f"written(read({text!r}))") == meant
    assert abs(opened.call(f"double(read({text!r}))") - float(Fraction(meant))) <= 1e-15 * float(Fraction(meant))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", ["", "-1", "1/0", "1e9999", "0x10", "1_000", "NaN", ".", "1,5", "e5"])
def test_what_is_no_amount_is_refused(page, text):
    assert page(document(REQUESTS["one number"], dp.ZCDP(1))).call(f"read({text!r})") is None


def test_what_a_request_is_refused_for_is_said(page):
    request = WHOLE.group_by("s").agg(dp.count())
    scenes = (Scene("0", None), Scene("1", exact_totals_of(dp.Totals("s"), SCHEMA, None, ROWS)))
    opened = page(document(request, dp.ZCDP(1), scenes))
    assert not opened.outcome()["refused"]
    opened.state["on"] = "1"
    assert "public already" in opened.outcome()["refused"]


def planned_of(*spends, budget="1", measure=dp.ZCDP):
    """The document of several releases, and their spends as the budget's measure."""
    chosen = Chosen(
        dataset="d", neighbours=WHOLE.neighbours, budget=measure(budget), remaining=coordinates(measure(budget)),
        frozen=False, report_delta=Fraction(1, 10**9), totals=(), scenes=NONE, kind="toml", written=("",),
    )  # fmt: skip
    request = WHOLE.group_by("s").agg(dp.count())
    return planner_document(chosen, [Planned(f"r{k}", quote(request, measure(spend))) for k, spend in enumerate(spends)])


@pytest.mark.one_in(6)
@pytest.mark.parametrize("measure", [dp.ZCDP, dp.PureDP, dp.GDP])
@pytest.mark.parametrize("spends", [("0.1", "0.3"), ("1/3", "1/7", "0.001"), ("0.9", "0.9")])
def test_what_is_shared_out_takes_the_rest_in_the_same_proportions_and_fits(page, measure, spends):
    opened = page(planned_of(*spends, measure=measure))
    shared = [Fraction(one) for one in opened.call("shareOut(plan, state)")]
    power = 2 if measure is dp.GDP else 1
    total = sum(one**power for one in shared)
    assert total <= 1, "what is written fits, exactly"
    assert total >= Fraction("0.997")
    for one, was in zip(shared, spends, strict=True):
        assert abs(one / Fraction(was) / (shared[0] / Fraction(spends[0])) - 1) <= Fraction("0.001")


def test_pairs_are_shared_out_in_both_coordinates(page):
    found = document(REQUESTS["counts"], dp.ApproxDP("0.5", "1e-7"))
    found |= {"budget": "2", "remaining": ["2", "0.0000002"], "budget_delta": "0.0000002"}
    assert page(found).call("shareOut(plan, state)") == ["1"], "δ is used up first"


def test_nothing_is_shared_out_where_nothing_is_left_or_open(page):
    found = planned_of("0.1")
    assert page({**found, "frozen": True, "remaining": ["0"]}).call("shareOut(plan, state)") is None
    stored = [{**one, "stored": True} for one in found["releases"]]
    assert page({**found, "releases": stored}).call("shareOut(plan, state)") is None


def test_one_factor_moves_every_spend_but_those_of_stored_releases(page):
    found = planned_of("0.1", "0.3", "1/3")
    found["releases"][1]["stored"] = True
    assert page(found).call("byFactor(plan, ['0.1', '0.3', '1/3'], read('1.5'))") == ["0.15", "0.3", "0.5"]


@pytest.mark.parametrize("value", ["2", "0.5", "1/3", "1e-12", "123456789.123", "1", "1e30"])
def test_roots_are_rounded_down_and_by_little(page, value):
    opened = page(planned_of("0.1"))
    exactly = Fraction(value)
    root = Fraction(*map(int, opened.call(f"rootDown(lowest(read('{value}')))")))
    assert root**2 <= exactly <= (root + Fraction(1, 10**12)) ** 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("value", "down"), [("0.123456", "0.1234"), ("1/3", "0.3333"), ("98765", "98760"), ("2e-7", "0.0000002")]
)
def test_amounts_are_cut_to_four_digits(page, value, down):
    assert page(planned_of("0.1")).call(f"written(downTo(read('{value}'), 4))") == down


def test_sizes_of_groups_are_those_of_the_plan_or_round_ones():
    (known,) = document(WHOLE.group_by("s").agg(dp.mean("v")), dp.ZCDP(1))["releases"]
    assert (known["groups"], known["by"], known["curves"][0]["sizes"]) == (7, ["s"], [ROWS // 7])
    (private,) = document(REQUESTS["moments"], dp.ZCDP(1))["releases"]
    assert private["curves"][0]["sizes"] == [10, 100, 1000, 10000]
    (expected,) = [Planned("r", quote(REQUESTS["moments"], dp.ZCDP(1), expect=(150,)))]
    assert [size.rows for size in expected.quote.sizes] == [150]


@pytest.mark.parametrize(("spend", "large"), [("9", False), ("11", True)])
def test_a_large_epsilon_is_known_to_the_page(page, spend, large):
    opened = page(planned_of(spend, budget="20", measure=dp.PureDP))
    assert (opened.call("epsilonOfCharge(plan, charge(plan, [outcome(plan, state, 0)]))") > 10) is large


@pytest.mark.slow
def test_a_wrong_look_up_would_be_noticed(page, engine):
    """The comparison is sharp: an error that is a hundredth too small, or that of the next setting, does not pass."""
    for function, changed in (
        ("worse", "(...all) => right(...all) * 0.99"),
        ("worse", "(at, values, x) => right(at, values, 1.6 * x)"),
        ("stopOf", "(resize, what, chosen) => (right(resize, what, chosen) + 1) % 3"),
    ):
        engine.eval(f"var right = {function}; {function} = {changed}")
        try:
            with pytest.raises(AssertionError):
                check(page, REQUESTS["resized"], BUDGETS[0], many=6)
        finally:
            engine.eval(f"{function} = right")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.1", "ε = 0.1"), ("0.9e-6", "ε = 9e-7"), ("1/3", "ε ≤ 0.333334"), ("12", "ε = 12"), ("0", "ε = 0"),
        ("0.1000000000001", "ε ≤ 0.100001"), ("999999.5", "ε ≤ 1000000"), ("123456789", "ε ≤ 123457000"),
    ],
)  # fmt: skip
def test_amounts_are_never_shown_below_themselves(page, value, shown):
    assert page(document(REQUESTS["one number"], dp.ZCDP(1))).call(f"amount('ε', read({value!r}))") == shown


# Whole errors -----------------------------------------------------------------------------------------------------------

CLAMPED = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS)).clamp({"v": (10, 80), "w": (-5, 30)})
MOVED = {
    "clamped": CLAMPED.agg(
        dp.mean("v", **SKIP), dp.sum("w", **SKIP), dp.count("v"), dp.std("v", **SKIP), dp.median("v", **SKIP)
    ),
    "imputed": CLAMPED.impute({"v": dp.Uniform()}).group_by("sex").agg(dp.mean("v"), dp.sum("v"), dp.count("v")),
    "private": PRIVATE.clamp({"v": (10, 80)}).group_by("s").agg(dp.count(), dp.mean("v"), dp.sum("w")),
    "resized": FILLED.resize(2500, proportion="0.4").agg(dp.count(), dp.mean("v"), dp.sum("w")),
    "originals": CLAMPED.agg(dp.mean("v", **SKIP)).original(),
    "few rows": dp.Table(SCHEMA, dp.AddRemove()).clamp({"v": (10, 80)}).agg(dp.mean("v", **SKIP)),
    "together": CLAMPED.impute({"v": dp.Uniform()}).agg(dp.mean("v"), dp.sum("v")).simultaneous(),
}


def assumptions(plan, nulls, cut):
    """What the two sliders mean, as `Quote.assuming` takes it; rows without a value do not count where they are left out."""
    about = can_be_assumed(plan)
    imputed = {name: nulls if not plan.facts[name].nullable else 0 for name in about}
    ends = {end: {name: cut for name, names in about.items() if end in names} for end in ("above", "below")}
    return {"nulls": imputed, **{end: found for end, found in ends.items() if found}}


@pytest.mark.one_in(20)
@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("spend", BUDGETS[:2], ids=str)
def test_whole_errors_are_those_of_the_quote_at_every_position(page, name, spend):
    request = MOVED[name]
    found = document(request, spend)
    (facts,) = found["whole"]
    opened, rng = page(found), random.Random(4)  # noqa: S311 (positions)
    compared = 0
    for changes in settings(found, rng, 4, typed=False):
        opened.state["releases"][0] |= changes
        chosen = opened.state["releases"][0]
        plan = (
            request if resize_of(request) is None else _resize(request, int(chosen["rows"]), Fraction(chosen["proportion"]))
        )
        quoted = quote(plan, of_amount(spend, Fraction(chosen["spend"])))
        for _ in range(4):
            assumed = {key: rng.randrange(len(facts[key])) for key in ("nulls", "cut")}
            nulls, cut = (Fraction(facts[key][place]) for key, place in assumed.items())
            truth = quoted.assuming(**assumptions(plan, nulls, cut))
            shown = opened.call(f"wholeErrors(plan, state, {json.dumps(assumed)}, 0, outcome(plan, state, 0).errors)")
            for line, sizes in zip(quoted.lines, shown, strict=True):
                for size, parts in zip(quoted.sizes, sizes, strict=True):
                    one = truth.of(line.statistic.name, size.rows)
                    if one.whole is None:
                        assert parts is None
                        continue
                    assert one.whole * (1 - 1e-9) <= float(parts["whole"]) <= one.whole * (1 + 1e-6), (one, parts)
                    assert float(parts["noise"]) == pytest.approx(one.noise, rel=1e-6)
                    compared += one.whole > one.noise
    assert compared, "something comes to the noise somewhere"


def test_a_release_whose_steps_move_no_number_has_no_whole_error(page):
    for name in ("counts", "one number"):
        found = document(REQUESTS[name] if name == "counts" else PRIVATE.agg(dp.count()), BUDGETS[1])
        assert "whole" not in found
        assert page(found).call("wholeErrors(plan, state, null, 0, [[1]])") is None


@pytest.mark.slow
def test_tables_with_other_groups_or_private_rows_have_none():
    assert "whole" not in document(REQUESTS["resized"], BUDGETS[0]), "the groups are imputed"
    private = FILLED_PRIVATE.resize(2500, proportion="1.5").agg(dp.mean("v"))
    assert "whole" not in document(private, BUDGETS[0]), "the rows before the resize are private"
