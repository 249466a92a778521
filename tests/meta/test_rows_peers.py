"""Rows by other programs: what is measured of them is right. The programs themselves are not needed."""

from __future__ import annotations

import importlib.util
import json
import sys
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.builders import MOMENT

import discreet as dp

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "rows_peers"


@pytest.fixture
def module(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    for name in ("measured", "limits", "environments", "rows", "tables", "charge"):
        monkeypatch.delitem(sys.modules, name, raising=False)  # other tests load modules of these names

    def loaded(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found)
        spec.loader.exec_module(found)
        if name == "limits":
            monkeypatch.setattr(found, "INTERVAL", 0.02)
        return found

    return loaded


BUSY = "import time; block = bytearray(60_000_000)\nwhile time.process_time() < {}: pass"


@pytest.mark.parametrize(
    ("code", "within", "ended"),
    [
        (BUSY.format(60), (0.1, 10**9), "ended after 0 min"),
        (BUSY.format(60), (60, 10**7), "ended above 0 GB"),
        ("raise SystemExit(3)", (60, 10**9), "failed with exit code 3"),
    ],
    ids=["time", "memory", "failure"],
)
def test_a_program_is_ended_beyond_its_limits(module, tmp_path, code, within, ended):
    assert module("limits").watched([sys.executable, "-c", code], tmp_path / "log", *within).ended == ended


def test_time_and_memory_of_a_program_that_has_ended_are_known(module, tmp_path):
    taken = module("limits").watched([sys.executable, "-c", BUSY.format(0.2)], tmp_path / "log", 60, 10**9)
    assert taken.ended == ""
    assert 0.2 <= taken.processor < MOMENT
    assert taken.seconds >= 0.2
    assert taken.peak > 60_000_000


def test_what_a_program_prints_is_kept(module, tmp_path):
    module("limits").watched([sys.executable, "-c", "print(1); raise ValueError('no')"], tmp_path / "log", 60, 10**9)
    assert (tmp_path / "log").read_text().splitlines()[:1] == ["1"]
    assert "ValueError: no" in (tmp_path / "log").read_text()


def test_the_charge_is_the_largest_that_a_conversion_allows(module):
    charge = module("charge")
    assert charge.as_documented(lambda epsilon, delta: epsilon**2 * delta, 1e-9) == pytest.approx(1, abs=1e-9)
    assert charge.as_documented(lambda epsilon, _: epsilon**2, 2.0) <= sqrt(2)


def test_rows_are_read_as_the_persons_are_written(module, monkeypatch, tmp_path):
    run = module("run")
    frame = pl.DataFrame({"sex": ["m", "f", "f", "m"], "age": ["0", None, "1", "2"], "more": ["a"] * 4})
    schema = dp.Schema(sex=dp.Category(["f", "m"]), age=dp.Category(["0", "1", "2"]), more=dp.Category(["a"]))
    monkeypatch.setattr(run, "read", lambda _: (schema, frame))
    true, sizes, files = run.prepared(Path("persons.parquet"), 2, tmp_path)
    assert sizes == [3, 4]
    assert json.loads(files[1].read_text()) == {"sex": 2, "age": 4}  # null is a value only where there are nulls
    again = run.coded(files[0], ["sex", "age"], sizes)
    for read in (true, again):
        assert [column.tolist() for column in read[0]] == [[1, 0, 0, 1], [0, 3, 1, 2]]
    (tmp_path / "rows.csv").write_text("age,sex\n3,0\n,\n")
    made = run.coded(tmp_path / "rows.csv", ["sex", "age"], sizes)
    assert [column.tolist() for column in made[0]] == [[0, 2], [3, 3]]
    assert np.allclose(run.distances(true, made, sizes, 1), [0.5, 0.75])
