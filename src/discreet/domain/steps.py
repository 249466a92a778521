"""The steps that prepare the table: clamp, impute, where, and resize, sample or bound.

Each step is a frozen value that states its own local facts. The rule `after` derives the public facts of the table after
the step (bounds, categories, nullability, number of rows, copies c and rate s). Nothing here sees a row.
Steps hold codes of the schema's grids, so that every later part works on integers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from discreet.domain.bounds import Bound, check_weight
from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.identifiers import not_a_person
from discreet.domain.imputation import ImputationLaw, Normal, Uniform, Weights, check_law, law_json
from discreet.domain.neighbours import Neighbours, ReplaceOne, person_of, whole_number
from discreet.domain.row_samples import Compared, SampleEach, SampleRows
from discreet.domain.schema import Schema
from discreet.domain.texts import wrong_use
from discreet.errors import ArgumentError, PlanError, did_you_mean, printed, unreachable
from discreet.exact.numbers import Amount, exact, text

__all__ = [
    "ROW_DRAWS",
    "Bound",
    "CategoryFacts",
    "Clamp",
    "ClampCategories",
    "ColumnFacts",
    "Impute",
    "NumberFacts",
    "Resize",
    "RowDraw",
    "Step",
    "TableFacts",
    "Where",
    "WhereIn",
    "after",
    "clamp_step",
    "conditions_of",
    "facts_of",
    "impute_step",
    "resize_step",
    "step_json",
    "where_step",
]


@dataclass(frozen=True, slots=True)
class Clamp:
    """Numbers of `column` are moved into the codes [low, high]; nulls stay null (seed 001, section 2)."""

    column: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class ClampCategories:
    """Categories of `column` outside `kept` become null; nulls stay null (seed 001, section 2)."""

    column: str
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Impute:
    """Every null of `column` is replaced by an independent draw from `law` (seed 001, section 3)."""

    column: str
    law: ImputationLaw


@dataclass(frozen=True, slots=True)
class Where:
    """Rows whose `column` is outside the codes [low, high], or is null, contribute 0 to every statistic."""

    column: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class WhereIn:
    """Rows whose `column` is not among the codes `kept`, or is null, contribute 0 to every statistic."""

    column: str
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resize:
    """The table has exactly `rows` rows afterwards, drawn from c = ⌈p⌉ copies at the rate s = p/c and filled by imputation.

    Seeds 000 and 001, section 4, as corrected: min(m, n) rows are sampled, never max. Stability: one row of the original
    moves at most c rows of the result (mathematics, Theorems R1 and R2), whatever `rows` is.
    """

    rows: int
    proportion: Fraction

    @property
    def copies(self) -> int:
        """c: the number of copies of each record before sampling."""
        return ceil(self.proportion)

    @property
    def rate(self) -> Fraction:
        """s: the proportion of the copies that is sampled."""
        return self.proportion / self.copies


RowDraw = Resize | SampleEach | SampleRows
"""A step that draws which rows are in the prepared table. There is at most one."""

ROW_DRAWS: tuple[type[RowDraw], ...] = (Resize, SampleEach, SampleRows)

Step = Clamp | ClampCategories | Impute | Where | WhereIn | RowDraw | Bound


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """The facts of a numeric column: all its non-null codes are in [low, high]."""

    column: Number | Date
    low: int
    high: int
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class CategoryFacts:
    """The facts of a categorical column: its non-null codes are among `kept`."""

    column: Category
    kept: tuple[int, ...]
    nullable: bool = True


ColumnFacts = NumberFacts | CategoryFacts


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The facts of the whole table. `rows` is public or None; the one resize determines the copies c and the rate s.

    `drawn` drew the rows, `bound` is for one person, nobody listed `texts`, and `tables` are of persons, by their columns.
    """

    columns: Mapping[str, ColumnFacts]
    neighbours: Neighbours
    rows: int | None
    copies: int = 1
    rate: Fraction = Fraction(1)
    drawn: RowDraw | None = None
    filtered: frozenset[str] = field(default=frozenset())
    bound: Bound | None = None
    texts: frozenset[str] = frozenset()
    tables: Mapping[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> Compared:
        """The relation between two prepared tables of neighbours; after a resize n is fixed, so that a row is replaced."""
        if self.drawn is not None and not isinstance(self.drawn, Resize):
            return self.drawn.compared(self.neighbours)
        return Compared(self.neighbours if self.rows is None else ReplaceOne(self.rows), vanishes=False)

    def __getitem__(self, name: str) -> ColumnFacts:
        """The facts of a declared column.

        Raises:
            PlanError: the column is not declared; the message names the nearest one.
        """
        if isinstance(name, str) and name in self.columns:
            return self.columns[name]
        if isinstance(name, str) and name == person_of(self.neighbours):
            raise not_a_person(name)
        if isinstance(name, str) and name in self.texts:
            raise wrong_use(name)
        raise PlanError(f"column {printed(name)}: is not declared in the schema{did_you_mean(name, self.columns)}")


def facts_of(schema: Schema, neighbours: Neighbours) -> TableFacts:
    """The facts before any step: the schema's domains, every column nullable but `never_null`, n public under ReplaceOne.

    Raises:
        PlanError: the relation names no `Identifier` of the schema, or the schema has one that the relation does not name.
    """
    _check_identifiers(schema, person_of(neighbours))
    columns: dict[str, ColumnFacts] = {}
    for name, column in schema.columns.items():
        if isinstance(column, Category):
            columns[name] = CategoryFacts(column, tuple(range(column.size)))
        else:
            columns[name] = NumberFacts(column, 0, column.size - 1, name not in schema.never_null(neighbours))
    texts, tables = frozenset(schema.texts), schema.tables
    return TableFacts(MappingProxyType(columns), neighbours, neighbours.rows, texts=texts, tables=tables)


def _check_identifiers(schema: Schema, person: str | None) -> None:
    if person is not None and person not in schema.identifiers:
        raise PlanError(
            f"person={printed(person)}: is not an Identifier of the schema{did_you_mean(person, schema.identifiers)}; "
            f"declare the column as {person}=Identifier()"
        )
    other = next((name for name in schema.identifiers if name != person), None)
    if other is not None:
        raise PlanError(
            f"column '{other}': is an Identifier, and the neighbours do not name it; declare AddRemove(person='{other}') "
            "or leave the column out"
        )


def after(step: Step, facts: TableFacts) -> TableFacts:
    """The facts after one more step.

    Raises:
        PlanError: a clamp, imputation or second draw of rows after the resize or sample, a sample of more rows than the
            table has, a change of a column that `where` has used, or anything after a bound.
    """
    if facts.bound is not None:
        raise PlanError(f"{_name(step)}: the table was bounded already; bound() is the last step, and stands once")
    if isinstance(step, Bound):
        check_weight(step.weight, facts)
        return replace(facts, bound=step)
    if isinstance(step, Where | WhereIn):
        return replace(facts, filtered=facts.filtered | {step.column})
    if facts.drawn is not None:
        raise PlanError(f"{_name(step)}: {_no_more(facts.drawn)}")
    if isinstance(step, Resize):
        return replace(facts, rows=step.rows, copies=step.copies, rate=step.rate, drawn=step)
    if isinstance(step, SampleEach | SampleRows):
        return replace(facts, rows=step.rows_after(facts.neighbours), drawn=step)
    if step.column in facts.filtered:
        raise PlanError(f"{_name(step)}: where() has used column '{step.column}' already; put where() after the last change")
    columns = dict(facts.columns)
    columns[step.column] = _column_after(step, facts[step.column])
    return replace(facts, columns=MappingProxyType(columns))


def _column_after(step: Clamp | ClampCategories | Impute, facts: ColumnFacts) -> ColumnFacts:
    if isinstance(step, Impute):
        return replace(facts, nullable=False)
    if isinstance(step, ClampCategories) and isinstance(facts, CategoryFacts):
        kept = tuple(code for code in facts.kept if code in step.kept)
        # A category that is left out becomes null, also after an imputation (soundness 2).
        return replace(facts, kept=kept, nullable=facts.nullable or kept != facts.kept)
    if isinstance(step, Clamp) and isinstance(facts, NumberFacts):
        # A clamp works on the result of the previous clamp: disjoint ranges leave one value, and bounds are never inverted.
        return replace(facts, low=_clip(facts.low, step), high=_clip(facts.high, step))
    raise PlanError(f"{_name(step)}: does not fit the type of the column")


def conditions_of(steps: Iterable[Step]) -> list[Where | WhereIn]:
    """The steps that can exclude a row from every group."""
    found: list[Where | WhereIn] = []
    for step in steps:
        match step:
            case Where() | WhereIn():
                found.append(step)
            case Clamp() | ClampCategories() | Impute() | Resize() | SampleEach() | SampleRows() | Bound():
                pass  # the row stays, with the same or another value, or is drawn whatever its values are
            case _:
                raise unreachable(step)
    return found


def _clip(code: int, step: Clamp) -> int:
    return min(max(code, step.low), step.high)


def _no_more(drawn: RowDraw) -> str:
    """Why no other step may follow."""
    if isinstance(drawn, Resize):
        return "the table was resized already; there is one resize, and it is the last step"
    return "the table was sampled already; a sample is the last step, and there is no resize beside it"


def _name(step: Step) -> str:
    if isinstance(step, Resize):
        return f"resize(rows={step.rows})"
    if isinstance(step, SampleEach | SampleRows | Bound):
        return step.title
    words = {Clamp: "clamp", ClampCategories: "clamp", Impute: "impute"}
    return f"{words.get(type(step), 'where')}('{step.column}')"


def clamp_step(facts: TableFacts, name: str, to: object) -> Step:
    """The clamp of one column: (lower, upper) for numbers and dates, a list of categories otherwise.

    Raises:
        PlanError: undeclared column, bounds that are reversed, off the grid or outside the schema, unknown categories.
    """
    column = facts[name]
    if isinstance(column, CategoryFacts):
        return ClampCategories(name, _category_codes(column.column, to, f"clamp('{name}')"))
    low, high = _code_range(column.column, to, f"clamp('{name}')")
    return Clamp(name, low, high)


def where_step(facts: TableFacts, name: str, to: object) -> Step:
    """The condition on one column: lower ≤ value ≤ upper for numbers and dates, one of a list of categories otherwise.

    Raises:
        PlanError: the same cases as for `clamp_step`.
    """
    column = facts[name]
    if isinstance(column, CategoryFacts):
        listed = [to] if isinstance(to, str | int | bool) else to
        return WhereIn(name, _category_codes(column.column, listed, f"where('{name}')"))
    low, high = _code_range(column.column, to, f"where('{name}')")
    return Where(name, low, high)


def impute_step(facts: TableFacts, name: str, law: object) -> Impute:
    """The imputation of one column by `law`: Uniform or Normal for numbers and dates, Weights for categories.

    Raises:
        PlanError: undeclared column, a law of the wrong kind, or one that does not fit the column's bounds or categories.
    """
    column = facts[name]
    if not isinstance(law, Uniform | Normal | Weights):
        raise PlanError(f"impute('{name}'): must be Uniform(), Normal(mean, sd) or Weights({{…}}), not {printed(law)}")
    try:
        if isinstance(column, CategoryFacts):
            check_law(law, column.column, 0, column.column.size - 1, column.kept)
        else:
            check_law(law, column.column, column.low, column.high, ())
    except ArgumentError as wrong:
        raise PlanError(f"impute('{name}'): {wrong}") from None
    return Impute(name, law)


def resize_step(rows: object, proportion: Amount) -> Resize:
    """The resize to `rows` ≥ 1 rows, of which at most `proportion` > 0 times the original number are real.

    Raises:
        PlanError: `rows` is not a whole number of at least 1, or the proportion is not in (0, 1000].
    """
    try:
        number = whole_number(rows, "resize(rows)", least=1)
        share = exact(proportion, "resize(proportion)")
    except ArgumentError as wrong:
        raise PlanError(str(wrong)) from None
    if not 0 < share <= 1000:
        raise PlanError(f"resize(proportion)={text(share)}: must be greater than 0 and at most 1000")
    return Resize(number, share)


def _code_range(column: Number | Date, to: object, where: str) -> tuple[int, int]:
    if not isinstance(to, list | tuple) or len(to) != 2:
        raise PlanError(f"{where}={printed(to)}: must be a pair (lower, upper)")
    try:
        low, high = (column.code(value, name) for value, name in zip(to, ("lower", "upper"), strict=True))
    except ArgumentError as wrong:
        raise PlanError(f"{where}: {wrong}") from None
    if low > high:
        raise PlanError(f"{where}: lower={printed(to[0])} must not be greater than upper={printed(to[1])}; exchange the two")
    return low, high


def _category_codes(column: Category, to: object, where: str) -> tuple[int, ...]:
    if not isinstance(to, list | tuple | set | frozenset):
        raise PlanError(f"{where}={printed(to)}: must be a list of categories of the column")
    try:
        codes = [column.code(value, "category") for value in to]
    except ArgumentError as wrong:
        raise PlanError(f"{where}: {wrong}") from None
    if not codes or len(set(codes)) != len(codes):
        raise PlanError(f"{where}: the categories must be at least one, each once")
    return tuple(sorted(codes))


def _show_code(column: Column, code: int) -> str:
    if isinstance(column, Category):
        raise PlanError("a category has no bounds")
    return text(column.value(code)) if isinstance(column, Number) else column.value(code).isoformat()


def step_json(step: Step, schema: Schema) -> dict[str, object]:
    """The step as canonical JSON values, with values of the column instead of codes."""
    if isinstance(step, Resize):
        return {"step": "resize", "rows": step.rows, "proportion": text(step.proportion)}
    if isinstance(step, SampleEach | SampleRows | Bound):
        return step.to_json()
    column = schema[step.column]
    if isinstance(step, Impute):
        return {"step": "impute", "column": step.column, **law_json(step.law)}
    word = "clamp" if isinstance(step, Clamp | ClampCategories) else "where"
    if isinstance(step, Clamp | Where):
        bounds = [_show_code(column, step.low), _show_code(column, step.high)]
        return {"step": word, "column": step.column, "lower": bounds[0], "upper": bounds[1]}
    values: tuple[Value | dt.date, ...] = column.values if isinstance(column, Category) else ()
    return {"step": word, "column": step.column, "categories": [values[code] for code in step.kept]}
