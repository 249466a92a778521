"""Whatever breaks after the reservation is one failure with one text; what can be refused is refused before it."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

import discreet as dp

from .sessions import FRAME, means, session


def test_rows_that_came_after_the_look_fail_with_one_text_and_the_charge_stands(monkeypatch):
    with session(neighbours=dp.ReplaceOne(rows=99)) as one:
        monkeypatch.setattr(one._engine, "count_rows", lambda: 99)
        with pytest.raises(dp.ReleaseFailed) as failed:
            one.release(means(one), spend="0.1", name="r")
        assert str(failed.value) == dp.ReleaseFailed.UNFINISHED
        assert "100" not in str(failed.value)
        assert failed.value.__cause__ is None
        assert failed.value.__context__ is None
        for _ in range(7):
            assert one.spent == dp.ZCDP("0.1")
            with pytest.raises(dp.ReleaseFailed) as failed:
                one.release(means(one), spend="0.1", name="r")
        assert str(failed.value) == dp.ReleaseFailed.TEXT, "the last attempt"
        with pytest.raises(dp.LedgerError, match="8 attempts have begun to read for it and none has come to its end"):
            one.release(means(one), spend="0.1", name="r")


def test_a_source_that_changes_while_it_is_read_has_no_release(monkeypatch):
    with session() as one:
        snapshots = iter(["before", "after", "after", "after"])
        monkeypatch.setattr(one._engine, "snapshot", lambda: next(snapshots))
        with pytest.raises(dp.ReleaseFailed):
            one.release(means(one), spend="0.1", name="r")
        assert one.spent == dp.ZCDP("0.1")


@pytest.mark.parametrize("broken", ["_engine", "_bits"])
def test_whatever_breaks_after_the_reservation_is_one_failure(broken, monkeypatch):
    def fail(*_):
        raise ValueError("secret 42")

    with session() as one:
        if broken == "_engine":
            monkeypatch.setattr(one._engine, "aggregate", fail)
        else:
            monkeypatch.setattr(one, "_bits", fail)
        with pytest.raises(dp.ReleaseFailed) as failed:
            one.release(means(one), spend="0.1", name="r")
        assert "secret" not in repr(failed.value)
        assert failed.value.__context__ is None
        assert one.spent == dp.ZCDP("0.1")


@pytest.mark.parametrize("error", [ValueError, dp.LedgerError, OSError, MemoryError])
def test_a_ledger_that_cannot_note_the_failure_does_not_change_the_answer(error, monkeypatch):
    def fail(*_):
        raise error("secret 42")

    with session() as one:
        monkeypatch.setattr(type(one._ledger), "settle", fail)
        with monkeypatch.context() as patch:
            patch.setattr(one._engine, "aggregate", fail)
            with pytest.raises(dp.ReleaseFailed) as failed:
                one.release(means(one), spend="0.1", name="r")
        assert str(failed.value) == dp.ReleaseFailed.UNFINISHED
        monkeypatch.setattr(one, "_bits", fail)
        with pytest.raises(dp.ReleaseFailed) as drawn:
            one.release(means(one), spend="0.1", name="r")
        assert str(drawn.value) == dp.ReleaseFailed.TEXT
        assert drawn.value.__context__ is None
        assert failed.value.__context__ is None
        assert one.spent == dp.ZCDP("0.1")


def removed(path, monkeypatch):
    path.unlink()


def made_a_folder(path, monkeypatch):
    path.unlink()
    path.mkdir()


def with_its_folder_moved(path, monkeypatch):
    path.parent.rename(path.parent.with_name("elsewhere"))


def forbidden(path, monkeypatch):
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # as it is for anybody but root


@pytest.mark.parametrize("lost", [removed, made_a_folder, with_its_folder_moved, forbidden])
@pytest.mark.parametrize("source", ["a.csv", "*.csv", "a.parquet", "*.parquet"])
def test_a_source_that_is_gone_is_refused_before_anything_is_spent(source, lost, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    FRAME.write_csv(folder / "a.csv")
    FRAME.write_parquet(folder / "a.parquet")
    with session(str(folder / source)) as one:
        lost(folder / f"a.{source.split('.')[-1]}", monkeypatch)
        with pytest.raises(dp.SourceError, match=r"cannot be opened|cannot be read|is a directory"):
            one.release(means(one), spend="0.1", name="r")
        assert one.spent == dp.ZCDP(0)
        monkeypatch.undo()


def test_a_panic_of_a_driver_is_a_failure_and_an_interrupt_passes(monkeypatch):
    class Panic(BaseException):
        """As native extensions raise it."""

    for raised, seen in [(Panic, dp.ReleaseFailed), (KeyboardInterrupt, KeyboardInterrupt)]:

        def fail(*_, raised=raised):
            raise raised("secret 42")

        with session() as one:
            monkeypatch.setattr(one._engine, "aggregate", fail)
            with pytest.raises(seen) as failed:
                one.release(means(one), spend="0.1", name="r")
            assert seen is KeyboardInterrupt or "secret" not in repr(failed.value)
            assert one.spent == dp.ZCDP("0.1")


# Two processes that want one release ---------------------------------------------------------------------------------------


def wanted(one):
    return one.release(means(one), spend="0.1", name="r")


def pair(path):
    return session(ledger=path, budget=dp.ZCDP("0.1")), session(ledger=path, budget=dp.ZCDP("0.1"))


def before(monkeypatch, one, step, happens):
    """What `happens` is called with the arguments of a step of a ledger, just before it."""
    ledger = one._ledger
    do = getattr(ledger, step)
    monkeypatch.setattr(ledger, step, lambda *args: (happens(*args), do(*args))[1])


def only_reserves(monkeypatch, one):
    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(one._ledger, "attempt", stop)
        with pytest.raises(KeyboardInterrupt):
            wanted(one)


def test_who_comes_while_another_process_draws_is_told_that_it_is_at_work(monkeypatch, tmp_path):
    first, second = pair(tmp_path / "l.db")
    with first, second:
        bits = first._bits

        def draw():
            with pytest.raises(dp.LedgerError, match="a process is at work on reservation 2 just now") as refused:
                wanted(second)
            assert "again=True" not in str(refused.value)
            return bits()

        monkeypatch.setattr(first, "_bits", draw)
        made = wanted(first)
        assert wanted(second) == made


@pytest.mark.parametrize("draws", [False, True])
def test_who_loses_the_race_for_an_attempt_is_told_that_another_process_is_at_work(draws, monkeypatch, tmp_path):
    """Both have seen a reservation that nobody was at."""
    first, second = pair(tmp_path / "l.db")
    with first, second, ExitStack() as held:
        only_reserves(monkeypatch, first)

        def begun(sequence):
            attempt = held.enter_context(first._ledger.attempt(sequence))
            if draws:
                first._ledger.draw(attempt)

        before(monkeypatch, second, "attempt", begun)
        with pytest.raises(dp.ReleaseFailed) as failed:
            wanted(second)
        assert str(failed.value) == dp.ReleaseFailed.ELSEWHERE
        assert "again=True" not in str(failed.value)
        assert second.spent == dp.ZCDP("0.1")


def test_who_comes_to_its_attempt_when_another_process_has_committed_gets_its_release(monkeypatch, tmp_path):
    first, second = pair(tmp_path / "l.db")
    with first, second:
        only_reserves(monkeypatch, first)
        made = []
        before(monkeypatch, second, "attempt", lambda _: made.append(wanted(first)))
        assert wanted(second) == made[0]


@pytest.mark.parametrize("commits", [False, True])
def test_who_loses_the_race_for_a_reservation_is_told_that_another_process_is_at_work(commits, monkeypatch, tmp_path):
    first, second = pair(tmp_path / "l.db")
    with first, second:
        happens = (lambda *_: wanted(first)) if commits else (lambda *_: only_reserves(monkeypatch, first))
        with monkeypatch.context() as patch:
            before(patch, second, "reserve", happens)
            with pytest.raises(dp.LedgerError, match="another process is at work on it, or has just been") as refused:
                wanted(second)
        assert "again=True" not in str(refused.value)
        assert wanted(second) == wanted(first)
        assert second.spent == dp.ZCDP("0.1")
