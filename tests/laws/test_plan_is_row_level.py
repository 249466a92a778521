"""Every request that is accepted is answered, and its exact answers are those of a plain loop over the rows.

A request must never fail after its budget was reserved: a failure that depends on the rows would tell something of them.
So requests are drawn at random over everything that can be combined, and answered on rows with nulls everywhere.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.queries import (
    QUERIES,
    AreaEffects,
    Dispersion,
    EffectCounts,
    Excess,
    ImputedSum,
    LevelCounts,
    NonNullCount,
    NullCount,
    PairSum,
    ProductSum,
    QuantileCodes,
    QuantileIntervals,
    RowCount,
    Squares,
    TableCounts,
    VectorSum,
    WholeTable,
)
from discreet.domain.groups import group_labels
from discreet.domain.steps import Clamp
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan import layout as layouts
from discreet.plan.plan import Plan, table_facts
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics, frames
from discreet.releases.evaluate import exact_answers, noisy_answers

SCHEMA = dp.Schema(
    s=dp.Category(["x", "y", "z"]), b=dp.Category([True, False]), v=dp.Number(-2, 4), w=dp.Number("0.5", "2", "0.5")
)
HEADER = {
    "s": ColumnType("text", "text"),
    "b": ColumnType("boolean", "boolean"),
    "v": ColumnType("integer", "BIGINT"),
    "w": ColumnType("float", "DOUBLE"),
}
# Laws that draw the same value always make the answers of a plan a function of the rows.
FIXED = {"s": "y", "b": True, "v": 3, "w": Fraction(3, 2)}
LAWS = {"s": dp.Weights({"y": 1}), "b": dp.Weights({True: 1}), "v": dp.Uniform(3, 3), "w": dp.Uniform("1.5", "1.5")}
FREE = {"s": dp.Weights({"x": 1, "y": 2}), "b": dp.Weights({True: 1, False: 1}), "v": dp.Normal(0, 2), "w": dp.Uniform()}
CLAMPS = {"s": ["x", "y"], "b": [True], "v": (-1, 3), "w": (1, "1.5")}
WHERES = {"s": ["y", "z"], "b": [True], "v": (0, 3), "w": (1, 2)}
EDGES = {"v": [-1, 1, 3], "w": ["0.5", "1.5", "2"]}
COLUMNS = tuple(HEADER)
MAKERS = {
    "count": dp.count,
    "share": lambda _: dp.share(),
    "sum": lambda column: dp.sum(column, nulls="skip"),
    "mean": lambda column: dp.mean(column, nulls="skip"),
    "variance": lambda column: dp.variance(column, nulls="skip"),
    "std": lambda column: dp.std(column, nulls="skip"),
    "covariance": lambda column: dp.covariance(*column, nulls="skip"),
    "correlation": lambda column: dp.correlation(*column, nulls="skip"),
    "regression": lambda columns: dp.regression(columns[0], columns[1:], nulls="skip"),
    "means": lambda columns: dp.means(columns, nulls="skip"),
    "correlations": lambda columns: dp.correlations(columns, nulls="skip"),
    "median": lambda column: dp.median(column, nulls="skip", interval=1),
    "chosen": lambda column: dp.median(column, nulls="skip").alias(f"chosen_{column}"),
    "around": lambda column: dp.median(column, nulls="skip", interval="chosen").alias(f"around_{column}"),
    "quantiles": lambda column: dp.quantiles(column, [0, "0.9"], nulls="skip"),
    "histogram": lambda column: dp.histogram(column, EDGES[column]),
    "areas": lambda columns: dp.agreeing_areas("s", by=columns),
    "tables": lambda columns: dp.tables(*([bins_or_name(one) for one in grouping] for grouping in columns)),
}

rows = st.lists(
    st.tuples(
        st.sampled_from([None, "x", "y", "z", "other"]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, -100, -2, -1, 0, 1, 3, 4, 100]),
        st.sampled_from([None, float("nan"), 0.0, 0.5, 1.0, 1.5, 2.0, 9.0]),
    ),
    min_size=1,
    max_size=8,
)


@dataclass(frozen=True)
class Case:
    """One request: clamps and imputations in this order, then conditions, groups and statistics.

    `apart` says whether the source is read once for each statistic that may be answered by itself, however small its cube.
    """

    changed: tuple = ()
    filtered: tuple = ()
    grouped: tuple = ()
    asked: tuple = (("count", None),)
    apart: bool = False

    def quoted(self, table, laws, resize):
        """The quote, or None when the plan is refused: nothing is spent then."""
        by = [bins_or_name(column) for column in self.grouped]
        try:
            for word, column in self.changed:
                table = table.clamp({column: CLAMPS[column]}) if word == "clamp" else table.impute({column: laws[column]})
            if resize:
                table = table.resize(resize[0], proportion=resize[1])
            for column in self.filtered:
                table = table.where({column: WHERES[column]})
            with read_apart() if self.apart else nullcontext():
                plan = table.group_by(*by).agg(*(MAKERS[word](column) for word, column in self.asked))
            return quote(plan, dp.ZCDP(1))
        except dp.PlanError:
            return None


@contextmanager
def read_apart():
    """No joint cube is small enough for the statistics of the plans that are made meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "JOINT_CELLS", 0)
        yield


