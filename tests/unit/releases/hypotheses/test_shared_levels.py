"""What a test takes off its level, and whose rows it takes: pairs of groups, cells, sides, searches; one row a person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from scipy.stats import chi2

import discreet as dp
from discreet.noise.single.laws import DiscreteLaplace
from discreet.releases.derived.linear import Cell, Linear
from discreet.releases.hypotheses import independence, means, one_variance, search
from discreet.releases.hypotheses.bounded_means import Group, MeansApart
from discreet.releases.hypotheses.one_variance import OneVariance, Sample
from discreet.releases.hypotheses.search import Box

SMALLEST = 0.004


@cache
def released() -> dp.Release:
    """Three groups by three labels."""
    schema = dp.Schema(
        g=dp.Category(["a", "b", "c"], required=True), h=dp.Category(["x", "y", "z"], required=True), v=dp.Number(0, 10)
    )
    rows = pl.DataFrame({"g": ["a", "b", "c"] * 60, "h": ["x", "y", "z"] * 60, "v": [1, 5, 9] * 60})
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(9), "neighbours": dp.ReplaceOne(rows=180)}
    with dp.Session(rows, schema, **options) as session:
        asked = session.table.group_by("g", "h").agg(dp.sum("v", nulls="skip"), dp.count("v"), dp.count())
        return session.release(asked, name="r")


def test_pairs_of_groups_share_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "smallest_rejected", lambda *_: SMALLEST)
    found = dp.test_means(released(), "sum_v", by="g", at={"h": "x"})
    assert found.details["pairs"] == 3
    assert found.p_value == pytest.approx(3 * SMALLEST, rel=1e-3)  # p-values are rounded up


def test_cells_of_a_table_share_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independence, "smallest_level", lambda *_: SMALLEST)
    found = dp.test_independence(released(), by=["g", "h"])
    assert found.details["cells"] == 9
    assert found.p_value == pytest.approx(9 * SMALLEST, rel=1e-3)


def apart(sides: tuple[int, ...]) -> MeansApart:
    """Two groups of 40 values of 0 and 1 with means 0.7 and 0.3, with little noise."""
    law = DiscreteLaplace(Fraction(1, 20))

    def number(value: int, name: str) -> Linear:
        return Linear(Fraction(value), ((Fraction(1), Cell("d", name, 0, law, tied=False)),))

    groups = [Group(number(total, f"s{total}"), number(40, f"n{total}")) for total in (28, 12)]
    return MeansApart(0.0, 1.0, *groups, sides, float("inf"))


def test_a_test_of_both_sides_has_half_the_level_for_each() -> None:
    """What one side rejects at a level, both sides reject at twice the level, and not at the same one."""
    one, least, most = apart((1,)), -7.0, -1.0
    while most - least > 0.05:
        middle = (least + most) / 2
        least, most = (least, middle) if one.rejects(10**middle) else (middle, most)
    assert not apart((1, -1)).rejects(1.5 * 10**most)
    assert apart((1, -1)).rejects(2.5 * 10**most)


def test_the_variance_of_values_is_bounded_by_the_lower_tail_of_its_law() -> None:
    """Without noise: at least the squares over the quantile of χ² that leaves its part of the level, and hardly more."""
    law, level = DiscreteLaplace(Fraction(1, 50)), 0.05

    def number(value: int, place: int) -> Linear:
        return Linear(Fraction(value), ((Fraction(1), Cell("d", str(value), place, law, tied=False)),))

    parts = [[number(value, place) for value in (0, 40, 4000)] for place in range(3)]
    found = OneVariance([Sample(*one, 0.0) for one in parts], 1000.0)._bounds(level)
    assert found is not None
    least = 12_000 / chi2.ppf(one_variance._CHI * level, 120 - 3)
    assert least <= found.variance <= 1.05 * least


@dataclass(frozen=True)
class Flat:
    """A hypothesis with the same p-value at all of eight parameters, and a peak at one of them."""

    p: float
    peak: float

    def box(self, failing: float) -> Box:
        assert failing == pytest.approx(search._OUTSIDE * LEVEL)
        return Box((0,), (7,))

    def above(self, box: Box, apart: float, needed: float) -> float:
        assert apart + needed + search._OUTSIDE * LEVEL == pytest.approx(LEVEL)
        return self.peak if box.lows[0] <= 5 <= box.highs[0] else self.p

    def at(self, parameters: tuple[int, ...]) -> float:
        return 0.99 * (self.peak if parameters == (5,) else self.p)


LEVEL = 0.05


def test_what_is_not_looked_at_comes_off_the_level_of_a_search() -> None:
    needed = (1 - search._OUTSIDE - search._APART) * LEVEL
    assert search.rejects(Flat(0.9 * needed, needed), LEVEL, 96)
    assert not search.rejects(Flat(0.9 * needed, 1.005 * needed), LEVEL, 96)
    assert not search.rejects(Flat(1.005 * needed, 1.005 * needed), LEVEL, 96)


def test_a_person_with_several_rows_is_refused_by_every_test_of_rows() -> None:
    schema = dp.Schema(g=dp.Category(["a", "b"], required=True), h=dp.Category(["x", "y"], required=True))
    rows = pl.DataFrame({"g": ["a", "b"] * 30, "h": ["x", "x", "y", "y"] * 15})
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(9), "neighbours": dp.AddRemove(rows_per_person=2)}
    with dp.Session(rows, schema, **options) as session:
        release = session.release(session.table.group_by("g", "h").agg(dp.count()), name="r")
    with pytest.raises(dp.ArgumentError, match="a person may have several rows"):
        dp.test_independence(release)
    with pytest.raises(dp.ArgumentError, match="a person may have several rows"):
        dp.test_proportion(release, "0.5", of={"h": "x"})
