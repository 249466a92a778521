"""Views cut intervals to what is possible and print no number where everything is possible; the document does neither."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.releases.possible import possible_of, show_bounds
from discreet.statistics.registry import STATISTICS

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(age=dp.Number(-10, 90, step="0.5"), size=dp.Number(0, 300), sex=dp.Category(["F", "M"]))
PLAN = {
    "schema": [
        {"name": "age", "type": "number", "lower": "-10", "upper": "90", "step": "0.5"},
        {"name": "day", "type": "date", "first": "2020-01-01", "last": "2020-12-31"},
        {"name": "size", "type": "number", "lower": "0", "upper": "300", "step": "1"},
        {"name": "rate", "type": "number", "lower": "2", "upper": "8", "step": "1"},
    ],
    "steps": [{"step": "clamp", "column": "age", "lower": "0", "upper": "60"}, {"step": "impute", "column": "size"}],
}
POSSIBLE: dict[str, Any] = {
    "count": (0, None),
    "sum": (None, None),
    "mean": (0, 60),
    "share": (0, 1),
    "variance": (0, 900),
    "std": (0, 30),
    "covariance": (-4500, 4500),
    "correlation": (-1, 1),
    "means": (0, None),
    "correlations": (-1, 1),
    "principal_components": (-1, 1),
    "regression": (-180_060, 180_060),
    "weighted_sum": (None, None),
    "weighted_mean": (0, 60),
    "weighted_share": (0, 1),
    "weighted_ratio": (0, 30),
    "median": (0, 60),
    "quantiles": (0, 60),
    "histogram": (0, None),
    "tables": (0, None),
    "agreeing_areas": (0, None),
}


@pytest.mark.parametrize("kind", STATISTICS, ids=lambda kind: str(kind.word))
def test_the_possible_values_of_every_kind_follow_from_the_document(kind: Any) -> None:
    asked = {"statistic": kind.word, "column": "age", "columns": ["age", "size"], "over": "rate"}
    least, greatest = possible_of(asked, PLAN)
    assert (least, greatest) == POSSIBLE[kind.word]
    assert all(end is None or isinstance(end, Fraction) for end in (least, greatest))


def test_days_and_statistics_that_are_not_known_have_no_bounds() -> None:
    assert possible_of({"statistic": "median", "column": "day"}, PLAN) == (None, None)
    assert possible_of({"statistic": "of tomorrow", "column": "age"}, PLAN) == (None, None)


def test_a_clamp_beyond_the_bounds_leaves_one_value_and_never_inverted_bounds() -> None:
    steps = [{"step": "clamp", "column": "age", "lower": low, "upper": high} for low, high in (("0", "20"), ("50", "60"))]
    assert possible_of({"statistic": "mean", "column": "age"}, {**PLAN, "steps": steps}) == (50, 50)


def document(name: str, statistic: str, *rows: tuple[float, float, float]) -> dict[str, Any]:
    values, lows, highs = (list(ends) for ends in zip(*rows, strict=True))
    columns = [{"name": f"{name}{end}", "values": one} for end, one in (("", values), ("_low", lows), ("_high", highs))]
    return {"plan": PLAN, "statistics": [{"statistic": statistic, "column": "age", "name": name}], "columns": columns}


def shown(*args: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(one["values"] for one in show_bounds(document(*args))["columns"]), strict=True))


def test_intervals_of_counts_are_cut_at_0_and_values_stay() -> None:
    rows = shown("n", "count", (-10, -19, -1), (3, -6, 12), (50, 41, 59))
    assert rows == [(-10, 0, 0), (3, 0, 12), (50, 41, 59)]
    assert all(type(one) is int for row in rows for one in row)


def test_a_value_whose_interval_is_everything_is_none_and_any_other_stays() -> None:
    eps = 1e-13
    rows = shown("m", "mean", (60.0, 0.0, 60.0), (60.0, eps, 60.0 + eps), (30.0, 0.5, 60.0), (30.0, 0.0, 59.0))
    assert [row[0] for row in rows] == [None, None, 30.0, 30.0]
    assert rows[1][1:] == (eps, 60.0)


def test_sums_and_columns_without_intervals_are_as_they_are() -> None:
    assert shown("s", "sum", (-5, -90, 80)) == [(-5, -90, 80)]
    columns = [{"name": "s", "values": [1]}]
    assert show_bounds({**document("s", "count", (1, -1, 3)), "columns": columns})["columns"] == columns


def test_views_of_a_release_show_none_of_it_as_a_number_and_its_document_has_it_all(tmp_path: Any) -> None:
    # Of eleven groups each has an interval without 0 with a probability of 0.05 at most.
    schema = dp.Schema(age=SCHEMA["age"], size=SCHEMA["size"], sex=dp.Category(list("FMabcdefgh")))
    rows = pl.DataFrame({"age": [30.0], "size": [3], "sex": ["F"]})
    with dp.Session(rows, schema, neighbours=dp.AddRemove(), budget=dp.PureDP(1), dataset="d", ledger=":memory:") as one:
        asked = one.table.group_by("sex").agg(dp.count(), dp.mean("size", nulls="skip"), dp.histogram("age", [0, 20, 40]))
        release = one.release(asked, spend="0.001", name="r")
    assert release.table["count_low"].min() < 0  # type: ignore[operator]
    assert release.table["mean_size"].null_count() == 0
    views = release.shown(20)
    columns = {one["name"]: one["values"] for one in views["columns"]}
    assert min(columns["count_low"]) == 0
    assert columns["count"] == release.table["count"].to_list()
    empty = [value is None for value in columns["mean_size"]]
    assert empty == [
        low <= 0 and high >= 300 for low, high in release.table.select("mean_size_low", "mean_size_high").rows()
    ]
    assert any(empty)
    (frame,) = views["frames"]
    assert min(next(one["values"] for one in frame["columns"] if one["name"] == "count_low")) == 0
    assert ">– (0 – 300)</td>" in release._repr_html_()
    assert dp.Release.load(release.save(tmp_path)).payload == release.payload
    assert pl.read_csv(tmp_path / "table.csv")["mean_size"].null_count() == 0
