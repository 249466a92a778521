"""Persons on Spark: the integers of the reference, under every setting, from one reading of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.builders import session_over
from tests.laws import test_persons_weights as weighed_tables
from tests.spark.test_conformance import ODD, STRICT
from tests.unit.engines.test_persons import COLUMNS, IDS, PLANS, TABLE, rows_of, totals

import discreet as dp
from discreet.audit.engines.conformance import OpenEngine
from discreet.engines import person_scans
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.engines.spark.driver import open_spark_frame

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]

SETTINGS = {"as it is": {}, "odd": ODD, "strict": STRICT}
MIXED = ("two groups", "values", "values of all", "a row of each")


def header_of(ids: str) -> dict[str, ColumnType]:
    rest = (("text", "VARCHAR"), ("float", "DOUBLE"), ("date", "DATE"), ("boolean", "BOOLEAN"))
    return dict(zip(COLUMNS, (IDS[ids][0], *(ColumnType(*one) for one in rest)), strict=True))


@pytest.mark.parametrize("source", ["frame", "parquet"])
@pytest.mark.parametrize("ids", IDS)
def test_spark_answers_as_the_reference(openers: Mapping[str, OpenEngine], source: str, ids: str) -> None:
    header, rows = header_of(ids), rows_of(IDS[ids][1], 1)
    engine, reference = openers[source](header, rows), ReferenceEngine(header, rows)
    for name, plan in PLANS.items():
        assert totals(engine, plan) == totals(reference, plan), name


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_setting_changes_an_integer(openers: Mapping[str, OpenEngine], set_to: Any, settings: str) -> None:
    header, rows = header_of("texts"), rows_of(IDS["texts"][1], 5)
    reference = ReferenceEngine(header, rows)
    with set_to(SETTINGS[settings]):
        engine = openers["frame"](header, rows)
        for name in MIXED:
            assert totals(engine, PLANS[name]) == totals(reference, PLANS[name]), name


def test_totals_beyond_64_bits_are_exact(openers: Mapping[str, OpenEngine]) -> None:
    """Two thousand rows of one person overflow the sum of 64-bit codes, and the totals of persons are weighed."""
    most = 2**51
    schema = dp.Schema(visitor=dp.Identifier(), amount=dp.Number(0, most), shop=dp.Category(["a", "b"]))
    table = dp.Table(schema, dp.AddRemove(person="visitor"))
    plan = table.bound(groups=1).group_by("shop").agg(dp.sum("amount", per_person=(0, 2**39)), dp.persons())
    each = table.per_person(spent=dp.total("amount", 0, 2**39)).agg(dp.count("spent"))
    kinds = (("integer", "BIGINT"), ("integer", "BIGINT"), ("text", "VARCHAR"))
    header = {name: ColumnType(*kind) for name, kind in zip(("visitor", "amount", "shop"), kinds, strict=True)}
    rows = [(person, most - person, "ab"[k % 2]) for person in (1, 2) for k in range(9000)]
    for asked in (plan, each):
        assert totals(openers["frame"](header, rows), asked) == totals(ReferenceEngine(header, rows), asked)


def test_rows_count_with_their_weights(openers: Mapping[str, OpenEngine]) -> None:
    rows = weighed_tables.drawn_rows(7)
    engine, reference = openers["frame"](weighed_tables.HEADER, rows), ReferenceEngine(weighed_tables.HEADER, rows)
    for plan in weighed_tables.plans("views"):
        assert weighed_tables.totals(engine, plan) == weighed_tables.totals(reference, plan)


def rows_that_are_drawn(session: Any) -> Any:
    """Each of 400 visitors is there with two shops, or not at all; each reading draws anew."""
    drawn = session.range(0, 400, 1, 4).where("CAST(reflect('java.lang.Math', 'random') AS DOUBLE) < 0.5")
    return drawn.selectExpr("id AS visitor", "explode(array('a', 'b')) AS shop")


def weighed(frame: Any) -> list[tuple[int, bool]]:
    """The persons of each cell, and whether each of them weighs a half."""
    plan = TABLE.bound(groups=1, rows=1).group_by("shop").agg(dp.persons())
    return [(rows, sums[1] == rows * 2**19) for _, rows, sums in totals(open_spark_frame(frame, ("visitor", "shop")), plan)]


def test_a_frame_that_is_drawn_anew_is_read_once(session: Any, set_to: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with set_to({"spark.sql.exchange.reuse": "false"}):
        found = weighed(rows_that_are_drawn(session))
    assert found[0] == found[1]
    assert found[0][1]
    assert 130 < found[0][0] < 270  # seven standard deviations

    monkeypatch.setattr(type(rows_that_are_drawn(session)), "localCheckpoint", lambda frame, eager: frame)
    with set_to({"spark.sql.exchange.reuse": "false"}):  # which may make one reading of two, and need not
        rows, half = weighed(rows_that_are_drawn(session))[0]
    assert rows < 130 or not half


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("parts_sql", "p IS NOT NULL", "true"),
        ("parts_sql", "CAST(`x0` AS BINARY)", "lower(`x0`)"),
        ("answer_sql", "AS c FROM discreet_parts GROUP BY p", "AS c FROM discreet_parts GROUP BY p, cell"),
        ("answer_sql", "coalesce(CASE WHEN", "greatest(0, CASE WHEN"),  # a person without a value has the least one
    ],
)
def test_statements_that_count_otherwise_are_noticed(
    openers: Mapping[str, OpenEngine], monkeypatch: pytest.MonkeyPatch, name: str, right: str, wrong: str
) -> None:
    from discreet.engines.spark import persons

    literal: Callable[..., str] = getattr(person_scans, name)
    found: list[bool] = []

    def mutant(*given: Any) -> str:
        statement = literal(*given)
        found.append(right in statement)
        return statement.replace(right, wrong)

    monkeypatch.setattr(persons, name, mutant)
    with pytest.raises(AssertionError):
        test_spark_answers_as_the_reference(openers, "frame", "texts")
    assert any(found)


def test_a_release_from_spark(session: Any) -> None:
    """The nearest whole numbers are those of the rows: noise of half a person is a thousand standard deviations away."""
    frame = session.range(0, 700).selectExpr("id % 7 AS visitor", "IF(id % 2 = 0, 'a', 'b') AS shop")
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]))
    relation = dp.AddRemove(person="visitor")
    with session_over(frame, schema, budget=dp.ZCDP(10**9), neighbours=relation) as opened:
        plan = dp.Table(schema, relation).bound(groups=2, rows=2).group_by("shop").agg(dp.persons(), dp.count())
        found = opened.release(plan, spend=dp.ZCDP(10**8), name="visits")
    counts = [(round(row["persons"]), round(row["count"])) for row in found.table.to_dicts() if row["shop"]]
    assert counts == [(7, 14), (7, 14)]
