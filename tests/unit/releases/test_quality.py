"""Classes of numbers: by value and range, at the thresholds, from the document alone."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.exact.canonical import seal
from discreet.releases.quality import BAD, CAUTION, DEFAULT, GOOD, class_of, numbers_of, span_of, variation
from discreet.statistics.registry import STATISTICS

Z = 1.959963984540054
SCHEMA = dp.Schema({"sex": dp.Category(["F", "M"]), "age": dp.Number(0, 100), "wage": dp.Number(1000, 1100, 10)})
ROWS = pl.DataFrame({"sex": ["F", "M"] * 200, "age": [20, 60] * 200, "wage": [1000, 1090] * 200})


def released(path: Path, **named: Any) -> dp.Release:
    given = {"dataset": "d", "ledger": path / "l.db", "budget": dp.PureDP(100), "neighbours": dp.AddRemove()}
    with dp.Session(ROWS, SCHEMA, **given) as session:
        asked = [
            *(dp.count(), dp.share(), dp.mean("wage", nulls="skip"), dp.quantiles("age", at=["0.5", "0.125"], nulls="skip")),
            *(dp.std("age", nulls="skip"), dp.covariance("age", "wage", nulls="skip"), dp.histogram("age", [0, 50, 100])),
        ]
        plan = session.table.clamp({"wage": (1000, 1050)}).group_by("sex").agg(*asked)
        return session.release(plan, spend=50, name="r", **named)


# One number -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "half", "grade"),
    [
        (100, 100 * 0.1659 * Z, GOOD),
        (100, 100 * 0.1661 * Z, CAUTION),
        (-100, 100 * 0.3329 * Z, CAUTION),
        (100, 100 * 0.3331 * Z, BAD),
        (0, 1, BAD),
        (0, 0, GOOD),
    ],
)
def test_the_class_of_a_count_is_by_its_coefficient_of_variation(value: float, half: float, grade: str) -> None:
    assert class_of(value, (value - half, value + half), None, DEFAULT) == grade


def test_an_interval_cut_at_a_bound_shows_no_better_value() -> None:
    assert variation(5, -9, 19) == variation(5, 0, 19) == pytest.approx(14 / Z / 5)
    assert variation(-1, -10, 8) == variation(-1, -1, 8)


def test_an_interval_of_everything_possible_is_not_publishable_however_far_from_0_it_is() -> None:
    span = (Fraction(1000), Fraction(1100))
    assert class_of(1050, (1000, 1100), None, DEFAULT) == GOOD
    assert class_of(1050, (1000, 1100), span, DEFAULT) == BAD
    assert class_of(1050, (1040, 1060), span, DEFAULT) == CAUTION
    assert class_of(1050, (1045, 1060), span, DEFAULT) == GOOD


def test_a_higher_level_means_a_smaller_deviation() -> None:
    assert variation(10, 0, 20, 0.99) < variation(10, 0, 20, 0.95) < variation(10, 0, 20, 0.5)


@pytest.mark.parametrize(
    "wrong", [{"good": 0}, {"good": "0.4"}, {"caution": "0.1"}, {"good": -1}, {"suppress": "all"}, {"suppress": True}]
)
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.ArgumentError):
        dp.Quality(**wrong)


def test_every_kind_of_statistic_with_a_clipped_view_has_a_range() -> None:
    plan = {"schema": [{"name": name, "type": "number", "lower": "1", "upper": "9"} for name in "xy"], "steps": []}
    for kind in STATISTICS:
        if kind.view.startswith("clipped") and kind.word != "means":  # a count is among its numbers
            shown = {"statistic": kind.word, "column": "x", "columns": ["x", "y"], "over": "y", "at": ["0.5"]}
            assert span_of(shown, plan) is not None, kind.word


# A release --------------------------------------------------------------------------------------------------------------


def test_ranges_follow_from_the_plan_after_its_clamps(tmp_path: Path) -> None:
    document = released(tmp_path).document
    spans = {one["name"]: span_of(one, document["plan"]) for one in document["statistics"]}
    assert spans == {
        "count": None,
        "share": (0, 1),
        "mean_wage": (1000, 1050),
        "age": (0, 100),
        "std_age": (0, 50),
        "covariance_age_wage": (-1250, 1250),
        "histogram_age": None,
    }


def test_every_value_lies_in_the_range_that_it_is_compared_with(tmp_path: Path) -> None:
    document = released(tmp_path).document
    seen = 0
    for one in numbers_of(document, document["columns"]):
        span = span_of(one.statistic, document["plan"])
        for low, high in zip(one.lows, one.highs, strict=True) if span else ():
            assert float(span[0]) - 1e-9 <= low <= high <= float(span[1]) + 1e-9, one.column
            seen += 1
    assert seen == 2 * 6 + 6


def test_the_frame_has_groups_and_a_class_for_each_number(tmp_path: Path) -> None:
    found = released(tmp_path).quality
    assert found.columns == ["sex", "count", "share", "mean_wage", "age_p12.5", "age_p50", "std_age", "covariance_age_wage"]
    assert set(found["count"]) <= {"a", "b", "c"}
    assert found["count"].to_list()[:2] == ["a", "a"]


def test_further_frames_have_classes_too(tmp_path: Path) -> None:
    document = released(tmp_path).document
    (frame,) = document["frames"]
    (one,) = numbers_of(document, frame["columns"], frame["name"])
    assert (one.column, one.statistic["statistic"], len(one.classes)) == ("count", "histogram", 9)


def test_the_classes_follow_from_release_json_without_ledger_and_source(tmp_path: Path) -> None:
    made = released(tmp_path, quality=dp.Quality("0.001", "0.2"))
    made.save(tmp_path / "out")
    (tmp_path / "l.db").unlink()
    program = (
        "import json, sys; from discreet.releases.quality import numbers_of\n"
        "document = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "print(json.dumps({one.column: list(one.classes) for one in numbers_of(document, document['columns'])}))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "out" / "release.json")]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert told == {name: made.quality[name].to_list() for name in told}
    assert {grade for grades in told.values() for grade in grades} >= {"b", "c"}


def test_the_rule_is_in_the_document_and_in_no_digest_of_a_plan(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain, ruled = released(tmp_path / "a"), released(tmp_path / "b", quality=dp.Quality(suppress="quality"))
    assert "quality" not in plain.document
    assert ruled.document["quality"] == {"good": "0.166", "caution": "0.333", "suppress": "quality"}
    assert plain.document["plan_digest"] == ruled.document["plan_digest"]


@pytest.mark.parametrize("wrong", [{}, {"good": "x", "caution": "1", "suppress": None}, [], "a", {"good": "1"}, 7])
def test_a_made_up_rule_is_refused(tmp_path: Path, wrong: object) -> None:
    document = released(tmp_path).document
    del document["digest"]
    release = dp.Release(seal({**document, "quality": wrong}).encode())
    with pytest.raises(dp.ArgumentError):
        _ = release.quality


def test_a_frame_has_its_own_statistic_where_names_begin_alike(tmp_path: Path) -> None:
    given = {"dataset": "d", "ledger": tmp_path / "l.db", "budget": dp.PureDP(100), "neighbours": dp.AddRemove()}
    schema = dp.Schema({"age": dp.Number(0, 100), "age_old": dp.Number(0, 10)})
    with dp.Session(pl.DataFrame({"age": [20] * 9, "age_old": [2] * 9}), schema, **given) as session:
        asked = [dp.mean("age", nulls="skip"), dp.histogram("age", [0, 100]), dp.histogram("age_old", [0, 10])]
        document = session.release(session.table.agg(*asked), spend=50, name="r").document
    found = [next(numbers_of(document, one["columns"], one["name"])).statistic for one in document["frames"]]
    assert [(one["statistic"], one["column"]) for one in found] == [("histogram", "age"), ("histogram", "age_old")]
