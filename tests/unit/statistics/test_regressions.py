"""Regressions: the coefficients of dense least squares without noise, intervals that hold, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.engines.reference import ReferenceEngine
from discreet.errors import PlanError
from discreet.mechanisms import law_of_parts
from discreet.mechanisms.vector_laplace import VectorLaplace
from discreet.noise.bits import system_bits
from discreet.noise.lattice.vector_laplace import vector_laplace
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers
from discreet.statistics import joint_noise, linear_sets
from discreet.statistics.base import outputs, statistic_json
from discreet.statistics.coefficients import CoefficientsRecipe
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals

SKIP = {"nulls": "skip"}
HEADER = {"g": "VARCHAR", "s": "VARCHAR", "h": "VARCHAR", "a": "BIGINT", "y": "DOUBLE"}
NONE = ("u", "m", "p", None, None)
SCHEMA = dp.Schema(
    g=dp.Category(["u", "v"]),
    s=dp.Category(["m", "f"]),
    h=dp.Category(["p", "q", "r"]),
    a=dp.Number(-2, 7),
    y=dp.Number("0.5", "20", "0.5"),
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())
SPENDS = [dp.ZCDP(1), dp.PureDP(6)]


def rows_of(size: int, seed: int = 5) -> list[tuple[Any, ...]]:
    """Rows whose y depends on all other columns; some values are null."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        s, h, a = rng.choice(["m", "f"]), rng.choice(["p", "q", "r"]), int(rng.integers(-2, 8))
        y = 5 + 0.8 * a + 3 * (s == "f") - 2 * (h == "r") + rng.normal(0, 2)
        row = [rng.choice(["u", "v"]), str(s), str(h), a, min(max(round(2 * y) / 2, 0.5), 20.0)]
        if rng.random() < 0.05:
            row[int(rng.integers(1, 5))] = None
        found.append(tuple(row))
    return found


