"""How engines group: the words of keys, and how many cuts a code has passed, run as SQL and read back."""

from __future__ import annotations

import random
from bisect import bisect_right
from functools import cache
from math import prod

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet as dp
from discreet.audit.engines.conformance import first_difference
from discreet.cube.cube import order_of
from discreet.cube.value_paths import CategoryPath, KeyAxis, NumberPath, mark_imputed
from discreet.domain.codes import NULL
from discreet.domain.columns import Category, Number
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.driver import open_frame
from discreet.engines.keys import unpack, word_sql, words_of
from discreet.engines.reference import ReferenceEngine
from discreet.engines.resources import Limits
from discreet.engines.spark.dialect import SPARK
from discreet.engines.sql import _count_passed
from discreet.plan.table import Table


def number(low: int, width: int) -> KeyAxis:
    low = max(low, 0)
    target = mark_imputed(0) if low % 2 else NULL
    return KeyAxis(NumberPath("x", Number(0, 2**41), low, low + width, target, ()))


def category(size: int) -> KeyAxis:
    targets = tuple(code if code % 3 else mark_imputed(code % 2) for code in range(size))
    return KeyAxis(CategoryPath("x", Category(range(size)), targets, mark_imputed(1), ()))


def cut(cuts: int) -> KeyAxis:
    return KeyAxis(NumberPath("x", Number(0, 2**41), 0, 2**41, NULL, ()), tuple(range(0, 3 * cuts, 3)))


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """One for all examples: to begin another takes far longer than to ask."""
    return duckdb.connect()


AXES = st.lists(
    st.one_of(
        st.tuples(st.integers(-3, 5), st.sampled_from([0, 1, 7, 10**4, 2**33, 2**40])).map(lambda one: number(*one)),
        st.integers(1, 40).map(category),
        st.integers(1, 2000).map(cut),
    ),
    min_size=1,
    max_size=7,
)


def ranges(axis: KeyAxis) -> tuple[int, int]:
    """The least and the largest label, by listing what `KeyAxis` says of them."""
    path = axis.path
    if isinstance(path, CategoryPath):
        ends = [path.null_target, *path.targets]
    else:
        ends = [path.null_target, *([path.low, path.high] if axis.cuts is None else [0, len(axis.cuts)])]
    return min(ends), max(ends)


@given(AXES, st.randoms(use_true_random=False))
@example([number(0, 2**40)] * 3, random.Random(1))  # noqa: S311
@example([number(1, 2**40), cut(3), category(2)], random.Random(2))  # noqa: S311
def test_words_hold_the_labels_and_their_order(axes: list[KeyAxis], chance: random.Random) -> None:
    words = words_of(axes)
    assert sum(len(word.sizes) for word in words) == len(axes)
    assert all(prod(word.sizes) < 2**62 for word in words)
    bounds = [ranges(axis) for axis in axes]
    cells = [[low for low, _ in bounds], [high for _, high in bounds]]
    cells += [[chance.randint(low, high) for low, high in bounds] for _ in range(20)]
    frame = pl.DataFrame(np.array(cells, np.int64), schema=[f"x{i}" for i in range(len(axes))])
    texts, first = [], 0
    for word in words:
        texts.append(word_sql(word, [f"x{first + i}" for i in range(len(word.sizes))]))
        first += len(word.sizes)
    answer = connection().register("frame", frame).sql(f"SELECT {', '.join(texts)} FROM frame").pl()
    numbers = [column.to_numpy() for column in answer.get_columns()]
    assert unpack(words, numbers, len(cells)).tolist() == cells
    assert np.array(cells)[order_of(numbers, len(cells))].tolist() == sorted(cells)


def test_a_coarse_grid_has_a_key_for_each_axis_and_a_fine_one_few() -> None:
    assert [len(words_of([category(40)] * axes)) for axes in (1, 2, 3)] == [1, 2, 3]
    assert [len(words_of([category(40)] * axes)) for axes in (4, 7, 14)] == [1, 1, 2]
    assert [word.least for word in words_of([number(0, 2**40), number(0, 2**40)])] == [(0,), (0,)]


CUTS = [(), (3,), (1, 4), (1, 4, 9), (5, 6, 7, 8), tuple(range(0, 200, 3)), tuple(range(1, 90)), (0, *range(3, 200, 5), 201)]


