"""docs/peers.md and its plots are what the kept measurements render to; what a measurement looks at is right."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.builders import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "peers"
PAGE = ROOT / "docs" / "peers.md"
RESULTS = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
OPENDP = "opendp | 1000000"


def module(name):
    spec = importlib.util.spec_from_file_location(f"peers_{name}", FOLDER / f"{name}.py")
    loaded = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look annotations up
    spec.loader.exec_module(loaded)
    return loaded


page = module("page")
measured = module("measured")


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setitem(sys.modules, "measured", measured)
    monkeypatch.setattr(loaded := module("watch"), "INTERVAL", 0.02)
    return loaded


def changed(key, **fields):
    results = copy.deepcopy(RESULTS)
    results["measurements"][key].update(fields)
    return results


def test_the_page_and_its_plots_are_what_was_measured():
    text = PAGE.read_text(encoding="utf-8")
    assert page.rendered(text, RESULTS) == text
    for name, plot in page.plots(RESULTS).items():
        assert (PAGE.parent / name).read_text(encoding="utf-8") == plot
        ET.fromstring(plot)  # noqa: S314 (our own file)


@pytest.mark.parametrize(
    "fields",
    [
        {"seconds": 12.5},
        {"processor": 12.5},
        {"peak": 12.5e9},
        {"errors": {"count": 1, "sum": 2, "mean": 3}},
        {"others": 9.5},
    ],
)
def test_a_page_with_another_measurement_would_be_noticed(fields):
    text = PAGE.read_text(encoding="utf-8")
    assert page.rendered(text, changed(OPENDP, **fields)) != text


@pytest.mark.parametrize("field", ["plain", "release", "ratio"])
def test_a_page_with_another_measurement_of_a_type_would_be_noticed(field):
    text, results = PAGE.read_text(encoding="utf-8"), copy.deepcopy(RESULTS)
    results["types"]["columns"][0][field] = 12.5
    assert page.rendered(text, results) != text


@pytest.mark.parametrize("field", ["plain", "path_ratio", "frame_ratio"])
def test_a_page_with_another_measurement_on_spark_would_be_noticed(field):
    text, results = PAGE.read_text(encoding="utf-8"), copy.deepcopy(RESULTS)
    results["types_spark"]["columns"][0][field] = 12.5
    assert page.rendered(text, results) != text


def test_a_measurement_that_was_ended_says_so():
    results = changed(OPENDP, ended="> 10 min", stage="requests")
    (line,) = [one for one in page.rendered(PAGE.read_text(encoding="utf-8"), results).splitlines() if "> 10 min (" in one]
    assert line.startswith("| opendp | > 10 min (requests) | – |")
    assert "opendp" not in page.plots(results)["peers-cost.svg"]


def test_a_page_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="growth"):
        page.rendered("<!-- tables: begin --><!-- tables: end -->", RESULTS)


def test_work_in_straight_line_has_its_line():
    results = {"measurements": {f"discreet | {n}": {"seconds": 0.5 + 2e-6 * n} for n in page.SIZES}}
    words = page._fit_in_words(results, "discreet")
    assert "0.500 s and 2.0000 s for each million rows" in words
    assert "further than 0 %" in words


def test_every_library_has_a_program_and_a_colour():
    text = (FOLDER / "run.py").read_text(encoding="utf-8")
    assert all(f'"{name}": Library(' in text for name in page.COLOURS)
    assert text.count(": Library(") == len(page.COLOURS)


def test_the_time_and_the_memory_of_children_count():
    code = "import time; block = bytearray(40_000_000)\nwhile time.process_time() < 0.2: pass\ninput()"
    before = measured.tree_cpu() - time.process_time()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True) as child:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            running = measured.tree_cpu() - time.process_time() - before
            size = sum(resident for _, resident in measured.tree(os.getpid())[1:])
            if running >= 0.15 and size > 40_000_000:
                break
            time.sleep(0.02)
        child.communicate("\n")
    assert running >= 0.15
    assert size > 40_000_000
    assert measured.tree_cpu() - time.process_time() - before >= 0.15  # a child that has ended still counts


def test_errors_are_distances_from_the_truth(watch, tmp_path):
    path = watch.table(tmp_path, 2000)
    right = [[*cell, *known] for cell, known in watch.truth(path).items()]
    assert sum(known[2] for known in right) == 2000
    wrong = [[state, sex, count - 3, total + 50, mean - 2] for state, sex, count, total, mean in right]
    found = watch.errors(path, [{"lines": right}, {"lines": wrong}, {"lines": wrong}])
    cells = len(right) / len(measured.CELLS)  # a cell without rows is answered by 0, which is right
    assert found == pytest.approx({"count": 2 * cells, "sum": 100 / 3 * cells, "mean": 2})
    lost = watch.errors(path, [{"lines": []}])
    assert lost["count"] == pytest.approx(2000 / len(measured.CELLS))


def is_running(stat: Path) -> bool:
    try:
        return ") Z " not in stat.read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(("limit", "ended"), [("SECONDS", "> 10 min"), ("BYTES", "> 16 GB")])
def test_what_goes_beyond_a_limit_is_ended_with_all_that_it_started(watch, monkeypatch, tmp_path, limit, ended):
    named = tmp_path / "process"

    def patient(process):
        while not (named.exists() and named.read_text(encoding="ascii")):
            time.sleep(0.02)
        return measured.tree(process)

    monkeypatch.setattr(watch, limit, 0 if limit == "SECONDS" else 1000)
    monkeypatch.setattr(watch, "tree", patient)
    cores, kept = os.sched_getaffinity(0), tmp_path / "outcome.json"
    started = f"""
import pathlib, subprocess, sys
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep({2 * PATIENCE})"])
pathlib.Path({str(named)!r}).write_text(str(sleeper.pid))
sleeper.wait()
"""
    began = time.monotonic()
    record = watch.outcome([sys.executable, "-c", started], tmp_path / "table.parquet", kept)
    assert (record["ended"], record["stage"]) == (ended, "start")
    assert time.monotonic() - began < PATIENCE
    assert os.sched_getaffinity(0) == cores
    sleeper = Path("/proc", named.read_text(encoding="ascii"), "stat")
    until = time.monotonic() + PATIENCE  # what was killed is gone when the system next looks at it
    while is_running(sleeper) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(sleeper)


def test_a_program_that_fails_is_said_to(watch, tmp_path):
    record = watch.outcome([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "table.parquet", tmp_path / "o.json")
    assert record["ended"] == "failed with exit code 3"
