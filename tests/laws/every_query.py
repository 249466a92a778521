"""Every query of every shape on tiny tables, and how far the answers of neighbours lie apart: by trying all of them.

What a row adds to an answer is found row by row from the words of the steps (`literal_rows`): nothing of `reach`, `widths`,
an engine or `queries.answer` is used, so that a mistake in them cannot hide itself. A query that a test defines brings its
own meaning in a method `literally`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np

import discreet as dp
from discreet.cube.queries import (
    AreaEffects,
    Dispersion,
    Excess,
    Factor,
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
    WeightedSum,
    WholeTable,
)
from discreet.cube.trees import Tree
from discreet.domain.groups import group_labels, group_of
from discreet.domain.steps import conditions_of
from discreet.exact.cached import cached_property
from discreet.mechanisms import Change, Sensitivity, worst
from discreet.plan.plan import Plan
from discreet.quotes.allocate import changes_of, quote
from discreet.quotes.quote import Quote

from . import literal_rows
from .derived_cases import DERIVED, plans_of_derived, queries_of_derived
from .every_effect import effects
from .every_vector import plans_of_vectors, vectors
from .literal_choices import choices_changed
from .literal_intervals import intervals_changed

MOVES = ("within", "across", "leaves")
NULLS = {"nulls": "skip"}
Norms = tuple[int, int]
Changed = Callable[[int, tuple[Fraction, ...]], tuple[Norms, Norms]]
Contribution = dict[tuple[int, int, int], int]


@dataclass(frozen=True, eq=False)
class Case:
    """One query on one prepared table."""

    plan: Plan
    query: object

    def __str__(self) -> str:
        steps = " ".join(type(step).__name__ for step in self.plan.steps)
        groups = ", ".join(group.column for group in self.plan.group_by)
        return f"{self.query} | {self.plan.neighbours} | {steps} | by {groups}"

    @property
    def stub(self) -> Quote:
        """A quote that measures this query alone, whatever it would cost."""
        asked = _some_quote()
        return replace(asked, plan=self.plan, measured=(replace(asked.measured[0], query=self.query),))

    @property
    def declared(self) -> Change:
        """What the library says that one row can do."""
        return changes_of(self.stub)[0]

    @cached_property
    def reached(self) -> dict[str, Norms]:
        """For each move of a row the largest norms of the change, over all neighbouring tables."""
        return _reached(self)

    @property
    def loose(self) -> str:
        """Why the declared sensitivity may be more than any row reaches; empty where it has to be exact."""
        query, where = self.query, [group.column for group in self.plan.group_by]
        where += [step.column for step in conditions_of(self.plan.steps)]
        if {_source(name) for name in where} & {_source(name) for name in columns(query)}:
            return "a row's value and its cell hang together: the worst value may not occur in every cell"
        if len({cell for cell, _ in placed(self.plan) if cell is not None}) < self.plan.layout.cells:
            return "a clamp or a condition has left a cell that nobody can be in"
        if isinstance(query, Squares) and steps_over_zero(query):
            return "the squared integers step over 0, which counts as the least square"
        if isinstance(query, PairSum) and any(factor_steps_over_zero(factor) for factor in (query.x, query.y)):
            return "a squared factor steps over 0, which counts as the least square"
        if isinstance(query, ProductSum) and any(map(factor_steps_over_zero, query.factors)):
            return "a squared factor steps over 0, which counts as the least square"
        if isinstance(query, VectorSum) and any(is_squared(part) for part in query.parts):
            return "squares are charged as if they and the products were farthest apart at once"
        if isinstance(query, QuantileCodes) and (query.size == 1 or query.at[0] in (0, Fraction(1, 10))):
            return "choices at the ends of the data, or between less than two codes, move less than one in the middle"
        if isinstance(query, QuantileIntervals):
            codes = {row[query.centres.column] for cell, row in placed(self.plan) if cell is not None} - {None}
            if len(codes & set(range(query.centres.low, query.centres.low + 4))) < 4 or query.at != (Fraction(1, 2),):
                return "a margin moves less between a few codes, or where q is not 1/2"
        return ""


def _source(name: str) -> str:
    """The column of the source that decides the value."""
    return DERIVED[name][0] if name in DERIVED else name


def is_squared(part: object) -> bool:
    return any(isinstance(one, Factor) and one.power == 2 for one in part.factors)


def steps_over_zero(query: Squares) -> bool:
    integers = [query.first + query.slope * code for code in range(query.width + 1)]
    return min(integers) < 0 < max(integers) and 0 not in integers


def factor_steps_over_zero(factor: Factor) -> bool:
    integers = [factor.first + factor.slope * code for code in range(factor.width + 1)]
    return factor.power == 2 and min(integers) < 0 < max(integers) and 0 not in integers


@cache
def _some_quote() -> Quote:
    """Any quote: what a row can do is asked of the plan and the query that are put into it."""
    return quote(dp.Table(schema(3), dp.AddRemove()).agg(dp.count()), dp.PureDP(1))


def columns(query: object) -> list[str]:
    """The columns that a query reads, from its fields."""
    told = query.table if isinstance(query, AreaEffects | WholeTable) else query
    if hasattr(told, "groups"):
        return [group.column for group in told.groups]
    if isinstance(query, PairSum):
        return [query.x.column, query.y.column]
    if isinstance(query, ProductSum):
        return [one.column for one in query.factors]
    if isinstance(query, VectorSum):
        return list(query.known)
    if isinstance(query, QuantileIntervals):
        return [query.centres.column]
    if isinstance(query, Excess):
        return [query.recorded.column, query.clamped.column]
    if isinstance(query, ImputedSum):
        return [query.filled.column, query.known.column]
    return [query.column] if hasattr(query, "column") else []


# What a row does --------------------------------------------------------------------------------------------------------


def raw_values(column: object) -> list[object]:
    return [None, *column.values] if isinstance(column, dp.Category) else [None, *range(int(column.upper) + 1)]


def records(plan: Plan) -> list[dict[str, object]]:
    """All rows of the prepared table that a row of the source can become, whatever is drawn for its nulls."""
    found: dict[tuple[object, ...], dict[str, object]] = {}
    names = list(plan.schema.columns)
    read = [name for name in names if name not in DERIVED]
    for raw in product(*(raw_values(plan.schema[name]) for name in read)):
        cells = dict(zip(read, raw, strict=True))
        values = [DERIVED[name][1].get(cells[DERIVED[name][0]]) if name in DERIVED else cells[name] for name in names]
        laws = [literal_rows.after_steps(plan, name, value) for name, value in zip(names, values, strict=True)]
        before = literal_rows.before_steps(plan, "v", values[names.index("v")]) if plan.target is not None else {}
        for final in product(*laws):
            found.setdefault((*final, *before.values()), {**dict(zip(names, final, strict=True)), **before})
    return list(found.values())


@cache
def placed(plan: Plan) -> list[tuple[int | None, dict[str, object]]]:
    """The rows of the prepared table, each with its cell of the request, or None where it counts nowhere."""
    labels = [group_labels(group, plan.facts) for group in plan.group_by]
    return [
        (literal_rows.cell_of(plan.group_by, labels, row) if literal_rows.passes(plan, row) else None, row)
        for row in records(plan)
    ]


@cache
def told_apart(plan: Plan, names: tuple[str, ...]) -> list[tuple[int | None, dict[str, object]]]:
    """The rows of `placed` as a query of these columns can see them: a query that reads another one has no value there."""
    found = {(cell, *(row[name] for name in names)): cell for cell, row in placed(plan)}
    return [(cell, dict(zip(names, values, strict=True))) for (_, *values), cell in found.items()]


def contribution(query: object, plan: Plan, cell: int | None, row: dict[str, object]) -> Contribution:
    """What a row adds to the answer: an amount for every (level, cell, coordinate)."""
    if cell is None:
        return {}
    parts = query.literally(row) if hasattr(query, "literally") else literal_rows.parts(query, plan, row)
    return {(level, cell, coordinate): amount for level, coordinate, amount in parts if amount}


def kinds(case: Case) -> list[tuple[int | None, Contribution]]:
    """Rows that do the same are one: each kind with its cell."""
    found = {}
    for cell, row in told_apart(case.plan, tuple(columns(case.query))):
        added = contribution(case.query, case.plan, cell, row)
        found.setdefault((cell, frozenset(added.items())), (cell, added))
    return list(found.values())


def matrix(rows: Sequence[Contribution]) -> np.ndarray:
    """The contributions as integer vectors, one a row."""
    places = {key: place for place, key in enumerate(sorted({key for row in rows for key in row}))}
    values = np.zeros((len(rows), len(places)), dtype=np.int64)
    for number, row in enumerate(rows):
        for key, amount in row.items():
            values[number, places[key]] = amount
    return values


def norms(differences: np.ndarray) -> Norms:
    """The largest ‖·‖₁ and ‖·‖₂² of some integer vectors."""
    if not differences.size:
        return 0, 0
    return int(np.abs(differences).sum(axis=-1).max()), int((differences**2).sum(axis=-1).max())


def is_replaced(plan: Plan) -> bool:
    """Whether a row is replaced; in a resized table it always is, because its number of rows is public (soundness 7)."""
    return not isinstance(plan.neighbours, dp.AddRemove) or any(type(step).__name__ == "Resize" for step in plan.steps)


# The largest change -----------------------------------------------------------------------------------------------------


def _reached(case: Case) -> dict[str, Norms]:
    if isinstance(case.query, Dispersion):
        return {"within": norms(_dispersions(case.query)), "across": (0, 0), "leaves": (0, 0)}
    if isinstance(case.query, QuantileCodes):
        return _choices(case, case.query, choices_changed, 3)
    if isinstance(case.query, QuantileIntervals):
        return _choices(case, case.query.centres, lambda size, _at: intervals_changed(size, case.query.at), 4)
    rows = kinds(case)
    values = matrix([added for _, added in rows])
    if not is_replaced(case.plan):
        # A row that appears changes the answer by what it adds, whatever the other rows are.
        return dict.fromkeys(MOVES, norms(values))
    cells = [cell for cell, _ in rows]
    changed = values[:, None] - values[None]
    move = np.array([[_move(one, other) for other in cells] for one in cells])
    return {name: norms(changed[move == name]) for name in MOVES}


def _move(one: int | None, other: int | None) -> str:
    if one == other:
        return "within"
    return "leaves" if one is None or other is None else "across"


def _dispersions(query: Dispersion) -> np.ndarray:
    """The changes of the sum of squared distances: every table of `rows` codes, every row that is replaced by every code.

    Of a wide column the ends, the middle and their neighbours.
    """
    w = query.width
    codes = sorted({code for code in (0, 1, w // 2, w // 2 + 1, w - 1, w) if 0 <= code <= w})
    found = []
    for others in combinations_with_replacement(codes, query.rows - 1):
        values = [sum((x - y) ** 2 for x, y in combinations((*others, own), 2)) // query.coarse for own in codes]
        found.append(max(values) - min(values))
    return np.array(found, dtype=object)[:, None]


def _choices(case: Case, query: QuantileCodes, changed: Changed, most: int) -> dict[str, Norms]:
    """The changes of the ranges of choices among at most so many codes; a level of choices is a coordinate."""
    cells = [cell for cell, row in placed(case.plan) if cell is not None and row[query.column] is not None]
    # All rows of the table that are in one cell, by their codes; the others do not matter to it.
    codes = {row[query.column] - query.low for cell, row in placed(case.plan) if row[query.column] is not None}
    added, replaced = changed(len(codes & set(range(most))), query.at)
    counts_nowhere = any(cell is None or row[query.column] is None for cell, row in placed(case.plan))
    twice = (2 * added[0], 2 * added[1])  # a row leaves the choices of one cell and joins those of another one
    if not is_replaced(case.plan):
        return dict.fromkeys(MOVES, added)
    nothing = (0, 0)
    return {
        "within": replaced,
        "across": twice if len(set(cells)) > 1 else nothing,
        "leaves": added if counts_nowhere else nothing,
    }


def violations(case: Case) -> list[str]:
    """Where a row can do more than is declared."""
    declared, found = case.declared, case.reached
    wrong = []
    for move in MOVES:
        bound: Sensitivity = getattr(declared, move)
        if found[move][0] > bound.l1 or found[move][1] > bound.l2_squared:
            wrong.append(f"{case}: {move} changes {found[move]}, declared {bound}")
    return wrong


def slack(case: Case) -> Fraction | float:
    """By what factor the declared sensitivity exceeds what any row reaches, in the worse of the two norms; 1 is exact."""
    whole, found = worst(case.declared), case.reached.values()
    l1, l2_squared = max(one for one, _ in found), max(one for _, one in found)
    if not l1:
        return float("inf") if whole.l1 else Fraction(1)
    return max(Fraction(whole.l1, l1), Fraction(whole.l2_squared, l2_squared))


# Cases ------------------------------------------------------------------------------------------------------------------


def schema(upper: int) -> dp.Schema:
    return dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, upper))


LAWS = {"v": dp.Uniform(), "g": dp.Weights({"x": 1, "y": 2})}


def prepared(table: dp.Table, upper: int) -> Iterator[dp.Table]:
    """Every way to prepare the table: nullable, imputed, clamped, with conditions, resized."""
    middle = upper // 2
    yield table
    yield table.where({"g": ["x"]})
    yield table.where({"v": (1, middle)})
    yield table.impute({"v": LAWS["v"]})
    yield table.clamp({"v": (middle, upper)})
    yield table.clamp({"g": ["x"]})
    full = table.impute(LAWS)
    yield full
    yield full.where({"g": ["y"]})
    yield full.clamp({"g": ["x"], "v": (1, middle)})
    yield table.impute({"g": LAWS["g"]}).where({"v": (0, middle)})
    yield full.resize(3, proportion=2)
    yield full.resize(2, proportion="1/2").where({"g": ["x"]})


def groupings(upper: int) -> list[list[object]]:
    middle = upper // 2
    return [[], ["g"], [dp.bins("v", [0, middle, upper])], [dp.bins("v", [middle, upper])], ["g", dp.bins("v", [0, middle])]]


def plans(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Plan]:
    for table, by in product(prepared(dp.Table(schema(upper), neighbours), upper), groupings(upper)):
        try:
            yield table.group_by(*by).agg(dp.count(), dp.mean("v", **NULLS))
        except dp.PlanError:  # bins beyond what a clamp has left
            continue


def queries(plan: Plan) -> Iterator[object]:
    """Every query that can be asked of the table, also those that no request asks for today."""
    facts = plan.facts["v"]
    low, high = facts.low, facts.high
    width = high - low
    yield from (RowCount(), NonNullCount("v"), NonNullCount("g"), NullCount("v"), NullCount("g"))
    for first, slope in ((low, 1), (-width, 2), (-1, 1), (3, -2), (-7, 3)):
        yield WeightedSum("v", first, slope, width)
        largest = max(abs(first), abs(first + slope * width))
        yield from (Squares("v", first, slope, width, shift) for shift in (0, largest**2 // 2, 5))
    yield from (TableCounts(*grouped) for grouped in tables(plan))
    yield from effects(plan, [((), ()), *tables(plan)])
    yield from (LevelCounts("v", low, tree) for tree in trees(width + 1))
    for at in ("1/2",), ("1/4", "1/2", "3/4"), ("0", "1"), ("1/10", "1/3"):
        centres = QuantileCodes("v", low, width + 1, tuple(map(Fraction, at)))
        yield centres
        yield QuantileIntervals(centres, centres.at)
        yield QuantileIntervals(centres, centres.at[len(centres.at) // 2 :][:1])
    if plan.facts.rows in (2, 3) and not plan.group_by and not conditions_of(plan.steps) and not facts.nullable and width:
        yield Dispersion("v", width, plan.facts.rows)


def tables(plan: Plan) -> Iterator[tuple[tuple[object, ...], tuple[int, ...]]]:
    """Groups of further tables with their sizes: complete and with gaps, one and two columns."""
    facts = plan.facts["v"]
    low, high = int(facts.low), int(facts.high)
    cut = (low + high + 1) // 2
    edges = [[low, cut, high], [cut, high], [low, cut]]
    single = [group_of(dp.bins("v", list(one)), plan.facts) for one in edges if len(set(one)) == len(one)]
    g = group_of("g", plan.facts)
    for groups in [(g,), *((one,) for one in single), *((g, one) for one in single), *((one, g) for one in single)]:
        yield groups, tuple(len(group_labels(group, plan.facts)) for group in groups)


def trees(size: int) -> Iterator[Tree]:
    """Trees of one to three levels, with two to four branches, and leaves of one code or two."""
    for branching, depth, width in product((2, 3, 4), (1, 2, 3), (1, 2)):
        bins = -(-size // width)
        if depth == 1 or -(-bins // branching ** (depth - 1)) > 1:
            yield Tree(size, branching, depth, width)


def cases(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Case]:
    for plan in plans(neighbours, upper):
        yield from (Case(plan, query) for query in queries(plan))
    for plan in plans_of_pairs(neighbours, upper):
        yield from (Case(plan, query) for query in pairs(plan))
    for plan in plans_of_triples(neighbours, upper):
        yield from (Case(plan, query) for query in triples(plan))
    for plan in plans_of_vectors(neighbours, upper):
        yield from (Case(plan, query) for query in vectors(plan))
    for plan in plans_of_originals(neighbours, upper):
        yield from (Case(plan, query) for query in sums_in_parts(plan))
    for plan in plans_of_derived(neighbours):
        yield from (Case(plan, query) for query in queries_of_derived(plan))


# The table as recorded --------------------------------------------------------------------------------------------------


def plans_of_originals(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Plan]:
    """A column that is clamped, or imputed, or both; all rows or some, in groups or not."""
    table = dp.Table(schema(upper), neighbours)
    for low, high in ((0, 2), (1, upper), (1, 2)):
        cut = table.clamp({"v": (low, high)})
        for one, by in product((cut, cut.impute({"v": dp.Uniform()}), cut.where({"g": ["x"]})), ([], ["g"])):
            yield one.group_by(*by).agg(dp.sum("v", **NULLS)).original()
    for by in ([], ["g"]):
        yield table.impute({"v": dp.Uniform()}).group_by(*by).agg(dp.sum("v")).original()


def sums_in_parts(plan: Plan) -> Iterator[Excess | ImputedSum]:
    """What the clamp cuts off, from both ends and about its middle, and what is imputed."""
    raw, after = plan.facts["v as recorded"], plan.facts["v"]
    cut = "v" if after.nullable else "v as clamped"
    width = after.high - after.low
    if (after.low, after.high) != (raw.low, raw.high):
        for slope, moved in product((1, 2, 3), (0, 1, 2)):
            recorded = WeightedSum("v as recorded", -moved, slope, raw.high)
            clamped = WeightedSum(cut, slope * after.low, slope, width)
            yield Excess(recorded, clamped, -slope * after.low - moved, slope * (raw.high - after.high) - moved)
    if not after.nullable:
        for first, slope in ((after.low, 1), (-width, 2), (-1, 1), (3, -2), (-7, 3)):
            known = "v as recorded" if (after.low, after.high) == (raw.low, raw.high) else cut
            yield ImputedSum(WeightedSum("v", first, slope, width), WeightedSum(known, first, slope, width))


# Pairs of columns -------------------------------------------------------------------------------------------------------


def plans_of_pairs(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Plan]:
    """Two columns of numbers: both may be null, one of them, or neither; clamped, filtered, resized, in groups or bins."""
    table = dp.Table(dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, upper), w=dp.Number(0, 2)), neighbours)
    full = table.impute({**LAWS, "w": dp.Uniform()})
    half = table.impute({"w": dp.Uniform()})
    some = (table, half, full, table.clamp({"v": (1, upper)}), half.where({"g": ["x"]}), full.resize(3, proportion=2))
    for one, by in product(some, ([], ["g"], [dp.bins("v", [0, upper])])):
        yield one.group_by(*by).agg(dp.count())


def pairs(plan: Plan) -> Iterator[PairSum]:
    """Rows, sums, squares and products, centred, from one end, and falling."""

    def factor(column: str, first: int, slope: int, power: int) -> Factor:
        known = plan.facts[column]
        return Factor(column, known.low, first, slope, known.high - known.low, power)

    width = plan.facts["v"].high - plan.facts["v"].low
    for (first, slope), (other, rise) in product(((-width, 2), (0, 1), (1, -3)), ((-2, 2), (-1, 1), (3, 1))):
        for power, exponent in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1)):
            for shift in (0, 2):
                yield PairSum(factor("v", first, slope, power), factor("w", other, rise, exponent), shift)


# Three columns ----------------------------------------------------------------------------------------------------------


def plans_of_triples(neighbours: dp.AddRemove | dp.ReplaceOne, upper: int) -> Iterator[Plan]:
    """Three columns of numbers, of which all may be null, two, or none; in groups or not."""
    columns = {"v": dp.Number(0, upper), "w": dp.Number(0, 2), "u": dp.Number(0, 1)}
    table = dp.Table(dp.Schema({"g": dp.Category(["x", "y"]), **columns}), neighbours)
    full = table.impute({**LAWS, "w": dp.Uniform(), "u": dp.Uniform()})
    for one, by in product((table, table.impute({"w": dp.Uniform()}), full, full.where({"g": ["x"]})), ([], ["g"])):
        yield one.group_by(*by).agg(dp.count())


def triples(plan: Plan) -> Iterator[ProductSum]:
    """Sums of products, of squares and of two columns where the third is known; centred, from one end, and falling."""

    def factor(column: str, first: int, slope: int, power: int) -> Factor:
        known = plan.facts[column]
        return Factor(column, known.low, first, slope, known.high - known.low, power)

    width = plan.facts["v"].high - plan.facts["v"].low
    for (first, slope), rise in product(((-width, 2), (0, 1), (1, -3)), (1, -2)):
        for powers in ((1, 0, 1), (0, 1, 1), (1, 1, 2), (2, 0, 2), (1, 1, 1)):
            starts = (first, slope), (-1, rise), (1, 1)
            yield ProductSum(tuple(factor(name, *at, power) for name, at, power in zip("vwu", starts, powers, strict=True)))
