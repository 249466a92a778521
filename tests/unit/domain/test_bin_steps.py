"""Bins by a step: the same groups as the edges written out, for numbers, days, months, quarters and years."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import plan_text

import discreet as dp
from discreet.domain import bin_steps
from discreet.domain.groups import BinGroup
from discreet.errors import PlanError

SCHEMA = dp.Schema(
    age=dp.Number(0, 100),
    wage=dp.Number("-0.5", "99.5", "0.5"),
    day=dp.Date("2025-11-15", "2026-12-31"),
    sex=dp.Category(["f", "m"]),
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())


def asked(table: dp.Table, *by: object, **options: object) -> dp.Plan:
    return table.group_by(dp.bins(*by, **options)).agg(dp.count())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "step", "edges"),
    [
        ("age", 25, [0, 25, 50, 75, 100]),
        ("age", "30", [0, 30, 60, 90, 100]),
        ("age", 100, [0, 100]),
        ("age", 1000, [0, 100]),
        ("wage", "49.5", ["-0.5", 49, "98.5", "99.5"]),
        ("day", "year", ["2025-11-15", "2026-01-01", "2026-12-31"]),
        ("day", "quarter", ["2025-11-15", "2026-01-01", "2026-04-01", "2026-07-01", "2026-10-01", "2026-12-31"]),
        ("day", 200, ["2025-11-15", "2026-06-03", "2026-12-20", "2026-12-31"]),
    ],
)
def test_a_step_is_its_edges_written_out(column: str, step: str | int, edges: list[object]) -> None:
    """The plan has the same digest, and so the same place in the ledger."""
    assert asked(TABLE, column, step=step).digest == asked(TABLE, column, edges).digest


@pytest.mark.parametrize(("column", "step", "edges"), [("age", 20, [0, 20, 40, 60, 80, 100])])
def test_a_histogram_has_a_step_too(column: str, step: int, edges: list[int]) -> None:
    by_step, by_edges = (TABLE.agg(dp.histogram(column, **how)) for how in ({"step": step}, {"edges": edges}))  # type: ignore[arg-type]
    assert by_step.digest == by_edges.digest


def test_a_clamp_narrows_what_is_cut() -> None:
    table = TABLE.clamp({"age": (20, 60), "day": ("2026-02-01", "2026-03-31")})
    assert asked(table, "age", step=20).digest == asked(table, "age", [20, 40, 60]).digest
    months = asked(table, "day", step="month")
    assert months.digest == asked(table, "day", ["2026-02-01", "2026-03-01", "2026-03-31"]).digest


def test_a_last_day_that_begins_a_month_is_of_that_month() -> None:
    table = dp.Table(dp.Schema(day=dp.Date("2026-01-01", "2026-03-01")), dp.AddRemove())
    (group,) = asked(table, "day", step="month").group_by
    assert isinstance(group, BinGroup)
    assert group.labels == ("[2026-01-01, 2026-02-01)", "[2026-02-01, 2026-03-01)", "[2026-03-01, 2026-03-01]")
    assert group.edges == (0, 31, 59, 60)


@given(st.dates(), st.integers(0, 4000), st.sampled_from(["month", "quarter", "year"]))
def test_every_day_is_in_the_bin_of_its_month_quarter_or_year(first: dt.date, days: int, word: str) -> None:
    """A second way to the same answer: two days share a bin exactly if they share the calendar's period."""
    last = (
        min(first + dt.timedelta(days=days), dt.date.max)
        if first.toordinal() + days <= dt.date.max.toordinal()
        else dt.date.max
    )
    column = dp.Date(first, last)
    starts = bin_steps.step_codes(column, word, (0, column.size - 1), "bins")
    months = {"month": 1, "quarter": 3, "year": 12}[word]
    period = [(column.value(code).year * 12 + column.value(code).month - 1) // months for code in range(column.size)]
    changes = [0, *(code for code in range(1, column.size) if period[code] != period[code - 1])]
    assert starts == changes


@pytest.mark.parametrize(
    ("column", "step", "said"),
    [
        ("age", 0, "must be a positive multiple of the column's step 1"),
        ("age", -5, "must be a positive multiple"),
        ("age", "0.5", "must be a positive multiple"),
        ("wage", "0.3", "must be a positive multiple of the column's step 0.5"),
        ("age", "month", "step='month' is for dates; give a number"),
        ("age", "moth", "step='moth' is unknown; did you mean 'month'?"),
        ("day", "1.5", 'must be a positive whole number of days, or "month", "quarter" or "year"'),
        ("day", "week", "is unknown"),
        ("age", True, "must be a number"),
        ("age", "1/0", "bins('age'): "),
        ("sex", 1, "the column is categorical"),
        ("none", 1, "not declared"),
    ],
)
def test_a_wrong_step_is_named(column: str, step: object, said: str) -> None:
    with pytest.raises(dp.DiscreetError) as refused:
        asked(TABLE, column, step=step)
    assert said in str(refused.value)


def test_bins_have_edges_or_a_step() -> None:
    for options in ({}, {"edges": [0, 100], "step": 10}):
        with pytest.raises(PlanError, match="give either a list of edges or a step"):
            dp.bins("age", **options)  # type: ignore[arg-type]


def test_a_step_of_a_column_of_very_many_codes_takes_no_time() -> None:
    table = dp.Table(dp.Schema(x=dp.Number(0, 2**51)), dp.AddRemove())
    with pytest.raises(PlanError, match="makes more than 1000000 bins"):
        table.group_by(dp.bins("x", step=1))


def test_a_plan_file_says_step_too(tmp_path: Path) -> None:
    from discreet.planfile import load_plan

    text = plan_text("days")

    def digest(bins: str) -> str:
        (tmp_path / "p.toml").write_text(text.replace('step = "quarter"', bins))
        return load_plan(tmp_path / "p.toml").orders[0].request.digest

    quarters = 'edges = ["2026-01-01", "2026-04-01", "2026-07-01", "2026-10-01", "2026-12-31"]'
    assert digest('step = "quarter"') == digest(quarters)
    days = 'edges = ["2026-01-01", "2026-03-15", "2026-05-27", "2026-08-08", "2026-10-20", "2026-12-31"]'
    assert digest("step = 73") == digest(days)
    for wrong in ("nulls = 'show'", f"{quarters}, step = 1"):
        with pytest.raises(PlanError, match=r"release\[0\]\.group_by\[0\]: give either edges"):
            digest(wrong)
    with pytest.raises(PlanError, match="must be a number"):
        digest("step = [1]")
