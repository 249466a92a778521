"""Every program in examples/ runs from a folder of its own, says what it should, and leaves stderr empty."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from tests.builders import PATIENCE

import discreet as dp
from discreet import datasets

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEMO = EXAMPLES / "demo.py"
PROGRAMME = EXAMPLES / "programme.py"
PROGRAMS = sorted(set(EXAMPLES.glob("*.py")) - {DEMO, PROGRAMME}, reverse=True)  # the shortest is the one that always runs
SAYS = {
    "accuracy.py": ["within the interval"],
    "census.py": [
        "ε = 4.3100 at δ = 1e-10",
        "a = 2  effective ρ = 0.852, ε = 9.1765",
        "a = 3  effective ρ = 1.917, ε = 14.5123",
        "Gaussian on the lattice    3.06",
    ],
    "error_curves.py": ["0.71 /   2.02   2.86×", "1.39 /   3.01   2.18×"],
    "income_by_state.py": ["expected error", "shape: (51, 7)"],
    "personnel.py": [
        "a = 2 rows",
        "on the lattice: error of a cell",
        "of the strength of a branch up to 0\nnaive",
        "555849",
    ],
    "resize.py": ["resize(X, 150, 1)", "resize(X, 100, 3/4)", "resize(X, 90, 3/2)", "has scale 22.4", "has scale 16.8"],
    "shortest.py": ["mean_age_low", "ε = 0.5"],
}


def run(program: Path, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=PATIENCE, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What an example prints; each runs once."""
    return cache(lambda name: run(EXAMPLES / name, tmp_path_factory.mktemp("example")))


@pytest.mark.one_in(9)
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_examples_run(program, printed):
    output = printed(program.name)
    for words in SAYS[program.name]:
        assert words in output


@pytest.mark.slow
def test_four_times_the_budget_halves_the_error(printed):
    """A half-width depends on the noisy count by a few per cent; 18 misses of 60, at 5 % each, have a chance below 1e-9."""
    rows = [line.split() for line in printed("accuracy.py").splitlines()[3:]]
    promised = [float(row[1]) for row in rows]
    assert all(1.6 < more / less < 2.5 for more, less in pairwise(promised))
    assert sum(int(row[3]) for row in rows) >= 43


@pytest.mark.slow
def test_the_demo_runs_twice_and_is_charged_once(tmp_path):
    first = run(DEMO, tmp_path, "out")
    for words in ("The ledger", "remaining: ZCDP(rho=0.4)", "Report: file://", "168 groups"):
        assert words in first
    documents = {path.parent.name: path.read_bytes() for path in (tmp_path / "out").rglob("release.json")}
    assert set(documents) == {"income-and-hours", "personnel"}
    second = run(DEMO, tmp_path, "out")
    assert "at no charge" not in first
    assert second.count("at no charge") == 2
    for folder, document in documents.items():
        place = tmp_path / "out" / folder
        assert (place / "release.json").read_bytes() == document
        assert {path.name for path in place.iterdir()} == {"release.json", "table.csv", "table.parquet", "report.html"}
        assert dp.Release.load(place).name in (place / "report.html").read_text(encoding="utf-8")
    check_against_the_truth(dp.Release.load(tmp_path / "out" / "personnel").table)


def made_up_persons(path: Path) -> None:
    """Some persons with the columns of the excerpt that the programme reads."""
    draw = np.random.default_rng(1)
    levels = {"SEX": 2, "RAC1P": 3, "HISP": 2, "OWN_RENT": 3, "MSP": 2, "EDU": 2, "DPHY": 2, "HOUSING_TYPE": 3}
    areas = ["01-00001", "01-00002", "02-00001"]
    columns = {name: draw.choice([*map(str, range(many)), None], 300).tolist() for name, many in levels.items()}
    pl.DataFrame({"PUMA": draw.choice(areas, 300).tolist(), **columns}).write_parquet(path)


def check_programme(folder: Path, said: str, persons: int) -> None:
    release = dp.Release.load(folder)
    tables = [frame for frame in release.tables.values() if "count" in frame.columns]
    assert len(tables) == 90
    assert "90 tables" in said
    assert dp.verify(release).tables == 90
    every = tables[0]["count"].item()
    assert abs(every - persons) < 200
    assert all(abs(frame["count"].sum() - every) < 1e-3 for frame in tables)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<table") >= 90
    assert "Number of rows by area.state × SEX" in page


@pytest.mark.one_in(3)
@pytest.mark.parametrize("folder", ["out"])
def test_thirty_tables_of_three_levels_are_on_one_page(tmp_path, folder):
    made_up_persons(tmp_path / "persons.parquet")
    check_programme(tmp_path / folder, run(PROGRAMME, tmp_path, "persons.parquet", folder), 300)


@pytest.mark.slow
@pytest.mark.shared
def test_thirty_tables_of_three_levels_of_a_survey_are_on_one_page(tmp_path, shared):
    source = shared / "data" / "tutorial" / "acs2019_persons.parquet"
    check_programme(tmp_path / "out", run(PROGRAMME, tmp_path, str(source), "out"), 44_163)


def check_against_the_truth(table):
    """Counts of 168 cells at ρ = 0.1 have a standard deviation of 3.2: twelve of them are never reached by chance."""
    by = ["branch", "grade", "race", "gender"]
    truth = duckdb.sql(f"SELECT {', '.join(by)}, count(*) FROM '{datasets.path('military')}' GROUP BY ALL").fetchall()
    exact = {tuple(row[:4]): row[4] for row in truth}
    off = [abs(count - exact.get(tuple(cell), 0)) for *cell, count in table.select(*by, "count").rows()]
    assert len(off) == 168
    assert max(off) <= 40
    assert sum(off) > 0
