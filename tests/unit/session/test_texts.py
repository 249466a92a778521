"""The words for a release are checked before anything is charged, published or read."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp
from discreet.errors import ArgumentError
from discreet.session import Order

SCHEMA = dp.Schema(sex=dp.Category(["f", "m"], required=True), age=dp.Number(0, 100))
FRAME = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 40] * 20})


@pytest.fixture
def session():
    with dp.Session(
        FRAME,
        SCHEMA,
        dataset="d",
        ledger=":memory:",
        budget=dp.ZCDP(1),
        neighbours=dp.ReplaceOne(rows=40),
        invariants=dp.Totals("sex"),
    ) as opened:
        yield opened


def by_sex(session):
    return session.table.group_by("sex").agg(dp.count(), dp.histogram("age", [0, 50, 100]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"columns": {"sexx": dp.Labels("Sex")}}, "columns: 'sexx' is not a column; did you mean 'sex'"),
        ({"columns": {"sex": dp.Labels(categories={"ff": "female"})}}, "columns: 'ff' is not a category of 'sex'"),
        ({"columns": {"age": dp.Labels(categories={"[0, 51)": "young"})}}, "'[0, 51)' is not a category of 'age'"),
        (
            {"statistics": {"cuont": dp.Labels(unit="persons")}},
            "statistics: the release has no 'cuont'; did you mean 'count'",
        ),
        ({"releases": {"r": dp.About(columns={"gae": dp.Labels("Age")})}}, "columns: 'gae' is not a column"),
    ],
)
def test_words_for_what_is_not_there_are_refused_before_any_charge(session, words, said):
    with pytest.raises(ArgumentError) as refused:
        session.release(by_sex(session), name="r", about=[dp.About(), dp.About(language="de", **words)])
    assert said in str(refused.value)
    assert session.totals is None
    assert session.remaining == dp.ZCDP(1)


def test_words_for_what_is_there_are_kept(session):
    words = {
        "columns": {"sex": dp.Labels("Sex", categories={"f": "female"}), "age": dp.Labels(categories={"[0, 50)": "young"})},
        "statistics": {"count": dp.Labels("Persons"), "histogram_age": dp.Labels("Ages")},
    }
    release = session.release(by_sex(session), name="r", about=dp.About(**words))
    assert release.about.statistic("count").label == "Persons"


def test_releases_of_one_call_may_share_their_words(session):
    shared = dp.About(statistics={"count": dp.Labels("Persons"), "mean_age": dp.Labels(unit="years")})
    asked = session.table.agg(dp.mean("age", nulls="skip"))
    orders = [Order(by_sex(session), "0.1", "one", about=shared), Order(asked, "0.1", "two", about=shared)]
    assert len(session.release_all(orders)) == 2
