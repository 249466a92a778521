"""A share of the rows that satisfy a condition, next to exact totals: the cells of its noise depend on one another."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dp

FRAME = pl.DataFrame({"a": ["x"] * 50 + ["y"] * 50 + [None] * 100, "b": (["p"] * 20 + ["q"] * 30) * 4})
SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]))
RELEASES, MISSES = 20, 7  # P(Binomial(20, 1/20) > 7) < 1e-5


@pytest.mark.one_in(2)
@pytest.mark.parametrize("spend", ["0.001", "0.1"])
def test_it_is_released_and_its_interval_holds_the_share(spend: str) -> None:
    misses = 0
    with dp.Session(
        FRAME, SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(10), neighbours=dp.ReplaceOne(rows=200),
        invariants=dp.Totals("a"),
    ) as session:  # fmt: skip
        request = session.table.where({"a": ["x"]}).group_by("b").agg(dp.share())
        for i in range(RELEASES):
            table = session.release(request, spend=spend, name=f"r{i}").table
            for b, low, high in table.select("b", "share_low", "share_high").iter_rows():
                assert 0 <= low <= high <= 1
                misses += b == "p" and not low <= 0.4 <= high
    assert misses <= MISSES