def bins_or_name(column):
    return dp.bins(column, EDGES[column]) if column in EDGES else column


VALUED = ["sum", "mean", "variance", "std", "median", "chosen", "around", "quantiles", "histogram"]
PAIRED = [("covariance", ("v", "w")), ("correlation", ("w", "v")), ("correlations", ("v", "w"))]
PAIRED += [("means", ("v", "w"))]
PAIRED += [("regression", columns) for columns in (("v", "w"), ("w", "s"), ("v", "w", "s", "b"))]
TABLES = ((("s",), ("b", "v")), (("w", "s"),), (("v",), ("w",), ("b",)), (("s",), ("s", "b")), (("b",), ("s",)))
OWN = [*(("tables", one) for one in TABLES), ("areas", ((), ("b",)))]


def cases(*, imputed):
    """Any request; a resize needs every column that is used imputed, so that most of them are then."""
    change = st.tuples(st.sampled_from(["clamp", "impute"]), st.sampled_from(COLUMNS))
    everything = st.just([("impute", column) for column in COLUMNS])
    some = st.lists(change, max_size=5)
    statistic = [("count", None), ("share", None), *(("count", c) for c in COLUMNS), *product(VALUED, ["v", "w"]), *PAIRED]
    return st.builds(
        Case,
        st.builds(lambda *parts: tuple(chain(*parts)), some, everything if imputed else st.just([]), some),
        st.lists(st.sampled_from(COLUMNS), max_size=2, unique=True).map(tuple),
        st.lists(st.sampled_from(COLUMNS), max_size=2, unique=True).map(tuple),
        st.lists(st.sampled_from(statistic), min_size=1, max_size=4, unique=True).map(tuple),
        st.booleans(),
    ) | st.builds(  # margins name their own groups
        Case,
        everything.map(tuple) if imputed else some.map(tuple),
        st.lists(st.sampled_from(COLUMNS), max_size=1).map(tuple),
        asked=st.tuples(st.sampled_from(OWN), st.sampled_from(statistic)),
        apart=st.booleans(),
    )


IMPUTED_CATEGORY = Case((("impute", "s"),), asked=(("count", "s"), ("sum", "v")))
NULLABLE_AGAIN = Case((("impute", "s"), ("clamp", "s")), asked=(("count", "s"), ("mean", "v"), ("sum", "w")))
VARIANCE = Case((("impute", "v"),), asked=(("variance", "v"),))
APART = Case(
    (*(("impute", column) for column in "sbvw"),), asked=(("median", "v"), ("histogram", "w"), ("count", "s")), apart=True
)
VECTOR = Case((*(("impute", column) for column in "svw"),), asked=(("regression", ("v", "w", "s")),))
AREAS = Case((("impute", "s"), ("impute", "b")), asked=(("areas", ((), ("b",))),))
ONE_COLUMN = Case((("impute", "v"),), ("v",), ("v",), (("count", "v"), ("mean", "v"), ("sum", "w")))


