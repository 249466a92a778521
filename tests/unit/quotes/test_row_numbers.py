"""The n of a resize: the middle of the range, and a resize makes nothing better."""

from __future__ import annotations

import json
from typing import Any

import pytest

import discreet as dp

SCHEMA = dp.Schema(v=dp.Number(0, 100), g=dp.Category(["a", "b"]))
TABLE = dp.Table(SCHEMA, dp.AddRemove()).impute({"v": dp.Uniform(), "g": dp.Weights({"a": 1})})
REQUEST = TABLE.agg(dp.count(), dp.sum("v"), dp.mean("v"))


@pytest.mark.parametrize(("rows", "n", "apart"), [((1900, 2100), 2000, 100), ((5, 8), 6, 2), ((7, 7), 7, 0), ((1, 2), 1, 1)])
def test_no_other_n_fills_or_leaves_out_fewer_rows(rows: tuple[int, int], n: int, apart: int) -> None:
    found = dp.choose_n(REQUEST, rows=rows, spend=dp.PureDP(1))
    assert (found.n, found.apart) == (n, apart)
    worst = {one: max(abs(one - each) for each in range(rows[0], rows[1] + 1)) for one in range(1, rows[1] + 5)}
    assert worst[n] == apart == min(worst.values())


@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("0.1"), dp.GDP("0.5")], ids=str)
def test_no_resize_that_is_tried_makes_a_sum_or_a_mean_better(spend: Any) -> None:
    """O8. The "count" of a resized table is n, without noise: its error is what one did not know before."""
    found = dp.choose_n(REQUEST, rows=(950, 1050), spend=spend, nulls="0.1")
    assert len(found.tried) == 20
    for name in ("sum_v", "mean_v"):
        direct, best = found.direct.of(name).whole, found.best(name).errors.of(name).whole
        assert direct is not None
        assert best is not None
        assert direct < best
    assert found.best("count").errors.of("count").whole == found.apart


def test_it_is_told_in_words_and_json() -> None:
    found = dp.choose_n(REQUEST, rows=(950, 1050), spend=dp.PureDP(1), nulls="0.1")
    assert repr(found) == "<RowsChoice: n = 1,000; at most 50 rows are filled or left out>"
    first, _, count, *_ = str(found).splitlines()
    assert first.startswith("n = 1,000: with it at most 50 rows")
    assert count.startswith("  count: ±")
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["errors"]["count"]["resized"] >= 50
    assert set(shown["errors"]) == {"count", "sum_v", "mean_v"}


@pytest.mark.parametrize("rows", [(0, 5), (5, 4), 5, (1, 2, 3), ("a", 5)], ids=str)
def test_a_range_that_is_none_is_refused(rows: Any) -> None:
    with pytest.raises(dp.ArgumentError, match="rows"):
        dp.choose_n(REQUEST, rows=rows, spend=dp.PureDP(1))


def test_requests_without_a_private_number_of_rows_are_refused() -> None:
    given: dict[str, Any] = {"rows": (5, 8), "spend": dp.PureDP(1)}
    public = dp.Table(SCHEMA, dp.ReplaceOne(rows=6)).impute({"v": dp.Uniform()}).agg(dp.mean("v"))
    with pytest.raises(dp.PlanError, match="is public"):
        dp.choose_n(public, **given)
    with pytest.raises(dp.PlanError, match="rows are drawn already"):
        dp.choose_n(TABLE.resize(5).agg(dp.mean("v")), **given)
    with pytest.raises(dp.PlanError, match="has groups"):
        dp.choose_n(TABLE.group_by("g").agg(dp.mean("v")), **given)
    with pytest.raises(dp.PlanError, match="no imputation law"):
        dp.choose_n(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.mean("v", nulls="skip")), **given)
    with pytest.raises(dp.ArgumentError, match="must be a measure"):
        dp.choose_n(REQUEST, rows=(5, 8), spend="1")  # type: ignore[arg-type]
    found = dp.choose_n(TABLE.agg(dp.std("v"), dp.mean("v")), **given)
    with pytest.raises(dp.PlanError, match="not stated"):
        found.best("std_v")
