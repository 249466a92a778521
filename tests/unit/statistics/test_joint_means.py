"""Means of several columns from one vector: numbers without noise, intervals that hold, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.builders import plan_text, session_over

import discreet as dp
from discreet.engines.reference import ReferenceEngine
from discreet.errors import PlanError
from discreet.mechanisms import law_of_parts
from discreet.mechanisms.vector_laplace import VectorLaplace
from discreet.noise.bits import system_bits
from discreet.noise.lattice.vector_laplace import vector_laplace
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers
from discreet.statistics import joint_means
from discreet.statistics.base import outputs, statistic_json
from discreet.statistics.estimate import Estimate
from discreet.statistics.joint_noise import half_width_of_laws
from discreet.statistics.moments import Normal
from discreet.statistics.recipe import Answers

SKIP = {"nulls": "skip"}
HEADER = {"v": "BIGINT", "w": "BIGINT"}
SCHEMA = dp.Schema(v=dp.Number(0, 10), w=dp.Number(-3, 5))
ASKED = dp.means(["v", "w"], **SKIP)
SPENDS = [dp.PureDP("0.5"), dp.ZCDP("0.05"), dp.GDP("0.3")]


def rows_of(size: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(3)
    rows = [(int(v), int(w)) for v, w in zip(rng.integers(0, 11, size), rng.integers(-3, 2, size), strict=True)]
    return [(None, w) if place % 10 == 0 else (v, w) for place, (v, w) in enumerate(rows)]


def exactly(asked: Quote, rows: list[tuple[Any, ...]]) -> np.ndarray:
    (scan,) = asked.plan.layout.scans
    (found,) = exact_answers(asked, [ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments)], system_bits())
    return found


def estimates(asked: Quote, values: np.ndarray, cells: int) -> tuple[Estimate, ...]:
    (line,) = asked.lines
    noises = replace(asked.noises(line), cells=cells)
    return line.recipe.estimates(Answers(noises, {asked.measured[0].asked: values}, slice(0, cells)))


def truth_of(rows: list[tuple[Any, ...]]) -> list[float]:
    known = np.array([row for row in rows if None not in row], dtype=float)
    return [len(known), *known.mean(axis=0)]


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_without_noise_they_are_those_of_the_rows(spend: Any) -> None:
    rows = rows_of(200)
    asked = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(ASKED), spend)
    assert isinstance(asked.measured[0].law, VectorLaplace) == isinstance(spend, dp.PureDP)
    found = estimates(asked, exactly(asked, rows), 1)
    assert np.allclose([one.value[0] for one in found], truth_of(rows), rtol=1e-9)


def covered(asked: Quote, rows: list[tuple[Any, ...]], runs: int) -> np.ndarray:
    """For each number the part of simulated releases whose interval holds."""
    exact, noise = exactly(asked, rows), asked.measured[0].law
    if isinstance(noise, VectorLaplace):
        drawn = vector_laplace(noise.scale, len(exact), runs, system_bits()).T
    else:
        drawn = law_of_parts(noise).sample(len(exact) * runs, system_bits()).reshape(len(exact), runs)  # type: ignore[attr-defined]
    found = estimates(asked, (exact[:, None] + drawn).astype(float).ravel(), runs)
    return np.array([np.mean((one.low <= own) & (own <= one.high)) for one, own in zip(found, truth_of(rows), strict=True)])


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_each_interval_holds_by_itself(spend: Any) -> None:
    """At least 95 %, less seven standard errors for what is drawn."""
    asked = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(ASKED), spend)
    for rows in (rows_of(2000), rows_of(60)):
        assert (covered(asked, rows, 4000) >= 0.95 - 7 * (0.05 * 0.95 / 4000) ** 0.5).all()


def test_noise_of_the_count_that_is_forgotten_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """w has a mean near the end of its range, where the noise of the count counts as much as that of the sum."""
    real = joint_means.half_width_of_laws
    asked = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(ASKED), dp.ZCDP("0.05"))
    rows = [(1, -2)] * 2000
    assert (covered(asked, rows, 4000) >= 0.95 - 7 * (0.05 * 0.95 / 4000) ** 0.5).all()
    monkeypatch.setattr(joint_means, "half_width_of_laws", lambda law, factors, failing: real(law, factors[:1], failing))
    assert (covered(asked, rows, 4000)[1:] < 0.93).all()


@pytest.mark.parametrize("spend", ["1e-9", "1e3"])
def test_few_rows_have_the_whole_range(spend: str) -> None:
    for rows in ([], [(None, None)], [(1, 1)]):
        asked = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(ASKED), dp.PureDP(spend))
        noisy = asked.measured[0].law.apply(exactly(asked, rows), system_bits())
        count, *found = estimates(asked, noisy, 1)
        assert count.low[0] <= count.value[0] <= count.high[0]
        for one, ends in zip(found, [(0, 10), (-3, 5)], strict=True):
            assert ends[0] <= one.low[0] <= one.value[0] <= one.high[0] <= ends[1]
            assert spend != "1e-9" or (one.low[0], one.high[0]) == ends or count.value[0] > 0


def test_where_the_count_is_public_only_sums_are_measured() -> None:
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).impute({"v": dp.Uniform(), "w": dp.Uniform()})
    asked = quote(table.agg(dp.means(["v", "w"])), dp.PureDP(1))
    assert len(asked.measured[0].query.parts) == 2
    rows = [(3, 1)] * 100
    count, v, w = estimates(asked, exactly(asked, rows), 1)
    assert (count.low[0], count.value[0], count.high[0]) == (100, 100, 100)
    assert (v.value[0], w.value[0]) == (pytest.approx(3), pytest.approx(1))


def test_one_vector_has_less_noise_than_separate_statistics() -> None:
    schema = dp.Schema({f"x{one}": dp.Number(0, 1, "0.01") for one in range(3)})
    table = dp.Table(schema, dp.AddRemove())
    together = quote(table.agg(dp.means(list(map(str, ["x0", "x1", "x2"])), **SKIP)), dp.PureDP(1))
    apart = quote(table.agg(*(dp.mean(f"x{one}", **SKIP) for one in range(3))), dp.PureDP(1))
    one, three = together.lines[0], apart.lines[0]
    assert one.recipe.error(together.noises(one), 10_000) < 0.6 * three.recipe.error(apart.noises(three), 10_000)


def test_its_form_and_refusals(tmp_path: Any) -> None:
    assert outputs(ASKED) == ("means_count", "means_v", "means_w")
    text = plan_text("two-numbers").replace('"count"', '{ means = ["v", "w"], nulls = "skip" }').encode()
    (order,) = plan_of(toml_root(text, tmp_path / "plan.toml")).orders
    assert [one.kind.word for one in order.request.statistics] == ["means"]
    for part, said in [
        ("", "Means of v and w, where all are known"),
        ("count", "Rows of the means of v and w, where all are known"),
        ("w", "Mean of w, where all are known"),
    ]:
        assert ASKED.kind.title(statistic_json(ASKED), part) == said
    for make, said in [
        (lambda: dp.means(["v"]), "must name 2 to 20 columns"),
        (lambda: dp.means(["v", "count"]), "rename it"),
        (lambda: dp.Table(SCHEMA, dp.AddRemove()).agg(dp.means(["v", "w"])), "can be null"),
        (lambda: dp.Table(SCHEMA, dp.AddRemove()).clamp({"w": (1, 1)}).agg(ASKED), "'w' has a single value"),
    ]:
        with pytest.raises(PlanError, match=said):
            make()


def test_a_session_releases_them() -> None:
    import polars as pl

    frame = pl.DataFrame(rows_of(500), schema=["v", "w"], orient="row")
    with session_over(frame, SCHEMA, budget=dp.PureDP(10)) as session:
        table = session.release(session.table.agg(ASKED), spend=5, name="both").table
    for name, own in zip(("means_count", "means_v", "means_w"), truth_of(rows_of(500)), strict=True):
        assert table[name][0] == pytest.approx(own, rel=0.2, abs=0.3)


def test_an_interval_has_every_mean_that_the_noise_leaves_possible() -> None:
    """V9, mean by mean: nothing that is as near to the sum as its noise reaches is left out, however few rows there are."""
    law = law_of_parts(quote(dp.Table(SCHEMA, dp.AddRemove()).agg(ASKED), dp.PureDP(4)).measured[0].law)
    unit, failing = 0.2 / float(law.half_width(Fraction(19, 20))), Fraction(1, 20)
    part, scale = np.array([[0, 1], [1, -1]]), np.full((2, 2), unit)
    for total, count in product((-0.7, -0.2, 0.0, 0.4, 3.0), (-0.5, 0.25, 0.5, 1.0, 2.0, 7.0)):
        normal = Normal(np.array([[[count, total], [total, 0.0]]]), part, scale)
        found = joint_means._quotient(normal, 1, law, failing)
        for mean in np.linspace(-1, 1, 41):
            (wide,) = half_width_of_laws(law, [np.array([unit]), np.array([abs(mean) * unit])], failing)
            assert abs(total - mean * count) > wide or found.low[0] <= mean <= found.high[0]


def test_all_intervals_together_share_the_level() -> None:
    plan = dp.Table(SCHEMA, dp.AddRemove()).group_by(dp.bins("v", [0, 5, 10])).agg(ASKED)
    (alone,), (together,) = (quote(one, dp.PureDP(1)).lines for one in (plan, plan.simultaneous()))
    assert alone.level == Fraction(19, 20)
    assert 1 - together.level == Fraction(1, 20) / (3 * plan.layout.cells)
