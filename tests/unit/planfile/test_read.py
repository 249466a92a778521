"""The plan file: what it means, and where an error is said to be."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import plan_text

import discreet as dp
from discreet import datasets
from discreet.errors import PlanError
from discreet.planfile.read import load_plan

from .plans import FULL, SMALL, changed, load, refused


def test_full_plan_means_the_same_as_the_python_calls(tmp_path: Path) -> None:
    plan = load(tmp_path, FULL)
    schema = dp.Schema(
        {
            "state": dp.Category(["Alabama", "Alaska", "Arizona"]),
            "sex": dp.Category(["F", "M"]),
            "age": dp.Number(0, 110),
            "wage": dp.Number("0", "2000", step="10"),
            "hired": dp.Date("2020-01-01", "2025-12-31"),
        }
    )
    neighbours = dp.ReplaceOne(rows=29501, rows_per_person=2)
    assert plan.schema == schema
    assert plan.neighbours == neighbours
    assert plan.budget == dp.ApproxDP("1.5", "1e-9")
    assert plan.report_delta == Fraction(1, 10**6)
    assert (plan.dataset, plan.source, plan.ledger) == (
        "wages-2025",
        str(tmp_path / "wages.parquet"),
        tmp_path / "budget.db",
    )

    laws = {"sex": dp.Weights({"F": 1, "M": "1.5"}), "age": dp.Normal(40, 15, 18, 100), "wage": dp.Uniform(100, 1000)}
    start = dp.Table(schema, neighbours)
    clamps = {"state": ["Alabama", "Alaska"], "wage": (0, 1500)}
    first = (
        start.clamp({**clamps, "hired": ("2020-01-01", "2024-12-31")})
        .impute({"state": dp.Weights({"Alaska": 1}), **laws, "hired": dp.Uniform()})
        .where({"age": (18, 65), "sex": ["F"]})
        .resize(30_000, proportion="0.9")
        .group_by("state", dp.bins("age", [18, 30, 50, 66]))
        .agg(
            dp.count(), dp.mean("wage", weight=2).alias("mean"), dp.sum("wage", nulls="skip"), dp.count("hired"),
        )
    )  # fmt: skip
    second = start.clamp(clamps).impute(laws).where({"sex": "M"}).sample("1/10").agg(dp.count(weight=3).alias("persons"))
    assert [order.request.digest for order in plan.orders] == [first.digest, second.digest]
    assert [order.name for order in plan.orders] == ["wages by state", "persons"]
    assert [order.spend for order in plan.orders] == [
        dp.ApproxDP("0.1", Fraction(1, 15) / 10**9),
        dp.ApproxDP("0.25", "1e-10"),
    ]


def test_every_statistic_means_the_same_as_the_python_call(tmp_path: Path) -> None:
    written = """statistics = [
        "count", "share", { sum = "age", weight = 2 }, { mean = "age" }, { std = "age" },
        { variance = "age", as = "spread" },
        { weighted_sum = "age", by = "wage", most = 1500, weight = 2 },
        { weighted_mean = "age", by = "wage", most = "1500", nulls = "skip", as = "weighed" },
        { weighted_share = "wage", most = 1500 },
        { median = "age", nulls = "skip", weight = 0.5 },
        { quantiles = "age", at = [1, "1/4", 0.9], as = "ages" },
        { histogram = "age", edges = [0, 18, 65], weight = "1/3", as = "bands" },
        { histogram = "hired", edges = [2020-01-01, "2021-01-01", 2025-12-31] },
        { tables = [["state", "sex"], [{ bins = "age", edges = [0, 50, 110] }, "sex"]], weight = 2, as = "margins" },
        { tables = { of = ["state", "sex"], ways = [1, 2] }, weights = [1, 2, 0.5], as = "all" },
        { tables = [["sex"]], errors = [10], as = "one" },
        { agreeing_tables = [["state"]], as = "earlier" },
    ]
    intervals = "simultaneous"
    """
    head, tail = FULL.split("group_by =", maxsplit=1)[0], FULL[FULL.index("where =") : FULL.rindex("[[release]]")]
    (order,) = load(tmp_path, head + written + tail).orders
    table = dp.Table(order.request.schema, order.request.neighbours, order.request.steps)
    expected = table.agg(
        dp.count(), dp.share(), dp.sum("age", weight=2), dp.mean("age"), dp.std("age"),
        dp.variance("age").alias("spread"),
        dp.weighted_sum("age", dp.Weight("wage", most=1500), weight=2),
        dp.weighted_mean("age", dp.Weight("wage", most=1500), nulls="skip").alias("weighed"),
        dp.weighted_share(dp.Weight("wage", most=1500)),
        dp.median("age", nulls="skip", weight="0.5"),
        dp.quantiles("age", [1, Fraction(1, 4), "0.9"]).alias("ages"),
        dp.histogram("age", [0, 18, 65], weight=Fraction(1, 3)).alias("bands"),
        dp.histogram("hired", [dt.date(2020, 1, 1), "2021-01-01", "2025-12-31"]),
        dp.tables(["state", "sex"], [dp.bins("age", [0, 50, 110]), "sex"], weight=2).alias("margins"),
        dp.tables(["state"], ["sex"], ["state", "sex"], weights=[1, 2, "0.5"]).alias("all"),
        dp.tables(*dp.ways(["sex"], 1), errors=[10]).alias("one"),
        dp.agreeing_tables(["state"]).alias("earlier"),
    ).simultaneous()  # fmt: skip
    assert order.request == expected
    assert order.request.digest == expected.digest


def test_errors_stand_in_the_place_of_a_spend(tmp_path: Path) -> None:
    orders = load(tmp_path, changed(FULL, "spend = 0.1", 'error = { count = 10, mean = "1/3" }')).orders
    assert [order.spend is None for order in orders] == [True, False]
    assert [order.error for order in orders] == [{"count": 10, "mean": Fraction(1, 3)}, None]
    assert orders[0].request == load(tmp_path, FULL).orders[0].request


@pytest.mark.parametrize(
    ("budget", "spend", "expected", "amount"),
    [
        ('measure = "pure-dp"\nepsilon = "1/3"', '"1/4"', dp.PureDP("1/3"), dp.PureDP("1/4")),
        ('measure = "pure-dp"\nepsilon = 1', "{ epsilon = 0.1 }", dp.PureDP(1), dp.PureDP("0.1")),
        ('measure = "zcdp"\nrho = 0.1', "0.1", dp.ZCDP("0.1"), dp.ZCDP("0.1")),
        ('measure = "zcdp"\nrho = 1_0.5', "1e-400", dp.ZCDP("10.5"), dp.ZCDP(Fraction(1, 10**400))),
        ('measure = "gdp"\nmu = 1', '{ mu = "0.5" }', dp.GDP(1), dp.GDP("0.5")),
        (
            'measure = "approx-dp"\nepsilon = 1\ndelta = 1e-9',
            '[0.5, "1e-10"]',
            dp.ApproxDP(1, "1e-9"),
            dp.ApproxDP("0.5", "1e-10"),
        ),
        ('measure = "approx-dp"\nepsilon = 2\ndelta = 1e-9', "1", dp.ApproxDP(2, "1e-9"), dp.ApproxDP(1, "5e-10")),
    ],
)
def test_budgets_and_spends_are_exact(tmp_path: Path, budget: str, spend: str, expected: object, amount: object) -> None:
    plan = load(tmp_path, changed(SMALL, 'measure = "zcdp"\nrho = 0.5', budget) + f"spend = {spend}\n")
    assert plan.budget == expected
    assert plan.orders[0].spend == amount


def test_a_single_release_may_take_all_that_remains(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL).orders[0].spend is None
    error = refused(tmp_path, SMALL + '[[release]]\nname = "other"\nstatistics = ["count"]\nspend = 0.1\n')
    assert "only a single release can take all that remains" in str(error)
    assert error.place == "plan.toml:16: release[0]"


def test_the_report_delta_has_a_default(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL).report_delta == Fraction(1, 10**9)


def test_paths_are_relative_to_the_folder_of_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a [1] folder"
    folder.mkdir()
    (folder / "sexes.txt").write_text("F\nM\n", encoding="utf-8")
    text = changed(SMALL, 'categories = ["F", "M"]', 'categories_file = "sexes.txt"')
    monkeypatch.chdir(tmp_path)
    (folder / "plan.toml").write_text(changed(text, "s.csv", "parts/*.csv"), encoding="utf-8")
    plan = load_plan(Path("a [1] folder") / "plan.toml")
    assert plan.schema["sex"] == dp.Category(["F", "M"])
    assert plan.ledger == Path("a [1] folder/l.db")
    assert plan.source == "a [[]1] folder/parts/*.csv", "brackets of the folder are no part of the glob"
    (folder / "s[1].csv").touch()
    (folder / "plan.toml").write_text(changed(text, "s.csv", "s[1].csv"), encoding="utf-8")
    assert load_plan(folder / "plan.toml").source == str(folder / "s[1].csv"), "a file of that name is no glob"


def test_a_file_of_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "tracts.txt").write_text("101\n-7\n+3\n", encoding="utf-8")
    kept = 'categories_file = "tracts.txt"\ncategories_type = "{}"'
    for kind, values in (("integer", [101, -7, 3]), ("text", ["101", "-7", "+3"])):
        text = changed(SMALL, 'categories = ["F", "M"]', kept.format(kind))
        assert load(tmp_path, text).schema["sex"] == dp.Category(values)
    for line in ("1.5", "x", " 7", "", "٣"):
        (tmp_path / "tracts.txt").write_text(f"101\n{line}\n7\n", encoding="utf-8")
        with pytest.raises(PlanError, match=r"columns\.sex: categories=.*: line 2 must be a whole number"):
            load(tmp_path, changed(SMALL, 'categories = ["F", "M"]', kept.format("integer")))


def test_absolute_paths_and_example_data(tmp_path: Path) -> None:
    plan = load(tmp_path, changed(changed(SMALL, "s.csv", "/data/s.csv"), "l.db", "/data/l.db"))
    assert (plan.source, plan.ledger) == ("/data/s.csv", Path("/data/l.db"))
    assert load(tmp_path, changed(SMALL, "s.csv", "example:acs12")).source == str(datasets.path("acs12"))
    error = refused(tmp_path, changed(SMALL, "s.csv", "example:acs21"))
    assert error.place == "plan.toml:3: data.source"
    assert "did you mean 'acs12'" in str(error)


def test_booleans_and_whole_numbers_are_categories_and_keys_of_weights(tmp_path: Path) -> None:
    text = changed(SMALL, 'categories = ["F", "M"]', "categories = [true, false]\nclamp = [true]\nimpute = IMPUTE")
    law = '{ distribution = "weights", weights = { true = 1 } }'
    (step,) = [s for s in load(tmp_path, changed(text, "IMPUTE", law)).orders[0].request.steps if hasattr(s, "law")]
    assert step.law == dp.Weights({True: 1})
    text = changed(SMALL, 'categories = ["F", "M"]', "categories = [1, -2]\nimpute = IMPUTE")
    law = '{ distribution = "weights", weights = { 1 = 1, "-2" = 3 } }'
    (step,) = [s for s in load(tmp_path, changed(text, "IMPUTE", law)).orders[0].request.steps if hasattr(s, "law")]
    assert step.law == dp.Weights({1: 1, -2: 3})


def test_a_release_replaces_the_clamp_of_a_column_and_does_not_add_to_it(tmp_path: Path) -> None:
    text = changed(SMALL, "upper = 100\n", "upper = 100\nclamp = [0, 50]\n") + "clamp = { age = [60, 100] }\n"
    request = load(tmp_path, text).orders[0].request
    assert request.digest == dp.Table(request.schema, dp.AddRemove()).clamp({"age": (60, 100)}).agg(dp.count()).digest


def test_loading_reads_no_data_and_writes_nothing(tmp_path: Path) -> None:
    load(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, ending: str, start: str) -> None:
    (tmp_path / "plan.toml").write_bytes((start + SMALL.replace("\n", ending)).encode())
    assert load_plan(tmp_path / "plan.toml").orders[0].request.digest == load(tmp_path, SMALL).orders[0].request.digest
    (tmp_path / "plan.toml").write_bytes((start + SMALL.replace("rho", "rhu").replace("\n", ending)).encode())
    with pytest.raises(PlanError, match=re.escape("plan.toml:15: budget.rhu")):
        load_plan(tmp_path / "plan.toml")


def test_missing_codes_are_read_by_the_type_of_their_column(tmp_path: Path) -> None:
    plan = load(
        tmp_path,
        FULL.replace("upper = 110", 'upper = 110\nmissing = [-8, 99.5, "1e3"]')
        .replace('categories = ["F", "M"]', 'categories = ["F", "M"]\nmissing = ["9", "e\u0301"]')
        .replace('last = "2025-12-31"', 'last = "2025-12-31"\nmissing = [9999-12-31, "1900-01-01"]'),
    )
    assert plan.schema["age"].missing == (-8, Fraction(199, 2), 1000)
    assert plan.schema["sex"].missing == ("9", "é")
    assert plan.schema["hired"].missing == (dt.date(1900, 1, 1), dt.date(9999, 12, 31))
    assert plan.orders[0].request.digest != load(tmp_path, FULL).orders[0].request.digest


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("upper = 110", "upper = 110\nmissing = -8", "columns.age.missing: must be a list [...], not a number"),
        ("upper = 110", 'upper = 110\nmissing = ["NA"]', "columns.age.missing: missing='NA': must be a number"),
        ("upper = 110", "upper = 110\nmissing = [nan]", "columns.age.missing: missing='nan': must be"),
        ("upper = 110", "upper = 110\nmissing = [-8, -8.0]", "listed twice"),
        ("upper = 110", "upper = 110\nmissing = [2020-01-01]", "must be a number such as 3"),
        ('categories = ["F", "M"]', 'categories = ["F", "M"]\nmissing = ["M"]', "is listed as a category"),
        ('categories = ["F", "M"]', 'categories = ["F", "M"]\nmissing = [9]', "must be a text"),
        ('last = "2025-12-31"', 'last = "2025-12-31"\nmissing = [99]', "must be a date such as"),
    ],
)
def test_missing_codes_of_another_type_are_refused_at_their_place(tmp_path: Path, old: str, new: str, shown: str) -> None:
    assert old in FULL
    assert shown in str(refused(tmp_path, FULL.replace(old, new)))


def test_null_groups_are_dropped_by_group_by_request_and_by_column(tmp_path: Path) -> None:
    groups = 'group_by = ["state", { bins = "age", edges = [18, 30, 50, 66] }]'
    one = 'group_by = [{ column = "state", nulls = "drop" }, { bins = "age", edges = [18, 30, 50, 66], nulls = "show" }]'
    first = load(tmp_path, changed(FULL, groups, one)).orders[0].request
    assert first.dropped == ("state",)
    every = load(tmp_path, changed(FULL, groups, f'{groups}\nnulls = "drop"')).orders[0].request
    assert set(every.dropped) >= {"age", "state"}
    assert load(tmp_path, FULL).orders[0].request.dropped == ()
    required = load(
        tmp_path, changed(FULL, 'clamp = ["Alabama", "Alaska"]', 'clamp = ["Alabama", "Alaska"]\nrequired = true')
    )
    assert required.schema["state"].required
    assert required.orders[0].request.digest != load(tmp_path, FULL).orders[0].request.digest


@pytest.mark.parametrize(
    ("new", "shown"),
    [
        ('group_by = [{ column = "state", nulls = "hide" }]', "release[0].group_by[0].nulls: 'hide' is unknown"),
        ('group_by = [{ column = "state", nulls = true }]', "must be a text in quotes"),
        ('group_by = [{ column = "state", null = "drop" }]', "no such key"),
        ('group_by = ["state"]\nnulls = ["state"]', "must be a text in quotes"),
        ('group_by = [{ column = "state", nulls = "drop" }]\nnulls = "drop"', "say it once"),
    ],
)
def test_other_words_on_nulls_are_refused_at_their_place(tmp_path: Path, new: str, shown: str) -> None:
    groups = 'group_by = ["state", { bins = "age", edges = [18, 30, 50, 66] }]'
    assert shown in str(refused(tmp_path, changed(FULL, groups, new)))


def test_required_is_true_or_false(tmp_path: Path) -> None:
    text = changed(FULL, 'clamp = ["Alabama", "Alaska"]', 'clamp = ["Alabama", "Alaska"]\nrequired = "yes"')
    assert "required='yes': must be True or False" in str(refused(tmp_path, text))


@pytest.mark.parametrize("named", ["weights", "errors"])
@pytest.mark.parametrize("value", ["10", '"12"', "true"])
def test_numbers_of_tables_are_a_list(tmp_path: Path, named: str, value: str) -> None:
    """A text was read letter by letter."""
    text = changed(SMALL, '"count"', f'{{ tables = [["sex"], []], {named} = {value} }}') + "spend = 0.1\n"
    assert f"{named}: must be a list with one number for each of the 2 tables" in str(refused(tmp_path, text))


def test_a_statistic_is_read_in_its_request_and_not_alone(tmp_path: Path) -> None:
    """Alone and without groups no bound cuts anybody, and counted_in_full() would be refused."""
    (order,) = load(tmp_path, plan_text("in-full")).orders
    assert [one.name for one in order.request.answered] == ["persons", "counted_in_full"]
    with pytest.raises(PlanError, match=r"release\[0\]\.statistics\[1\]: counted_in_full\(\): no bound of the request cuts"):
        load(tmp_path, changed(plan_text("in-full"), 'group_by = ["shop"]\n', ""))


COMPLETE = SMALL.replace('categories = ["F", "M"]', 'categories = ["F", "M"]\ncomplete = "M"')


def test_a_column_is_complete_in_every_release_that_does_not_say_otherwise(tmp_path: Path) -> None:
    assert COMPLETE != SMALL
    (order,) = load(tmp_path, COMPLETE).orders
    plan = load(tmp_path, SMALL)
    table = dp.Table(plan.schema, plan.neighbours)
    assert order.request.steps == table.complete({"sex": "M"}).steps
    for own, steps in (
        ('complete = { sex = "F" }', table.complete({"sex": "F"}).steps),
        ('impute = { sex = { distribution = "weights", weights = { F = 1, M = 1 } } }',
         table.impute({"sex": dp.Weights({"F": 1, "M": 1})}).steps),
    ):  # fmt: skip
        (order,) = load(tmp_path, COMPLETE.replace("[[release]]", f"[[release]]\n{own}")).orders
        assert order.request.steps == steps


def test_a_column_is_imputed_or_complete(tmp_path: Path) -> None:
    both = COMPLETE.replace('complete = "M"', 'complete = "M"\nimpute = { distribution = "weights", weights = { F = 1 } }')
    assert "never null after the steps before" in str(refused(tmp_path, both))
    assert "is not a category" in str(refused(tmp_path, COMPLETE.replace('complete = "M"', 'complete = "Q"')))
    assert "columns.sex.complete" in str(refused(tmp_path, COMPLETE.replace('complete = "M"', "complete = true")))
