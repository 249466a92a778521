"""Threads that ask at once which process this is get one answer: two would refuse a source that is its own."""

import os
import threading
import time

import pytest
from tests.builders import PATIENCE

from discreet.errors import SourceError
from discreet.exact import processes


def asked_at_once(threads):
    answers, begin = [], threading.Barrier(threads)

    def ask():
        begin.wait()
        answers.append(processes.this_process())

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    return answers


def in_a_cleared_page(monkeypatch, work):
    """What `work` gives in a process whose page is cleared, as in a new child, and in which drawing a mark takes a while."""
    random, page = os.urandom, bytes(processes._PAGE[:])

    def slow(size):
        time.sleep(0.05)
        return random(size)

    monkeypatch.setattr(processes.os, "urandom", slow)
    try:
        processes._forget()
        return work(), processes.this_process()
    finally:
        processes._PAGE[:] = page


def test_threads_of_a_new_child_agree(monkeypatch):
    monkeypatch.setattr(processes, "_TURN_SECONDS", PATIENCE)  # also where the machine halts meanwhile
    before = processes.this_process()
    answers, after = in_a_cleared_page(monkeypatch, lambda: asked_at_once(8))
    assert {*answers} == {after}
    assert after != before
    assert processes.this_process() == before


def test_a_turn_that_nobody_gives_back_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(processes, "_TURN_SECONDS", 0.05)

    def taken():
        processes._TURN.lock.acquire()  # by a thread of the parent, which is not here
        return processes.this_process()

    first, second = in_a_cleared_page(monkeypatch, taken)
    assert first == second
    processes._TURN.lock.release()
    processes._forget()
    assert not processes._TURN.lock.locked()


def test_who_draws_gives_the_turn_back(monkeypatch):
    in_a_cleared_page(monkeypatch, processes.this_process)
    assert not processes._TURN.lock.locked()


def test_threads_that_load_at_once_leave_no_sign_of_it(monkeypatch):
    """While they do, a child is refused; afterwards it is not."""
    inside = threading.Barrier(5)
    monkeypatch.setattr(processes, "_load", lambda _: (inside.wait(PATIENCE), inside.wait(PATIENCE)))
    loading = [threading.Thread(target=processes.load, args=("a room",)) for _ in range(4)]
    for one in loading:
        one.start()
    inside.wait(PATIENCE)
    parent = processes.this_process()
    with monkeypatch.context() as patch:
        patch.setattr(processes, "this_process", lambda: (b"of a child", parent[1]))
        with pytest.raises(SourceError, match="forked while a thread of its parent was loading"):
            processes.load()
    inside.wait(PATIENCE)
    for one in loading:
        one.join()
    with monkeypatch.context() as patch:
        patch.setattr(processes, "this_process", lambda: (b"of a child", parent[1]))
        processes.load()
