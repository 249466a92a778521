"""The law of the exact answers of a quote, row by row, straight from the definition of the steps, in rationals.

Nothing of `discreet.cube.resample`, `discreet.cube.queries` or an engine is used: a row is cleaned, clamped and
imputed, copied, sampled, filled up, filtered and counted as the words of seeds 000 and 001 (with their corrections)
say. Numbers have the grid 0, 1, 2, …, so that values are codes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import prod

import numpy as np

import discreet as dp
from discreet.cube.queries import (
    AreaEffects,
    EffectCounts,
    Excess,
    Factor,
    ImputedSum,
    LevelCounts,
    NonNullCount,
    NullCount,
    PairSum,
    ProductSum,
    RowCount,
    Squares,
    TableCounts,
    VectorSum,
    WeightedSum,
    WholeTable,
)
from discreet.domain.groups import CategoryGroup, group_labels
from discreet.domain.row_samples import SampleEach, SampleRows
from discreet.domain.steps import Clamp, ClampCategories, Impute, Where, WhereIn
from discreet.plan.plan import Plan, resize_of, table_facts
from discreet.quotes.quote import Quote

Answer = tuple[int, ...]
AnswerLaw = dict[Answer, Fraction]
ONE = Fraction(1)


# One row ----------------------------------------------------------------------------------------------------------------


def cleaned(column: object, value: object) -> object:
    """What a raw value is on the public domain: a category, a number within the bounds, or null."""
    if isinstance(column, dp.Category):
        return value if value in column.values else None
    assert isinstance(column, dp.Number)
    assert (column.lower, column.step) == (0, 1)
    return None if value is None else min(max(int(value), 0), int(column.upper))


def drawn(law: object, bounds: tuple[int, int]) -> dict[object, Fraction]:
    """The values that a null becomes: weights of categories, or a uniform number put on the grid."""
    if isinstance(law, dp.Weights):
        whole = sum(law.weights.values())
        return {value: weight / whole for value, weight in law.weights.items() if weight}
    assert isinstance(law, dp.Uniform)
    low, high = bounds if law.lower is None else (int(law.lower), int(law.upper))
    if low == high:
        return {low: ONE}
    # Of [low, high] each value has the part that is nearest to it: the ends have half as much as the others.
    return {value: Fraction(1 + (low < value < high), 2 * (high - low)) for value in range(low, high + 1)}


def after_steps(plan: Plan, name: str, value: object) -> dict[object, Fraction]:
    """The law of one value after the clamps and imputations of its column."""
    column = plan.schema[name]
    bounds = (0, 0) if isinstance(column, dp.Category) else (0, int(column.upper))
    law = {cleaned(column, value): ONE}
    for step in plan.steps:
        if getattr(step, "column", None) != name:
            continue
        moved: dict[object, Fraction] = defaultdict(Fraction)
        for old, chance in law.items():
            match step:
                case Impute(law=imputed) if old is None:
                    for new, share in drawn(imputed, bounds).items():
                        moved[new] += chance * share
                case Clamp(low=low, high=high) if old is not None:
                    moved[min(max(old, low), high)] += chance
                case ClampCategories(kept=kept):
                    moved[old if old in [column.values[code] for code in kept] else None] += chance
                case _:
                    moved[old] += chance
        if isinstance(step, Clamp):
            bounds = tuple(min(max(bound, step.low), step.high) for bound in bounds)
        law = dict(moved)
    return law


def before_steps(plan: Plan, name: str, value: object) -> dict[str, object]:
    """The value under the names by which originals ask for it: as it was recorded, and after its clamps alone."""
    recorded = cut = cleaned(plan.schema[name], value)
    for step in plan.steps:
        if isinstance(step, Clamp) and step.column == name and cut is not None:
            cut = min(max(cut, step.low), step.high)
    return {f"{name} as recorded": recorded, f"{name} as clamped": cut}


def with_nulls(plan: Plan, names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    """The values under the names by which tables ask for them where nothing is imputed: after the clamps alone."""
    found = {}
    for name, given in zip(names, values, strict=True):
        column, value = plan.schema[name], cleaned(plan.schema[name], given)
        for step in plan.steps:
            if isinstance(step, Clamp) and step.column == name and value is not None:
                value = min(max(value, step.low), step.high)
            if isinstance(step, ClampCategories) and step.column == name:
                value = value if value in [column.values[code] for code in step.kept] else None
        found[f"{name} with its nulls"] = value
    return found


def passes(plan: Plan, record: dict[str, object]) -> bool:
    for step in plan.steps:
        match step:
            case Where(column=name, low=low, high=high):
                if record[name] is None or not low <= record[name] <= high:
                    return False
            case WhereIn(column=name, kept=kept):
                if record[name] not in [plan.schema[name].values[code] for code in kept]:
                    return False
    return True


def place(group: object, record: dict[str, object], labels: Sequence[object]) -> int | None:
    """The position of a record among the groups of one column, the null group last; None when it is in none."""
    value = record[group.column]
    if value is None:
        return len(labels) - 1 if labels[-1] is None else None
    if isinstance(group, CategoryGroup):
        return labels.index(value)
    inside = [low <= value < high for low, high in zip(group.edges, group.edges[1:], strict=False)]
    return inside.index(True) if True in inside else None


def cell_of(groups: Sequence[object], labels: Sequence[Sequence[object]], record: dict[str, object]) -> int | None:
    cell = 0
    for group, named in zip(groups, labels, strict=True):
        position = place(group, record, named)
        if position is None:
            return None
        cell = cell * len(named) + position
    return cell


def times(factors: Sequence[Factor], record: dict[str, object]) -> list[tuple[int, int, int]]:
    if any(record[one.column] is None for one in factors):
        return []
    return [(0, 0, prod((one.first + one.slope * (record[one.column] - one.low)) ** one.power for one in factors))]


def multiplied(part: object, plan: Plan, record: dict[str, object]) -> int:
    """The product of numbers, in their powers, and of the integers of categories."""
    found = 1
    for one in part.factors:
        value = record[one.column]
        if isinstance(one, Factor):
            found *= (one.first + one.slope * (value - one.low)) ** one.power
        else:
            found *= dict(one.values).get(plan.schema[one.column].values.index(value), 0)
    return found


def parts_of_effect(query: EffectCounts | AreaEffects, plan: Plan, record: dict[str, object]) -> list[tuple[int, int, int]]:
    """What a record adds to an effect, in the area that it is in."""
    effect = query.effect if isinstance(query, AreaEffects) else query
    facts = plan.facts  # columns that are counted with their nulls among them
    cell = cell_of(effect.groups, [group_labels(group, facts) for group in effect.groups], record)
    if cell is None:
        return []
    own = np.unravel_index(cell, effect.sizes) if effect.sizes else ()
    assert all(mine in alive for mine, alive in zip(own, effect.alive, strict=True)), "a row where nobody can be"
    amounts = [
        prod((len(alive) - 1 if level == mine else -1) for level, mine, alive in zip(levels, own, effect.alive, strict=True))
        for levels in product(*effect.alive)
    ]
    first = 0
    if isinstance(query, AreaEffects) and query.level:
        group = CategoryGroup(query.tree.columns[query.level - 1])
        first = query.tree.there[query.level - 1].index(place(group, record, group_labels(group, facts)))
    return [(0, first * len(amounts) + at, effect.times * amount) for at, amount in enumerate(amounts)]


def parts_of_whole(query: WholeTable, plan: Plan, record: dict[str, object]) -> list[tuple[int, int, int]]:
    """What a record adds to a table of all levels that can have rows."""
    cell = cell_of(query.groups, [group_labels(group, plan.facts) for group in query.groups], record)
    if cell is None:
        return []
    own = np.unravel_index(cell, query.sizes) if query.sizes else ()
    place = 0
    for mine, alive in zip(own, query.alive, strict=True):
        place = place * len(alive) + alive.index(mine)
    return [(0, place, query.times)]


def parts(query: object, plan: Plan, record: dict[str, object]) -> list[tuple[int, int, int]]:
    """What a record adds within its cell: level, coordinate and amount."""
    match query:
        case RowCount():
            return [(0, 0, 1)]
        case TableCounts(groups=groups, sizes=sizes):
            facts = table_facts(plan.schema, plan.neighbours, plan.steps)
            labels = [group_labels(group, facts) for group in groups]
            assert tuple(map(len, labels)) == sizes
            cell = cell_of(groups, labels, record)
            return [] if cell is None else [(0, cell, 1)]
        case EffectCounts() | AreaEffects():
            return parts_of_effect(query, plan, record)
        case WholeTable():
            return parts_of_whole(query, plan, record)
        case PairSum(x=x, y=y, shift=shift):
            return [(0, 0, added - shift) for _, _, added in parts(ProductSum((x, y)), plan, record)]
        case ProductSum(factors=factors):
            return times(factors, record)
        case VectorSum(parts=own, known=known):
            if any(record[name] is None for name in known):
                return []
            return [(level, 0, one.times * multiplied(one, plan, record)) for level, one in enumerate(own)]
        case Excess(recorded=raw, clamped=cut):
            both = [parts(one, plan, record) for one in (raw, cut)]
            return [(0, 0, both[0][0][2] - both[1][0][2])] if all(both) else []
        case NullCount(column=column):
            return [(0, 0, 1)] if record[column] is None else []
        case ImputedSum(filled=filled, known=known):
            return [] if record[known.column] is not None else parts(filled, plan, record)
    value = record[query.column]
    return [] if value is None else parts_of_known(query, plan, value)


def parts_of_known(query: object, plan: Plan, value: int) -> list[tuple[int, int, int]]:
    """The same where the one column of the query is known."""
    match query:
        case NonNullCount():
            return [(0, 0, 1)]
        case WeightedSum(first=first, slope=slope, width=width):
            return [(0, 0, first + slope * (value - lowest(plan, query.column, width)))]
        case Squares(first=first, slope=slope, width=width, shift=shift):
            return [(0, 0, (first + slope * (value - lowest(plan, query.column, width))) ** 2 - shift)]
        case LevelCounts(low=low, tree=tree):
            codes = [tree.width * tree.branching ** (tree.depth - 1 - level) for level in range(tree.depth)]
            return [(level, (value - low) // size, 1) for level, size in enumerate(codes)]
    raise AssertionError(query)


def lowest(plan: Plan, name: str, width: int) -> int:
    """The least value that is left after the clamps; `width` says how far the greatest is above it."""
    column = name.split(" as ", maxsplit=1)[0]
    low, high = 0, int(plan.schema[column].upper)
    for step in plan.steps:
        if isinstance(step, Clamp) and step.column == column and not name.endswith(" as recorded"):
            low, high = (min(max(bound, step.low), step.high) for bound in (low, high))
    assert high - low == width
    return low


# One table --------------------------------------------------------------------------------------------------------------


def added(one: Answer, other: Answer) -> Answer:
    return tuple(map(int.__add__, one, other))


def convolved(one: AnswerLaw, other: AnswerLaw) -> AnswerLaw:
    total: AnswerLaw = defaultdict(Fraction)
    for left, chance in one.items():
        for right, share in other.items():
            total[added(left, right)] += chance * share
    return dict(total)


@dataclass(eq=False)
class Literal:
    """The answers of one quote: all its queries one after the other, as one vector of integers.

    `impute_copies` says whether each copy of a null is imputed by itself: the wrong way round (soundness 1), which only
    the tests of the tests ask for.
    """

    quoted: Quote
    impute_copies: bool = False

    @property
    def plan(self) -> Plan:
        return self.quoted.plan

    def __post_init__(self) -> None:
        self.labels, self.cells = self.plan.layout.labels, self.plan.layout.cells
        self.names = list(self.plan.schema.columns)
        # For each coordinate of the answers the query that it belongs to.
        self.owner = [
            number for number, one in enumerate(self.quoted.measured) for _ in range(self.cells * sum(one.query.widths()))
        ]
        self.size = len(self.owner)
        self.nothing = (0,) * self.size
        self.fill = cache(self._fill)
        self.filled = cache(self._filled)

    def contribution(self, record: dict[str, object]) -> Answer:
        """What a final record adds to the answers."""
        found = [0] * self.size
        cell = cell_of(self.plan.group_by, self.labels, record) if passes(self.plan, record) else None
        start = 0
        for one in self.quoted.measured:
            sizes = one.query.widths()
            for level, coordinate, amount in [] if cell is None else parts(one.query, self.plan, record):
                found[start + self.cells * sum(sizes[:level]) + cell * sizes[level] + coordinate] += amount
            start += self.cells * sum(sizes)
        return tuple(found)

    def row(self, values: Sequence[object]) -> AnswerLaw:
        """The law of what a row of the source adds, its nulls imputed."""
        laws = [after_steps(self.plan, name, value) for name, value in zip(self.names, values, strict=True)]
        before = with_nulls(self.plan, self.names, values)
        total: AnswerLaw = defaultdict(Fraction)
        for chosen in product(*(law.items() for law in laws)):
            chance = ONE
            for _, share in chosen:
                chance *= share
            final = dict(zip(self.names, (value for value, _ in chosen), strict=True))
            total[self.contribution({**final, **before})] += chance
        return dict(total)

    def table(self, rows: Sequence[AnswerLaw]) -> AnswerLaw:
        """The law of the answers of a table of such rows: impute, copy, sample, fill."""
        resize, copies = resize_of(self.plan), 1
        if resize is not None:
            copies = resize.copies
            if self.impute_copies:
                rows, copies = [row for row in rows for _ in range(copies)], 1
        total: AnswerLaw = defaultdict(Fraction)
        for imputed in product(*(row.items() for row in rows)):
            chance = ONE
            for _, share in imputed:
                chance *= share
            for answer, share in self.fill(tuple(sorted(answer for answer, _ in imputed)), copies).items():
                total[answer] += chance * share
        return dict(total)

    def _fill(self, records: tuple[Answer, ...], copies: int) -> AnswerLaw:
        resize, total = resize_of(self.plan), defaultdict(Fraction)
        for kept, chance in samples([record for record in records for _ in range(copies)], self.plan):
            answer = self.nothing
            for record in kept:
                answer = added(answer, record)
            missing = 0 if resize is None else resize.rows - len(kept)
            for extra, share in self.filled(missing).items():
                total[added(answer, extra)] += chance * share
        return dict(total)

    def _filled(self, count: int) -> AnswerLaw:
        """The law of what `count` rows of nulls add."""
        if not count:
            return {self.nothing: ONE}
        return convolved(self.filled(count - 1), self.row([None] * len(self.names)))


def sampled(records: list[Answer], step: SampleEach | SampleRows) -> Iterator[tuple[tuple[Answer, ...], Fraction]]:
    """A sample without fill: each row by itself, or every set of so many rows with the same chance; all rows of few."""
    if isinstance(step, SampleRows):
        sets = list(combinations(records, min(step.rows, len(records))))
        yield from ((kept, Fraction(1, len(sets))) for kept in sets)
        return
    for mask in product([False, True], repeat=len(records)):
        chance = ONE
        for one in mask:
            chance *= step.rate if one else 1 - step.rate
        yield tuple(record for record, one in zip(records, mask, strict=True) if one), chance


def samples(copies: list[Answer], plan: Plan) -> Iterator[tuple[tuple[Answer, ...], Fraction]]:
    """Which copies are kept, as multisets with their chances."""
    resize, total = resize_of(plan), Counter()
    sample = next((step for step in plan.steps if isinstance(step, SampleEach | SampleRows)), None)
    if sample is not None:
        yield from sampled(copies, sample)
        return
    if resize is None:
        yield tuple(copies), ONE
        return
    if isinstance(plan.neighbours, dp.ReplaceOne):
        subsets = list(combinations(copies, min(int(resize.proportion * plan.neighbours.rows), resize.rows)))
        total.update({kept: Fraction(count, len(subsets)) for kept, count in Counter(subsets).items()})
    else:
        for mask in product([False, True], repeat=len(copies)):
            chance = resize.rate ** sum(mask) * (1 - resize.rate) ** (len(copies) - sum(mask))
            tossed = [copy for copy, heads in zip(copies, mask, strict=True) if heads]
            subsets = list(combinations(tossed, min(len(tossed), resize.rows)))
            for kept in subsets if chance else []:
                total[kept] += chance / len(subsets)
    yield from total.items()


# All tables -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of a few rows, and the ordered pairs of them that are compared.

    Rows that add the same to every answer are one; `rows` has one row of the source for each kind of row, and
    `contributions` the law of what it adds.
    """

    rows: list[tuple]
    contributions: list[AnswerLaw]
    counts: np.ndarray
    laws: list[AnswerLaw]
    pairs: np.ndarray

    def source(self, table: int) -> list[tuple]:
        """The rows of a table."""
        return [row for row, count in zip(self.rows, self.counts[table], strict=True) for _ in range(count)]


