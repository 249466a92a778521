"""Numbers of a release are read with their own noise, and are averaged only where their groups hold the same rows."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

import discreet as dp

NAMES = dp.Schema(g=dp.Category(["a", "b"]), pay=dp.Number(0, 100), pay_net=dp.Number(0, 100), other=dp.Category(["a", "b"]))


def released(request: Callable[[dp.Table], dp.Request], schema: dp.Schema = NAMES, name: str = "r") -> dp.Release:
    rows = {"g": ["a", "b", "c"] * 20, "pay": [*range(59), None], "pay_net": [*range(60)], "other": ["a", "b"] * 30}
    with dp.Session(
        pl.DataFrame(rows), schema, dataset="d", ledger=":memory:", budget=dp.PureDP(9), neighbours=dp.AddRemove()
    ) as session:
        answer = session.release(request(session.table), spend=1, name=name)
    assert isinstance(answer, dp.Release)
    return answer


def test_an_output_whose_name_begins_like_another_has_its_own_noise() -> None:
    """`count_pay` was once read as `count`, so that their noises cancelled in a ratio."""
    found = released(
        lambda table: table.group_by("g").agg(
            dp.count(), dp.count("pay"), dp.sum("pay", nulls="skip"), dp.sum("pay_net", nulls="skip")
        )
    )
    for first, second in (("count", "count_pay"), ("sum_pay", "sum_pay_net")):
        one, other = (dp.numbers(found, name) for name in (first, second))
        for key, number in one.cells.items():
            mine, theirs = ({cell.query for _, cell in each.terms} for each in (number, other.cells[key]))  # type: ignore[union-attr]
            assert min(len(mine), len(theirs)) > 0
            assert mine.isdisjoint(theirs)
    assert "pay_net" in str(dp.numbers(found, "sum_pay_net").quantity)


def test_groups_that_hold_other_rows_are_not_averaged() -> None:
    def by_group(table: dp.Table) -> dp.Request:
        return table.group_by("g").agg(dp.count())

    wider = dp.Schema(g=dp.Category(["a", "b", "c"]))
    first, second = released(by_group, dp.Schema(g=dp.Category(["a", "b"]))), released(by_group, wider, "s")
    with pytest.raises(dp.ArgumentError, match="different quantities"):
        dp.combine(first, second)
    assert "differently" in " ".join(dp.change(first, second).notes)

    def narrow(table: dp.Table) -> dp.Request:
        return table.where({"pay": (0, 20)}).group_by("g").agg(dp.count())

    with pytest.raises(dp.ArgumentError, match="different quantities"):
        dp.combine(released(by_group), released(narrow, name="s"))


def test_a_group_column_that_is_added_up_over_may_differ_unless_its_groups_lack_rows() -> None:
    plain = dp.numbers(released(lambda table: table.group_by("g").agg(dp.count())), "count")
    crossed = released(lambda table: table.group_by("g", "other").agg(dp.count()), name="s")
    assert dp.combine(plain, dp.numbers(crossed, "count", by=["g"])).table.height == 3
    binned = released(lambda table: table.group_by("g", dp.bins("pay", [0, 10, 20])).agg(dp.count()), name="t")
    with pytest.raises(dp.ArgumentError, match="different quantities"):
        dp.combine(plain, dp.numbers(binned, "count", by=["g"]))
