"""Odd arguments meet a rule of discreet, never an exception of Python, and no message prints a table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.releases.document import make_release
from discreet.session.orders import Order

SECRET = 738291
FRAME = pl.DataFrame({"v": [SECRET], "s": ["x"]})
SCHEMA = dp.Schema(
    s=dp.Category(["x", "y"]), b=dp.Category([False, True]), v=dp.Number(0, 10), d=dp.Date("2020-01-01", "2020-12-31")
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())
LONG = 10**5000
ODD = [
    LONG,
    -LONG,
    Fraction(1, LONG),
    Decimal("sNaN"),
    Decimal("1e999999"),
    float("nan"),
    b"12",
    "",
    "a\0b",
    "9" * 5000,
    None,
    True,
    object(),
    [],
    [[1]],
    {"x": [1]},
    {1, 2},
    (1, 2, 3),
    np.int64(3),
    np.array([1, 2]),
    np.datetime64("2020-01-01"),
    dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    FRAME,
    FRAME["v"],
    dp.PureDP,
]


def session():
    return session_over(FRAME, SCHEMA, budget=dp.ApproxDP(1, "1e-6"))


def released(order):
    with session() as one:
        try:
            return one.release_all([order])
        finally:
            assert one.spent == dp.ApproxDP(0, 0) or order.spend in {None, True}


def asked(error):
    with session() as one:
        return one.quote(COUNT, error=error) if error is not None else one.quote(None)


COUNT = TABLE.agg(dp.count())
TAKES = {
    "Number(x, 1)": lambda x: dp.Number(x, 1),
    "Number(0, x)": lambda x: dp.Number(0, x),
    "Number(0, 1, x)": lambda x: dp.Number(0, 1, x),
    "Number(x, x, x)": lambda x: dp.Number(x, x, x),
    "Category(x)": dp.Category,
    "Category([x])": lambda x: dp.Category([x]),
    "Date(x, x)": lambda x: dp.Date(x, x),
    "Schema(x)": dp.Schema,
    "Schema({'a': x})": lambda x: dp.Schema({"a": x}),
    "schema[x]": lambda x: SCHEMA[x],
    "ReplaceOne(x)": dp.ReplaceOne,
    "AddRemove(x)": dp.AddRemove,
    "clamp(x)": TABLE.clamp,
    "clamp number": lambda x: TABLE.clamp({"v": x}),
    "clamp bound": lambda x: TABLE.clamp({"v": (0, x)}),
    "clamp date": lambda x: TABLE.clamp({"d": (x, x)}),
    "clamp category": lambda x: TABLE.clamp({"s": x}),
    "clamp categories": lambda x: TABLE.clamp({"s": [x]}),
    "where": lambda x: TABLE.where({"b": x}),
    "impute(x)": TABLE.impute,
    "impute": lambda x: TABLE.impute({"v": x}),
    "Uniform": lambda x: TABLE.impute({"v": dp.Uniform(x, x)}),
    "Normal mean": lambda x: TABLE.impute({"v": dp.Normal(x, 1)}),
    "Normal sd": lambda x: TABLE.impute({"v": dp.Normal(0, x)}),
    "Weights(x)": dp.Weights,
    "Weights": lambda x: TABLE.impute({"s": dp.Weights({"x": x})}),
    "resize": TABLE.resize,
    "proportion": lambda x: TABLE.resize(5, proportion=x),
    "group_by": lambda x: TABLE.group_by(x).agg(dp.count()),
    "bins column": lambda x: TABLE.group_by(dp.bins(x, [0, 1])),
    "bins edges": lambda x: TABLE.group_by(dp.bins("v", x)),
    "bins edge": lambda x: TABLE.group_by(dp.bins("v", [x, x])),
    "count": lambda x: TABLE.agg(dp.count(x)),
    "sum": lambda x: TABLE.agg(dp.sum(x)),
    "median": lambda x: TABLE.agg(dp.median(x)),
    "quantiles": lambda x: TABLE.agg(dp.quantiles("v", x, nulls="skip")),
    "quantile": lambda x: TABLE.agg(dp.quantiles("v", [x], nulls="skip")),
    "histogram column": lambda x: TABLE.agg(dp.histogram(x, [0, 1])),
    "histogram edges": lambda x: TABLE.agg(dp.histogram("v", x)),
    "histogram edge": lambda x: TABLE.agg(dp.histogram("v", [0, x])),
    "tables": lambda x: TABLE.agg(dp.tables(x)),
    "tables group": lambda x: TABLE.agg(dp.tables(["s"], [x])),
    "tables bins": lambda x: TABLE.agg(dp.tables(["s"], [dp.bins("v", [0, x])])),
    "error": asked,
    "errors": lambda x: asked({"count": x}),
    "weight": lambda x: TABLE.agg(dp.count(weight=x)),
    "nulls": lambda x: TABLE.agg(dp.mean("v", nulls=x)),
    "alias": lambda x: TABLE.agg(dp.count().alias(x)),
    "agg": TABLE.agg,
    "spend": lambda x: released(Order(COUNT, x, "r")),
    "spend pair": lambda x: released(Order(COUNT, (x, x), "r")),
    "name": lambda x: released(Order(COUNT, "0.1", x)) if not isinstance(x, str) or not x.isprintable() else None,
    "request": lambda x: released(Order(x, "0.1", "r")),
    "budget": lambda x: session_over(FRAME, SCHEMA, budget=x),
    "neighbours": lambda x: session_over(FRAME, SCHEMA, neighbours=x),
}


def refusal(take, argument):
    """The message with which discreet refuses the argument; None when it is taken. Other exceptions pass."""
    try:
        take(argument)
    except dp.DiscreetError as error:
        return str(error)
    return None


@pytest.mark.one_in(6)
@pytest.mark.parametrize("taker", TAKES)
def test_odd_arguments_meet_a_rule(taker):
    messages = [message for odd in ODD if (message := refusal(TAKES[taker], odd)) is not None]
    assert len(messages) >= len(ODD) // 2
    assert all(str(SECRET) not in message and len(message) < 600 for message in messages)


@pytest.mark.parametrize(
    "lower_upper_step", [(0, 10**61, 10**60), (0, Fraction(1, 10**61), Fraction(1, 10**61)), (0, "1e400", "1e399")]
)
def test_numbers_of_extraordinary_size_are_refused_before_they_fail_a_release(lower_upper_step):
    with pytest.raises(dp.SchemaError, match="other units"):
        dp.Number(*lower_upper_step)


def test_numbers_of_the_greatest_size_are_released():
    for step in (Fraction(10) ** 59, Fraction(1, 10**60)):
        schema = dp.Schema(v=dp.Number(0, 9 * step, step))
        frame = pl.DataFrame({"v": [float(9 * step)] * 3})
        with session_over(frame, schema) as one:
            table = one.table.impute({"v": dp.Uniform()})
            request = table.agg(*(make("v") for make in (dp.sum, dp.mean, dp.variance, dp.std, dp.median)))
            row = one.release(request, spend="1e-14", name="r").table.row(0)
            assert all(np.isfinite(row))


@pytest.mark.parametrize("budget", [dp.PureDP(10**61), dp.ZCDP(10**61), dp.GDP(10**31), dp.ApproxDP(10**400, "1e-6")])
def test_budgets_without_a_finite_epsilon_are_refused(budget):
    with pytest.raises(dp.ArgumentError, match="protects nobody"):
        session_over(FRAME, SCHEMA, budget=budget)


def test_a_column_too_wide_to_be_imputed_is_refused_with_the_rule():
    table = dp.Table(dp.Schema(v=dp.Number(0, 10**12)), dp.AddRemove())
    for law in (dp.Uniform(), dp.Normal(0, 1)):
        with pytest.raises(dp.PlanError, match="coarser step"):
            table.impute({"v": law})
    assert table.clamp({"v": (0, 100)}).impute({"v": dp.Uniform()}).steps


@pytest.mark.parametrize("odd", [3, None, b"", b"[]", b"{}", "{", "a\0b", FRAME])
def test_what_is_no_release_is_refused(odd):
    with pytest.raises(dp.ArgumentError, match="release"):
        dp.Release(odd)
    with pytest.raises(dp.ArgumentError, match="no release"):
        dp.Release.load(odd)


def test_a_document_that_lacks_a_part_is_no_release():
    with pytest.raises(dp.ArgumentError, match="columns"):
        make_release({"name": "r", "dataset": "d", "guarantee": {}})


def test_a_path_that_cannot_be_one_is_no_source():
    with pytest.raises(dp.SourceError, match="spelling"):
        session_over("a\0.csv", SCHEMA)


def column(name, values):
    return {"name": name, "kind": "integer", "values": values}


MADE_UP = {
    "no guarantee": ("guarantee", {}),
    "an epsilon in words": ("guarantee", "epsilon", "much"),
    "a number of rows that change in words": ("guarantee", "semi_adjacency", ""),
    "a frame called by a number": ("frames", [{"name": 7, "columns": [column("a", [1])]}]),
    "a measure that is no budget": ("guarantee", "measure", {"measure": "none"}),
    "columns that are no list": ("columns", 7),
    "columns of unequal length": ("columns", [column("a", [1]), column("b", [1, 2])]),
    "two columns of one name": ("columns", [column("a", [1])] * 2),
    "values of another kind": ("columns", [column("a", [[]])]),
    "totals without parts": ("invariants", {"totals": {}}),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", MADE_UP)
def test_a_made_up_document_with_a_fitting_digest_is_refused_and_leaves_no_file(tmp_path, what):
    schema = dp.Schema(s=dp.Category(["x", "y"]))
    with session_over(FRAME, schema) as one:
        document = one.release(one.table.agg(dp.count()), name="r").document
    part, *within, new = MADE_UP[what]
    document[part] = {**document[part], within[0]: new} if within else new
    del document["digest"]
    made_up = make_release(document)
    with pytest.raises(dp.ArgumentError, match="not a document that discreet wrote"):
        repr((made_up.guarantee, made_up.tables))
    if part != "guarantee":
        with pytest.raises(dp.ArgumentError, match="not a document that discreet wrote"):
            made_up.save(tmp_path / "out")
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("around", [900, 1000])
def test_a_document_nested_as_deep_as_python_reads_is_no_release(around):
    """Reading goes a little deeper than writing: every depth about the limit is tried."""
    for depth in range(around - 100, around + 100):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            document = f'{{"format":1,"digest":"x","a":{opening * depth}1{closing * depth}}}'
            with pytest.raises(dp.ArgumentError, match="release: "):
                dp.Release(document.encode())
