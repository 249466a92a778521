"""Shared cubes of many tables: every table is in one of them, each is bounded, and what is counted is the same."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.noise.bits import no_bits
from discreet.plan import layout
from discreet.plan.covering import cover
from discreet.plan.layout import layout_of
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers, run_scans

NAMES = "abcdefg"
SIZES = st.fixed_dictionaries({name: st.integers(1, 9) for name in NAMES})
WANTED = st.lists(st.frozensets(st.sampled_from(NAMES), max_size=4), max_size=30)


@given(WANTED, SIZES, st.integers(1, 500))
def test_every_set_is_in_one_group_and_groups_are_bounded(wanted, sizes, most):
    groups = cover(wanted, sizes, most)
    assert sorted(place for group in groups for place in group) == list(range(len(wanted)))
    for group in groups:
        own = frozenset[str]().union(*(wanted[place] for place in group))
        largest = max(prod(sizes[name] for name in wanted[place]) for place in group)
        assert prod(sizes[name] for name in own) <= max(most, largest)


def test_many_small_sets_need_few_groups():
    wanted = [frozenset(one) for one in combinations("abcdefghijkl", 3)]
    groups = cover(wanted, dict.fromkeys("abcdefghijkl", 4), 4**8)
    assert len(groups) <= 12  # of 8 columns each, which have 56 of the 220 sets


SCHEMA = dp.Schema(
    **{name: dp.Category(["p", "q", "r"]) for name in "abcdefgh"}, n=dp.Number(0, 99), m=dp.Category(["p", "q", "r"])
)
FRAME = pl.DataFrame(
    {
        **{
            name: np.random.default_rng(place).choice(["p", "q", "r", None], 500).tolist()
            for place, name in enumerate("abcdefgh")
        },
        "n": np.random.default_rng(9).integers(0, 100, 500),
        "m": np.random.default_rng(8).choice(["p", None], 500).tolist(),
    }
)


def plan(impute=False):
    columns = [*"abcdefgh", dp.bins("n", [0, 7, 50, 99]), "m"]
    table = dp.Table(SCHEMA, dp.AddRemove()).where({"h": ["p", "q"]})
    if impute:  # by one of two laws: then its values are drawn
        law = {"m": dp.Weights({"q": 1, "r": 1})}
        table = table.impute({"m": dp.Weights({"p": 1, "q": 1})}).clamp({"m": ["q", "r"]}).impute(law)
    return table.agg(dp.tables(*map(list, combinations(columns, 3)), *([one] for one in columns)), dp.sum("n", nulls="skip"))


def answers(asked):
    session = dp.Session(FRAME, SCHEMA, dataset="d", neighbours=dp.AddRemove(), budget=dp.ZCDP(1), ledger=":memory:")
    return exact_answers(asked, run_scans(session._engine, asked.plan.layout), no_bits())


def test_what_shared_cubes_answer_is_what_single_ones_do(monkeypatch):
    asked = quote(plan(), dp.ZCDP(1))
    assert 1 < len(asked.plan.layout.scans) < 16
    shared = answers(asked)
    monkeypatch.setattr(layout, "_MANY", 10**6)
    apart = quote(plan(), dp.ZCDP(1))
    assert len(apart.plan.layout.scans) > len(asked.plan.layout.scans)
    for one, other in zip(shared, answers(apart), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("impute", [False, True])
def test_shared_cubes_are_bounded_and_an_imputed_column_is_in_one_scan(impute):
    found = layout_of(plan(impute))
    assert all(scan.domain <= 2**20 for scan in found.scans if not scan.imputed)
    assert sum("m" in scan.imputed for scan in found.scans) == int(impute)
