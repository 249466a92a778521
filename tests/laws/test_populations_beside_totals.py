"""Q1 of docs/proofs/populations.md beside exact totals: the sum of the charges covers every change that keeps the totals.

Two data sets publish both margins of a small table and then a count with geometric noise. All tables of two rows are there;
in each data set those are compared that have the same margins and differ in no more rows than the library allows for.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import polars as pl
import pytest
from tests.unit.cli.commands import done

import discreet as dp
from discreet.errors import ArgumentError, BudgetExceeded, LedgerError
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

Rows = tuple[tuple[int, ...], ...]

SCHEMA = dp.Schema(g=dp.Category(["a", "b"]), h=dp.Category(["c", "d"]), v=dp.Category(["yes", "no"]))
MARGINS = dp.Totals("g") + dp.Totals("h")
MANY = 2
TABLES: list[Rows] = [*combinations_with_replacement([*product((-1, 0, 1), repeat=3)], MANY)]
TOP = 2
CHARGE = 2
"""Of each data set, in units of log 2."""


def margins(rows: Rows) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(row[place] for row in rows)) for place in (0, 1))


def count_of(rows: Rows) -> int:
    return sum(row[2] == 0 for row in rows)


def law(count: int, odds: Fraction) -> list[Fraction]:
    """Geometric noise with these odds, clamped to 0 … TOP."""
    q = 1 / odds
    return [q ** abs(k - count) / (1 + q) * (1 if k in {0, TOP} else 1 - q) for k in range(TOP + 1)]


def largest_ratio(differing: int, odds: Fraction) -> Fraction:
    """Of all answers of one data set, over all pairs of tables with the same margins that differ in so many rows at most."""
    alike, found = defaultdict[object, list[Rows]](list), Fraction(1)
    for rows in TABLES:
        alike[margins(rows)].append(rows)
    for one, other in (pair for some in alike.values() for pair in product(some, repeat=2)):
        if (Counter(one) - Counter(other)).total() <= differing:
            p, q = law(count_of(one), odds), law(count_of(other), odds)
            found = max(found, *(a / b for a, b in zip(p, q, strict=True)))
    return found


def test_the_sum_is_the_loss_of_somebody_who_is_in_both() -> None:
    """The noise of each data set is that of its quote beside its totals: it reaches its charge, and both reach the sum."""
    totals = exact_totals_of(MARGINS, SCHEMA, None, MANY)
    plan = dp.Table(SCHEMA, dp.ReplaceOne(rows=MANY)).where({"v": ["yes"]}).agg(dp.count())
    sensitivity = quote(plan, dp.PureDP(1), totals).measured[0].sensitivity.l1
    assert totals.adjacency.a == sensitivity == MANY
    each = largest_ratio(totals.adjacency.a, Fraction(2) ** (CHARGE // sensitivity))
    assert each == 2**CHARGE
    assert each * each == 2 ** (2 * CHARGE)  # two data sets: the data of one person, and of others, change in both
    forgotten = largest_ratio(totals.adjacency.a, Fraction(2) ** CHARGE)  # the noise of one row alone
    assert forgotten > 2**CHARGE


def opened(folder: Path, name: str, **more: object) -> dp.Session:
    rows = [("a", "c", "yes"), ("a", "d", "no"), ("b", "c", "no"), ("b", "d", "yes")] * 5
    frame = pl.DataFrame(rows, schema=["g", "h", "v"], orient="row")
    given: dict[str, object] = {"budget": dp.PureDP(1), "population": dp.Population("pupils", dp.PureDP("1.5"))}
    given |= {"invariants": MARGINS, "neighbours": dp.ReplaceOne(rows=20), **more}
    return dp.Session(frame, SCHEMA, dataset=name, ledger=folder / "pupils.db", **given)  # type: ignore[arg-type]


def test_data_sets_with_totals_are_charged_to_their_population(tmp_path: Path) -> None:
    with opened(tmp_path, "2025") as first:
        asked = first.table.group_by("g", "v").agg(dp.count())
        first.release(asked, spend="0.9", name="by sex")
        assert first.remaining == dp.PureDP("0.1")
    with opened(tmp_path, "2026", invariants=None) as second:
        assert second.remaining == dp.PureDP("0.6")
        with pytest.raises(BudgetExceeded):
            second.release(second.table.group_by("v").agg(dp.count()), spend="0.61", name="by sex")
        second.release(second.table.group_by("v").agg(dp.count()), spend="0.6", name="by sex")
    with opened(tmp_path, "2025") as first, pytest.raises(BudgetExceeded):
        first.release(first.table.group_by("v").agg(dp.count()), spend="0.01", name="more")
    ledger = str(tmp_path / "pupils.db")
    told, german = (done("ledger", "show", ledger, "--population", "--language", tag) for tag in ("en", "de"))
    assert "2025: compared tables have the same exact totals" in told
    assert "2025: Verglichene Tabellen haben dieselben exakten Summen" in german
    (facts,) = json.loads(done("ledger", "show", ledger, "--population", "--json"))["populations"]
    assert facts["charged"] == ["3/2"] or facts["charged"] == ["1.5"]
    assert facts["beside_exact_totals"] == ["2025"]


def test_windows_beside_totals_are_refused(tmp_path: Path) -> None:
    schema = dp.Schema(g=SCHEMA["g"], day=dp.Date("2026-01-01", "2026-12-31"))
    frame = pl.DataFrame({"g": ["a"] * 3, "day": ["2026-01-01"] * 3})
    windows = dp.Windows("day", each="month", budget=dp.PureDP("0.1"))
    with pytest.raises(ArgumentError, match="others of any window change"):
        dp.Session(
            frame,
            schema,
            dataset="d",
            ledger=tmp_path / "d.db",
            budget=dp.PureDP(1),
            neighbours=dp.ReplaceOne(rows=3),
            invariants=dp.Totals("g"),
            windows=windows,
        )


def test_a_population_holds_one_relation_beside_totals_as_without(tmp_path: Path) -> None:
    with opened(tmp_path, "2025") as first:
        first.publish_totals()
    with pytest.raises(LedgerError), opened(tmp_path, "2026", neighbours=dp.AddRemove(), invariants=None) as second:
        second.release(second.table.agg(dp.count()), spend="0.1", name="all")
