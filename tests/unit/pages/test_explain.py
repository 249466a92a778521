"""The chain of a quote in words: its numbers are those of the quote, and each scale follows from them."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, log
from pathlib import Path

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.mechanisms import worst
from discreet.mechanisms.sensitivity import Change, Sensitivity
from discreet.pages.explain import explain
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

SCHEMA = dp.Schema(sex=dp.Category(["F", "M"]), place=dp.Category(["a", "b"]), wage=dp.Number(0, 2000, 10))
ASK = (dp.count(), dp.mean("wage"))
BUDGETS = (dp.PureDP(1), dp.ApproxDP(1, "1e-6"), dp.ZCDP("0.5"), dp.GDP(1))
PLAN = plan_text("explained")


def quoted(spend, *, neighbours=None, resize=None, totals=None, ask=ASK):
    neighbours = neighbours or dp.ReplaceOne(rows=400)
    table = dp.Table(SCHEMA, neighbours).clamp({"wage": (0, 1500)}).impute({"wage": dp.Uniform()})
    if totals is None:
        table = table.impute({"sex": dp.Weights({"F": 1, "M": 1})})
    if resize is not None:
        table = table.resize(resize[0], proportion=resize[1])
    stand = None if totals is None else exact_totals_of(totals, SCHEMA, None, 400)
    return quote(table.group_by("sex").agg(*ask), spend, stand)


def part(told, title):
    (found,) = [one for one in told.parts if one.title == title]
    return "\n".join(found.lines)


def scale_of(one):
    """The parameter of the noise, computed from what the explanation says alone."""
    size, (parameter,) = one["sensitivity"], [Fraction(v) for k, v in one["guarantee"].items() if k != "kind"]
    return {
        "scale = Δ₁ / ε": lambda: size["l1"] / parameter,
        "σ² = Δ₂² / (2ρ)": lambda: size["l2_squared"] / (2 * parameter),
        "σ² = Δ₂² / μ²": lambda: size["l2_squared"] / parameter**2,
    }[one["formula"]]()


@pytest.mark.parametrize("spend", BUDGETS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("resize", [None, (500, "1.5"), (300, "0.5")])
@pytest.mark.parametrize("neighbours", [dp.ReplaceOne(rows=400), dp.AddRemove(rows_per_person=2)], ids=["replace", "add"])
def test_every_scale_follows_from_what_is_said(spend, resize, neighbours):
    asked = quoted(spend, neighbours=neighbours, resize=resize)
    facts = explain(asked).facts
    assert len(facts["queries"]) == len(asked.measured)
    for one in facts["queries"]:
        stated = Fraction(one["law"].get("scale", one["law"].get("variance")))
        assert abs(scale_of(one) / stated - 1) < Fraction(1, 10**9)
        halved = {**one, "sensitivity": {key: value / 2 for key, value in one["sensitivity"].items()}}
        assert abs(scale_of(halved) / stated - 1) > Fraction(1, 10)


@pytest.mark.parametrize("neighbours", [dp.ReplaceOne(rows=400), dp.AddRemove()], ids=["replace", "add"])
def test_the_worst_move_is_the_sensitivity_of_one_row(neighbours):
    asked = quoted(dp.ZCDP(1), neighbours=neighbours, ask=(dp.count(), dp.mean("wage"), dp.median("wage"), dp.std("wage")))
    for one, measured in zip(explain(asked).facts["queries"], asked.measured, strict=True):
        moves = Change(*(Sensitivity(**one[move]) for move in ("within", "across", "leaves")))
        assert worst(moves) == measured.ordinary == Sensitivity(**one["ordinary"])


def test_what_one_row_can_do_is_what_tables_that_differ_in_one_row_do():
    """A row has one of four values in two groups: the largest differences of the vectors, by brute force."""
    schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 3))
    table = dp.Table(schema, dp.ReplaceOne(rows=5)).impute({"v": dp.Uniform(), "g": dp.Weights({"x": 1, "y": 1})})
    asked = quote(table.group_by("g").agg(dp.count(), dp.sum("v")), dp.ZCDP(1))
    facts = {one["query"]: one for one in explain(asked).facts["queries"]}
    rows = [(group, value) for group in (0, 1) for value in range(4)]
    least, most = (int(end) for end in _range_of(explain(asked), "sum of v"))
    assert (least, most) == (-3, 3)  # steps of 2 around the middle of the range
    step = Fraction(most - least, 3)
    for name, f in (("rows", lambda _: 1), ("sum of v", lambda value: least + step * value)):
        for move, moved in (("within", False), ("across", True)):
            found = 0
            for old in rows:
                for new in rows:
                    if (old[0] != new[0]) == moved:
                        difference = [0, 0]
                        difference[old[0]] -= f(old[1])
                        difference[new[0]] += f(new[1])
                        found = max(found, sum(map(abs, difference)))
            assert facts[name][move]["l1"] == found, (name, move)


def _range_of(told, query):
    line = next(one for one in part(told, "what one row can change").splitlines() if one.startswith(f"{query}: "))
    words = line.split()
    return words[words.index("from") + 1], words[words.index("to") + 1]


def test_a_resize_shows_the_law_of_its_copies_and_what_is_amplified():
    pure = explain(quoted(dp.PureDP(1), neighbours=dp.AddRemove(), resize=(500, "1.5")))
    found = pure.facts["resize"]
    assert (found["copies"], found["rate"], found["most"]) == (2, "0.75", 2)
    assert found["law"] == [0.0625, 0.375, 0.5625]
    inner = float(Fraction(found["guarantee_of_the_resized_table"]["epsilon"]))
    outer = log(sum(p * exp(inner * k) for k, p in enumerate(found["law"])))
    assert 1 - 1e-6 < outer <= 1 + 1e-12
    assert log(sum(p * exp(1.01 * inner * k) for k, p in enumerate(found["law"]))) > 1
    steps = part(pure, "what each step does")
    assert "binomial(2, 0.75) (Theorem R2)" in steps
    assert "Amplified by sampling, ε' = log E e^(εK) (Theorem R3)" in steps
    for spend in (dp.ZCDP(1), dp.GDP(1)):
        steps = part(explain(quoted(spend, resize=(500, "1.5"))), "what each step does")
        assert "Not amplified" in steps
        assert "hypergeometric: 500 of 800 copies without replacement (Theorem R1)" in steps
    approximate = explain(quoted(dp.ApproxDP(1, "1e-6"), resize=(500, "1.5")))
    assert "Amplified by sampling" in part(approximate, "what each step does")


def sampled(spend, neighbours, rate=None, rows=None):
    table = dp.Table(SCHEMA, neighbours).impute({"wage": dp.Uniform(), "sex": dp.Weights({"F": 1, "M": 1})})
    return explain(quote(table.sample(rate, rows=rows).group_by("sex").agg(*ASK), spend))


def test_a_sample_shows_its_moves_its_law_and_what_is_amplified():
    each = sampled(dp.PureDP(1), dp.AddRemove(), "1/4")
    assert each.facts["sample"]["law"] == [0.75, 0.25]
    inner = float(Fraction(each.facts["sample"]["guarantee_of_the_sample"]["epsilon"]))
    assert 1 - 1e-6 < log(0.75 + 0.25 * exp(inner)) <= 1 + 1e-12
    steps = part(each, "what each step does")
    assert "compared by one move at a time: a row appears." in steps
    assert "Amplified by sampling, ε' = log E e^(εK) (Theorem R3)" in steps
    replaced = part(sampled(dp.PureDP(1), dp.ReplaceOne(rows=400), "1/4"), "what each step does")
    assert "a row is replaced, or appears: the larger effect counts" in replaced
    fixed = part(sampled(dp.ZCDP(1), dp.ReplaceOne(rows=400), rows=100), "what each step does")
    assert "a row is replaced.\n" in fixed
    assert "Not amplified" in fixed
    private = part(sampled(dp.PureDP(1), dp.AddRemove(), rows=100), "what each step does")
    assert "sampling amplifies nothing here" in private


def test_exact_totals_stand_in_the_chain():
    told = explain(quoted(dp.ZCDP(1), totals=dp.Totals("place")))
    assert told.facts["semi_adjacency"] == 2
    assert "exact totals of place" in part(told, "which tables are compared")
    assert "a = 2 rows" in part(told, "which tables are compared")
    for one in told.facts["queries"]:
        assert one["sensitivity"]["l2_squared"] == 4 * one["ordinary"]["l2_squared"]
    assert "Advertised, if nobody counted the totals: ρ = 0.25; effective: ρ = 1." in part(told, "what is guaranteed")


def test_rows_per_person_and_the_joint_factor_are_said():
    shown = str(explain(quoted(dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=400, rows_per_person=3))))
    assert "up to 3 rows" in shown
    assert "differ in at most 3 rows" in shown
    asked = quoted(dp.ZCDP(1))
    shown = part(explain(asked), "how the spend is divided")
    assert asked.joint == Fraction(3, 4)
    assert "0.75 is the largest, over the three moves of a row, of the sum over the queries of share" in shown


def test_steps_are_named_with_their_stability():
    shown = part(explain(quoted(dp.PureDP(1))), "what each step does")
    assert shown.count("(1-stable)") == 3
    assert "wage: values are moved into the range from 0 to 1,500" in shown
    plain = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()), dp.PureDP(1))
    assert part(explain(plain), "what each step does").startswith("None: the statistics describe the table as it is.")


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_the_command_explains_all_releases_or_one(plan):
    done = CliRunner().invoke(app, ["explain", "plan.toml"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("hours by gender (ρ = 0.1)\n  which tables are compared\n")
    assert "\npersons (ρ = 0.1)\n" in done.stdout
    assert "rounded Gaussian, σ² = Δ₂² / (2ρ) = 10 with Δ₁ = 2, Δ₂² = 2, ρ = 0.1" in done.stdout
    one = CliRunner().invoke(app, ["explain", "plan.toml", "--release", "persons"])
    assert one.stdout.startswith("persons (ρ = 0.1)\n")
    assert "hours" not in one.stdout
    assert sorted(path.name for path in plan.parent.iterdir()) == ["plan.toml"]


def test_the_command_gives_the_same_as_json(plan):
    done = CliRunner().invoke(app, ["explain", "plan.toml", "--json"])
    (first, second) = json.loads(done.stdout)["releases"]
    assert (first["name"], second["name"]) == ("hours by gender", "persons")
    assert second["queries"][0]["sensitivity"] == {"l1": 2, "l2_squared": 2}
    assert first["parts"][0]["title"] == "which tables are compared"


def test_an_unknown_release_is_refused_with_the_nearest_name(plan):
    done = CliRunner().invoke(app, ["explain", "plan.toml", "--release", "person"])
    assert done.exit_code == 2
    assert "did you mean 'persons'?" in done.stderr
