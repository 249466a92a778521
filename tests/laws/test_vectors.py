"""Vectors of sums beside exact totals: the declared norms against all pairs of tables with equal totals.

Nothing of `norms` is used for the truth: every table of a few rows is made, and its answer is added up row by row.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.plan.plan import Plan
from discreet.quotes import one_row
from discreet.quotes.allocate import quote
from discreet.quotes.space import Space
from discreet.totals.exact_totals import ExactTotals, exact_totals_of

from . import literal_rows
from .mutants import Mutant

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

ROWS = 3
SCHEMA = dp.Schema(
    g=dp.Category(["x", "y"]),
    h=dp.Category(["a", "b"]),
    k=dp.Category(["p", "q", "r"]),
    v=dp.Number(0, 2),
    w=dp.Number(0, 1),
)
FILLED = {"v": dp.Uniform(), "w": dp.Uniform()}
CASES: dict[str, tuple[Any, tuple[str, ...], str, tuple[str, ...]]] = {
    "all factors are exact": (dp.Totals("g", "h"), ("g", "h"), "v", ()),
    "one factor is exact": (dp.Totals("g"), ("g", "h"), "v", ()),
    "a factor and a number": (dp.Totals("g"), ("g", "w"), "v", ()),
    "three levels": (dp.Totals("k"), ("k",), "v", ()),
    "margins": (dp.Totals("g") + dp.Totals("h"), ("g", "h"), "v", ()),
    "margins, in the groups of one": (dp.Totals("g") + dp.Totals("k"), ("k",), "v", ("g",)),
}


def asked_of(name: str) -> tuple[Plan, ExactTotals]:
    totals, on, y, by = CASES[name]
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS)).impute(FILLED).group_by(*by)
    return table.agg(dp.regression(y, list(on), nulls="skip")), exact_totals_of(totals, SCHEMA, None, ROWS)


def values_of(name: str) -> list[Any]:
    column = SCHEMA[name]
    return [*column.values, None] if isinstance(column, dp.Category) else list(range(int(column.upper) + 1))


def vector_of(plan: Plan, query: Any, row: dict[str, Any]) -> Any:
    """What a row adds to the vectors of all cells."""
    found = np.zeros((plan.layout.cells, len(query.parts)), dtype=np.int64)
    added = [amount for _, _, amount in literal_rows.parts(query, plan, row)]
    if added:
        found[literal_rows.cell_of(plan.group_by, plan.layout.labels, row)] = added
    return found.ravel()


def farthest(name: str) -> tuple[tuple[int, int], Any]:
    """The largest norms between two tables with equal totals that differ in at most a rows, and what is declared."""
    plan, totals = asked_of(name)
    (measured,) = quote(plan, dp.ZCDP(1), totals).measured
    exact, on, y, by = CASES[name]
    used = (*on, y, *by)
    kinds = [dict(zip(used, one, strict=True)) for one in product(*map(values_of, used))]
    added = [vector_of(plan, measured.query, row) for row in kinds]
    seen = [tuple(exact.columns)] if "margins" not in name else [(column,) for column in exact.columns]
    groups: dict[Any, list[Any]] = {}
    for table in combinations_with_replacement(range(len(kinds)), ROWS):
        key = tuple(str(sorted(str([kinds[one][column] for column in own]) for one in table)) for own in seen)
        counts = np.bincount(np.array(table), minlength=len(kinds))
        groups.setdefault(key, []).append((counts, sum(added[one] for one in table)))
    most = [0, 0]
    for tables in groups.values():
        counts, sums = np.array([one for one, _ in tables]), np.array([one for _, one in tables])
        for own, total in zip(counts, sums, strict=True):
            near = np.abs(counts - own).sum(axis=1) // 2 <= totals.adjacency.a
            apart = np.abs(sums[near] - total)
            most = [max(most[0], int(apart.sum(axis=1).max())), max(most[1], int((apart**2).sum(axis=1).max()))]
    return (most[0], most[1]), measured.sensitivity


@pytest.mark.parametrize("name", CASES)
def test_no_pair_of_tables_with_equal_totals_is_farther_apart(name: str) -> None:
    (l1, l2_squared), declared = farthest(name)
    assert l1 <= declared.l1
    assert l2_squared <= declared.l2_squared
    if name in {"all factors are exact", "three levels"}:
        assert (l1, l2_squared) == (declared.l1, declared.l2_squared)


def test_a_row_is_matched_by_one_list_alone_and_can_then_cross_the_groups_of_the_other(monkeypatch: Any) -> None:
    (l1, _), declared = farthest("margins, in the groups of one")
    assert l1 <= declared.l1
    Mutant(Space, "matched_by", " or table not in self.telling", "").plant(monkeypatch)
    assert l1 > farthest("margins, in the groups of one")[1].l1


@pytest.mark.parametrize("factors", [1, 2, 3, 4])
def test_beside_the_counts_of_all_factors_two_rows_change_their_vectors_alone(factors: int) -> None:
    """2·√(K + 1) times the range of y, as the authors of semi-DP have it: the matrix of the factors needs no noise."""
    names = [f"x{one}" for one in range(factors)]
    schema = dp.Schema({**{name: dp.Category(["low", "high"]) for name in names}, "y": dp.Number(0, 1, "0.001")})
    table = dp.Table(schema, dp.ReplaceOne(rows=512)).impute({"y": dp.Uniform()})
    totals = exact_totals_of(dp.Totals(*names), schema, None, 512)
    (measured,) = quote(table.agg(dp.regression("y", names, nulls="skip")), dp.GDP(1), totals).measured
    assert len(measured.query.parts) == factors + 1
    (times,) = {part.times for part in measured.query.parts}
    assert measured.sensitivity.l2_squared == 4 * (factors + 1) * (1000 * times) ** 2


@pytest.mark.parametrize("name", ["one factor is exact", "margins"])
def test_rows_that_keep_what_is_not_published_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def keeps(row: Any, alone: Any, apart: Any, *, parts: int, nullable: bool) -> Any:
        return spreads(row, alone, lambda kept: apart(kept | {"v"}), parts=parts, nullable=nullable)

    spreads = one_row._OneRow.spreads
    monkeypatch.setattr(one_row._OneRow, "spreads", keeps)
    (_, l2_squared), declared = farthest(name)
    assert l2_squared > declared.l2_squared


def test_one_row_less_than_a_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = one_row._moved
    monkeypatch.setattr(one_row, "_moved", lambda space, change: halved(real(space, change)))
    (_, l2_squared), declared = farthest("all factors are exact")
    assert l2_squared > declared.l2_squared


def halved(whole: Any) -> Any:
    return type(whole)(whole.l1 // 2, whole.l2_squared // 4)
