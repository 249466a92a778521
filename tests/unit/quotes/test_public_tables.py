"""Tables that are public, or have no cell that is printed: what is asked of them is met, the others are divided for."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.quotes.allocate import quote

SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), o=dp.Category(["z"]), v=dp.Number(0, 3))
ROWS = dp.Table(SCHEMA, dp.ReplaceOne(rows=40))
SPENDS = pytest.mark.parametrize("spend", [dp.ZCDP(1), dp.PureDP(1)], ids=str)
NOBODY = dp.bins("v", [2, 3])
FEW = ROWS.where({"v": (0, 1)})


def asked(table, *groupings, spend, **demand):
    return quote(table.agg(dp.tables(*groupings, **demand)), spend)


def halves(quoted):
    (line,) = quoted.lines
    return [float(one) for one in line.recipe.errors(quoted.noises(line))]


@SPENDS
def test_an_error_of_a_public_table_asks_nothing(spend):
    plain = asked(ROWS, [], ["a"], spend=spend)
    assert halves(asked(ROWS, [], ["a"], spend=spend, errors=[4, None])) == halves(plain)
    assert halves(asked(ROWS, ["o"], ["a"], [], spend=spend, errors=[90, None, 4]))[2] == 0


@SPENDS
def test_where_public_tables_alone_are_weighed_errors_of_others_are_met_or_refused(spend):
    demand = {"weights": [1, 0, 0], "spend": spend}
    found = halves(asked(ROWS, [], ["a"], ["a", "o"], errors=[None, 30, 40], **demand))
    assert found[0] == 0
    assert found[1] <= 30
    assert found[2] <= 40
    with pytest.raises(dp.PlanError, match="times as wide as their errors"):
        asked(ROWS, [], ["a"], ["a", "o"], errors=[None, "1e-3", 40], **demand)


@SPENDS
@pytest.mark.parametrize("demand", [{}, {"errors": [4]}, {"weights": [2]}], ids=str)
def test_a_table_in_which_nobody_can_be_is_quoted(spend, demand):
    assert asked(FEW, [NOBODY], spend=spend, **demand).measured


@SPENDS
def test_a_table_in_which_nobody_can_be_limits_no_other(spend):
    plain = halves(asked(FEW, [NOBODY], ["a"], spend=spend))
    assert halves(asked(FEW, [NOBODY], ["a"], spend=spend, errors=["1e-3", None])) == plain
    assert halves(asked(FEW, [NOBODY], ["a"], spend=spend, errors=["1e-3", 400], weights=[1, 0]))[1] <= 400