def cubes_of(plan: Plan, data):
    engine = ReferenceEngine(HEADER, data)
    return [engine.aggregate(part.axes, part.moments) for part in plan.layout.scans]


def processed(data, changed, copies, total):
    """The rows after the changes, straight from their definition; imputed values are the fixed ones."""
    source = [dict(zip(COLUMNS, row, strict=True)) for row in data] * copies
    source += [dict.fromkeys(COLUMNS)] * (total - len(source))
    clamped = [(word, column) for word, column in changed if word != "impute"]
    return [
        {
            **{column: walked(column, row[column], changed) for column in COLUMNS},
            **{column + NULLS: walked(column, row[column], clamped) for column in COLUMNS},
        }
        for row in source
    ]


def walked(column, value, changed):
    if column in EDGES:
        null = value is None or value != value  # noqa: PLR0124 (not a number)
        domain = SCHEMA[column]
        value = None if null else min(max(Fraction(value), domain.lower), domain.upper)
    elif value not in SCHEMA[column].values:
        value = None
    for word, name in changed:
        if name != column:
            continue
        if word == "impute":
            value = FIXED[column] if value is None else value
        elif column not in EDGES:
            value = value if value in CLAMPS[column] else None
        elif value is not None:
            value = min(max(value, Fraction(CLAMPS[column][0])), Fraction(CLAMPS[column][1]))
    return value


def passes(row, filtered):
    for column in filtered:
        value, condition = row[column], WHERES[column]
        if value is None or not (condition[0] <= value <= condition[1] if column in EDGES else value in condition):
            return False
    return True


NULLS = " with its nulls"
"""After the name of an imputed column: what tables call it, of which nothing is drawn."""


def cell_of(row, groups, labels, steps):
    """The position of the row's cell among those of the groups, or None when it lies in none."""
    clamped = {step.column for step in steps if isinstance(step, Clamp)}
    cell = 0
    for group, named in zip(groups, labels, strict=True):
        value, plain = row[group.column], group.column.removesuffix(NULLS)
        if plain in EDGES and value is not None:
            edges = [Fraction(edge) for edge in EDGES[plain]]
            top = CLAMPS[plain][1] if plain in clamped else SCHEMA[plain].upper
            closed = value == edges[-1] == Fraction(top)
            inside = [low <= value < high or (closed and high == value) for low, high in pairwise(edges)]
            first = group.edges.index(code_in(plain, edges[0]))  # after the bin of what is below, if it is there
            beyond = len(group.labels) > first + len(inside)
            if True in inside:
                place = first + inside.index(True)
            elif (first and value < edges[0]) or (beyond and value >= edges[-1]):
                place = 0 if value < edges[0] else first + len(inside)
            else:
                return None
        else:
            place = [(type(label), label) for label in named].index((type(value), value))
        cell = cell * len(named) + place
    return cell


