"""What is refused in the words of other programs is answered with the nearest way to say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.domain.conditions import nearest_condition
from discreet.errors import PlanError
from discreet.planfile import load_plan
from discreet.statistics.other_words import EARLIER, nearest_way
from discreet.statistics.registry import by_word

SCHEMA = dp.Schema(
    age=dp.Number(0, 100), wage=dp.Number(0, 10, "0.5"), day=dp.Date("2026-01-01", "2026-12-31"), sex=dp.Category(["f", "m"])
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())
PLAN = plan_text("ages")


def refused(folder: Path, old: str, new: str) -> str:
    (folder / "p.toml").write_text(PLAN.replace(old, new), encoding="utf-8")
    with pytest.raises(PlanError) as wrong:
        load_plan(folder / "p.toml")
    return str(wrong.value)


@pytest.mark.parametrize(
    ("word", "said"),
    [("avg", "here it is called mean"), ("max", "a high quantile"), ("count_distinct", "group by the")],
)
def test_statistics_of_other_programs(tmp_path: Path, word: str, said: str) -> None:
    assert said in refused(tmp_path, '"count"', f'"{word}"')
    assert said in refused(tmp_path, '"count"', f'{{ {word} = "age" }}')
    with pytest.raises(AttributeError, match=said):
        getattr(dp, word)


def test_no_word_of_this_library_is_called_something_else() -> None:
    assert not [word for word in by_word() if nearest_way(word)]
    called = ["avg", "stddev", "var", "corr", "cov", "percentile", "proportion", "hist", "crosstab", "total", "n"]
    assert all(nearest_way(word).removeprefix("; here it is called ") in by_word() for word in called)
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing_near'$"):
        getattr(dp, "nothing_near")  # noqa: B009


def test_words_of_earlier_versions_are_still_those_of_statistics() -> None:
    assert {dp.agreeing_tables: dp.tables} == {getattr(dp, word): getattr(dp, now) for word, now in EARLIER.items()}
    assert not EARLIER.keys() & by_word().keys()


def test_lists_where_arguments_are_meant() -> None:
    with pytest.raises(PlanError, match=r"write group_by\('sex', 'age'\)"):
        TABLE.group_by(["sex", "age"])  # type: ignore[arg-type]
    with pytest.raises(PlanError, match=r"one by one, agg\(count\(\), mean\('wage'\)\)"):
        TABLE.agg([dp.count()])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "python", "toml"),
    [
        ("age >= 15", "(15, 100)", "[15, 100]"),
        ("age > 15", "(16, 100)", "[16, 100]"),
        ("age<15", "(0, 14)", "[0, 14]"),
        ("age <= 15.5", "(0, 15)", "[0, 15]"),
        ("age == 15", "(15, 15)", "[15, 15]"),
        ("wage > 3.2", "(3.5, 10)", "[3.5, 10]"),
        ("day < '2026-07-01'", '("2026-01-01", "2026-06-30")', '["2026-01-01", "2026-06-30"]'),
        ("sex = 'f'", "['f']", '["f"]'),
    ],
)
def test_a_condition_as_text_is_told_as_bounds(written: str, python: str, toml: str) -> None:
    near = nearest_condition(written, SCHEMA)
    assert near is not None
    assert (near.python, near.toml) == (python, toml)
    with pytest.raises(PlanError) as wrong:
        TABLE.where(written)  # type: ignore[arg-type]
    assert f"write where({{{near.column!r}: {python}}})" in str(wrong.value)


@pytest.mark.parametrize(
    "written",
    [
        *("", "age", "age >= ", "age >= x", "age > 100", "age < 0", "age = 1.5", "other > 1", "sex > 'f'", "sex = 'x'"),
        *("age > 1e999999999", "age >= 15 and wage > 3", "age >= 1/0", "day < 2026-13-01", "age >= NaN"),
        "x" * 10_000 + ">1",
    ],
)
def test_nothing_is_guessed(written: str) -> None:
    assert nearest_condition(written, SCHEMA) is None
    with pytest.raises(PlanError, match="must map at least one column"):
        TABLE.where(written)  # type: ignore[arg-type]


def test_a_condition_as_text_in_a_plan_file(tmp_path: Path) -> None:
    said = refused(tmp_path, '["count"]', '["count"]\nwhere = "age >= 15"')
    assert said.endswith("release[0].where: must be a table, not a text; write where = { age = [15, 100] }")
    assert refused(tmp_path, '["count"]', '["count"]\nwhere = "x"').endswith("must be a table, not a text")
    assert refused(tmp_path, '["count"]', '["count"]\nwhere = { age = ">= 15" }').endswith(
        "release[0].where.age: must be a list, not a text; write age = [15, 100]"
    )
    assert "write" not in refused(tmp_path, '["count"]', '["count"]\nwhere = { age = "old" }')


def test_a_list_of_columns_within_the_list_of_groups_is_refused_with_the_list_that_is_meant(tmp_path: Path) -> None:
    said = refused(tmp_path, '["count"]', '["count"]\ngroup_by = [["gender", "age"]]')
    assert said.endswith(
        'group_by[0]: must be a column, not a list of columns; write them one by one, group_by = ["region", "sex"]'
    )
