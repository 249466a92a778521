"""One plan for many months: where parameters stand, what their values may be, and that they are never more than values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from tests.builders import plan_text

from discreet.errors import PlanError
from discreet.planfile import PlanFile, load_plan

PLAN = plan_text("monthly")
GIVEN = {"month": "2026-11", "region": "north", "rows": "2000", "since": "1990"}


def load(folder: Path, text: str, given: dict[str, Any] | None) -> PlanFile:
    (folder / "monthly.toml").write_text(text, encoding="utf-8")
    return load_plan(folder / "monthly.toml", given)


def wrong(folder: Path, text: str, given: dict[str, Any] | None) -> str:
    with pytest.raises(PlanError) as refused:
        load(folder, text, given)
    return str(refused.value)


REGION = '{ type = "text", allowed = ["north", "south"] }'
PLAIN = PLAN.replace('"north", "south", "{month}"]', '"north", "south"]')


def test_the_plan_is_the_one_that_is_written_out(tmp_path: Path) -> None:
    """All of it, with the same digest, and so with the same place in the ledger."""
    plan = load(tmp_path, PLAIN, GIVEN)
    section = PLAIN[: PLAIN.index("[data]")]
    written = PLAIN.removeprefix(section).replace('"{rows}"', "2000").replace('"{since}"', "1990")
    for name, value in GIVEN.items():
        written = written.replace("{" + name + "}", value)
    other = load(tmp_path, written.replace("{{", "{").replace("}}", "}"), None)
    assert plan.orders[0].request.digest == other.orders[0].request.digest
    assert plan.orders[0].name == other.orders[0].name == "wages of 2026-11 in north, {exact}"
    assert (plan.dataset, plan.source, plan.neighbours) == (other.dataset, other.source, other.neighbours)
    assert (plan.dataset, plan.source) == ("wages 2026-11", str(tmp_path / "wages-2026-11.parquet"))
    assert plan.parameters == GIVEN
    assert other.parameters == {}


def test_values_of_a_program_may_have_their_own_types(tmp_path: Path) -> None:
    assert load(tmp_path, PLAIN, {**GIVEN, "rows": 2000, "since": 1990}) == load(tmp_path, PLAIN, GIVEN)
    dated = PLAIN.replace('{ type = "month", first = "2026-01" }', '{ type = "date" }')
    assert load(tmp_path, dated, {**GIVEN, "month": dt.date(2026, 11, 30)}).dataset == "wages 2026-11-30"


def test_another_month_is_another_plan_and_another_data_set(tmp_path: Path) -> None:
    november, december = (load(tmp_path, PLAIN, {**GIVEN, "month": month}) for month in ("2026-11", "2026-12"))
    assert november.dataset != december.dataset
    south = load(tmp_path, PLAIN, {**GIVEN, "region": "south"})
    assert november.orders[0].request.digest != south.orders[0].request.digest


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"month": None}, "monthly.toml:2: parameters.month: has no value; give one with --set month=…"),
        ({"mnth": "x"}, "the plan has no parameter 'mnth'; did you mean 'month'?"),
        ({"month": "2026-13"}, "parameters.month: '2026-13' is not a month such as 2026-11"),
        ({"month": "2025-12"}, "'2025-12' is before 2026-01"),
        ({"month": "２０２６-11"}, "is not a month"),
        ({"region": "North"}, "'North' is not one of its allowed values; did you mean 'north'?"),
        ({"region": "north\n"}, "printable characters"),
        ({"region": "nor\x1b[31mth"}, "printable characters"),
        ({"region": ""}, "1 to 200"),
        ({"region": "x" * 201}, "1 to 200"),
        ({"region": ["north"]}, "a value is a text"),
        ({"region": True}, "a value is a text"),
        ({"rows": "2_000"}, "'2_000' is not a whole number such as 2026"),
        ({"rows": "0x10"}, "is not a whole number"),
        ({"rows": "007"}, "is not a whole number"),
        ({"rows": "0"}, "'0' is before 1"),
        ({"rows": "9" * 30}, "is not a whole number"),
        ({"rows": 10**40}, "a value is a text"),
        ({"rows": 1.5}, "a value is a text"),
    ],
)
def test_a_missing_surplus_or_wrong_value_is_named(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    given = {name: value for name, value in {**GIVEN, **changed}.items() if value is not None}
    message = wrong(tmp_path, PLAIN, given)
    assert said in message
    assert message.isprintable()


def test_all_missing_values_are_named_together(tmp_path: Path) -> None:
    assert "--set month=… --set region=… --set rows=… --set since=…" in wrong(tmp_path, PLAIN, None)


@pytest.mark.parametrize(
    "value",
    [
        "../secret",
        "..",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "x::table",
        "example:acs12",
        "spark:t",
        "*",
        "a?b",
        "[a]",
        "a..b",
        ".a",
        "~",
    ],
)
def test_a_value_leads_to_no_other_file(tmp_path: Path, value: str) -> None:
    anything = PLAIN.replace('{ type = "month", first = "2026-01" }', '{ type = "text", pattern = ".*" }')
    for source in ("wages-{month}.parquet", "{month}"):
        message = wrong(tmp_path, anything.replace("wages-{month}.parquet", source), {**GIVEN, "month": value})
        assert "cannot be a part of a source" in message


@pytest.mark.parametrize("value", ['"', "'", '"]\nrho = 9', "north'] #", "{rows}", "}}", "{{month}}", "= 1"])
def test_a_value_is_never_read_as_toml_or_as_another_parameter(tmp_path: Path, value: str) -> None:
    anything = PLAIN.replace(REGION, '{ type = "text", pattern = "(?s).*" }')
    anything = anything.replace('where = { region = ["{region}"], year', "where = { year")
    if value.isprintable():
        plan = load(tmp_path, anything, {**GIVEN, "region": value})
        assert plan.orders[0].name == f"wages of 2026-11 in {value}, {{exact}}"
    else:
        assert "printable" in wrong(tmp_path, anything, {**GIVEN, "region": value})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"south"]\n\n[columns.year]',
            '"{month}"]\n\n[columns.year]',
            "columns.region.categories[1]: no parameter may stand here",
        ),
        ("budget.db", "{month}.db", "data.ledger: no parameter may stand here"),
        ("rho = 1", 'rho = "{rows}"', "budget.rho: no parameter may stand here"),
        ("upper = 2100", 'upper = "{since}"', "columns.year.upper: no parameter may stand here"),
        ("wages of {month}", "wages of {mnth}", "{mnth} names no parameter; did you mean 'month'?"),
        ("wages of {month}", "wages of {month", "write {{ and }} for braces"),
        ("wages of {month}", "wages of {}", "{} names no parameter"),
        ('rows = "{rows}"', "rows = 2000", "parameters.rows: is used nowhere"),
        ("since = {", "9since = {", "begins with a letter"),
        ('{ type = "integer" }', '{ type = "intger" }', "'intger' is unknown; did you mean 'integer'?"),
        ('{ type = "integer" }', "{ lower = 3 }", "the key 'type' is missing"),
        (
            '{ type = "integer" }',
            '{ type = "integer", pattern = "1" }',
            "no such key (with type = 'integer'); it goes with 'text'",
        ),
        ('{ type = "integer" }', '{ type = "integer", lower = "a" }', "'a' is not a whole number"),
        (REGION, '{ type = "text" }', "needs a pattern or a list"),
        (
            REGION,
            '{ type = "text", pattern = "(" }',
            "must be a regular expression",
        ),
        (
            REGION,
            '{ type = "text", pattern = "n" }',
            "does not match its pattern n",
        ),
        (REGION, '"north"', "must be a table"),
    ],
)
def test_a_wrong_declaration_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert PLAIN.count(old) == 1
    assert said in wrong(tmp_path, PLAIN.replace(old, new), GIVEN)


def test_without_the_section_braces_are_braces_and_no_value_is_taken(tmp_path: Path) -> None:
    text = PLAIN[PLAIN.index("[data]") :].replace('"{rows}"', "5").replace('"{since}", 2100', "1990, 2100")
    text = text.replace('["{region}"]', '["north"]')
    plan = load(tmp_path, text, None)
    assert plan.dataset == "wages {month}"
    assert plan.orders[0].name.endswith("{{exact}}")
    assert "the plan has no parameter 'month'; it has no [parameters]" in wrong(tmp_path, text, {"month": "2026-11"})


def test_a_value_does_not_give_the_same_rows_a_new_budget(tmp_path: Path) -> None:
    text = PLAIN.replace('source = "wages-{month}.parquet"', 'source = "wages.parquet"')
    assert "stands in dataset and not in source" in wrong(tmp_path, text, GIVEN)
    braces = text.replace('"wages {month}"', '"wages {{month}}"').replace('"wages.parquet"', '"{month}.parquet"')
    assert load(tmp_path, braces, GIVEN).dataset == "wages {month}"
