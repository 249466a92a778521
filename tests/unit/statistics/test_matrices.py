"""Correlations and principal components of several columns: numbers without noise, and ranges that hold every matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.builders import plan_text, session_over

import discreet as dp
from discreet.engines.reference import ReferenceEngine
from discreet.errors import PlanError
from discreet.noise.bits import system_bits
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers
from discreet.statistics import principal_components as source
from discreet.statistics.base import outputs, statistic_json
from discreet.statistics.estimate import Estimate
from discreet.statistics.principal_components import components_of
from discreet.statistics.recipe import Answers

SKIP = {"nulls": "skip"}
HEADER = {"v": "BIGINT", "w": "BIGINT", "u": "BIGINT"}
SCHEMA = dp.Schema(v=dp.Number(0, 10), w=dp.Number(-3, 5), u=dp.Number(0, 4, "0.5"))
TABLE = dp.Table(SCHEMA, dp.AddRemove())
ASKED = {
    "correlations": dp.correlations(["v", "w", "u"], **SKIP),
    "components": dp.principal_components(["v", "w", "u"], 3, **SKIP),
}


def rows_of(size: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(size):
        v = int(rng.integers(0, 11))
        row = [v, int(np.clip(round(v / 2 + rng.normal(0, 1.5)) - 2, -3, 5)), int(rng.integers(0, 9)) / 2]
        if rng.random() < 0.1:
            row[int(rng.integers(0, 3))] = None  # type: ignore[call-overload]
        found.append(tuple(row))
    return found


def released(asked: Quote, rows: list[tuple[Any, ...]], *, noisy: bool) -> list[Estimate]:
    (scan,), (line,) = asked.plan.layout.scans, asked.lines
    (found,) = exact_answers(asked, [ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments)], system_bits())
    values = asked.measured[0].law.apply(found, system_bits()) if noisy else found
    return list(line.recipe.estimates(Answers(asked.noises(line), {asked.measured[0].asked: values}, slice(0, 1))))


def known(rows: list[tuple[Any, ...]]) -> np.ndarray:
    """The known rows, each column in units of its range."""
    return np.array([[(v - 0) / 10, (w + 3) / 8, u / 4] for v, w, u in rows if None not in (v, w, u)])


def test_without_noise_correlations_are_those_of_the_rows() -> None:
    rows = rows_of(300)
    found = [one.value[0] for one in released(quote(TABLE.agg(ASKED["correlations"]), dp.ZCDP(1)), rows, noisy=False)]
    whole = np.corrcoef(known(rows).T)
    assert np.allclose(found, [whole[0, 1], whole[0, 2], whole[1, 2]], atol=1e-9)


def test_without_noise_components_are_nearly_those_of_the_rows() -> None:
    """The value is that of the middle of the ranges, which all but vanish at this spend."""
    rows = rows_of(300)
    found = [one.value[0] for one in released(quote(TABLE.agg(ASKED["components"]), dp.ZCDP("1e20")), rows, noisy=False)]
    sizes, vectors = np.linalg.eigh(np.cov(known(rows).T, bias=True))
    for place in range(3):
        own = found[4 * place : 4 * place + 4]
        assert own[0] == pytest.approx(sizes[2 - place], abs=1e-6)
        assert abs(np.dot(own[1:], vectors[:, 2 - place])) == pytest.approx(1, abs=1e-6)
        assert max(own[1:], key=abs) > 0


@pytest.mark.slow
def test_intervals_hold_the_numbers_of_the_rows_at_a_spend_that_makes_them_narrow() -> None:
    """At ρ = 10^6 a noise beyond its half-width at level 1 - 10^-9 does not occur: the intervals are read at that level."""
    from dataclasses import replace
    from fractions import Fraction

    rows = rows_of(2000)
    whole, (sizes, vectors) = np.corrcoef(known(rows).T), np.linalg.eigh(np.cov(known(rows).T, bias=True))
    for name, truth in (("correlations", [whole[0, 1], whole[0, 2], whole[1, 2]]), ("components", None)):
        asked = quote(TABLE.agg(ASKED[name]), dp.ZCDP(100))
        asked = replace(asked, lines=tuple(replace(line, level=1 - Fraction(1, 10**9)) for line in asked.lines))
        for _ in range(50):
            found = released(asked, rows, noisy=True)
            if truth is not None:
                assert all(one.low[0] <= own <= one.high[0] for one, own in zip(found, truth, strict=True))
                assert max(one.high[0] - one.low[0] for one in found) < 0.5
                continue
            for place in range(3):
                first, *loadings = found[4 * place : 4 * place + 4]
                assert first.low[0] <= sizes[2 - place] <= first.high[0]
                vector = vectors[:, 2 - place]
                vector = vector * np.sign(np.dot(vector, [one.value[0] for one in loadings]))
                assert all(one.low[0] <= own <= one.high[0] for one, own in zip(loadings, vector, strict=True))


def box() -> tuple[np.ndarray, np.ndarray]:
    middle = np.array([[0.9, 0.1, 0.0], [0.1, 0.5, 0.05], [0.0, 0.05, 0.2]])
    return middle, np.array([[0.02, 0.01, 0.03], [0.01, 0.02, 0.02], [0.03, 0.02, 0.01]])


def held_in_the_box() -> bool:
    """Whether the eigenvalues and eigenvectors of 2,000 matrices of a box, half of them corners, are in the ranges."""
    middle, off = box()
    rng = np.random.default_rng(11)
    found = components_of(middle[None], off[None], 3)
    for number in range(2000):
        signs = rng.choice([-1.0, 1.0], (3, 3)) if number % 2 else rng.uniform(-1, 1, (3, 3))
        signs = np.triu(signs) + np.triu(signs, 1).T
        sizes, vectors = np.linalg.eigh(middle + signs * off)
        for place in range(3):
            first, *loadings = found[4 * place : 4 * place + 4]
            vector = vectors[:, 2 - place]
            vector = vector * np.sign(np.dot(vector, [one.value[0] for one in loadings]))
            inside = [(first, sizes[2 - place] / 4), *zip(loadings, vector, strict=True)]
            if not all(one.low[0] <= own <= one.high[0] for one, own in inside):
                return False
    return True


def test_every_matrix_of_a_box_is_in_the_ranges() -> None:
    assert held_in_the_box()
    assert components_of(*(one[None] for one in box()), 1)[0].high[0] < 0.3


def farthest(far: float) -> tuple[float, float]:
    """By how much the first eigenvector of diag(1, 0) is off at most, where an entry may be off by `far`, and its bound."""
    middle, off = np.diag([1.0, 0.0]), np.array([[0.0, far], [far, 0.0]])
    _, loading, *_ = components_of(middle[None], off[None], 1)
    _, vectors = np.linalg.eigh(middle + off)
    vector = vectors[:, 1] * np.sign(vectors[0, 1])
    return float(np.linalg.norm(vector - [1.0, 0.0])), float(loading.value[0] - loading.low[0])


@pytest.mark.parametrize("far", [0.01, 0.1, 0.2])
def test_a_loading_is_bounded_by_little_more_than_it_can_be_off(far: float) -> None:
    """Within a tenth: a factor of √2, or a half of the angle that is forgotten, would be noticed."""
    truth, bound = farthest(far)
    assert truth <= bound <= 1.1 * truth


@pytest.mark.parametrize("planted", [lambda off: np.linalg.eigvalsh(off)[:, :1], lambda off: np.linalg.eigvalsh(off) / 3])
def test_a_size_of_the_noise_that_is_too_small_would_be_noticed(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = source.np.linalg

    class Smaller:
        eigh = staticmethod(real.eigh)
        eigvalsh = staticmethod(planted)

    class Planted:
        linalg = Smaller

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    monkeypatch.setattr(source, "np", Planted())
    assert not held_in_the_box()


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("spend", ["1e-9", "1e3"])
def test_few_rows_have_ranges_of_everything(name: str, spend: str) -> None:
    for rows in ([], [(None, None, None)], [(1, 1, 1.0)]):
        for one in released(quote(TABLE.agg(ASKED[name]), dp.ZCDP(spend)), rows, noisy=True):
            assert np.isfinite([one.value[0], one.low[0], one.high[0]]).all()
            assert one.low[0] <= one.value[0] <= one.high[0]


def test_their_forms_and_refusals(tmp_path: Any) -> None:
    assert outputs(ASKED["correlations"]) == ("correlations_v_w", "correlations_v_u", "correlations_w_u")
    assert outputs(dp.principal_components(["v", "w"], 1)) == ("component_1", "component_1_v", "component_1_w")
    asked = '{ principal_components = ["v", "w"], k = 1, nulls = "skip" }, { correlations = ["v", "w"], nulls = "skip" }'
    text = plan_text("two-numbers").replace('"count"', asked).encode()
    (order,) = plan_of(toml_root(text, tmp_path / "plan.toml")).orders
    assert [one.kind.word for one in order.request.statistics] == ["principal_components", "correlations"]
    for make, said in [
        (lambda: dp.correlations(["v"]), "must name 2 to 20 columns"),
        (lambda: dp.correlations("v"), "must name 2 to 20 columns"),
        (lambda: dp.correlations(["v", "v"]), "given twice"),
        (lambda: dp.principal_components(["v", "w"], 3), "must be from 1 to 2"),
        (lambda: dp.principal_components(["v", "w"], True), "must be from 1 to 2"),
        (lambda: TABLE.agg(dp.correlations(["v", "w"])), "can be null"),
        (lambda: TABLE.clamp({"v": (1, 1)}).agg(dp.correlations(["v", "w"], **SKIP)), "single value"),
    ]:
        with pytest.raises(PlanError, match=said):
            make()


def test_their_titles() -> None:
    for statistic, part, said in [
        (ASKED["correlations"], "", "Correlations of v, w and u, where all are known"),
        (ASKED["correlations"], "v_u", "Correlation of v and u, where all are known"),
        (ASKED["components"], "", "Principal components of v, w and u, where all are known"),
        (ASKED["components"], "2", "Variance of component 2 of v, w and u, where all are known"),
        (ASKED["components"], "2_w", "Loading of w in component 2 of v, w and u, where all are known"),
    ]:
        assert statistic.kind.title(statistic_json(statistic), part) == said


def test_a_session_releases_both() -> None:
    import polars as pl

    frame = pl.DataFrame(rows_of(500), schema=["v", "w", "u"], orient="row")
    with session_over(frame, SCHEMA, budget=dp.ZCDP(10)) as session:
        table = session.release(session.table.agg(*ASKED.values()), spend=5, name="both").table
    assert table["correlations_v_w"][0] == pytest.approx(np.corrcoef(known(rows_of(500)).T)[0, 1], abs=0.2)