def all_tables(literal: Literal, records: Sequence[tuple], most: int) -> Tables:
    """Every table over the kinds of `records`: of exactly as many rows as declared, or of 0 to `most`."""
    kinds: dict[frozenset, tuple[tuple, AnswerLaw]] = {}
    for record in records:
        law = literal.row(record)
        kinds.setdefault(frozenset(law.items()), (record, law))
    rows, row_laws = [row for row, _ in kinds.values()], [law for _, law in kinds.values()]
    neighbours = literal.plan.neighbours
    sizes = [neighbours.rows] if isinstance(neighbours, dp.ReplaceOne) else range(most + 1)
    chosen = [one for size in sizes for one in combinations_with_replacement(range(len(rows)), size)]
    counts = np.array([np.bincount(one, minlength=len(rows)) if one else np.zeros(len(rows), int) for one in chosen])
    laws = [literal.table([row_laws[kind] for kind in one]) for one in chosen]
    return Tables(rows, row_laws, counts, laws, compared(counts, neighbours))


def compared(counts: np.ndarray, neighbours: object) -> np.ndarray:
    """The ordered pairs of neighbours that are not the same table."""
    differences = counts[:, None] - counts[None]
    appeared, vanished = np.maximum(differences, 0).sum(axis=2), np.maximum(-differences, 0).sum(axis=2)
    near = np.maximum(appeared, vanished) <= neighbours.rows_per_person
    if isinstance(neighbours, dp.AddRemove):
        near &= np.minimum(appeared, vanished) == 0
    return np.argwhere(near & (appeared + vanished > 0))
