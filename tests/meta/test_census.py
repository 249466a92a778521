"""The census of examples/census/: one plan, the noise of production, exact totals, levels that add up, least squares."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.cli.planning import open_session
from discreet.cube.queries import AreaEffects
from discreet.mechanisms import law_of_cell
from discreet.planfile import load_plan

HERE = Path(__file__).resolve().parents[2] / "examples" / "census"
LEVELS = ("", "area.state", "area.county", "area.tract", "area.group", "area.block")
SIZES = {"race": 63, "hispanic": 2, "voting_age": 2, "quarters": 8, "occupancy": 2}

# ρ of each release as production states it, for one replaced row and all tables measured, those of what is public too.
PRODUCTION = {"persons": Fraction(542, 339) ** 2, "units": Fraction(3379, 12343) ** 2}
"""2.5563 and 0.0749; together 2.6312."""


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    """The smallest state, its plan, and both releases."""
    folder = tmp_path_factory.mktemp("census")
    made_up = runpy.run_path(str(HERE / "made_up.py"))
    rows = made_up["write"](folder, made_up["SIZES"]["tiny"])
    plan = load_plan(folder / "plan.toml", {"rows": str(rows)})
    with open_session(plan) as session:
        quotes = {order.name: session.quote(order.request, spend=order.spend) for order in plan.orders}
        releases = {one.name: one for one in session.release_all(plan.orders)}
    return (
        plan,
        quotes,
        releases,
        pl.read_parquet(folder / "census.parquet"),
        pl.read_csv(folder / "areas.csv", infer_schema=False),
    )


def stated():
    """For each release the precision 1/σ² of every cell of every table of every level, by what production states."""
    written = tomllib.loads((HERE / "plan.toml").read_text(encoding="utf-8"))
    for release in written["release"]:
        (asked,) = release["statistics"]
        found = {}
        for level, columns in enumerate(LEVELS):
            of_level = Fraction(asked["level_shares"][columns])
            for table, own in zip(asked["by"], asked["shares"][columns], strict=True):
                found[level, frozenset(table)] = PRODUCTION[release["name"]] * of_level * Fraction(own)
        yield release["name"], found


def test_the_shares_are_all_of_what_production_spent():
    for name, precisions in stated():
        assert sum(precisions.values()) == PRODUCTION[name]
    assert float(sum(PRODUCTION.values())) == pytest.approx(2.63116925, abs=5e-9)


def test_the_noise_of_every_effect_is_that_of_production(census):
    """Noise of equal variance in each cell of a table is that of its effects, each less the more cells are added up."""
    _, quotes, _, _, _ = census
    for name, precisions in stated():
        for one in quotes[name].measured:
            query = one.query
            assert isinstance(query, AreaEffects)
            part = frozenset(query.effect.columns())
            precision = sum(
                (t / prod(SIZES[column] for column in table - part) for (level, table), t in precisions.items()
                 if level == query.level and part <= table),
                Fraction(0),
            )  # fmt: skip
            noise = Fraction(law_of_cell(one.law).sigma2) / query.unit**2
            assert float(noise * precision) == pytest.approx(1, rel=1e-12), query.words()


def test_what_counts_of_persons_and_units_in_states_is_public_and_the_guarantee_is_below_that_of_all_tables(census):
    plan, quotes, releases, rows, _ = census
    spent = sum(quote.spend.rho for quote in quotes.values())
    assert spent < plan.budget.rho < 4 * sum(PRODUCTION.values())
    for name, kind in (("persons", "person"), ("units", "unit")):
        assert quotes[name].charge == "exact"
        assert quotes[name].group == 2
        by = "_occupancy" if kind == "unit" else ""
        states = (
            releases[name].tables[f"areas_area.state{by}"].group_by("area.state", maintain_order=True).agg(pl.sum("count"))
        )
        assert states["count"].round(6).to_list() == [rows.filter(pl.col("kind") == kind).height, 0]
        assert "exactly the public ones" in str(dp.verify(releases[name]))
    state = releases["persons"].tables["areas_area.state"]
    assert state["count_low"].to_list() == state["count_high"].to_list() == state["count"].to_list()


def in_order(values, axes, places, sizes):
    """The numbers of an effect, area by area, with its columns in the order of a table."""
    own = [sizes[places.index(axis)] for axis in axes]
    order = sorted(range(len(axes)), key=lambda position: places.index(axes[position]))
    numbers = np.array(values, dtype=float).reshape(-1, *own)
    return numbers.transpose(0, *(1 + position for position in order)).ravel()


@pytest.mark.parametrize("by", [("voting_age", "hispanic"), ("quarters",)], ids=str)
def test_no_cell_of_any_level_is_worse_than_dense_least_squares_of_the_same_measurements(census, by):
    """Everything that was measured of these columns, solved as one system of equations over the cells of all blocks."""
    _, _, releases, _, areas = census
    document = releases["persons"].document
    (block,) = document["measured"]
    columns = [axis["column"] for axis in block["axes"]]
    places = [columns.index(column) for column in by]
    sizes = [len(block["axes"][place]["alive"]) for place in places]
    above = [np.ones((1, areas.height))]
    for name in LEVELS[1:]:
        codes = areas[name.removeprefix("area.")]
        above.append((codes.unique(maintain_order=True).to_numpy()[:, None] == codes.to_numpy()).astype(float))
    left, right = [], []
    for one in block["effects"]:
        if set(one["axes"]) <= set(places):
            matrix = above[one["level"]]
            for place, size in zip(places, sizes, strict=True):
                matrix = np.kron(matrix, np.eye(size) * size - 1 if place in one["axes"] else np.ones((1, size)))
            variance = 1e-4 if one["noise"] is None else float(Fraction(document["noise"][one["noise"]]["variance"]))
            left.append(matrix * one["times"] / variance**0.5)
            right.append(in_order(one["values"], one["axes"], places, sizes) / variance**0.5)
    matrix, right = np.concatenate(left), np.concatenate(right)
    found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    spread = np.linalg.pinv(matrix.T @ matrix, rcond=1e-13, hermitian=True)
    for level, over in zip(LEVELS, above, strict=True):
        wide = np.kron(over, np.eye(int(np.prod(sizes))))
        keys = [*([level] if level else []), *by]
        table = releases["persons"].tables["_".join(["areas", *keys])].drop_nulls(keys)
        assert table["count"].to_numpy() == pytest.approx(wide @ found, abs=0.01)
        halves = (table["count_high"] - table["count_low"]).to_numpy() / 2
        least = np.diag(wide @ spread @ wide.T).clip(0) ** 0.5
        assert (halves <= 1.96 * least * 1.004 + 0.05).all()


@pytest.mark.slow
def test_the_commands_of_the_page_run_in_a_fresh_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (HERE.parents[1] / "docs" / "census.md").read_text(encoding="utf-8")
    made, _, *commands = re.findall(r"^    (.+)$", page, flags=re.MULTILINE)
    assert made == "python examples/census/made_up.py tiny --state tiny"
    done = subprocess.run(
        [sys.executable, str(HERE / "made_up.py"), "tiny", "--state", "tiny"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("3,557 rows")
    monkeypatch.chdir(tmp_path / "tiny")
    assert len(commands) == 4
    for command in commands:
        _, *arguments = shlex.split(command)
        found = run(*arguments)
        assert found.exit_code == 0, found.output
        if arguments[0] == "quote":
            assert "charge ρ ≤ 7.21669" in found.output
