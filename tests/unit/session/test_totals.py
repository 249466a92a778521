"""A session publishes its exact totals once and first, and what goes wrong then costs nothing."""

from __future__ import annotations

import csv

import polars as pl
import pytest

import discreet as dp
from discreet.ledger import Ledger
from discreet.session import totals as exact_totals
from discreet.session.orders import Order

from .with_totals import FRAME, STATES, cells, counted, session, sums

SEXES = {("f",): 12, ("m",): 4, (None,): 8}


MADE = ["reading", "drawing", "commit"]


def kinds(path):
    with Ledger.open(path) as ledger:
        return [entry.kind for entry in ledger.entries("d")]


def test_totals_are_the_first_entry_of_the_data_set_and_are_published_once(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        assert one.totals is None
        one.release(counted(one), spend="0.1", name="first")
        assert cells(one.totals) == STATES
        one.release(counted(one, "sex"), spend="0.1", name="second")
        assert one.spent == dp.ZCDP("0.2")
    assert kinds(path) == ["dataset", "publish", "commit", "reserve", *MADE, "reserve", *MADE]
    with Ledger.open(path) as ledger:
        entries = ledger.entries("d")
        assert entries[1].name == "exact totals"
        assert not entries[1].charge
        assert ledger.verify().broken == 0


def test_another_session_gives_the_same_totals_back_without_reading(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with session(dp.Margins("state", "sex"), ledger=path) as one:
        published = one.publish_totals()
    with session(dp.Totals("sex") + dp.Totals("state"), ledger=path, source=FRAME.head(3)) as one:  # another order
        monkeypatch.setattr(one._engine, "aggregate", None)
        assert cells(one.publish_totals(), 1) == cells(published, 0) == STATES
        assert cells(one.totals, 0) == cells(published, 1) == SEXES
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_invariants_are_those_that_the_data_set_began_with(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        one.publish_totals()
    for other in (
        dp.Totals("sex"),
        dp.Totals("state") + dp.Totals("sex"),
        dp.Totals("state", only=["A"]),
        dp.Totals("state", "sex"),
        dp.Occupied("state"),
        None,
    ):
        with pytest.raises(dp.LedgerError, match="invariants: "):
            session(other, ledger=path)
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_invariants_cannot_be_added_to_a_data_set_that_began_without(tmp_path):
    path = tmp_path / "l.db"
    with session(None, ledger=path) as one:
        one.release(counted(one), spend="0.1", name="r")
        assert one.totals is None
        with pytest.raises(dp.PlanError, match="declares no invariants"):
            one.publish_totals()
    with pytest.raises(dp.LedgerError, match="invariants: "):
        session(dp.Totals("state"), ledger=path)


def test_the_same_name_and_request_give_the_stored_release_back(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        release = one.release(counted(one), spend="0.1", name="r")
    before = kinds(path)
    with session(dp.Totals("state"), ledger=path) as one:
        assert one.release(counted(one), spend="0.1", name="r") == release
        with pytest.raises(dp.LedgerError, match="another spend"):
            one.release(counted(one), spend="0.2", name="r")
        assert one.spent == dp.ZCDP("0.1")
    assert kinds(path) == before


def test_two_sessions_that_publish_at_the_same_time_publish_once(tmp_path, monkeypatch):
    """The other one is faster: what it has published is given back, what was read here is thrown away."""
    path = tmp_path / "l.db"
    real = exact_totals._totals_of

    def slower(engine, request):
        with monkeypatch.context() as undone:
            undone.setattr(exact_totals, "_totals_of", real)
            with session(dp.Totals("state"), ledger=path) as other:
                other.publish_totals()
        return real(engine, request)

    with session(dp.Totals("state"), ledger=path, source=FRAME.with_columns(state=pl.lit("B"))) as one:
        monkeypatch.setattr(exact_totals, "_totals_of", slower)
        assert cells(one.publish_totals()) == STATES
    assert kinds(path) == ["dataset", "publish", "publish", "commit", "fail"]


def test_totals_that_another_session_has_just_published_are_given_back(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        real = one._engine.snapshot

        def slower():
            if one.totals is None:
                with session(dp.Totals("state"), ledger=path) as other:
                    other.publish_totals()
            return real()

        monkeypatch.setattr(one._engine, "snapshot", slower)
        assert cells(one.publish_totals()) == STATES


@pytest.mark.parametrize(
    ("invariants", "rows"),
    [(dp.Totals("state"), 23), (dp.Totals("state") + dp.Impossible("state", "sex", cells=[("A", None)]), 24)],
    ids=["rows that came after the look", "impossible"],
)
def test_totals_that_cannot_be_published_cost_nothing_and_have_one_text(invariants, rows, tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    with session(invariants, rows=rows, ledger=path) as one:
        monkeypatch.setattr(one._engine, "count_rows", lambda: rows)
        for attempt in (one.publish_totals, lambda: one.release(counted(one), spend="0.1", name="r")):
            with pytest.raises(dp.ReleaseFailed) as failed:
                attempt()
            assert str(failed.value) == dp.ReleaseFailed.TOTALS
            assert failed.value.__cause__ is None
            assert failed.value.__context__ is None
        assert one.totals is None
        assert one.spent == dp.ZCDP(0)
    assert kinds(path) == ["dataset", "publish", "fail", "publish", "fail"]


def test_a_source_that_is_put_right_can_be_published(tmp_path):
    path, source = tmp_path / "l.db", tmp_path / "d.parquet"
    FRAME.head(20).write_parquet(source)
    with session(dp.Totals("state"), ledger=path, source=source) as one, pytest.raises(dp.RowsDiffer):
        one.publish_totals()
    FRAME.write_parquet(source)
    with session(dp.Totals("state"), ledger=path, source=source) as one:
        assert cells(one.publish_totals()) == STATES
    with pytest.raises(dp.LedgerError, match="rows: 24 in the ledger, 25 now"):  # n cannot be searched
        session(dp.Totals("state"), ledger=path, source=source, rows=25)


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_breaks_while_totals_are_read_tells_nothing(raised, monkeypatch):
    def broken(*_):
        raise raised("secret 42")

    with session(dp.Totals("state")) as one:
        monkeypatch.setattr(one._engine, "aggregate", broken)
        with pytest.raises(dp.ReleaseFailed if raised is ValueError else raised) as failed:
            one.publish_totals()
        assert raised is not ValueError or ("secret" not in repr(failed.value) and failed.value.__context__ is None)
        monkeypatch.undo()
        assert cells(one.publish_totals()) == STATES


def test_a_source_that_changes_while_totals_are_read_has_none(monkeypatch):
    with session(dp.Totals("state")) as one:
        snapshots = iter(["before", "after"])
        with monkeypatch.context() as changing:
            changing.setattr(one._engine, "snapshot", lambda: next(snapshots))
            with pytest.raises(dp.ReleaseFailed):
                one.publish_totals()
        assert one.totals is None


def test_a_later_snapshot_needs_the_same_totals(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        one.publish_totals()
    moved = FRAME.with_columns(state=pl.col("state").replace("C", "B"))
    with session(dp.Totals("state"), ledger=path, source=moved) as one:
        with pytest.raises(dp.SourceError, match="its totals are not the exact totals that were published"):
            one.release(counted(one), spend="0.1", name="r")
        assert one.spent == dp.ZCDP(0)
    shuffled = FRAME.with_columns(age=pl.col("age").reverse(), sex=pl.col("sex").reverse())
    with session(dp.Totals("state"), ledger=path, source=shuffled) as one:
        assert sums(one.release(counted(one), spend="0.1", name="s"), "state") == STATES
        assert one.spent == dp.ZCDP("0.1")
    assert kinds(path)[3:] == ["reserve", *MADE]


def test_whatever_can_be_refused_is_refused_before_totals_are_published(tmp_path):
    path = tmp_path / "l.db"
    with session(dp.Totals("state"), ledger=path) as one:
        fine = Order(counted(one), "0.1", "a")
        for orders, error in [
            ([fine, Order(counted(one, "state"), "0.1", "b")], dp.PlanError),  # follows from the totals
            ([fine, Order(one.table.agg(dp.count()), "0.1", "b")], dp.PlanError),  # is the public n
            ([fine, fine], dp.LedgerError),
            ([fine, Order(counted(one), "0.95", "b")], dp.BudgetExceeded),
            ([fine, Order(counted(one), "1e-60", "b")], dp.PlanError),
            ([fine, Order(counted(one), "0.1", "")], dp.ArgumentError),
        ]:
            with pytest.raises(error):
                one.release_all(orders)
        with pytest.raises(dp.PlanError, match="cannot be imputed"):
            one.quote(one.table.impute({"state": dp.Weights({"A": 1})}).agg(dp.count("sex")), spend="0.1")
        with pytest.raises(dp.PlanError, match="public under ReplaceOne"):
            one.estimate_rows(spend="0.1")
        assert not path.exists()
        assert len(one.release_all([fine, Order(counted(one, "sex"), "0.9", "b")])) == 2
    assert kinds(path) == ["dataset", "publish", "commit", "reserve", "reserve", *MADE, *MADE]


def test_totals_are_saved_beside_the_table(tmp_path):
    invariants = (
        dp.Margins("state", "sex") + dp.Occupied("state", "sex") + dp.LinearInvariant("age", {"years": {3: 3, 7: 7}})
    )
    with session(invariants, budget=dp.PureDP(1)) as one:
        release = one.release(counted(one, "sex", "state", dp.bins("age", [0, 5, 10])), name="r")
        frames = release.tables
        assert set(frames) == {"table", "totals_state", "totals_sex", "occupied_sex_state", "linear_age"}
        assert frames["totals_sex"].rows() == [(*cell, count) for cell, count in sorted(SEXES.items(), key=str)]
        assert frames["linear_age"].rows() == [("years", 3 * 3 + 3 * 7)]
        occupied = {row[:2] for row in frames["occupied_sex_state"].rows()}
        known = {"A", "B", "C", "f", "m"}
        truth = {tuple(v if v in known else None for v in row) for row in FRAME.select("sex", "state").rows()}
        assert occupied == truth
        folder = release.save(tmp_path / "out")
        for name, frame in frames.items():
            assert pl.read_parquet(folder / f"{name}.parquet").equals(frame)
            lines = list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
            assert lines[0] == frame.columns
            assert len(lines) == 1 + frame.height
        loaded = dp.Release.load(folder)
        assert loaded == release
        assert loaded.guarantee == release.guarantee
        assert loaded.tables["totals_sex"].equals(frames["totals_sex"])


def test_ranges_are_published_once_saved_and_demanded_of_later_snapshots(tmp_path):
    invariants = dp.Rounded("state", base=5) + dp.Suppressed("state", "sex", below=4) + dp.AtLeast("state", rows=1)
    path = tmp_path / "l.db"
    with session(invariants, ledger=path) as one:
        release = one.release(counted(one, "sex"), spend="0.1", name="r")
        assert release.tables["ranges_state"].rows() == [
            ("A", "15", 13, 17),
            ("B", "10", 8, 12),
            ("C", "0", 0, 2),
            (None, "0", 0, 2),
        ]
        few = release.tables["ranges_sex_state"].filter(pl.col("published") == "fewer than 4")
        assert few.select("least", "most").unique().rows() == [(0, 3)]
        assert release.guarantee.semi_adjacency == 2
        assert dp.Release.load(release.save(tmp_path / "out")) == release
    # One row of A more, one of C less: the rounded numbers are the same, but C has no row, and the rule is broken.
    moved = FRAME.with_columns(state=pl.when(pl.col("state") == "C").then(pl.lit("A")).otherwise("state"))
    with session(invariants, ledger=path, source=moved) as one, pytest.raises(dp.SourceError, match="its totals are not"):
        one.release(counted(one, "sex"), spend="0.1", name="s")


@pytest.mark.parametrize(
    ("invariants", "schema", "source"),
    [
        (dp.Rounded("published", base=2), dp.Category(["a"]), ["a", "a", None]),
        (dp.Totals("count"), dp.Category(["a"]), ["a", "a", None]),
        (dp.Occupied("occupied"), dp.Category(["a"]), ["a", "a", None]),
        (dp.Totals("wage"), dp.Number(0, 2, "0.5"), [0.5, 1.0, None]),
    ],
    ids=["ranges", "count", "occupied", "fractions"],
)
def test_totals_of_any_column_have_a_frame(invariants, schema, source, tmp_path):
    (name,) = invariants.columns
    columns = dp.Schema({name: schema, "sex": dp.Category(["f", "m"])})
    frame = pl.DataFrame({name: source, "sex": ["f", "m", "m"]})
    with session(invariants, schema=columns, source=frame, rows=3) as one:
        release = one.release(one.table.group_by("sex").agg(dp.count()), name="r")
        assert dp.Release.load(release.save(tmp_path)) == release
        (totals,) = (shown for name, shown in release.tables.items() if name != "table")
        assert totals.height == len(set(source))
