"""What a clamp is chosen from: a release with a histogram, or public numbers; and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import discreet as dp
from discreet.quotes.clamps import ClampChoice

EDGES = [0, 25_000, 50_000, 100_000, 200_000, 500_000]
SCHEMA = dp.Schema(income=dp.Number(0, 500_000, step=1_000), age=dp.Number(0, 110), gender=dp.Category(["female", "male"]))
PUBLIC = {(0, 25_000): 1_000, (25_000, 100_000): (480, 520), (100_000, 500_000): 3}
COLUMN = dp.Number(0, 500_000)
ABOUT: dict[str, Any] = {"spend": dp.ZCDP("0.5"), "column": COLUMN, "neighbours": dp.ReplaceOne(rows=2000)}


@pytest.fixture
def session() -> dp.Session:
    return dp.Session(
        dp.datasets.path("acs12"),
        SCHEMA,
        dataset="acs12",
        ledger=":memory:",
        budget=dp.ZCDP(100),
        neighbours=dp.ReplaceOne(rows=2000),
    )


def test_a_release_says_everything_but_the_spend(session: dp.Session) -> None:
    release = session.release(session.table.agg(dp.histogram("income", EDGES)), spend="0.5", name="incomes")
    frame = release.tables["histogram_income"]
    counts = {
        (low, high): tuple(max(0, end) for end in frame.row(place)[2:])
        for place, (low, high) in enumerate(zip(EDGES, [*(end - 1_000 for end in EDGES[1:-1]), EDGES[-1]], strict=False))
    }
    column = dp.Number(0, 500_000, step=1_000)
    for spend in ("0.5", "0.0001"):
        found = dp.choose_clamp(release, spend=spend)
        assert found == dp.choose_clamp(counts, spend=dp.ZCDP(spend), column=column, neighbours=dp.ReplaceOne(rows=2000))
    assert found.off > 0
    assert session.table.clamp({"income": found.bounds})


def test_it_is_told_in_words_and_json() -> None:
    found = dp.choose_clamp(PUBLIC, **ABOUT)
    assert isinstance(found, ClampChoice)
    assert found.bounds == (0, 100_000)
    assert found.rows == 1_483
    assert found.off == pytest.approx(3 * 400_000 / 1_483)
    assert found.whole == found.noise + found.off
    assert str(found).startswith("clamp to 0 … 100000\n  whole error of a mean of 1,483 values")
    assert json.loads(json.dumps(found.to_json()))["clamp"] == ["0", "100000"]
    assert repr(found).startswith("<ClampChoice: 0 to 100000; mean ±")


def test_a_column_of_one_value_has_one_clamp() -> None:
    found = dp.choose_clamp({(5, 5): 9}, **{**ABOUT, "column": dp.Number(5, 5)})
    assert (found.bounds, found.whole) == ((5, 5), 0.0)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"histogram": {(0, 25_000): 5}}, "must hold each value from 0 to 500000 once"),
        ({"histogram": {(0, 30_000): 5, (25_000, 500_000): 5}}, "must hold each value"),
        ({"histogram": {(0, 500_000): -1}}, "from 0 to"),
        ({"histogram": {(0, 500_000): 0}}, "may hold no value at all"),
        ({"histogram": {(0, 600_000): 1}}, "within the column's bounds"),
        ({"histogram": {0: 1}}, "a pair \\(low, high\\)"),
        ({"histogram": {}}, "has 0 bins"),
        ({"histogram": None}, "either a histogram or quantiles"),
        ({"quantiles": {"0.5": 5}}, "either a histogram or quantiles"),
        ({"column": None}, "need column="),
        ({"neighbours": None}, "need column="),
        ({"spend": "0.5"}, "must be a measure here"),
        ({"histogram": None, "quantiles": {"1.5": 5}, "rows": 9}, "from 0 to 1"),
        ({"histogram": None, "quantiles": {"0.5": 5, "0.9": 4}, "rows": 9}, "not fall as orders grow"),
        ({"histogram": None, "quantiles": {"0.5": 5}}, "rows"),
    ],
    ids=str,
)
def test_what_says_too_little_is_refused(changed: dict[str, Any], told: str) -> None:
    given = {"histogram": PUBLIC, **ABOUT, **changed}
    with pytest.raises(dp.ArgumentError, match=told):
        dp.choose_clamp(given.pop("histogram"), **given)


def test_releases_without_one_histogram_of_all_values_are_refused(session: dp.Session) -> None:
    table = session.table
    asked = {
        "has 0 histograms": table.agg(dp.count("age")),
        "has 2 histograms": table.agg(dp.histogram("income", EDGES), dp.histogram("age", [0, 50, 110])),
        "one for each group": table.group_by("gender").agg(dp.histogram("income", EDGES)),
        "prepared \\(clamp\\)": table.clamp({"income": (0, 100_000)}).agg(dp.histogram("income", [0, 50_000, 100_000])),
        "must hold each value": table.agg(dp.histogram("income", [0, 50_000, 100_000])),
    }
    for told, request in asked.items():
        release = session.release(request, spend=1, name=told)
        with pytest.raises(dp.ArgumentError, match=told):
            dp.choose_clamp(release, spend="0.5")
    with pytest.raises(dp.ArgumentError, match="says everything"):
        dp.choose_clamp(release, spend="0.5", rows=5)
    two = session.release(asked["has 2 histograms"], spend=1, name="has 2 histograms")
    assert dp.choose_clamp(two, spend="0.5", column="age").high <= 110
