"""The plans in examples/deployments/ add the noise that the deployments published, to the last digit."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from fractions import Fraction
from math import prod
from pathlib import Path

import pytest
from tests.builders import PATIENCE

from discreet.planfile import load_plan

HERE = Path(__file__).resolve().parents[2] / "examples" / "deployments"
DAY, MONTH = ["day=2026-03-03"], ["month=2026-02"]

# The plan, its parameters, and for each release what is published: the scale of Laplace noise or the variance of Gaussian
# noise, in persons, or in the values of a sum.
PUBLISHED = {
    "pageviews": (DAY, {"page views of 2026-03-03": Fraction(1000, 3)}),
    "russian-editors": (MONTH, {"editors of 2026-02": 10}),
    "geoeditors": (MONTH, {"editors of 2026-02": Fraction(10, 11), "edits of 2026-02": Fraction(1010, 9)}),
    "broadband": ([], {"speeds": 10}),
    "services": ([], {"services": 10}),
    "url-shares": (
        [],
        {
            **dict.fromkeys(["comment", "angry", "haha", "love", "sad", "wow", "spam"], Fraction(10**2)),
            "click": 40**2,
            "like": 22**2,
            "share": 14**2,
            "share without click": 10**2,
            "false news": 10**2,
        },
    ),
    "earnings": ([], {"earnings": Fraction(2, 3)}),
    "symptoms": (
        DAY,
        {
            "symptoms by country, 2026-03-03": 3 / Fraction("0.168"),
            "symptoms by state, 2026-03-03": 3 / Fraction("0.37"),
            "symptoms by county, 2026-03-03": 3 / Fraction("1.1"),
            "searches by country, 2026-03-03": 1 / Fraction("0.0023"),
            "searches by state, 2026-03-03": 1 / Fraction("0.0047"),
            "searches by county, 2026-03-03": 1 / Fraction("0.014"),
        },
    ),
    "mobility": (
        ["day=2026-02-09"],
        {
            f"{what} by {level}, {day}": 1 / Fraction(epsilon)
            for what in ("visits", "at work")
            for level, epsilon in (("country", "0.11"), ("state", "0.11"), ("county", "0.22"))
            for day in ("the baseline", "2026-02-09")
        },
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    there = tmp_path_factory.mktemp("deployments")
    runpy.run_path(str(HERE / "made_up.py"))["write"](there)
    return there


def released(folder: Path, plan: str, values: list[str]) -> list[dict]:
    given = [word for value in values for word in ("--set", value)]
    command = [sys.executable, "-m", "discreet", "release", f"{plan}.toml", "--out", f"out-{plan}", *given]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(path.read_text(encoding="utf-8")) for path in (folder / f"out-{plan}").rglob("release.json")]


def printed_noise(document: dict) -> Fraction:
    """The scale or the variance of the one noise of a release, in whole persons."""
    (noise,) = document["noise"]
    unit = prod(int(part.replace(",", "")) for part in re.findall(r"in (?:units|parts) of 1/([\d,]+)", noise["query"]))
    return Fraction(noise["scale"]) / unit if "scale" in noise else Fraction(noise["variance"]) / unit**2


def test_every_plan_is_run():
    assert {plan.stem for plan in HERE.glob("*.toml")} == {*PUBLISHED}


@pytest.mark.one_in(7)
@pytest.mark.parametrize("plan", PUBLISHED)
def test_the_noise_is_the_published_one(plan, folder):
    values, published = PUBLISHED[plan]
    documents = {document["name"]: document for document in released(folder, plan, values)}
    assert {name: printed_noise(documents[name]) for name in published} == published


@pytest.mark.slow
def test_another_bound_has_another_noise(folder):
    text = (folder / "pageviews.toml").read_text(encoding="utf-8")
    (folder / "wrong.toml").write_text(
        text.replace("groups = 10", "groups = 4").replace("pageviews.db", "wrong.db"), encoding="utf-8"
    )
    (document,) = released(folder, "wrong", DAY)
    assert printed_noise(document) == Fraction(400, 3)


def test_a_day_is_named_in_windows(folder):
    plan = load_plan(folder / "mobility.toml", parameters={"day": "2026-02-09"})
    found = {str(window) for order in plan.orders for window in plan.windows.read_by(order.request)}
    assert found == {"2026-01-05", "2026-02-09"}
