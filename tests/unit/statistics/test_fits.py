"""R², F and coefficients of a population: numbers without noise, intervals that hold, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.errors import PlanError
from discreet.noise.bits import system_bits
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.statistics import coefficients, fits, linear_sets
from discreet.statistics.base import outputs, statistic_json
from discreet.statistics.estimate import Estimate

from .test_regressions import SKIP, TABLE, beside_totals, design, estimates, exactly, rows_of, rows_with_y, vectors_of

FIT = {"fit": ["r2", "f"], **SKIP}
ON = ("a", "s")
RUNS = 2000
SLACK = 7 * (0.05 * 0.95 / RUNS) ** 0.5
SPENDS = [dp.ZCDP("0.5"), dp.PureDP(4)]


def truth_of(rows: list[Any], on: tuple[str, ...]) -> tuple[float, float]:
    matrix, y = design(rows, on)
    rest = float(((y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]) ** 2).sum())
    explained = 1 - rest / float(((y - y.mean()) ** 2).sum())
    size = matrix.shape[1]
    return explained, explained / (1 - explained) * (len(y) - size) / (size - 1)


@pytest.mark.parametrize("on", [("a",), ("h",), ("a", "s", "h")], ids=" ".join)
def test_without_noise_they_are_those_of_dense_least_squares(on: tuple[str, ...]) -> None:
    rows = rows_of(400)
    asked = quote(TABLE.agg(dp.regression("y", list(on), **FIT)), dp.ZCDP(1))
    found = [one.value[0] for one in estimates(asked, exactly(asked, rows), 1)[-2:]]
    assert np.allclose(found, truth_of(rows, on), rtol=1e-7)


def held(rows: list[Any], spend: Any) -> tuple[np.ndarray, float]:
    """For R² and F the part of simulated releases whose interval holds, and the median width of those of R²."""
    asked = quote(TABLE.agg(dp.regression("y", list(ON), **FIT)), spend)
    exact = exactly(asked, rows)
    drawn = vectors_of(asked.measured[0].law, len(exact), RUNS)
    found = estimates(asked, (exact[:, None] + drawn).astype(float).ravel(), RUNS)[-2:]
    parts = [np.mean((one.low <= own) & (own <= one.high)) for one, own in zip(found, truth_of(rows, ON), strict=True)]
    return np.array(parts), float(np.median(found[0].high - found[0].low))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_their_intervals_hold(spend: Any) -> None:
    parts, width = held(rows_of(1500), spend)
    assert (parts >= 0.95 - SLACK).all()
    assert width < 0.25


def test_noise_of_the_squares_that_is_forgotten_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = linear_sets._of_products
    monkeypatch.setattr(linear_sets, "_of_products", lambda *given: real(*given) / 6)
    parts, _ = held(rows_of(1500), SPENDS[0])
    assert (parts < 0.9).all()


@pytest.mark.parametrize("spend", ["1e-9", "1", "1e6"])
def test_few_rows_leave_everything_possible(spend: str) -> None:
    for rows in ([], [("u", "m", "p", 3, 2.0)]):
        asked = quote(TABLE.agg(dp.regression("y", list(ON), **FIT)), dp.ZCDP(spend))
        noisy = asked.measured[0].law.apply(exactly(asked, rows), system_bits())
        share, statistic = estimates(asked, noisy, 1)[-2:]
        assert (share.low[0], share.high[0]) == (0, 1)
        assert 0 <= statistic.low[0] <= statistic.value[0] <= statistic.high[0] == fits.MOST_F


def test_beside_exact_factors_they_are_had_too() -> None:
    rows = rows_with_y(300)
    (moments, *_) = beside_totals(dp.ZCDP("0.1"), rows).measured
    assert len(moments.query.parts) == 4  # the fit was not asked for


# The population ---------------------------------------------------------------------------------------------------------


def drawn_rows(rng: np.random.Generator, size: int) -> list[tuple[Any, ...]]:
    """Values at the ends of their range alone, whose means are linear: 5 + a for a from -2 to 7, 3 more for s = f."""
    a, s = rng.integers(-2, 8, size), rng.integers(0, 2, size)
    likely = (5 + a + 3.0 * s - 0.5) / 19.5
    y = np.where(rng.random(size) < likely, 20.0, 0.5)
    return [("u", "mf"[sex], "p", int(age), float(one)) for age, sex, one in zip(a, s, y, strict=True)]


def population_held(runs: int) -> np.ndarray:
    """The part of simulated tables, each released once, whose intervals hold 5, 1 and 3."""
    asked = quote(TABLE.agg(dp.regression("y", list(ON), interval="population", **SKIP)), dp.ZCDP(50))
    rng, found = np.random.default_rng(8), np.zeros(3)
    for _ in range(runs):
        noisy = asked.measured[0].law.apply(exactly(asked, drawn_rows(rng, 400)), system_bits())
        ends = estimates(asked, noisy, 1)
        found += [one.low[0] <= own <= one.high[0] for one, own in zip(ends, (5, 1, 3), strict=True)]
    return found / runs


@pytest.mark.slow
@pytest.mark.one_in(2)
def test_intervals_of_the_population_hold_its_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = 60
    assert (population_held(runs) >= 0.95 - 7 * (0.05 * 0.95 / runs) ** 0.5).all()
    monkeypatch.setattr(coefficients, "sqrt", lambda _: 0.2)
    assert (population_held(runs) < 0.7).all()


def test_they_are_wider_than_those_of_the_table() -> None:
    rows = rows_of(1500)
    widths = []
    for options in (SKIP, {"interval": "population", **SKIP}):
        asked = quote(TABLE.agg(dp.regression("y", list(ON), **options)), dp.ZCDP(1))
        widths.append([one.high[0] - one.low[0] for one in estimates(asked, exactly(asked, rows), 1)])
    assert all(own < wide < 50 for own, wide in zip(*widths, strict=True))


# Its form ---------------------------------------------------------------------------------------------------------------


def test_their_names_words_and_plan(tmp_path: Any) -> None:
    (one,) = TABLE.agg(dp.regression("y", ["a"], fit="f", interval="population", **SKIP)).statistics
    assert outputs(one) == ("regression_y_intercept", "regression_y_a", "regression_y_f")
    written = statistic_json(one)
    assert (written["fit"], written["interval"]) == (["f"], "population")
    assert one.kind.title(written, "f") == "F statistic in the regression of y, where all are known"
    (plain,) = TABLE.agg(dp.regression("y", ["a"], **SKIP)).statistics
    assert not {"fit", "interval"} & set(statistic_json(plain))
    statistic = '{ regression = "v", on = ["w"], nulls = "skip", fit = ["r2"], interval = "population" }'
    text = plan_text("two-numbers").replace('"count"', statistic)
    (order,) = plan_of(toml_root(text.encode(), tmp_path / "plan.toml")).orders
    (read,) = order.request.statistics
    assert outputs(read)[-1] == "regression_v_r2"
    for make, said in [
        (lambda: dp.regression("y", ["a"], fit=["r3"]), "must be some of 'r2', 'f'"),
        (lambda: dp.regression("y", ["a"], fit=["f", "f"]), "each once"),
        (lambda: dp.regression("y", ["a"], interval="sample"), "must be 'population'"),
    ]:
        with pytest.raises(PlanError, match=said):
            make()


def test_rows_that_are_drawn_move_a_coefficient_as_far_as_hoeffding_says() -> None:
    """With hardly any noise the half-width is H·√(2 log(4/α)·ℓG⁻¹ℓ), H half the range of y: α/2 for the rows (V11)."""
    rows = drawn_rows(np.random.default_rng(3), 300)
    asked = quote(TABLE.agg(dp.regression("y", list(ON), interval="population", **SKIP)), dp.ZCDP(10**9))
    found = estimates(asked, exactly(asked, rows), 1)
    matrix, _ = design(rows, ON)
    spread = np.diag(np.linalg.inv(matrix.T @ matrix))
    half = np.array([(one.high[0] - one.low[0]) / 2 for one in found])
    wanted = (20 - 0.5) / 2 * np.sqrt(2 * np.log(4 / 0.05) * spread)
    assert (half >= wanted).all()
    assert np.allclose(half, wanted, rtol=0.01)


def test_a_fit_rests_on_three_statements_of_a_third_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = quote(TABLE.agg(dp.regression("y", list(ON), **FIT)), dp.ZCDP(1)), fits.residual_of
    failing: list[Any] = []
    monkeypatch.setattr(fits, "residual_of", lambda *given: (failing.append(given[2]), real(*given))[1])
    estimates(asked, exactly(asked, rows_of(400)), 1)
    assert failing
    assert all(one == (1 - asked.lines[0].level) / 3 for one in failing)


def test_an_f_statistic_has_the_noise_of_the_number_of_rows() -> None:
    """R²/(1 - R²)·(n - 3)/2 between the least and the greatest share and number of rows."""
    share, rows = (Estimate(*(np.array([one]) for one in ends)) for ends in ((0.5, 0.4, 0.6), (100.0, 50.0, 150.0)))
    found = fits._statistic(share, rows, 3)
    assert found.value[0] == pytest.approx(1.0 * 97 / 2)
    assert (found.low[0], found.high[0]) == pytest.approx((0.4 / 0.6 * 47 / 2, 0.6 / 0.4 * 147 / 2))


def test_the_noise_of_a_population_has_the_other_half_of_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = quote(TABLE.agg(dp.regression("y", list(ON), interval="population", **SKIP)), dp.ZCDP(1))
    given, real = list[Any](), coefficients.solve
    monkeypatch.setattr(coefficients, "solve", lambda *one: (given.append(one[2]), real(*one))[1])
    estimates(asked, exactly(asked, rows_of(400)), 1)
    assert given == [(1 - asked.lines[0].level) / 2]


def test_above_the_residual_there_is_room_for_coefficients_that_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """S is above its estimate by (β̂ - β)Ĝ(β̂ - β), besides the noise of moments, which has room on both sides (V10)."""
    asked, real = quote(TABLE.agg(dp.regression("y", list(ON), **FIT)), dp.ZCDP("0.5")), fits.residual_of
    seen: list[Any] = []
    monkeypatch.setattr(fits, "residual_of", lambda *given: seen.append((given[0].values[0], real(*given))) or seen[-1][1])
    exact = exactly(asked, rows_of(1500))
    for values in (exact, exact + vectors_of(asked.measured[0].law, len(exact), 1)[:, 0]):
        estimates(asked, values, 1)
    (true, _), _, (noisy, found), _ = seen
    left = noisy[:-1, :-1]
    off = np.linalg.solve(left, noisy[:-1, -1]) - np.linalg.solve(true[:-1, :-1], true[:-1, -1])
    assert 0 < off @ left @ off <= (found.high + found.low - 2 * found.value)[0]
