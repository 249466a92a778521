"""A person with k rows, or with c copies of a row in a resized table, loses no more than the spend, and nearly all of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, exp, log

import pytest

import discreet as dp
from discreet.cube import trees
from discreet.cube.queries import LevelCounts
from discreet.cube.trees import Tree
from discreet.privacy.coordinates import coordinates
from discreet.quotes.allocate import quote

from .every_query import LAWS, schema
from .losses import copies_kept, loss

SKIP = {"nulls": "skip"}
SPENDS = [dp.PureDP(1), dp.ZCDP("1/2"), dp.GDP(1)]
UPPER = 3
ASKED = {
    "counts and means": (dp.count(), dp.mean("v", **SKIP)),
    "a tree of two levels": (dp.median("v", **SKIP, interval=1),),
    "a tree and tables": (dp.quantiles("v", ["1/4"], **SKIP, interval=1), dp.histogram("v", [0, 2, 3]), dp.count()),
    "a variance": (dp.variance("v", **SKIP), dp.sum("v", **SKIP), dp.share()),
}


@pytest.fixture(autouse=True)
def deep(monkeypatch):
    """A column of four codes has a tree of two levels."""
    monkeypatch.setattr(trees, "choose_tree", lambda size, *_, **__: Tree(size, 2, 2))


def relation(word, persons, rows=3):
    return dp.AddRemove(persons) if word == "add-remove" else dp.ReplaceOne(rows=rows, rows_per_person=persons)


def requests(word, persons):
    table = dp.Table(schema(UPPER), relation(word, persons))
    for one, by, name in product((table, table.where({"g": ["x"]})), ([], ["g"]), ASKED):
        yield one.group_by(*by).agg(*ASKED[name])


def spent(word, persons):
    """For every request and spend what a person loses at most, relative to the spend."""
    for request, spend in product(requests(word, persons), SPENDS):
        quoted = quote(request, spend)
        assert {one.query.tree.depth for one in quoted.measured if isinstance(one.query, LevelCounts)} <= {2}
        yield loss(quoted, persons) / coordinates(spend)[0]


@pytest.mark.one_in(15)
@pytest.mark.parametrize("persons", [1, 2, 3])
@pytest.mark.parametrize("word", ["add-remove", "replace-one"])
def test_a_person_with_k_rows_loses_the_spend_and_no_more(word, persons):
    found = list(spent(word, persons))
    assert max(found) <= 1
    # The share that each query gets is exact: nearly every request spends all of it on some row.
    assert sum(one > 1 - 1e-9 for one in found) >= 0.6 * len(found) > 20


RESIZES = [(6, 2), (3, 2), (4, 1), (2, "1/2"), (9, 3), (4, "3/2")]
"""Rows and proportion: every copy kept, some cut off, one copy, a sample, three copies, a sample of two."""


def resized(word, persons, rows, proportion):
    full = dp.Table(schema(UPPER), relation(word, persons)).impute(LAWS)
    table = full.resize(rows, proportion=proportion)
    yield table.agg(*ASKED["a tree of two levels"], dp.histogram("v", [2, 3]))
    yield table.group_by("g").agg(dp.count())
    yield table.where({"g": ["x"]}).agg(dp.count(), dp.sum("v"))


def lost(quoted):
    """What a person loses, in the coordinate of the spend, by the literal law of the copies.

    Of one copy the loss is that of one row of the prepared table. Pure losses are averaged over the copies (Theorem R3), the
    others are those of the most copies that there can be.
    """
    law = copies_kept(quoted.plan)
    if isinstance(quoted.spend, dp.PureDP):
        one = float(loss(quoted, 1))
        return log(sum(float(chance) * exp(kept * one) for kept, chance in law.items()))
    return float(loss(quoted, 1)) * max(kept for kept, chance in law.items() if chance) ** 2


def resized_losses(resize, word, persons):
    """For every request and spend what a person loses, relative to the spend."""
    for request, spend in product(resized(word, persons, *resize), SPENDS):
        yield lost(quote(request, spend)) / float(coordinates(spend)[0])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("persons", [1, 2])
@pytest.mark.parametrize("word", ["add-remove", "replace-one"])
@pytest.mark.parametrize("resize", RESIZES, ids=str)
def test_copies_of_a_person_in_a_resized_table_lose_the_spend_and_no_more(resize, word, persons):
    found = list(resized_losses(resize, word, persons))
    assert max(found) <= 1 + 1e-12
    # Where the rows of a person are more than all that are kept, the account has them all the same (R2: n only thins them).
    rows, proportion = resize
    thinned = word == "add-remove" and rows < ceil(Fraction(proportion)) * persons
    assert thinned or max(found) > 1 - 1e-9


@pytest.mark.parametrize("copies", [2, 3])
def test_rows_that_are_all_copied_lose_as_much_as_that_many_rows(copies):
    """Without sampling nothing is averaged: c rows of the prepared table are replaced, all of them together."""
    table = dp.Table(schema(UPPER), dp.ReplaceOne(rows=3)).impute(LAWS).resize(3 * copies, proportion=copies)
    for asked, spend in product(("a tree of two levels", "counts and means"), SPENDS):
        quoted = quote(table.group_by("g").agg(*ASKED[asked]), spend)
        assert quoted.group == copies
        assert 1 - 1e-9 < loss(quoted, copies) / coordinates(spend)[0] <= 1
