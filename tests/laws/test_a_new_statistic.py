"""The steps of "To add a statistic" (docs/architecture.md), taken with a toy: the library needs nothing else to know it.

The toy is a sum of every row three times, which no query of the library is; it comes with a query of its own. A toy whose
query says that a row adds less than it does is caught by the law over all neighbouring tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.cli import starting
from discreet.cube.cells import codes_of
from discreet.cube.queries.base import add_up, change_of_sum, numbers_added
from discreet.domain.codes import NULL
from discreet.mechanisms import Sensitivity, worst
from discreet.pages.explain import explain
from discreet.pages.report.words import title_words
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.statistics import registry
from discreet.statistics.base import UNBIASED, Keys, Statistic, statistic_json
from discreet.statistics.common import (
    NumberColumn,
    OneNumber,
    check_column_name,
    check_weight,
    one_column,
    option_string,
    skips_nulls,
    title,
)
from discreet.statistics.estimate import Estimate
from discreet.statistics.possible import any_value
from discreet.statistics.recipe import add_errors, noise_statements

from . import every_query
from .every_query import Case, cases, slack, violations

# Step 2: a query ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threefold:
    """3 for every row whose `column` is not null; `claimed` is what it says of itself."""

    column: str
    claimed: int = 3

    def words(self):
        return f"threefold rows of {self.column}"

    def contribution(self):
        return f"each row adds {numbers_added(self)} to one place"

    def columns(self):
        return (self.column,)

    def widths(self):
        return (1,)

    def reach(self):
        return self.claimed, self.claimed

    def nullable(self, facts):
        return facts[self.column].nullable

    def change(self, row, facts):
        return change_of_sum(self, row, facts)

    def choose_shape(self, _variance, _rows):
        return self

    def is_answered_by(self, part):
        return part.has_codes(self.column)

    def answer(self, cube, brought, cells, _facts):
        return add_up(lambda some: 3 * some.rows * (codes_of(brought, some, self.column) != NULL), cube, brought, cells)

    def literally(self, row):
        return [] if row[self.column] is None else [(0, 0, 3)]


# Step 1: the file of the statistic ------------------------------------------------------------------------------------


def tripled(column, *, weight=1, nulls=None):
    return Statistic(Tripled(), column, f"tripled_{check_column_name(column)}", check_weight(weight), skips_nulls(nulls))


@dataclass(frozen=True, slots=True)
class Tripled:
    word: ClassVar = "tripled"
    noun: ClassVar = "Triple"
    keys: ClassVar = Keys(one_column, {}, {"nulls": option_string}, interview=True)
    view: ClassVar = UNBIASED
    possible = staticmethod(any_value)
    counts: ClassVar = False
    reads: ClassVar = NumberColumn("codes")
    shape: ClassVar = OneNumber()
    completed: ClassVar = ()
    extended: ClassVar = ()

    @staticmethod
    def of(*columns, **options):
        return tripled(*columns, **options)

    @staticmethod
    def title(shown, part):
        return title(part or Tripled.noun, shown)

    def span(self, _one, _facts, free):
        return free.of_values(3, 3, may_skip=True)

    def recipe(self, one, _asked):
        return TripledRecipe(Threefold(one.column))


@dataclass(frozen=True, slots=True)
class TripledRecipe:
    whole: ClassVar = False
    query: Any

    @property
    def queries(self):
        return ((self.query, Fraction(1)),)

    def error(self, noises, _rows):
        return add_errors(noises, ((self.query,), Fraction(1)))

    def widest(self, noises, size):
        return self.error(noises, size.rows)

    def unit(self, _rows):
        return ""

    def accuracy(self, _noises):
        return ""

    def statements(self, noises):
        return noise_statements(noises, (self.query,))

    def estimates(self, answers):
        value, half = (part.astype(np.float64) for part in answers.of(self.query))
        return (Estimate(value, value - half, value + half),)

    def tables(self, _answers):
        return ()

    def told(self, _noises, *, totals):
        return {}


# Step 3: the registry -------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _named_in_the_registry(monkeypatch):
    monkeypatch.setattr(registry, "STATISTICS", (*registry.STATISTICS, Tripled))


SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 3))
ROWS = pl.DataFrame({"g": ["x", "y", "y", "y"], "v": [0, 1, None, 3]})


def test_it_is_released_with_intervals_that_hold_it():
    with dp.Session(
        ROWS, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(10**6), neighbours=dp.AddRemove()
    ) as session:
        request = session.table.group_by("g").agg(dp.count(), tripled("v", nulls="skip"), dp.mean("v", nulls="skip"))
        release = session.release(request, name="r")
    assert release.table.select("tripled_v", "tripled_v_low", "tripled_v_high").rows() == [(3, 3, 3), (6, 6, 6), (0, 0, 0)]


def test_its_quote_says_what_it_costs_and_its_errors():
    table = dp.Table(SCHEMA, dp.AddRemove()).group_by("g")
    asked = quote(table.agg(tripled("v", nulls="skip")), dp.PureDP(1))
    assert asked.measured[0].sensitivity == Sensitivity(3, 9)
    assert dict(asked.expected) == {"tripled_v": asked.measured[0].law.half_widths(Fraction(95, 100))}
    assert "threefold rows of v: each row adds 3 to one place" in str(explain(asked))
    together = quote(table.agg(tripled("v", nulls="skip"), dp.count()).simultaneous(), dp.PureDP(1))
    assert {1 - line.level for line in together.lines} == {Fraction(1, 20) / (3 + 3)}


def test_plan_files_documents_and_pages_know_it(tmp_path):
    text = plan_text("two-numbers")
    text = text.replace('"count"', '{ tripled = "v", nulls = "skip", as = "three", weight = "1/2" }')
    (order,) = plan_of(toml_root(text.encode(), tmp_path / "plan.toml")).orders
    (statistic,) = order.request.statistics
    assert statistic == replace(tripled("v", nulls="skip", weight="1/2"), name="three")
    shown = statistic_json(statistic)
    assert shown == {"statistic": "tripled", "column": "v", "name": "three", "weight": "0.5", "nulls": "skip"}
    assert title_words(shown) == "Triple of v, where it is known"
    assert starting._statistic("tripled v") == '{ tripled = "v", nulls = "skip" }'


def test_its_column_is_checked_as_every_other():
    table = dp.Table(SCHEMA, dp.AddRemove())
    with pytest.raises(dp.PlanError, match=r"tripled\('g'\): the column is categorical"):
        table.agg(tripled("g"))
    with pytest.raises(dp.PlanError, match=r"tripled\('v'\): the column can be null"):
        table.agg(tripled("v"))


def test_totals_tell_how_far_its_answers_lie_apart():
    plan = dp.Table(SCHEMA, dp.ReplaceOne(rows=4)).agg(tripled("v", nulls="skip"))
    assert dp.Totals("g").sensitivity(SCHEMA, plan, 1) == 3 * dp.Totals("g").sensitivity(SCHEMA, dp.count("v"), 1)


# Step 4: the laws -----------------------------------------------------------------------------------------------------

RELATIONS = {"add-remove": dp.AddRemove(), "three rows": dp.ReplaceOne(rows=3)}


def of_the_toy(relation, monkeypatch, claimed):
    known = every_query.queries
    monkeypatch.setattr(every_query, "queries", lambda plan: [*known(plan), Threefold("v", claimed)])
    return [case for case in cases(relation, 3) if isinstance(case.query, Threefold)]


@pytest.mark.parametrize("name", RELATIONS)
def test_its_query_keeps_the_law_of_sensitivities(name, monkeypatch):
    tried = of_the_toy(RELATIONS[name], monkeypatch, 3)
    assert len(tried) > 30
    assert not any(map(violations, tried))
    assert {slack(case) for case in tried if not case.loose} == {1}


@pytest.mark.parametrize("name", RELATIONS)
def test_a_query_that_claims_less_than_a_row_adds_is_caught(name, monkeypatch):
    lying: list[Case] = of_the_toy(RELATIONS[name], monkeypatch, 2)
    some = [case for case in lying if not case.loose and worst(case.declared).l1]
    assert len(some) > 10
    assert all(map(violations, some))
