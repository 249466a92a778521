"""Properties that are computed once for each object, also by threads and in children."""

import os
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.builders import PATIENCE

from discreet.exact.cached import cached_property


@dataclass(frozen=True)
class Counted:
    number: int
    times: list[int] = field(default_factory=list, compare=False)

    @cached_property
    def square(self) -> int:
        """Its square."""
        self.times.append(self.number)
        return self.number**2


def test_each_object_computes_once_and_equals_what_it_equalled_before():
    one, other = Counted(3), Counted(4)
    assert [one.square, other.square, one.square, one.square] == [9, 16, 9, 9]
    assert (one.times, other.times) == ([3], [4])
    assert one == Counted(3)
    assert hash(one) == hash(Counted(3))
    assert Counted.square.__doc__ == "Its square."


def test_what_failed_is_computed_again():
    class Late:
        tries = 0

        @cached_property
        def value(self) -> int:
            self.tries += 1
            return 6 // (self.tries - 1)

    one = Late()
    with pytest.raises(ZeroDivisionError):
        _ = one.value
    assert [one.value, one.value] == [6, 6]


def test_threads_that_ask_at_once_get_one_object():
    both = threading.Barrier(2)

    class Slow:
        @cached_property
        def value(self) -> object:
            both.wait(PATIENCE)  # both compute
            return object()

    one = Slow()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: one.value, range(2))
    assert first is second is one.value


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_is_forked_in_the_middle_of_a_computation_does_not_wait_for_it():
    begun, done = threading.Event(), threading.Event()

    class Slow:
        quick = False

        @cached_property
        def value(self) -> int:
            if not self.quick:
                begun.set()
                done.wait(PATIENCE)
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    begun.wait(PATIENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a thread is running, as it should
        child = os.fork()
    if child == 0:  # pragma: no cover - measured in the parent
        signal.alarm(PATIENCE)  # which ends it where it waits
        own: Any = Slow()
        own.quick = True
        os._exit(0 if own.value == 1 else 1)
    found = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    thread.join()
    assert found == 0
