"""Things that several threads use: the last use closes them, and the threads of a parent do not count in its children."""

import os
import threading
import warnings

import pytest
from tests.builders import PATIENCE

from discreet.session.in_use import InUse


class Thing:
    def __init__(self):
        self.closed = 0

    def close(self):
        self.closed += 1


def used_by_another_thread(in_use, work):
    """What `work` gives while another thread uses the things."""
    begun, done = threading.Event(), threading.Event()

    def use():
        with in_use:
            begun.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=use)
    thread.start()
    begun.wait(PATIENCE)
    try:
        return work()
    finally:
        done.set()
        thread.join()


def test_the_last_use_after_the_end_closes_all_things():
    things = [Thing(), Thing()]
    in_use = InUse(*things)
    with in_use, in_use:
        assert used_by_another_thread(in_use, lambda: (in_use.end(), [thing.closed for thing in things])[1]) == [0, 0]
        assert [thing.closed for thing in things] == [0, 0]
    assert [thing.closed for thing in things] == [1, 1]


def test_things_that_nobody_uses_are_closed_at_the_end_and_not_before():
    thing = Thing()
    in_use = InUse(thing)
    with in_use:
        pass
    assert thing.closed == 0
    in_use.end()
    assert thing.closed == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_closes_what_a_thread_of_its_parent_uses_for_ever_there():
    thing = Thing()
    in_use = InUse(thing)

    def forked():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a thread is running, as it should
            child = os.fork()
        if child == 0:  # pragma: no cover - measured in the parent
            with in_use:
                in_use.end()
                before = thing.closed
            os._exit(0 if (before, thing.closed) == (0, 1) else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert used_by_another_thread(in_use, forked) == 0
    assert thing.closed == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_is_forked_in_the_middle_of_a_use_ends_it_too():
    in_use = InUse(Thing())
    child = None
    try:
        with in_use, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except ValueError:  # pragma: no cover - measured in the parent
        os._exit(1)
    if child == 0:  # pragma: no cover - measured in the parent
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