@pytest.mark.parametrize("cuts", CUTS, ids=lambda cuts: f"{len(cuts)} from {cuts[:2]}")
@pytest.mark.parametrize("dialect", [DUCKDB, SPARK], ids=["duckdb", "spark"])
def test_cuts_that_a_code_has_passed(cuts: tuple[int, ...], dialect: Dialect) -> None:
    near = ((cuts[0] - 1, cuts[-1]) if cuts else (0, 1), (cuts[0] - 2, cuts[-1] + 2) if cuts else (0, 1))
    for ends in ((-3, 209), *near):
        text = _count_passed(dialect, "code", cuts, 2, ends).replace(" div ", " // ")
        codes = ["NULL", *map(str, range(ends[0], ends[1] + 1))]
        found = duckdb.sql(f"SELECT code, {text} FROM (SELECT unnest([{', '.join(codes)}]) AS code)").fetchall()
        passed = [(code, 2 + sum(cut <= code for cut in cuts)) for code in range(ends[0], ends[1] + 1)]
        assert found == [(None, None), *passed]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("many", "last"), [(33, 4000), (32, 4000), (1500, 2**16 - 1), (201, 2**16), (256, 2**41), (1500, 2**16)]
)
def test_bins_of_any_number(many: int, last: int) -> None:
    """Looked up in a table of all codes, or by halving: engines bound the depth of a sum of comparisons."""
    chance = random.Random(3)  # noqa: S311
    edges = sorted(chance.sample(range(last), many))
    values = [None, -1, 0, last, last + 1, *range(0, last, max(37, last // 2000)), *edges, *(edge - 1 for edge in edges)]
    table = Table(dp.Schema(x=dp.Number(0, last)), dp.AddRemove()).group_by(dp.bins("x", edges)).agg(dp.count())
    (part,) = table.layout.scans
    engine = open_frame(pl.DataFrame({"x": values}), ["x"], Limits())
    known = ReferenceEngine(engine.header, [(value,) for value in values])
    assert first_difference(known.aggregate(part.axes, ()), engine.aggregate(part.axes, ())) is None


@pytest.mark.parametrize("dialect", [DUCKDB, SPARK], ids=["duckdb", "spark"])
def test_of_many_cuts_a_statement_holds_hardly_more_than_their_digits(dialect: Dialect) -> None:
    """An expression for each of 20,000 cuts took gigabytes to run, or could not be run at all, after the charge."""
    cuts = sorted(random.Random(4).sample(range(10**6), 20_000))  # noqa: S311
    assert len(_count_passed(dialect, "code", cuts, 0, (0, 10**6))) < 20 * len(cuts)


@pytest.mark.parametrize("syntax", ["DEFAULT", "ENABLE_SINGLE_ARROW", "DISABLE_SINGLE_ARROW"])
def test_many_cuts_are_searched_whatever_the_connection_of_the_caller_says_of_lambdas(syntax: str) -> None:
    cuts = [code**2 // 7 for code in range(20, 300)]
    connection = duckdb.connect(config={"lambda_syntax": syntax})
    codes = "(SELECT NULL AS code UNION ALL SELECT range FROM range(40, 14000))"
    found = connection.sql(f"SELECT code, {_count_passed(DUCKDB, 'code', cuts, 2, (40, 13999))} FROM {codes}").fetchall()
    assert found == [(None, None), *((code, 2 + bisect_right(cuts, code)) for code in range(40, 14000))]


def test_a_fine_grid_with_marks_is_that_of_the_reference() -> None:
    """Two imputed categories and an imputed number: their marks are labels of the word too."""
    names = [f"c{i}" for i in range(40)]
    schema = dp.Schema(a=dp.Category(names), b=dp.Category(range(40)), x=dp.Number(0, 2000))
    start = Table(schema, dp.AddRemove()).clamp({"a": names[3:]})
    laws = {"a": dp.Weights(dict.fromkeys(names[3:], 1)), "b": dp.Weights(dict.fromkeys(range(40), 1)), "x": dp.Uniform()}
    plan = start.impute(laws).resize(rows=50, proportion="0.5").group_by("a", "b").agg(dp.count(), dp.mean("x"))
    (part,) = plan.layout.scans
    assert len(part.axes) == 3
    assert len(words_of(part.axes)) == 1
    chance = random.Random(5)  # noqa: S311
    values = [[*names, "c40", None], [*range(42), None], [None, -1, 0, 7, 1999, 2001]]
    rows = [tuple(chance.choice(column) for column in values) for _ in range(400)]
    engine = open_frame(pl.DataFrame(rows, schema=["a", "b", "x"], orient="row"), ["a", "b", "x"], Limits())
    known = ReferenceEngine(engine.header, rows)
    found = engine.aggregate(part.axes, part.moments)
    assert first_difference(known.aggregate(part.axes, part.moments), found) is None
    assert found.keys.min() == mark_imputed(0)
