"""Cubes that are brought one by one have the law of one joint cube, and that of the rows: enumerated, as rationals.

Theorem Q2 of docs/proofs/cube.md. The hypothesis is needed: with a shared imputed column, or a shared sample, cubes that are
drawn one by one have another law, which the comparison sees.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain

import pytest

import discreet as dp
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan import layout as layouts
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers

from .literal_rows import Literal
from .test_cube_is_row_level import enumerated

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), u=dp.Number(0, 1), v=dp.Number(0, 2), w=dp.Number(0, 2))
HEADER = dict.fromkeys(SCHEMA.columns, ColumnType("text", "VARCHAR"))
ROWS = [("x", 1, None, 0), (None, None, 2, None)]
V, W = {"v": dp.Uniform()}, {"w": dp.Uniform(0, 1)}
ALL = {"g": dp.Weights({"x": 1, "y": 2}), "u": dp.Uniform(0, 0), **V, **W}
SKIP = {"nulls": "skip"}


def tree(column):
    return dp.median(column, interval=1, **SKIP)


def halves(column):
    return dp.histogram(column, [0, 1, 2])


# Each with the number of cubes that are brought when no joint cube is small enough.
APART = {
    "trees of imputed columns": (lambda t: t.impute(V | W).group_by("g").agg(tree("v"), tree("w")), 2),
    "tables of imputed columns": (lambda t: t.impute(V | W).agg(halves("v"), halves("w"), dp.count("u")), 3),
    "a tree and bins of one imputed column": (lambda t: t.impute(V).agg(tree("v"), halves("v")), 1),
    "tables that count with nulls what others draw": (
        lambda t: t.impute(V).agg(dp.tables(["g"], ["g", dp.bins("v", [0, 1, 2])]), halves("v")),
        2,
    ),
    "tables that share a column, which each of them cuts": (
        lambda t: t.impute(W).agg(dp.tables([dp.bins("u", [0, 1]), dp.bins("w", [0, 1, 2])], ["g", dp.bins("u", [0, 1])])),
        2,
    ),
    "sums beside a key that is imputed": (lambda t: t.impute(V | W).group_by("g").agg(tree("v"), dp.sum("w")), 2),
    "sums and codes of one imputed column": (lambda t: t.impute(V).agg(tree("v"), dp.mean("v"), dp.std("u", **SKIP)), 2),
    "a condition": (lambda t: t.impute(V | W).where({"u": (1, 1)}).agg(tree("v"), halves("w"), dp.count()), 2),
    "all rows kept, and a fill": (lambda t: t.impute(ALL).resize(3).agg(tree("v"), tree("w")), 2),
    "all rows kept twice": (lambda t: t.impute(ALL).resize(4, proportion=2).agg(halves("v"), dp.mean("w"), tree("u")), 3),
}
TOGETHER = {
    "a group that is imputed": lambda t: t.impute(ALL).group_by("g").agg(tree("v"), tree("w")),
    "a sample": lambda t: t.impute(ALL).resize(2, proportion="1/2").agg(halves("v"), halves("w")),
    "a column of two pairs": lambda t: t.impute(ALL).agg(dp.covariance("v", "u"), dp.covariance("w", "v")),
}
NEIGHBOURS = [dp.ReplaceOne(rows=len(ROWS)), dp.AddRemove()]


@contextmanager
def joint_cubes_up_to(cells: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "JOINT_CELLS", cells)
        yield


def brought(make, neighbours, cells):
    """The quote of a request, when joint cubes of so many cells count as small."""
    with joint_cubes_up_to(cells):
        return quote(make(dp.Table(SCHEMA, neighbours)), dp.PureDP(1))


def law_on_cubes(quoted, monkeypatch):
    engine = ReferenceEngine(HEADER, ROWS)
    cubes = [engine.aggregate(part.axes, part.moments) for part in quoted.plan.layout.scans]
    return enumerated(lambda: tuple(map(int, chain(*exact_answers(quoted, cubes, None)))), monkeypatch)


def law_on_rows(quoted):
    literal = Literal(quoted)
    return literal.table([literal.row(row) for row in ROWS])


# A secret number of rows leaves no copies constant.
CASES = [(name, one) for name in APART for one in NEIGHBOURS if isinstance(one, dp.ReplaceOne) or "kept" not in name]


@pytest.mark.parametrize(("name", "neighbours"), CASES, ids=str)
def test_cubes_one_by_one_have_the_law_of_the_joint_cube_and_of_the_rows(name, neighbours, monkeypatch):
    make, parts = APART[name]
    apart, joint = brought(make, neighbours, 0), brought(make, neighbours, 2**14)
    assert (len(apart.plan.layout.scans), len(joint.plan.layout.scans)) == (parts, 1)
    law = law_on_cubes(apart, monkeypatch)
    assert sum(law.values()) == 1
    assert law == law_on_cubes(joint, monkeypatch)
    assert law == law_on_rows(apart)


@pytest.mark.parametrize("name", TOGETHER)
def test_what_is_drawn_once_is_in_one_cube(name, monkeypatch):
    quoted = brought(TOGETHER[name], NEIGHBOURS[0], 0)
    assert len(quoted.plan.layout.scans) == 1
    assert law_on_cubes(quoted, monkeypatch) == law_on_rows(quoted)


@pytest.mark.parametrize("name", TOGETHER)
def test_cubes_that_draw_it_again_have_another_law(name, monkeypatch):
    """The theorem's condition is no formality, and the comparison above would notice its absence."""
    monkeypatch.setattr(layouts, "_explain_tie", lambda *_: "")
    monkeypatch.setattr(layouts, "_components", lambda needs, _: [[need] for need in needs])
    if name != "a sample":
        with pytest.raises(dp.InternalError, match="share draws"):
            brought(TOGETHER[name], NEIGHBOURS[0], 0)
    monkeypatch.setattr(layouts, "_require_the_joint_law", lambda *_: None)
    mutant = brought(TOGETHER[name], NEIGHBOURS[0], 0)
    assert len(mutant.plan.layout.scans) == 2
    law = law_on_cubes(mutant, monkeypatch)
    assert sum(law.values()) == 1
    assert law != law_on_rows(mutant)


@pytest.mark.parametrize("neighbours", NEIGHBOURS, ids=["replace-one", "add-remove"])
def test_cubes_of_different_numbers_of_rows_are_no_release(neighbours):
    quoted = brought(APART["trees of imputed columns"][0], neighbours, 0)
    first, second = quoted.plan.layout.scans
    whole, cut = ReferenceEngine(HEADER, ROWS), ReferenceEngine(HEADER, ROWS[:1])
    cubes = [whole.aggregate(first.axes, first.moments), cut.aggregate(second.axes, second.moments)]
    with pytest.raises(dp.InternalError, match="does not have the declared number of rows"):
        exact_answers(quoted, cubes, system_bits())
