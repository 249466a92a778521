"""Small decisions behind a quote: which tree is counted, and which of several errors is announced."""

from __future__ import annotations

from fractions import Fraction

import pytest

import discreet as dp
from discreet.cube import trees
from discreet.cube.queries import Squares
from discreet.cube.trees import Tree
from discreet.errors import InternalError
from discreet.quotes.allocate import quote
from discreet.quotes.quote import expected_error
from discreet.statistics.common import number_of
from discreet.statistics.ranks import rank_half_width

SKIP = {"nulls": "skip"}
TABLE = dp.Table(dp.Schema(v=dp.Number(0, 100)), dp.AddRemove())


@pytest.mark.parametrize("chosen", [Tree(9, 2, 1, 8), Tree(6, 2, 1, 4), Tree(9, 3, 2)])
def test_a_tree_that_tells_something_is_taken_as_it_was_chosen(chosen: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shaped(chosen, monkeypatch)
    assert found == chosen


@pytest.mark.parametrize(("size", "taken"), [(9, Tree(9, 2, 1, 5)), (2, Tree(2, 2, 1, 1)), (1, Tree(1, 2, 1, 1))])
def test_a_single_node_is_split_unless_there_is_one_code_only(
    size: int, taken: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shaped(Tree(size, 2, 1, size), monkeypatch) == taken


def shaped(chosen: Tree, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setattr(trees, "choose_tree", lambda *_, **__: chosen)
    table = dp.Table(dp.Schema(v=dp.Number(0, chosen.size - 1)), dp.AddRemove())
    asked = quote(table.agg(dp.quantiles("v", ["0.5"], interval=1, **SKIP)), dp.PureDP(1))
    (one,) = asked.measured
    return one.query.tree  # type: ignore[union-attr]


@pytest.mark.parametrize("at", [["0.01", "0.5"], ["0.5", "0.01"], ["0.3", "0.5", "0.99"]])
def test_the_rank_that_is_announced_is_that_of_the_least_certain_quantile(at: list[str]) -> None:
    asked = quote(TABLE.agg(dp.quantiles("v", at, interval=1, **SKIP)), dp.PureDP("0.5"))
    (line,), (one,) = asked.lines, asked.measured
    alone = [rank_half_width(one.query.tree, one.law.independent, Fraction(q), level=line.level) for q in at]  # type: ignore[union-attr,arg-type]
    assert min(alone) < max(alone)
    assert line.recipe.interval_ranks(asked.noises(line)) == max(alone)  # type: ignore[attr-defined]


@pytest.mark.parametrize("upper", [1, 7, 100])
def test_squares_are_moved_to_the_middle_of_their_range(upper: int) -> None:
    table = dp.Table(dp.Schema(v=dp.Number(0, upper)), dp.AddRemove())
    asked = quote(table.agg(dp.variance("v", **SKIP), dp.mean("v", **SKIP)), dp.PureDP(1))
    (squares,) = (one.query for one in asked.measured if isinstance(one.query, Squares))
    ends = {(squares.first + squares.slope * code) ** 2 for code in range(squares.width + 1)}
    assert squares.shift == max(ends) // 2
    (one,) = (one for one in asked.measured if one.query == squares)
    assert one.sensitivity.l1 == max(abs(end - squares.shift) for end in ends)


def test_errors_are_announced_for_groups_of_a_thousand_rows() -> None:
    asked = quote(TABLE.agg(dp.mean("v", **SKIP)), dp.PureDP(1))
    (line,) = asked.lines
    ((_, announced),) = asked.expected
    assert announced == expected_error(asked, line, rows=1000)
    assert announced < expected_error(asked, line, rows=999)


def test_the_error_of_a_variance_counts_its_mean_at_half_of_the_range() -> None:
    asked = quote(TABLE.agg(dp.variance("v", **SKIP)), dp.PureDP(1))
    (line,) = asked.lines
    noises, total = asked.noises(line), line.recipe.total  # type: ignore[attr-defined]
    squares, total = noises.largest(*total.squares), noises.largest(*total.queries)
    # Sums are of v − 50, so a mean is at most 50, and its square moves by twice that for each unit of its error.
    assert expected_error(asked, line, rows=1000) == float(Fraction(squares, 1000) + Fraction(2 * 50 * total, 1000))


def test_a_statistic_without_a_column_has_none_to_ask_for() -> None:
    with pytest.raises(InternalError, match="no numbers"):
        number_of(TABLE.facts, dp.count().column)


def test_intervals_of_several_tables_or_quantiles_rest_on_one_statement_each() -> None:
    asked = quote(TABLE.agg(dp.quantiles("v", ["0.2", "0.5"], interval=1, **SKIP), dp.mean("v", **SKIP)), dp.PureDP(1))
    for line in asked.lines:
        assert line.recipe.statements(asked.noises(line)).single == (1 if line.statistic.name == "v" else 2)
