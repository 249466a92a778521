"""Several requests in a list: one plan, one spend, one document, tables that agree; what cannot be one is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.plan.together import one_request
from discreet.session.orders import Order

SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 9))
GENERATOR = np.random.default_rng(1)
ROWS = 300
FRAME = pl.DataFrame(
    {
        "a": GENERATOR.choice(["x", "y"], ROWS),
        "b": GENERATOR.choice(["p", "q"], ROWS),
        "v": GENERATOR.integers(0, 10, ROWS),
    }
)
BINS = dp.bins("v", [0, 5, 9])
TABLE = dp.Table(SCHEMA, dp.AddRemove())
ONE = [
    TABLE.group_by("a", "b").agg(dp.count()),
    TABLE.agg(dp.count()),
    TABLE.agg(dp.tables(["b", BINS], ["a"])),
]


def test_it_is_the_plan_of_all_their_tables():
    asked = TABLE.agg(dp.tables(["a", "b"], [], ["b", BINS], ["a"]))
    assert one_request(ONE) == asked
    assert one_request(tuple(ONE)).digest == asked.digest
    assert one_request(ONE[:1]) is ONE[0]
    assert one_request(ONE[0]) is ONE[0]
    both = TABLE.group_by("a", BINS).agg(dp.count()), TABLE.agg(dp.count(), dp.tables(["b"]))
    assert one_request(both) == TABLE.agg(dp.tables(["a", BINS], [], ["b"]))


def test_weights_and_errors_are_those_of_the_tables():
    weighed = [
        TABLE.group_by("a").agg(dp.count(weight=3)),
        TABLE.agg(dp.tables(["b"], ["a", "b"], weights=[1, 2], weight=2)),
    ]
    assert one_request(weighed) == TABLE.agg(dp.tables(["a"], ["b"], ["a", "b"], weights=[3, 2, 4]))
    same = [TABLE.group_by("a").agg(dp.count(weight=2)), TABLE.agg(dp.tables(["b"], ["a", "b"], weight=2))]
    assert one_request(same) == TABLE.agg(dp.tables(["a"], ["b"], ["a", "b"]))
    limited = [TABLE.group_by("a").agg(dp.count()), TABLE.agg(dp.tables(["b"], ["a", "b"], errors=[4, None]))]
    assert one_request(limited) == TABLE.agg(
        dp.tables(["a"], ["b"], ["a", "b"], weights=[1, None, 1], errors=[None, 4, None])
    )
    alike = [TABLE.agg(dp.tables(["b"], errors=[4])), TABLE.agg(dp.tables(["a"], errors=[7]))]
    assert one_request(alike) == TABLE.agg(dp.tables(["b"], ["a"], errors=[4, 7]))


def test_steps_and_intervals_are_those_of_all():
    table = TABLE.where({"v": (0, 6)}).impute({"a": dp.Weights({"x": 1, "y": 1})})
    made = [table.group_by("a").agg(dp.count()).simultaneous(), table.group_by("b").agg(dp.count()).simultaneous()]
    assert one_request(made) == table.agg(dp.tables(["a"], ["b"])).simultaneous()


OTHER = dp.Table(dp.Schema(a=dp.Category(["x"])), dp.AddRemove())
REFUSED = {
    "an empty list": ([], "is an empty list"),
    "no requests": ([ONE[0], "a"], r"\[Plan, str\]; a list must hold requests that count"),
    "a nested list": ([ONE], r"\[list\]"),
    "another table": ([ONE[0], OTHER.agg(dp.count())], r"request\[1\]: is made from another table"),
    "other steps": (
        [ONE[0], TABLE.where({"v": (0, 5)}).agg(dp.count())],
        r"request\[1\]: its table is prepared in other steps",
    ),
    "other intervals": ([ONE[0], ONE[1].simultaneous()], r"request\[1\]: simultaneous\(\) is for all"),
    "other statistics": (
        [ONE[0], TABLE.agg(dp.sum("v", nulls="skip"))],
        r"request\[1\]: asks for 'sum_v'; .*release of its own",
    ),
    "counts of a column": ([ONE[0], TABLE.agg(dp.count("v"))], r"request\[1\]: asks for 'count_v'"),
    "the same table": ([ONE[0], TABLE.agg(dp.tables(["a", "b"]))], r"request\[1\]: the table by a, b is asked for twice"),
    "all rows twice": ([ONE[1], ONE[1]], r"request\[1\]: the table by no column is asked for twice"),
    "an alias": ([ONE[0], TABLE.agg(dp.count().alias("n"))], r"request\[1\]: alias\('n'\)"),
    "an alias of tables": ([ONE[0], TABLE.agg(dp.tables(["b"]).alias("n"))], r"request\[1\]: alias\('n'\)"),
    "groups that are not printed": (
        [ONE[1], TABLE.group_by("a", nulls="drop").agg(dp.count())],
        r"request\[1\]: nulls='drop' is not for tables",
    ),
}


PERSONS = dp.Table(dp.Schema(id=dp.Identifier(), a=dp.Category(["x", "y"])), dp.AddRemove(person="id"))


def test_a_list_on_a_bounded_table_of_persons_is_refused_as_a_list():
    bounded = PERSONS.bound(groups=2, rows=1)
    given = [bounded.group_by("a").agg(dp.count()), bounded.group_by("a").agg(dp.persons())]
    with pytest.raises(dp.PlanError, match=r"^request: is a list, .* make a release of each request, or .*per_person\(…\)$"):
        one_request(given)
    each = PERSONS.per_person(many=dp.rows(0, 3), a=dp.only("a"))
    groups = dp.bins("many", [0, 1, 3])
    together = one_request([each.group_by("a").agg(dp.count()), each.group_by(groups).agg(dp.count())])
    assert together == each.agg(dp.tables(["a"], [groups]))


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_one_request_is_refused_with_the_next_step(case):
    given, told = REFUSED[case]
    with pytest.raises(dp.PlanError, match=told):
        one_request(given)


@pytest.mark.parametrize("budget", [dp.ZCDP(1), dp.PureDP(1)], ids=str)
def test_they_are_one_release_whose_tables_agree(budget):
    session = session_over(FRAME, SCHEMA, budget=budget)
    quoted = session.quote(ONE, spend="1/2")
    release = session.release(ONE, spend="1/2", name="all")
    assert session.spent == type(budget)("1/2") == quoted.spend
    frames = release.tables
    assert list(frames) == ["table", "tables_a_b", "tables", "tables_b_v", "tables_a"]
    (count, low, high), *_ = frames["tables"].rows()
    assert low < count < high
    for frame in frames.values():
        assert not len(frame) or frame["count"].sum() == pytest.approx(count, abs=1e-6)
    assert dp.verify(release).tables == 4
    assert session.release(ONE, spend="1/2", name="all") == release
    assert session.release(one_request(ONE), spend="1/2", name="all") == release
    whole = [dp.consistent(release, name)["count_consistent"].sum() for name in list(frames)[1:]]
    assert len(set(whole)) == 1
    alone = session.release_all([Order(ONE, "1/4", "again"), Order(ONE[1], "1/4", "count")])
    assert [list(one.tables) for one in alone] == [list(frames), ["table"]]


def test_errors_are_those_of_the_tables_together():
    session = session_over(FRAME, SCHEMA, budget=dp.ZCDP(9))
    found = session.quote(ONE, error={"tables": 5})
    assert dict(found.expected)["tables"] <= 5
    with pytest.raises(dp.PlanError, match="no statistic 'count'"):
        session.quote(ONE, error={"count": 5})
    with pytest.raises(dp.PlanError, match="must be made with"):
        session.quote("count", spend=1)
