"""No ladder fails open: every member of every union has what the library needs of it, and a foreign one gets no answer.

The members are taken from the unions themselves. A new one that nobody has thought of fails here, before it can be given a
sensitivity, a sentence or a formula that was meant for another. (The sensitivities: `test_sensitivity_of_every_query`.)"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, get_args

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.queries import QUERIES as EVERY_QUERY
from discreet.cube.queries import Dispersion, PairSum, ProductSum, QuantileCodes, QuantileIntervals, Squares
from discreet.domain.groups import CategoryGroup, Group, group_of, is_complete
from discreet.domain.neighbours import AddRemove, Neighbours, OfPersons, ReplaceOne
from discreet.domain.steps import Step, conditions_of, step_json
from discreet.engines.kind import EngineKind
from discreet.engines.reference import ReferenceEngine
from discreet.engines.registry import ENGINES
from discreet.errors import InternalError
from discreet.mechanisms import (
    MECHANISMS,
    NOISES,
    Lattice,
    Sensitivity,
    Vector,
    candidates,
    change_of,
    law_of_cell,
    quantiles_change,
    registry,
    words_of,
)
from discreet.mechanisms.correlated_lattice import CORRELATED_LATTICE, CorrelatedLattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.k_norm import K_NORM
from discreet.mechanisms.laplace import LAPLACE, LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.losses import copy_structure
from discreet.mechanisms.projected_laplace import PROJECTED_LAPLACE, ProjectedLaplace
from discreet.mechanisms.quantile_choice import QUANTILE_CHOICE
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sum_zero import SUM_ZERO
from discreet.noise.bits import system_bits
from discreet.pages.report.promise import comparison_words, detection_words, figures_of, measure_words
from discreet.pages.report.words import title_words
from discreet.pages.words import english
from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.amounts import amount_text
from discreet.privacy.amplify import Resampling
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, from_json, kind_name, to_json
from discreet.privacy.measures import Measure, find_budget
from discreet.quotes import quote as quotes
from discreet.quotes import space as totals_space
from discreet.quotes.allocate import quote, row_targets
from discreet.quotes.space import space_of
from discreet.releases.publish import guarantee_of
from discreet.statistics.base import outputs, statistic_json
from discreet.statistics.registry import STATISTICS as EVERY_STATISTIC
from discreet.statistics.registry import by_word
from discreet.totals.components import components_of, splits_of
from discreet.totals.exact_totals import alive_cells, equations_of, exact_totals_of
from discreet.totals.statements import ExactStatement, cells_of, statement_json, statements_by_kind
from discreet.totals.structure import Structure

from .every_noise import assert_described
from .every_query import Case, cases
from .noise_examples import BLOCKS, CHOSEN, OF_NOISES, STRUCTURES, UNTIED

HALF, ONE = Fraction(1, 2), Sensitivity(1, 1)

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 3), w=dp.Number(0, 2), u=dp.Number(1, 2))
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=3))
SKIP = {"nulls": "skip"}


class Foreign:
    """What is in no union."""


def members_of(*unions: object) -> set[object]:
    return {member for union in unions for member in get_args(union)}


QUERIES: dict[type, Case] = {type(case.query): case for case in cases(dp.ReplaceOne(rows=3), 3)}


@pytest.mark.parametrize("kind", EVERY_QUERY)
def test_every_query_says_what_it_is(kind: type) -> None:
    case = QUERIES[kind]
    query: Any = case.query
    if kind in {Dispersion, QuantileCodes, QuantileIntervals}:  # these add nothing
        assert not hasattr(query, "reach")
    else:
        least, most = query.reach()
        assert least <= most
    assert query.widths()
    assert min(query.widths()) >= 1
    assert {name.split(" as ")[0] for name in query.columns()} <= {"g", "u", "v", "w", "area", "side", "half"}
    assert query.nullable(case.plan.facts) in {True, False}
    assert query.contribution()
    assert case.declared.within.l1 >= 0
    assert isinstance(query.choose_shape(float, None), kind)
    with pytest.raises(AttributeError):
        _ = Case(case.plan, Foreign()).declared


def test_no_two_queries_are_called_the_same() -> None:
    names = {case.query.words() for case in QUERIES.values()}  # type: ignore[attr-defined]
    assert len(names) == len(EVERY_QUERY) == len(QUERIES)


def test_every_noise_and_every_lattice_is_here() -> None:
    assert set(OF_NOISES) == set(NOISES)
    assert set(STRUCTURES) == members_of(Structure)


@pytest.mark.parametrize("kind", NOISES)
def test_every_noise_has_a_name_a_sentence_a_formula_and_half_widths(kind: type) -> None:
    law, measure, formula = OF_NOISES[kind]
    assert_described(law, measure, formula)
    if kind in CHOSEN:
        with pytest.raises(InternalError, match="no additive noise"):
            law.half_widths(HALF)
        assert law.rank_error(HALF) > 0
    else:
        assert np.min(law.half_widths(Fraction(95, 100))) >= 0
        assert np.max(law.half_widths(Fraction(95, 100))) > 0
        assert law.rank_error(HALF) is None


@pytest.mark.parametrize("kind", NOISES)
def test_every_noise_finds_its_own_words_in_a_document(kind: type) -> None:
    law = OF_NOISES[kind][0]
    assert words_of(law.to_json()) is law.words
    assert law.words in [words for mechanism in MECHANISMS for words in mechanism.words]


def test_no_two_noises_share_words_and_an_unknown_one_has_none() -> None:
    words = [words for mechanism in MECHANISMS for words in mechanism.words]
    assert len({one.title or one.name for one in words}) == len({one.sentence for one in words}) == len(words)
    assert len(words) == len(NOISES) - 1  # held cells have those of what they get
    assert OF_NOISES[HeldCells][0].words is GaussianNoise.words
    assert words_of({"noise": "Foreign", "scale": "1"}) is None


@pytest.mark.parametrize("kind", NOISES)
def test_noise_that_keeps_totals_is_never_taken_for_independent_noise(kind: type) -> None:
    law = OF_NOISES[kind][0]
    if kind in {LaplaceNoise, GaussianNoise, HeldCells}:
        assert law_of_cell(law).half_width(HALF) == np.max(law.half_widths(HALF))
        assert not law.keeps_totals
        assert law.everywhere == (kind is not HeldCells) == (law.held is None)
    else:
        with pytest.raises(InternalError, match="not independent"):
            law_of_cell(law)
        assert law.keeps_totals == (kind not in UNTIED)
        assert not law.everywhere
        assert law.held is None


@pytest.mark.parametrize("kind", NOISES)
def test_every_noise_that_is_added_tells_an_audit_its_loss_or_its_law(kind: type) -> None:
    law = OF_NOISES[kind][0]
    known = law.prepare_audit()
    assert (known is None) == (kind in CHOSEN)
    if known is None:
        return
    if known.loss is None:
        assert known.cell().tail(0)[1] > 0
    else:
        towards = known.loss(np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([1.0, -1.0]))
        assert towards[0] < towards[1]  # the nearer the other answer, the less does it speak for this one
    assert (known.ties is None) == (law.independent is not None)
    rounded = (
        isinstance(law_of_cell(law), dp.noise.RoundedGaussian)
        if law.independent
        else kind in {RoundedLattice, CorrelatedLattice}
    )
    assert known.is_gdp == rounded
    assert np.asarray(law.half_widths(HALF)).flat[known.noisy] >= 0
    copied = known.copied(np.arange(9), 3)
    assert copied is None or type(copied) is kind


def test_no_guarantee_of_0_and_none_without_a_mechanism_has_a_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Vector(4, None, Lattice(BLOCKS, 1))
    for guarantee in (PureDP(0), ZCDP(0), GDP(0)):
        with pytest.raises(InternalError, match="infinite noise"):
            candidates(answer, Sensitivity(1, 1), guarantee)
    monkeypatch.setattr(registry, "MECHANISMS", (LAPLACE, SUM_ZERO, K_NORM, QUANTILE_CHOICE))
    with pytest.raises(InternalError, match="no mechanism gives ZCDP"):
        candidates(answer, Sensitivity(1, 1), ZCDP(1))


STATISTICS = {
    type(one.kind): one
    for one in (
        dp.count(),
        dp.share(),
        *(make("v", **SKIP) for make in (dp.sum, dp.mean, dp.variance, dp.std, dp.median)),
        *(make("v", "w", **SKIP) for make in (dp.covariance, dp.correlation)),
        dp.regression("v", ["w", "u"], **SKIP),
        *(make(["v", "w"], **SKIP) for make in (dp.means, dp.correlations, dp.principal_components)),
        dp.weighted_sum("v", dp.Weight("w", most=100), **SKIP),
        dp.weighted_mean("v", dp.Weight("w", most=100), **SKIP),
        dp.weighted_share(dp.Weight("w", most=100), **SKIP),
        dp.weighted_ratio("v", "u", dp.Weight("w", most=100), **SKIP),
        dp.quantiles("v", ["1/4", "3/4"], **SKIP),
        dp.histogram("v", [0, 2, 3]),
        dp.tables(["g"], ["g", dp.bins("v", [0, 3])]),
        dp.agreeing_areas("g", by=[[], [dp.bins("v", step=100)]]),
    )
}


@pytest.mark.parametrize("kind", EVERY_STATISTIC)
def test_every_statistic_has_a_quote_an_error_a_name_and_a_place_in_a_plan_file(kind: type) -> None:
    by = [] if kind.__name__ in {"Tables", "AgreeingAreas"} else ["g"]  # tables name their own groups
    asked = quote(dp.Table(SCHEMA, dp.AddRemove()).group_by(*by).agg(STATISTICS[kind]), ApproxDP(1, "1e-6"))
    (statistic,), (line,) = asked.plan.statistics, asked.lines
    noises, word = asked.noises(line), kind.__name__.lower()
    assert statistic_json(statistic)["statistic"].replace("_", "") == word == statistic.kind.word.replace("_", "")
    assert by_word()[statistic.kind.word] is kind
    assert statistic.kind.keys.alone or statistic.kind.keys.value is not None
    assert asked.measured
    assert quotes.expected_error(asked, line, rows=1000) > 0
    assert line.recipe.statements(noises).single >= 1
    assert title_words({**statistic_json(statistic), "name": statistic.name})
    assert sum(part for _, part in line.recipe.queries) >= 1
    assert outputs(statistic) or kind.__name__ in {"Histogram", "Tables", "AgreeingAreas"}


@pytest.mark.parametrize("kind", EVERY_STATISTIC)
def test_every_statistic_has_a_sensitivity_beside_totals(kind: type) -> None:
    plan = TABLE.agg(STATISTICS[kind])
    totals = exact_totals_of(dp.Totals("g"), SCHEMA, None, 3)
    found = totals_space._largest(plan, space_of(plan, totals))
    assert found.l1 > 0 or plan.statistics[0].kind in {dp.count().kind, dp.share().kind}  # n is public


@pytest.mark.parametrize("spend", [PureDP(1), ZCDP(10**6)], ids=str)
@pytest.mark.parametrize("kind", EVERY_STATISTIC)
def test_what_a_user_is_told_is_never_below_what_the_queries_have(kind: type, spend: Any) -> None:
    """`Totals(…).sensitivity` forgot the squares of a variance, the levels of a tree and the choices of quantiles."""
    schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 199), w=dp.Number(0, 9), u=dp.Number(1, 9))
    statistic = dp.histogram("v", [0, 100, 199]) if kind.__name__ == "Histogram" else STATISTICS[kind]
    plan = dp.Table(schema, dp.ReplaceOne(rows=1000)).where({"v": (0, 198)}).agg(statistic)
    invariants = dp.Totals("g")
    asked = quote(
        plan, ZCDP(1) if kind.__name__ == "AgreeingAreas" else spend, exact_totals_of(invariants, schema, None, 1000)
    )
    l1, l2 = (invariants.sensitivity(schema, plan, norm) for norm in (1, 2))
    for one in asked.measured:
        unit = _half_steps(one.query)
        assert l1 >= one.sensitivity.l1 / unit
        assert l2**2 >= one.sensitivity.l2_squared / unit**2 * (1 - 1e-12)


def _half_steps(query: Any) -> int:
    """How many units of the query one step of the grid is: half steps, their squares and their products."""
    if isinstance(query, PairSum | ProductSum):
        factors = query.factors if isinstance(query, ProductSum) else (query.x, query.y)
        return prod(one.slope**one.power for one in factors)
    slope: int = getattr(query, "unit", None) or getattr(query, "slope", 1)
    return slope**2 if isinstance(query, Squares) else slope


def test_every_statistic_is_here() -> None:
    assert set(STATISTICS) == set(EVERY_STATISTIC)


BUDGETS = (PureDP(1), ApproxDP(1, "1e-6"), ZCDP(1), GDP(1), ZCDP(1, delta="1e-6"), GDP(1, delta="1e-6"))
MEASURES = {type(one): one for one in (*BUDGETS, RDP([(2, 1)]))}


@pytest.mark.parametrize("kind", get_args(Measure))
def test_every_measure_is_written_and_read_back(kind: type) -> None:
    measure = MEASURES[kind]
    assert from_json(to_json(measure)) == measure
    assert kind_name(measure) == kind_name(kind) == to_json(measure)["kind"]
    assert measure.explain()


@pytest.mark.parametrize("kind", get_args(Budget))
def test_every_budget_has_coordinates_words_noise_and_a_place_in_a_plan_file(kind: type) -> None:
    budget: Any = MEASURES[kind]
    assert from_coordinates(kind, coordinates(budget)) == budget
    assert amount_text(budget)[0] in "ερμ"
    assert "DP)" in measure_words(budget, english())
    assert find_budget(kind_name(kind)) is kind
    plan = TABLE.agg(dp.count("v"))
    assert (targets := row_targets(plan, budget, None))
    assert all(type(target) in {PureDP, ZCDP, GDP} for target in targets)
    resized = TABLE.impute({"v": dp.Uniform()}).resize(6, proportion=2).agg(dp.sum("v"))
    assert row_targets(resized, budget, None)
    assert quote(plan, budget).spend == budget


def test_every_measure_is_here() -> None:
    assert set(MEASURES) == members_of(Measure) == members_of(Budget) | {RDP}
    assert len({amount_text(MEASURES[kind])[:12] for kind in get_args(Budget)}) == len(get_args(Budget))


RELATIONS = {AddRemove: AddRemove(2), ReplaceOne: ReplaceOne(5, 2)}


@pytest.mark.parametrize("kind", RELATIONS)
def test_every_relation_has_changes_copies_and_json(kind: type) -> None:
    relation = RELATIONS[kind]
    change = change_of(1, 1, at_once=2, parts=6, cells=2, nullable=True, skipped=True, neighbours=relation)
    assert change.leaves == Sensitivity(2, 2)
    assert quantiles_change(3, cells=2, skipped=True, neighbours=relation).leaves == Sensitivity(2, 2)
    law = Resampling(10, 2, relation).law
    assert sum(law) == 1
    assert relation.to_json()["rows_per_person"] == 2


def test_every_relation_is_here_and_promises_something_of_its_own() -> None:
    assert {*RELATIONS} | members_of(OfPersons) == members_of(Neighbours)  # what one row does is no law of persons
    promises = set()
    for relation in RELATIONS.values():
        asked = quote(dp.Table(SCHEMA, relation).agg(dp.count("v")), PureDP(1))
        guarantee = guarantee_of(asked, Fraction(1, 10**9))
        said = [of(guarantee, english()) for of in (comparison_words, detection_words, figures_of)]
        promises |= {*enumerate([*map(str, said), str(guarantee)])}
    assert len(promises) == 4 * len(RELATIONS)


FILLED = TABLE.clamp({"v": (1, 2)}).clamp({"g": ["x"]}).impute({"v": dp.Uniform(), "g": dp.Weights({"x": 1})}).resize(3)
STEPS = FILLED.where({"v": (1, 1), "g": ["x"]}).steps + TABLE.sample("1/2").steps + TABLE.sample(rows=1).bound(rows=2).steps

INVARIANTS = (
    dp.Totals("g")
    + (dp.Occupied("g", "v") + dp.Rounded("g", base=3) + dp.AtLeast("g", rows=1))
    + dp.Impossible("g", "v", cells=[("x", 0)])
    + dp.LinearInvariant(["g"], {"s": {"x": 1, "y": 2}})
)


def test_every_step_is_written_and_conditions_are_known_as_such() -> None:
    assert {type(step) for step in STEPS} == members_of(Step)
    written = [json.dumps(step_json(step, SCHEMA), sort_keys=True) for step in STEPS]
    assert len(set(written)) == len(STEPS)
    assert {type(step).__name__ for step in conditions_of(STEPS)} == {"Where", "WhereIn"}


def test_every_part_of_exact_totals_is_written_and_sorted_by_its_kind() -> None:
    assert {type(part) for part in INVARIANTS.parts} == members_of(ExactStatement)
    assert len({statement_json(part)["part"] for part in INVARIANTS.parts}) == len(get_args(ExactStatement))
    kinds = statements_by_kind(INVARIANTS.parts)
    found = (*kinds.totals, *kinds.occupied, *kinds.impossible, *kinds.linear, *kinds.ranges, *kinds.floors)
    assert sorted(map(str, found)) == sorted(map(str, INVARIANTS.parts))


def test_every_group_is_complete_or_not() -> None:
    whole, some = group_of(dp.bins("v", [0, 3]), TABLE.facts), group_of(dp.bins("v", [1, 3]), TABLE.facts)
    assert {type(one) for one in (whole, CategoryGroup("g"))} == members_of(Group)
    assert is_complete(whole, TABLE.facts)
    assert not is_complete(some, TABLE.facts)
    assert is_complete(CategoryGroup("g"), TABLE.facts)


def of_module(name: str, module: str) -> Any:
    """A value of a class that is called so, without the driver that has the class."""
    return type(name, (), {"__module__": module})()


SOURCES: dict[str, tuple[Any, ...]] = {
    "own": (ReferenceEngine({}, []),),
    "spark": (of_module("DataFrame", "pyspark.sql.classic.dataframe"), "spark:db.persons"),
    "duckdb": (
        duckdb.sql("SELECT 1"),
        pl.DataFrame(),
        pl.LazyFrame(),
        dp.DatabaseTable(print, "persons"),
        print,
        "postgresql://host/survey::persons",
        "postgres://host/survey::persons",
        *map(Path, ("rows.csv", "rows.parquet", "rows.tsv", "rows.txt")),
        b"\0" * 8 + b"DUCK" + b"\0" * 4,
    ),
    "sqlite": (b"SQLite format 3\0",),
    "surveys": tuple(map(Path, ("rows.sav", "rows.zsav", "rows.dta", "rows.sas7bdat", "rows.xpt"))),
    "workbooks": (b"PK\3\4" + b"\0" * 12, bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 8),
}
"""Of every engine: a value, a name, the ending of a file, or the first bytes of a database, one for each way in."""


def engines_of(source: Any) -> list[str]:
    """The engines that would read it, each as often as it has a way to."""
    ways: dict[type, Callable[[EngineKind], list[bool]]] = {
        str: lambda kind: [source.startswith(one.prefix) for one in kind.named],
        bytes: lambda kind: [one.begins(source) for one in kind.tables],
        type(Path()): lambda kind: [source.suffix == one.ending for one in kind.files],
    }
    ways_in = ways.get(type(source), lambda kind: [one.serves(source) for one in kind.given])
    return [kind.name for kind in ENGINES for served in ways_in(kind) if served]


@pytest.mark.parametrize("kind", ENGINES, ids=lambda kind: kind.name)
def test_every_engine_is_told_by_its_sources(kind: EngineKind) -> None:
    for source in SOURCES[kind.name]:
        assert set(engines_of(source)) == {kind.name}
    assert len(SOURCES[kind.name]) == len(kind.given) + len(kind.named) + len(kind.files) + len(kind.tables) > 0
    assert all(one.shown for one in kind.given)
    kind.check_schema(SCHEMA)


def test_every_engine_is_here_and_none_reads_what_is_no_source() -> None:
    assert [kind.name for kind in ENGINES] == list(SOURCES)
    for source in (Foreign(), None, 0, {"g": ["x"]}, [1], "rows.csv", b"", b"PAR1", Path("rows.xlsx"), Path("rows")):
        assert engines_of(source) == []
    words = [one.words for kind in ENGINES for one in (*kind.given, *kind.tables) if one.words]
    assert len(set(words)) == len(words)


ASKED = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()), PureDP(1))


FOREIGN: dict[str, Callable[[Any], object]] = {
    "sums of 0 on a foreign lattice": lambda one: list(SUM_ZERO.candidates(_on(one), Sensitivity(1, 1), PureDP(1))),
    "a hull on a foreign lattice": lambda one: list(K_NORM.candidates(_on(one), Sensitivity(1, 1), PureDP(1))),
    "a projection on a foreign lattice": lambda one: list(
        PROJECTED_LAPLACE.candidates(_on(one), Sensitivity(1, 1), PureDP(1))
    ),
    "projected half-widths on a foreign lattice": lambda one: ProjectedLaplace(_shaped(one), Fraction(1)).half_widths(HALF),
    "a projected variance on a foreign lattice": lambda one: ProjectedLaplace(_shaped(one), Fraction(1)).variance(),
    "a projected draw on a foreign lattice": lambda one: ProjectedLaplace(_shaped(one), Fraction(1)).sample(system_bits()),
    "copies of a foreign lattice": lambda one: copy_structure(one, np.arange(1), 1),
    "half-widths on a foreign lattice": lambda one: LatticeGaussian(_shaped(one), Fraction(1)).half_widths(HALF),
    "a Gaussian on a foreign lattice": lambda one: LatticeGaussian(_shaped(one), Fraction(1)).can_be_drawn(),
    "rounded half-widths on a foreign lattice": lambda one: RoundedLattice(_shaped(one), Fraction(1)).half_widths(HALF),
    "a rounded draw on a foreign lattice": lambda one: RoundedLattice(_shaped(one), Fraction(1)).sample(system_bits()),
    "correlated noise on a foreign lattice": lambda one: list(CORRELATED_LATTICE.candidates(_on(one), ONE, GDP(1))),
    "correlated half-widths on a foreign lattice": lambda one: _correlated(one).half_widths(HALF),
    "the variance of correlated noise on a foreign lattice": lambda one: _correlated(one).variance(),
    "a correlated draw on a foreign lattice": lambda one: _correlated(one).sample(system_bits()),
    "row targets": lambda one: row_targets(ASKED.plan, one, None),
    "conditions": lambda one: conditions_of([one]),
    "completeness of a group": lambda one: is_complete(_named(one), ASKED.plan.facts),
    "parts": lambda one: statements_by_kind([one]),
    "cells of a part": cells_of,
    "JSON of a part": lambda one: statement_json(_parted(one)),
    "alive cells": lambda one: alive_cells(_beside(one), SCHEMA),
    "equations": lambda one: equations_of(_beside(one).invariants, SCHEMA),
    "splits": lambda one: splits_of(_component(one), np.ones(3, dtype=bool), SCHEMA, None, 3),
}


def _on(structure: Any) -> Any:
    return Vector(1, None, Lattice(structure, 1))


def _shaped(one: Any) -> Any:
    one.cells = one.size = 1
    return one


def _correlated(one: Any) -> CorrelatedLattice:
    return CorrelatedLattice(_shaped(one), Fraction(1), Fraction(1), listed=True)


def _named(one: Any) -> Any:
    one.column = "v"
    return one


def _parted(one: Any) -> Any:
    one.columns = ("g",)
    return one


def _beside(part: Any) -> Any:
    whole = exact_totals_of(dp.Totals("g"), SCHEMA, None, 3)
    object.__setattr__(whole.invariants, "parts", (_parted(part),))
    return whole


def _component(part: Any) -> Any:
    (one,) = components_of(dp.Totals("g"), SCHEMA)
    return replace(one, parts=(_parted(part),))


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_in_no_union_gets_no_answer(name: str) -> None:
    with pytest.raises(InternalError, match="no case for Foreign"):
        FOREIGN[name](Foreign())
