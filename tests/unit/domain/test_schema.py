from __future__ import annotations

import datetime as dt
import pickle
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import SchemaError
from discreet.exact.canonical import canonical


def test_columns_have_codes_on_a_public_grid():
    wage = dp.Number("0", "2000", step="10")
    assert wage.size == 201
    assert wage.code("110", "x") == 11
    assert wage.value(11) == 110
    assert dp.Number(0.1, 0.7, 0.2).size == 4
    day = dp.Date("2024-02-28", dt.date(2024, 3, 1))
    assert day.size == 3
    assert day.value(1) == dt.date(2024, 2, 29)
    assert dp.Category(["b", "a"]).code("a", "x") == 1
    assert dp.Category([False, True]).code(True, "x") == 1
    assert dp.Number(5, 5).size == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.Number(5, 1), "lower=5 must not be greater than upper=1"),
        (lambda: dp.Number(0, 1, 0), "step=0"),
        (lambda: dp.Number(0, 1, -1), "step=-1"),
        (lambda: dp.Number("nan", 1), "lower='nan'"),
        (lambda: dp.Number(0, float("inf")), "upper=inf"),
        (lambda: dp.Number(None, 1), "lower=None"),
        (lambda: dp.Number(True, 2), "lower=True"),
        (lambda: dp.Number(0, 10, 3), "nearest grid values are 9 and 12"),
        (lambda: dp.Number(0, 10**20), "coarser step"),
        (lambda: dp.Category([]), "empty"),
        (lambda: dp.Category(["a", "a"]), "listed twice"),
        (lambda: dp.Category(["e\u0301", "\u00e9"]), "listed twice"),
        (lambda: dp.Category(["a", 1]), "int, str"),
        (lambda: dp.Category([0, False]), "bool, int"),
        (lambda: dp.Category([1.5]), "float"),
        (lambda: dp.Category([""]), "empty text"),
        (lambda: dp.Category(["a\nb"]), "control"),
        (lambda: dp.Category([2**63]), "64 bits"),
        (lambda: dp.Category("no/such/file"), "no/such/file"),
        (lambda: dp.Date("2024-02-30", "2024-03-01"), "first='2024-02-30'"),
        (lambda: dp.Date("2024-03-02", "2024-03-01"), "must not be after"),
        (lambda: dp.Date(dt.datetime(2024, 1, 1), "2024-03-01"), "without a time"),  # noqa: DTZ001
        (lambda: dp.Schema({}), "no columns"),
        (lambda: dp.Schema({"": dp.Number(0, 1)}), "empty text"),
        (lambda: dp.Schema({"a": 3}), "int"),
        (lambda: dp.Schema({"Age": dp.Number(0, 1), "age": dp.Number(0, 1)}), "upper and lower case"),
        (lambda: dp.Schema({"a": dp.Number(0, 1)}, a=dp.Number(0, 1)), "twice"),
        (lambda: dp.Schema(wage=dp.Number(0, 1))["wgae"], "did you mean 'wage'"),
    ],
)
def test_what_is_wrong_is_refused_with_the_rule(make, says):
    with pytest.raises(SchemaError) as refused:
        make()
    assert says in str(refused.value)


def test_categories_come_from_a_file(tmp_path):
    path = tmp_path / "states.txt"
    path.write_text("\ufeffAlabama\nAlaska\n", encoding="utf-8")
    assert dp.Category(path).values == ("Alabama", "Alaska")


def test_texts_are_normalised():
    assert dp.Category(["e\u0301"]).values == ("\u00e9",)
    assert dp.Category(["\u00e9"]).code("e\u0301", "x") == 0


def test_a_schema_is_a_value():
    one = dp.Schema({"a": dp.Number(0, 1)}, b=dp.Category(["x"]))
    two = dp.Schema(a=dp.Number("0", "1.0"), b=dp.Category(["x"]))
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert canonical(one.to_json()) == (
        '[{"lower":"0","name":"a","step":"1","type":"number","upper":"1"},{"categories":["x"],"name":"b","type":"category"}]'
    )


@given(st.fractions(-1000, 1000), st.integers(0, 500), st.fractions(min_value=Fraction(1, 1000), max_value=10))
def test_codes_and_values_invert_each_other(lower, last, step):
    column = dp.Number(lower, lower + last * step, step)
    assert column.size == last + 1
    for code in {0, last // 2, last}:
        assert column.code(column.value(code), "x") == code


def test_order_and_types_are_part_of_a_schema():
    ordered = dp.Schema(a=dp.Number(0, 1), b=dp.Category([0, 1]))
    assert ordered != dp.Schema(b=dp.Category([0, 1]), a=dp.Number(0, 1))
    assert ordered != dp.Schema(a=dp.Number(0, 1), b=dp.Category([False, True]))
    assert dp.Category([0, 1]) != dp.Category([False, True])
    one, two = dp.Weights({"x": 1, "y": 2}), dp.Weights({"y": 2, "x": 1})
    assert (one == two) <= (hash(one) == hash(two))


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: dp.Number(0, 9, missing=-8), "must be a list of the codes"),  # type: ignore[arg-type]
        (lambda: dp.Number(0, 9, missing="-8"), "must be a list of the codes"),
        (lambda: dp.Number(0, 9, missing=["NA"]), "missing='NA': must be a number"),
        (lambda: dp.Number(0, 9, missing=[float("nan")]), "missing=nan: must be finite"),
        (lambda: dp.Number(0, 9, missing=[8, "8.0"]), "missing=8: listed twice"),
        (lambda: dp.Number(0, 9, missing=["1e500"]), "more than 400 digits"),
        (lambda: dp.Number(0, 9, missing=range(200)), "200 codes are more than 100"),
        (lambda: dp.Category(["a"], missing=[9]), "missing=9: must be a text"),
        (lambda: dp.Category([1], missing=["9"]), "missing='9': must be a whole number"),
        (lambda: dp.Category([1], missing=[True]), "missing=True: must be a whole number"),
        (lambda: dp.Category([True], missing=[0]), "missing=0: must be true or false"),
        (lambda: dp.Category(["é"], missing=["e\u0301"]), "is listed as a category"),
        (lambda: dp.Category([1], missing=[2**63]), "must fit into 64 bits"),
        (lambda: dp.Date("2020-01-01", "2020-01-02", missing=["99.99.9999"]), "must be a date such as"),
    ],
)
def test_missing_codes_that_no_cell_can_be_are_refused(make: Callable[[], object], shown: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(shown)):
        make()


def test_missing_codes_are_part_of_a_column_only_where_there_are_some() -> None:
    assert "missing" not in dp.Number(0, 9, missing=[]).to_json()
    assert dp.Number(0, 9, missing=[999, "-8.50"]).to_json()["missing"] == ["-8.5", "999"]
    assert dp.Number(0, 9, missing=[8, 9]) == dp.Number(0, 9, missing=[9, 8]) != dp.Number(0, 9, missing=[8])
    assert dp.Category(["a"], missing=["e\u0301"]).to_json()["missing"] == ["é"]
    assert dp.Category(["a"], missing=["x"]) != dp.Category(["a"])
    assert dp.Date("2020-01-01", "2020-01-02", missing=["9999-12-31"]).to_json()["missing"] == ["9999-12-31"]
    for column in (dp.Number(0, 9, missing=[8]), dp.Category(["a"], missing=["x"])):
        assert pickle.loads(pickle.dumps(column)) == column