def design(rows: list[tuple[Any, ...]], on: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The matrix of dense least squares, by the words of the documentation, and the explained column."""
    kept = [dict(zip(HEADER, row, strict=True)) for row in rows]
    kept = [row for row in kept if all(row[name] is not None for name in (*on, "y"))]
    columns = [np.ones(len(kept))]
    for name in on:
        if name == "a":
            columns.append(np.array([row["a"] for row in kept], dtype=float))
        else:
            values = {"s": ["m", "f"], "h": ["p", "q", "r"], "g": ["u", "v"]}[name]
            columns += [np.array([row[name] == value for row in kept], dtype=float) for value in values[1:]]
    return np.column_stack(columns), np.array([row["y"] for row in kept])


def exactly(asked: Quote, rows: list[tuple[Any, ...]]) -> np.ndarray:
    """The exact answers, through a cube."""
    (scan,) = asked.plan.layout.scans
    (found,) = exact_answers(asked, [ReferenceEngine(HEADER, rows).aggregate(scan.axes, scan.moments)], system_bits())
    return found


def estimates(asked: Quote, values: np.ndarray, cells: int) -> tuple[Estimate, ...]:
    (line,) = asked.lines
    noises = replace(asked.noises(line), cells=cells)
    return line.recipe.estimates(Answers(noises, {asked.measured[0].asked: values}, slice(0, cells)))


def covered(asked: Quote, rows: list[tuple[Any, ...]], on: tuple[str, ...], runs: int) -> float:
    """The part of simulated releases in which an interval holds, of the interval that does so least."""
    matrix, y = design(rows, on)
    truth = np.linalg.lstsq(matrix, y, rcond=None)[0]
    exact, law, rng = exactly(asked, rows).astype(float), law_of_parts(asked.measured[0].law), np.random.default_rng(7)
    shape = (len(exact), runs)
    if hasattr(law, "sigma2"):
        noise = np.rint(rng.normal(0, float(law.sigma2) ** 0.5, shape))
    elif isinstance(law, VectorLaplaceCell):  # the cube of a radius, whose law is nearly a gamma law at such a scale
        noise = np.rint(rng.gamma(len(exact) + 1, float(law.scale), runs) * rng.uniform(-1, 1, shape))
    else:
        fails = -np.expm1(-1 / float(law.scale))
        noise = rng.geometric(fails, shape) - rng.geometric(fails, shape)
    found = estimates(asked, (exact[:, None] + noise).ravel(), runs)
    return float(min(np.mean((one.low <= own) & (own <= one.high)) for one, own in zip(found, truth, strict=True)))


@pytest.mark.parametrize("on", [("a",), ("s",), ("h",), ("a", "s"), ("a", "s", "h")], ids=" ".join)
def test_without_noise_they_are_those_of_dense_least_squares(on: tuple[str, ...]) -> None:
    rows = rows_of(400)
    asked = quote(TABLE.agg(dp.regression("y", list(on), **SKIP)), dp.ZCDP(1))
    matrix, y = design(rows, on)
    found = [one.value[0] for one in estimates(asked, exactly(asked, rows), 1)]
    assert np.allclose(found, np.linalg.lstsq(matrix, y, rcond=None)[0], rtol=1e-9, atol=1e-9)


def test_each_group_has_its_own() -> None:
    rows = rows_of(600)
    asked = quote(
        TABLE.impute({"g": dp.Weights({"u": 1})}).group_by("g").agg(dp.regression("y", ["a", "s"], **SKIP)), dp.ZCDP(1)
    )
    found = np.array([one.value for one in estimates(asked, exactly(asked, rows), 2)]).T
    for group, own in zip("uv", found, strict=True):
        matrix, y = design([row for row in rows if row[0] == group], ("a", "s"))
        assert np.allclose(own, np.linalg.lstsq(matrix, y, rcond=None)[0], rtol=1e-9, atol=1e-9)


def test_another_reference_turns_the_coefficient_round() -> None:
    rows = rows_of(200)
    found = []
    for reference in (None, {"s": "f"}):
        asked = quote(TABLE.agg(dp.regression("y", ["s"], reference=reference, **SKIP)), dp.ZCDP(1))
        found.append([one.value[0] for one in estimates(asked, exactly(asked, rows), 1)])
    (start, way), (other, back) = found
    assert way == pytest.approx(-back)
    assert other == pytest.approx(start + way)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("relation", [dp.AddRemove(), dp.ReplaceOne(rows=1500)], ids=lambda one: type(one).__name__)
def test_each_interval_holds(relation: Any, spend: Any) -> None:
    """3,000 releases with a fixed seed: fewer than 95 % less five standard errors would be a fault."""
    asked = quote(dp.Table(SCHEMA, relation).agg(dp.regression("y", ["a", "s", "h"], **SKIP)), spend)
    assert covered(asked, rows_of(1500), ("a", "s", "h"), 3000) >= 0.95 - 5 * (0.05 * 0.95 / 3000) ** 0.5


@pytest.mark.parametrize(
    ("module", "name"), [(linear_sets, "half_width_of_laws"), (joint_noise, "half_width_of_laws")], ids=["sets", "nothing"]
)
def test_intervals_of_half_the_width_would_be_noticed(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = getattr(module, name)
    asked = quote(TABLE.agg(dp.regression("y", ["a", "s"], **SKIP)), dp.ZCDP(1))
    monkeypatch.setattr(module, name, lambda *given: real(*given) / 2)
    held = covered(asked, rows_of(1500), ("a", "s"), 2000)
    assert (held < 0.9) == (module is linear_sets)


def test_a_matrix_without_noise_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coefficients multiply the noise of the matrix; to forget it leaves that of the right side alone."""

    def without(system: Any, law: Any, failing: Fraction, place: Any) -> Any:
        system.left_parts = np.full_like(system.left_parts, -1)
        return real(system, law, failing, place)

    real = linear_sets._combined
    asked = quote(TABLE.agg(dp.regression("y", ["a", "s"], **SKIP)), dp.ZCDP(1))
    monkeypatch.setattr(linear_sets, "_combined", without)
    assert covered(asked, rows_of(1500), ("a", "s"), 2000) < 0.93


@pytest.mark.parametrize("rows", [[], [("u", "m", "p", 3, 2.0)], [NONE] * 5], ids=["no", "one", "null"])
@pytest.mark.parametrize("spend", ["1e-9", "1", "1e6"])
def test_few_rows_have_the_whole_range_as_their_interval_and_no_failure(rows: list[Any], spend: str) -> None:
    asked = quote(TABLE.agg(dp.regression("y", ["a", "s"], **SKIP)), dp.ZCDP(spend))
    noisy = asked.measured[0].law.apply(exactly(asked, rows), system_bits())
    (line,) = asked.lines
    assert isinstance(line.recipe, CoefficientsRecipe)
    most = float(line.recipe.limit)
    for one in estimates(asked, noisy, 1):
        assert np.isfinite([one.value[0], one.low[0], one.high[0]]).all()
        assert -most * 1.001 <= one.low[0] <= one.value[0] <= one.high[0] <= most * 1.001
        assert (one.low[0], one.high[0]) == (pytest.approx(-most), pytest.approx(most))


def test_a_session_releases_them_and_views_show_no_number_where_nothing_is_known() -> None:
    import polars as pl

    rows = rows_of(2000)
    frame = pl.DataFrame(rows, schema=list(HEADER), orient="row")
    with dp.Session(
        frame, SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(100), neighbours=dp.AddRemove()
    ) as session:
        asked = session.table.agg(dp.regression("y", ["a", "s"], **SKIP))
        sure = session.release(asked, spend=50, name="sure")
        unsure = session.release(asked, spend="1e-6", name="unsure")
    names = [f"regression_y_{end}" for end in ("intercept", "a", "s_f")]
    matrix, y = design(rows, ("a", "s"))
    truth = np.linalg.lstsq(matrix, y, rcond=None)[0]
    for name, own in zip(names, truth, strict=True):
        assert sure.table[name][0] == pytest.approx(own, abs=0.5)
    shown = {one["name"]: one["values"] for one in unsure.shown(5)["columns"]}
    assert [shown[name] for name in names] == [[None]] * 3


def test_its_form_and_names() -> None:
    plan = TABLE.agg(dp.regression("y", ["a", "h"], reference={"h": "q"}, **SKIP))
    (one,) = plan.statistics
    assert outputs(one) == tuple(f"regression_y_{end}" for end in ("intercept", "a", "h_p", "h_r"))
    written = statistic_json(one)
    assert written["columns"] == ["y", "a", "h"]
    assert written["reference"] == {"h": "q"}
    assert [one.kind.title(written, part) for part in written["parts"]] == [
        "Intercept in the regression of y, where all are known",
        "Coefficient of a in the regression of y, where all are known",
        "Coefficient of h p against q in the regression of y, where all are known",
        "Coefficient of h r against q in the regression of y, where all are known",
    ]
    assert one.kind.title(written, "") == "Regression of y on a and h, where all are known"


def test_refusals_name_what_to_change() -> None:
    for make, said in [
        (lambda: dp.regression("y", []), "must name one column or more"),
        (lambda: dp.regression("y", ["y"]), "different columns"),
        (lambda: dp.regression("y", ["a"], reference={"s": "m"}), "for columns of on"),
        (lambda: TABLE.agg(dp.regression("y", ["a"])), "can be null"),
        (lambda: TABLE.agg(dp.regression("s", ["a"], **SKIP)), "categorical"),
        (lambda: TABLE.agg(dp.regression("y", ["h"], reference={"h": "z"}, **SKIP)), "not among the values"),
        (lambda: TABLE.agg(dp.regression("y", ["a"], reference={"a": 3}, **SKIP)), "has no reference"),
        (lambda: TABLE.clamp({"s": ["m"]}).agg(dp.regression("y", ["s"], **SKIP)), "single value"),
        (lambda: TABLE.clamp({"a": (1, 1)}).agg(dp.regression("y", ["a"], **SKIP)), "single value"),
        (lambda: TABLE.clamp({"a": (0, 3)}).agg(dp.regression("y", ["a"], **SKIP)).original(), "no such form"),
    ]:
        with pytest.raises(PlanError, match=said):
            make()


def test_a_plan_file_asks_for_it(tmp_path: Any) -> None:
    sex = '[columns.s]\ntype = "category"\ncategories = ["m", "f"]\n[budget]'
    statistic = '{ regression = "v", on = ["w", "s"], nulls = "skip", reference = [["s", "f"]], as = "r" }'
    text = plan_text("two-numbers").replace("[budget]", sex).replace('"count"', statistic)
    (order,) = plan_of(toml_root(text.encode(), tmp_path / "plan.toml")).orders
    (one,) = order.request.statistics
    assert statistic_json(one)["reference"] == {"s": "f"}
    assert outputs(one) == ("r_intercept", "r_w", "r_s_m")


# Beside exact totals ----------------------------------------------------------------------------------------------------


def beside_totals(spend: Any, rows: list[tuple[Any, ...]], **filtered: Any) -> Quote:
    """y on s and h, whose joint counts are published; y is imputed."""
    counts = Counter((row[1], row[2]) for row in rows)
    levels = product(["m", "f", None], ["p", "q", "r", None])
    totals, schema = dp.Totals("s", "h"), SCHEMA
    published = read_totals(totals, schema, {("s", "h"): {one: counts[one] for one in levels}})
    exact = exact_totals_of(totals, schema, published, len(rows))
    table = dp.Table(schema, dp.ReplaceOne(rows=len(rows))).impute({"y": dp.Uniform()})
    table = table.where(filtered) if filtered else table
    return quote(table.agg(dp.regression("y", ["s", "h"], **SKIP)), spend, exact)


def vectors_of(noise: Any, parts: int, runs: int) -> np.ndarray:
    """Draws of the noise of one cell, shape (parts, runs)."""
    if isinstance(noise, VectorLaplace):
        return vector_laplace(noise.scale, parts, runs, system_bits()).T.astype(float)
    return np.asarray(noise.independent.sample(parts * runs, system_bits()), dtype=float).reshape(parts, runs)


def rows_with_y(size: int) -> list[tuple[Any, ...]]:
    return [row for row in rows_of(2 * size) if row[4] is not None][:size]


@pytest.mark.parametrize("spend", [dp.ZCDP("0.1"), dp.PureDP(1), dp.GDP(1)], ids=str)
def test_beside_the_counts_of_all_factors_each_interval_holds_by_itself(spend: Any) -> None:
    rows = rows_with_y(300)
    asked = beside_totals(spend, rows)
    assert len(asked.measured[0].query.parts) == 4
    matrix, y = design(rows, ("s", "h"))
    truth = np.linalg.lstsq(matrix, y, rcond=None)[0]
    exact, noise = exactly(asked, rows), asked.measured[0].law
    assert np.allclose([one.value[0] for one in estimates(asked, exact, 1)], truth, rtol=1e-9)
    draws = vectors_of(noise, 4, 4000)
    held = np.zeros(len(truth))
    for start in range(0, 4000, 1000):
        noisy = (exact[:, None].astype(float) + draws[:, start : start + 1000]).ravel()
        found = estimates(asked, noisy, 1000)
        held += [np.mean((one.low <= own) & (own <= one.high)) / 4 for one, own in zip(found, truth, strict=True)]
    # At most 5 % miss, and by how much the closed forms are wider is little: 7 standard errors for what is drawn.
    assert (held >= 0.95 - 7 * (0.05 * 0.95 / 4000) ** 0.5).all()
    if not isinstance(spend, dp.PureDP):
        assert (held <= 0.96 + 7 * (0.05 * 0.95 / 4000) ** 0.5).all()


def test_a_condition_on_another_column_leaves_the_matrix_unknown() -> None:
    rows = rows_with_y(50)
    assert len(beside_totals(dp.ZCDP(1), rows, s=["m"], h=["p", "q"]).measured[0].query.parts) == 4
    assert len(beside_totals(dp.ZCDP(1), rows, a=(0, 3)).measured[0].query.parts) > 4
