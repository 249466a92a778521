"""A session with windows and a population: what is read, what is charged where, and what is refused before."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.signers import board, signed

import discreet as dp
from discreet.domain.steps import Where
from discreet.ledger import Ledger
from discreet.privacy import coordinates
from discreet.privacy.amounts import budget_down

SCHEMA = dp.Schema(day=dp.Date("2026-01-01", "2026-12-31"), g=dp.Category(["x", "y"]), v=dp.Number(0, 9))
DAYS = [dt.date(2026, month, day) for month in (1, 2, 3) for day in (1, 15, 28)]
FRAME = pl.DataFrame({"day": [*DAYS, None], "g": ["x", "y"] * 5, "v": range(10)})
WINDOWS = dp.Windows("day", each="month", budget=dp.ZCDP("0.3"))
EVERYBODY = dp.Population("everybody", dp.ZCDP(1))


def opened(ledger: Any = ":memory:", dataset: str = "visits", **more: Any) -> dp.Session:
    options = {"budget": dp.ZCDP("0.8"), "neighbours": dp.AddRemove(), "windows": WINDOWS, **more}
    return dp.Session(FRAME, more.pop("schema", SCHEMA), dataset=dataset, ledger=ledger, **options)


def test_a_window_has_the_rows_of_its_days_and_pays_for_them() -> None:
    with opened() as session:
        table = session.window("2026-02")
        assert table.steps == (Where("day", 31, 58),)
        session.release(table.agg(dp.count()), spend="0.2", name="february")
        assert session.spent == dp.ZCDP("0.2")
        assert session.quote(table.agg(dp.count())).spend == dp.ZCDP("0.1")  # all that the window has left
        assert session.quote(session.window("2026-03").agg(dp.count())).spend == dp.ZCDP("0.3")
        assert session.quote(session.table.agg(dp.count())).spend == dp.ZCDP("0.1")  # all windows
        with pytest.raises(dp.BudgetExceeded, match=r"window 2026-02: requested ρ = 0.2, remaining ρ = 0.1"):
            session.release(table.agg(dp.count()), spend="0.2", name="again")
        assert session.spent == dp.ZCDP("0.2")
        session.release(table.agg(dp.count()), name="the rest")
        with pytest.raises(dp.BudgetExceeded):
            session.release(session.table.agg(dp.count()), spend="1e-9", name="all")


def test_a_stored_release_of_a_window_is_given_back(tmp_path: Path) -> None:
    made = []
    for _ in range(2):
        with opened(tmp_path / "budget.db") as session:
            made.append(session.release(session.window("2026-01").agg(dp.count()), name="january").payload)
            assert session.spent == dp.ZCDP("0.3")
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("names", "low", "high"),
    [(("2026-01",), 0, 30), (("2026-12",), 334, 364), (("2026-02", "2026-03"), 31, 89)],
)
def test_windows_are_whole_months(names: tuple[str, ...], low: int, high: int) -> None:
    with opened() as session:
        assert session.window(*names).steps == (Where("day", low, high),)


def test_the_first_and_the_last_window_are_cut_by_the_bounds_of_the_column() -> None:
    schema = dp.Schema(day=dp.Date("2026-01-10", "2026-02-05"))
    table = dp.Table(schema, dp.AddRemove())
    assert WINDOWS.within(table, ["2026-01"]).steps == (Where("day", 0, 21),)
    assert WINDOWS.within(table, ["2026-02"]).steps == (Where("day", 22, 26),)
    whole = WINDOWS.within(table, ["2026-01", "2026-02"])
    assert WINDOWS.read_by(whole.agg(dp.count())) == ("2026-01", "2026-02")


@pytest.mark.parametrize("names", [(), ("2026-13",), ("2025-12",), ("2026-03", "2026-02"), ("2026-01", "2026-03"), (3,)])
def test_other_windows_are_refused(names: tuple[Any, ...]) -> None:
    with opened() as session, pytest.raises(dp.PlanError, match="window="):
        session.window(*names)


def test_only_a_first_condition_on_whole_windows_is_charged_to_them() -> None:
    table = dp.Table(SCHEMA, dp.AddRemove())
    whole = {"day": ("2026-02-01", "2026-02-28")}
    assert WINDOWS.read_by(table.where(whole).agg(dp.count())) == ("2026-02",)
    for other in (
        table.where({"day": ("2026-02-01", "2026-02-27")}),
        table.where({"g": ["x"]}).where(whole),
        table.clamp({"v": (1, 2)}).where(whole),
        table.clamp({"day": ("2026-02-01", "2026-02-28")}).where(whole),  # days of other months are moved into it
        table,
    ):
        assert WINDOWS.read_by(other.agg(dp.count())) == ()


def test_the_day_of_a_row_cannot_be_changed_and_no_rows_are_drawn() -> None:
    with opened() as session:
        table = session.window("2026-02")
        for step in ({"day": ("2026-01-01", "2026-01-31")},):
            with pytest.raises(dp.PlanError, match="has used column 'day' already"):
                table.clamp(step)
        with pytest.raises(dp.PlanError, match="has used column 'day' already"):
            table.impute({"day": dp.Uniform()})
        filled = table.impute({"v": dp.Uniform()})
        drawn = [table.sample("1/2"), table.sample(rows=3)]
        for one in drawn:
            with pytest.raises(dp.PlanError, match="no resize and no sample"):
                session.quote(one.agg(dp.count()), spend="0.1")
            with pytest.raises(dp.PlanError, match="no resize and no sample"):
                session.release(one.agg(dp.count()), spend="0.1", name="r")
        with pytest.raises(dp.PlanError, match="'day' has no imputation law"):  # and none can be given
            filled.resize(5).agg(dp.count())
        assert session.spent == dp.ZCDP(0)
        session.quote(session.table.sample("1/2").agg(dp.count()), spend="0.1")  # charged to all windows
        with pytest.raises(dp.PlanError, match="before every other step"):
            WINDOWS.within(filled, ["2026-02"])


def test_a_session_without_windows_has_none() -> None:
    with opened(windows=None) as session, pytest.raises(dp.PlanError, match="declares no windows"):
        session.window("2026-01")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"windows": dp.Windows("g", each="month", budget=dp.ZCDP(1))}, "must be a Date"),
        ({"windows": dp.Windows("dya", each="month", budget=dp.ZCDP(1))}, "did you mean 'day'"),
        ({"windows": dp.Windows("day", each="months", budget=dp.ZCDP(1))}, "did you mean 'month'"),
        ({"windows": dp.Windows("day", each="month", budget=dp.PureDP(1))}, "must be a ZCDP"),
        ({"windows": "month"}, "must be Windows"),
        ({"population": dp.Population("p", dp.PureDP(1))}, "must be a ZCDP"),
        ({"population": "p"}, "must be a Population"),
        ({"population": EVERYBODY, "windows": None, "neighbours": dp.AddRemove(sampled=dp.Poisson("0.1"))}, "secret sample"),
        ({"neighbours": dp.AddRemove(sampled=dp.Poisson("0.1"))}, "secret sample has no windows"),
        ({"neighbours": dp.ReplaceOne(10), "invariants": dp.Totals("g")}, "exact totals has no windows"),
    ],
)
def test_what_cannot_be_promised_is_refused_when_the_session_is_opened(more: dict[str, Any], said: str) -> None:
    with pytest.raises(dp.ArgumentError, match=said):
        opened(**more)


def test_wrong_arguments_are_refused() -> None:
    for wrong in (lambda: dp.Windows("", each="month", budget=dp.ZCDP(1)), lambda: dp.Population("", dp.ZCDP(1)),
                  lambda: dp.Population(3, dp.ZCDP(1)), lambda: dp.Windows(3, each="month", budget=dp.ZCDP(1)),
                  lambda: dp.Windows("day", each="month", budget=1), lambda: dp.Population("p", 1)):  # fmt: skip
        with pytest.raises(dp.ArgumentError):
            wrong()


@pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ApproxDP(1, "1e-6"), dp.ZCDP(1), dp.GDP(1)])
def test_data_sets_of_one_population_pay_from_one_budget(tmp_path: Path, budget: Any) -> None:
    """In every measure; what one of them has spent is its own, what remains is the least of both."""
    above = dp.Population("everybody", budget)
    part = budget_down(budget, tuple(one * 6 / 10 for one in coordinates(budget)))
    with opened(tmp_path / "l.db", "a", budget=budget, population=above, windows=None) as session:
        session.release(session.table.agg(dp.count()), spend=part, name="r")
    with opened(tmp_path / "l.db", "b", budget=budget, population=above, windows=None) as session:
        request = session.table.agg(dp.count())
        assert coordinates(session.spent)[0] == 0
        with pytest.raises(dp.BudgetExceeded, match="population 'everybody'"):
            session.release(request, spend=part, name="r")
        session.release(request, name="all that remains")
        assert 0 < coordinates(session.spent)[0] < coordinates(budget)[0]
        assert coordinates(session.remaining)[0] == 0


def test_months_that_are_files_of_their_own_have_their_own_rows(tmp_path: Path) -> None:
    for month, rows in ((1, 10), (2, 7)):
        source = FRAME.head(rows)
        with dp.Session(
            source, SCHEMA, dataset=f"2026-0{month}", ledger=tmp_path / "l.db", budget=dp.ZCDP("0.5"),
            neighbours=dp.ReplaceOne(rows), population=EVERYBODY,
        ) as session:  # fmt: skip
            session.release(session.table.agg(dp.mean("v", nulls="skip")), spend="0.4", name="mean")
            assert session.remaining == dp.ZCDP("0.1")
    with pytest.raises(dp.LedgerError, match="another unit"):  # add-remove
        opened(tmp_path / "l.db", "c", population=EVERYBODY, windows=None)


def test_a_column_of_the_windows_that_a_query_computes_is_fixed_with_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": ["2026-01-31", "2026-02-01"], "g": ["x", "y"]})
    schema = dp.Schema(day=dp.Date("2026-01-01", "2026-12-31"), g=dp.Category(["x", "y"]))
    declared: dict[str, Any] = {"budget": dp.ZCDP(1), "neighbours": dp.AddRemove(), "windows": WINDOWS}
    first, other = (
        "SELECT CAST(at AS DATE) AS day, g FROM source",
        "SELECT CAST('2026-01-01' AS DATE) AS day, g FROM source",
    )
    with dp.Session(frame, schema, dataset="d", ledger=tmp_path / "l.db", query=first, **declared) as session:
        session.release(session.window("2026-02").agg(dp.count()), spend="0.1", name="r")
    with pytest.raises(dp.LedgerError, match="column 'day', which has the windows"):
        dp.Session(frame, schema, dataset="d", ledger=tmp_path / "l.db", query=other, **declared)


def test_all_that_a_window_has_left_is_what_was_signed(tmp_path: Path) -> None:
    """Under GDP its root is rounded down, and the charge is all of it: the entry is compared with the room of the window."""
    windows = dp.Windows("day", each="month", budget=dp.GDP("0.3"))
    given: dict[str, Any] = {"windows": windows, "budget": dp.GDP(1), "population": dp.Population("p", dp.GDP(2))}
    approvals: list[Any] = []
    for name, spend in (("part", "0.1"), ("rest", None)):
        with opened(tmp_path / "l.db", demand=board(), approvals=approvals, **given) as session:
            request = session.window("2026-02").agg(dp.count())
            approvals += signed(session.statement(request, spend=spend, name=name), "anna", "ben")
        with opened(tmp_path / "l.db", demand=board(), approvals=approvals, **given) as session:
            session.release(session.window("2026-02").agg(dp.count()), spend=spend, name=name)
    with Ledger.open(tmp_path / "l.db") as ledger:
        identity = ledger.identity("visits")
        assert ledger.left(identity, ("2026-02",))[1] == (0,)
        assert ledger.left(identity, ("2026-03",))[1] == (Fraction(9, 100),)
        assert ledger.verify().intact
