"""Names that are loaded when they are first used, by several threads at once."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from tests.builders import PATIENCE

from discreet.exact import on_demand

FIRST = """
import sys
moments = sys.modules["toy_moments"]
moments.first.set()
met = moments.second.wait(0.5)
"""
SECOND = """
import sys
sys.modules["toy_moments"].second.set()
"""


def test_what_one_thread_loads_another_does_not_load_in_part(tmp_path, monkeypatch):
    """The second module begins when the first has ended. Without turns the two meet."""
    moments = SimpleNamespace(first=threading.Event(), second=threading.Event())
    monkeypatch.setitem(sys.modules, "toy_moments", moments)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name, body in (("toy_first", FIRST), ("toy_second", SECOND)):
        (tmp_path / f"{name}.py").write_text(body, encoding="utf-8")
    loading = [threading.Thread(target=on_demand.turn_to_load, args=(name,)) for name in ("toy_first", "toy_second")]
    loading[0].start()
    assert moments.first.wait(PATIENCE)
    loading[1].start()
    for one in loading:
        one.join()
    first, _ = (sys.modules.pop(name) for name in ("toy_first", "toy_second"))
    assert not first.met
    assert moments.second.is_set()


def test_a_child_does_not_wait_for_a_thread_that_loaded_in_its_parent():
    held, let_go = threading.Event(), threading.Event()

    def hold():
        with on_demand._TURN.lock:
            held.set()
            let_go.wait(PATIENCE)

    thread, before = threading.Thread(target=hold), on_demand._TURN.lock
    thread.start()
    held.wait(PATIENCE)
    try:
        on_demand._TURN.begin_anew()  # as a child does first of all
        assert on_demand._TURN.lock.acquire(blocking=False)
        on_demand._TURN.lock.release()
    finally:
        on_demand._TURN.lock = before
        let_go.set()
        thread.join()


EVERYTHING = """
import importlib, pkgutil, sys
import discreet
from discreet.exact import on_demand

class Watched:
    def __enter__(self):
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_name == "<module>" and "/discreet/" in frame.f_code.co_filename:
                print(frame.f_code.co_filename)
            frame = frame.f_back
    def __exit__(self, *_):
        pass

on_demand._TURN.lock = Watched()
for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
    if not module.name.endswith(("__main__", "._vega")):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert not error.name.startswith("discreet"), error
exec(compile(sys.argv[1], "/discreet/module.py", "exec"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("body", "asks"), [("", []), ("discreet.quotes.Quote", ["/discreet/module.py"])])
def test_no_module_asks_for_a_turn_while_it_loads(body, asks):
    """It could wait for a thread that waits for it. One that does would be noticed."""
    command = [sys.executable, "-c", EVERYTHING, body]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.split() == asks