def contributed(query, row, quoted):
    """What the row adds in its cell: the level, the place in it and an integer for each coordinate; nothing for null."""
    match query:
        case RowCount():
            return [(0, 0, 1)]
        case TableCounts():
            facts = table_facts(SCHEMA, quoted.plan.neighbours, quoted.plan.steps)
            place = cell_of(row, query.groups, [group_labels(group, facts) for group in query.groups], quoted.plan.steps)
            return [] if place is None else [(0, place, 1)]
        case AreaEffects():  # of the areas of one column, all of which can have rows
            own = contributed(query.effect, row, quoted)
            area = TableCounts(query.table.groups[:1], query.tree.sizes)
            first = contributed(area, row, quoted)[0][1] * len(own) if query.level else 0
            return [(0, first + place, amount) for _, place, amount in own]
        case EffectCounts():
            facts = quoted.plan.facts
            place = cell_of(row, query.groups, [group_labels(group, facts) for group in query.groups], quoted.plan.steps)
            own = np.unravel_index(place, query.sizes) if query.sizes else ()
            return [
                (
                    0,
                    number,
                    query.times
                    * prod(len(n) - 1 if one == mine else -1 for one, mine, n in zip(at, own, there, strict=True)),
                )
                for there in [query.alive]
                for number, at in enumerate(product(*there))
            ]
        case PairSum():
            return paired(query, row)
        case VectorSum():
            known = all(row[column] is not None for column in query.known)
            return [(level, 0, multiplied(part, row)) for level, part in enumerate(query.parts) if known]
    value = row[query.column]
    if value is None:
        return []
    match query:
        case NonNullCount():
            return [(0, 0, 1)]
        case LevelCounts(low=low, tree=tree):
            code = (value - SCHEMA[query.column].lower) / SCHEMA[query.column].step - low
            below = [tree.width * tree.branching ** (tree.depth - 1 - level) for level in range(tree.depth)]
            return [(level, int(code // codes), 1) for level, codes in enumerate(below)]
        case Squares(shift=shift):
            return [(0, 0, in_units(value, quoted, query) ** 2 - shift)]
    return [(0, 0, in_units(value, quoted, query))]


def paired(query, row):
    """Powers of the distances from the midpoints in half steps, or in whole ones where the midpoint is on the grid."""
    added = 1
    for factor in (query.x, query.y):
        value, last = row[factor.column], factor.low + factor.width
        if value is None:
            return []
        twice = 2 * code_in(factor.column, value) - factor.low - last
        added *= (twice if factor.width % 2 else twice // 2) ** factor.power
    return [(0, 0, added - query.shift)]


def multiplied(part, row):
    """The multiplier of a sum of a vector times its numbers from their midpoints and the integers of its categories."""
    added = part.times
    for factor in part.factors:
        if factor.column in EDGES:
            twice = 2 * code_in(factor.column, row[factor.column]) - 2 * factor.low - factor.width
            added *= (twice if factor.width % 2 else twice // 2) ** factor.power
        else:
            added *= dict(factor.values).get(SCHEMA[factor.column].values.index(row[factor.column]), 0)
    return added


def in_units(value, quoted, query):
    """The value in the units of the statistic that asks for the query."""
    recipes = [getattr(line.recipe, "variance", getattr(line.recipe, "covariance", line.recipe)) for line in quoted.lines]
    totals = [recipe.total for recipe in recipes if hasattr(recipe, "total")]
    totals += [total for recipe in recipes for total in getattr(recipe, "totals", ())]
    total = next(total for total in totals if query in (*total.queries, *getattr(total, "squares", ())))
    found = (Fraction(value) - total.origin) / total.unit
    assert found.denominator == 1
    return int(found)


def code_in(column, value):
    return int((Fraction(value) - SCHEMA[column].lower) / SCHEMA[column].step)


def expected_choice(query, kept, quoted):
    """The cells, codes and counts that quantiles are chosen from, one after the other."""
    brought = quoted.plan.layout
    placed = [(cell_of(row, quoted.plan.group_by, brought.labels, quoted.plan.steps), row[query.column]) for row in kept]
    found = Counter((cell, code_in(query.column, value) - query.low) for cell, value in placed if None not in (cell, value))
    return [[*key, times] for key, times in sorted(found.items())]


def expected_answer(query, kept, quoted):
    if isinstance(query, QuantileCodes):
        return expected_choice(query, kept, quoted)
    if isinstance(query, QuantileIntervals):
        return expected_choice(query.centres, kept, quoted)
    if isinstance(query, Dispersion):
        codes = [code_in(query.column, row[query.column]) for row in kept]
        return [sum((one - other) ** 2 for one, other in combinations(codes, 2)) // query.coarse]
    brought = quoted.plan.layout
    levels = [[0] * (brought.cells * width) for width in query.widths()]
    for row in kept:
        cell = cell_of(row, quoted.plan.group_by, brought.labels, quoted.plan.steps)
        for level, place, amount in [] if cell is None else contributed(query, row, quoted):
            levels[level][cell * query.widths()[level] + place] += amount
    return list(chain(*levels))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("resize", [None, (40, 1), (20, 2)])
def test_exact_answers_are_those_of_a_loop_over_the_rows(resize):
    @settings(max_examples=100)
    @given(data=rows, case=cases(imputed=resize is not None))
    @example([(None, None, None, None)], IMPUTED_CATEGORY)
    @example([("z", None, 1, 1.0)], NULLABLE_AGAIN)
    @example([("x", True, 1, 1.0)], ONE_COLUMN)
    @example([("x", True, 1, 1.0), ("y", None, 4, 0.5)], VECTOR)
    @example([("x", True, 1, 1.0), (None, None, 4, 0.5)], AREAS)
    @example([("x", True, 1, 1.0), ("x", True, 4, 1.0), ("x", True, None, 0.5)], VARIANCE)
    @example([("x", True, 1, 1.0), (None, True, None, None), ("y", False, 4, None)], APART)
    def check(data, case):
        quoted = case.quoted(dp.Table(SCHEMA, dp.ReplaceOne(rows=len(data))), LAWS, resize)
        if quoted is None:
            return
        answered.append(case)
        copies, total = (resize[1], resize[0]) if resize else (1, len(data))
        kept = [row for row in processed(data, case.changed, copies, total) if passes(row, case.filtered)]
        answers = exact_answers(quoted, cubes_of(quoted.plan, data), system_bits())
        for one, answer in zip(quoted.measured, answers, strict=True):
            kinds.add(type(one.query))
            scans.add(len(quoted.plan.layout.scans))
            assert answer.tolist() == expected_answer(one.query, kept, quoted)

    answered: list[Case] = []
    kinds: set[type] = set()
    scans: set[int] = set()
    check()
    assert len(answered) > 50
    assert min(scans) == 1 < max(scans)
    # Sums in parts and counts of nulls belong to requests for originals: test_originals;
    # products of three columns to ratios: test_weighted; whole tables to pure ε: test_whole_tables.
    # Nothing is null where every column has to be imputed.
    asked_here = set(QUERIES) - {Excess, ImputedSum, NullCount, ProductSum, WholeTable}
    assert kinds >= asked_here - {NonNullCount} if resize else kinds == asked_here


@pytest.mark.one_in(9)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), None], ids=str)
@pytest.mark.parametrize("resize", [None, (1, "1/2"), (6, "3/4"), (5, "3/2"), (30, 2)])
def test_no_accepted_request_fails_on_any_rows(resize, neighbours):
    """With laws that draw anything, beside every kind of resize, the answers have the public shape and finite ends."""

    @settings(max_examples=80)
    @given(data=rows, case=cases(imputed=resize is not None))
    @example([(None, None, None, None)], IMPUTED_CATEGORY)
    @example([("z", None, 1, 1.0)], NULLABLE_AGAIN)
    def check(data, case):
        quoted = case.quoted(dp.Table(SCHEMA, neighbours or dp.ReplaceOne(rows=len(data))), FREE, resize)
        if quoted is None:
            return
        answered.append(case)
        bits = system_bits()
        answers = noisy_answers(quoted, exact_answers(quoted, cubes_of(quoted.plan, data), bits), bits)
        cells = quoted.plan.layout.cells
        assert [len(answer) for answer in answers] == [cells * sum(one.query.widths()) for one in quoted.measured]
        found = [columns.estimate for columns in estimate_statistics(quoted, answers)]
        assert all(len(estimate.value) == cells for estimate in found)
        for estimate in [*found, *(frame.counts.estimate for frame in frames(quoted, answers))]:
            assert ((estimate.low <= estimate.value) & (estimate.value <= estimate.high)).all()
            assert np.isfinite(np.array([estimate.low, estimate.high], dtype=float)).all()

    answered: list[Case] = []
    check()
    assert len(answered) > 30
