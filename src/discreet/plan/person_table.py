"""A table with one row for each person, made of all rows of the person: its schema, and the scan that makes it.

On it everything is asked as on any table whose neighbours differ in one row (U6 of docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.cube.person_numbers import Total
from discreet.cube.person_rows import PersonColumn, PersonRows
from discreet.cube.persons import PersonValue
from discreet.cube.value_paths import CategoryPath, KeyAxis, NumberPath, path_of
from discreet.domain.codes import NULL
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.neighbours import Neighbours, OfPersons, no_persons, person_of
from discreet.domain.of_persons import OfRows, only
from discreet.domain.person_relations import base_of, check_base, of_table
from discreet.domain.schema import Schema
from discreet.domain.steps import CategoryFacts, Impute, NumberFacts, Step, TableFacts, conditions_of, facts_of, step_json
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.numbers import text
from discreet.plan.layout import table_facts
from discreet.plan.persons import condition_axis, tables_beside
from discreet.statistics.person_values import Totals, Wanted, totals_of

__all__ = ["PersonTable", "check_person_table", "person_rows", "person_table", "table_of_persons"]


_COUNTED = ("rows", "distinct")
"""What counts, and has a value for everybody: also where a person has no row, or no value."""


@dataclass(frozen=True, slots=True)
class PersonTable:
    """A table of rows, the steps on it, and what becomes of all rows of a person.

    Args:
        schema: of the table of rows.
        neighbours: of the table of rows: they differ in all rows of a person.
        steps: clamps and conditions on rows.
        made: the columns of the table of persons, by their names.
        table: the table of persons of the data set whose rows these are; empty for its first table.
    """

    schema: Schema
    neighbours: OfPersons
    steps: tuple[Step, ...]
    made: tuple[tuple[str, OfRows], ...]
    table: str = ""

    @property
    def seen(self) -> OfPersons:
        """The relation as seen from this table, whose identifier says whose row it is."""
        return of_table(self.neighbours, self.table)

    @property
    def facts(self) -> TableFacts:
        """The facts of the table of rows after its steps."""
        return table_facts(self.schema, self.seen, self.steps)

    @property
    def columns(self) -> Schema:
        """The schema of the table of persons."""
        schema = Schema({name: _column(name, made, self.facts) for name, made in self.made})
        return schema.counting(name for name, made in self.made if made.how in _COUNTED)

    def columns_behind(self, used: Collection[str]) -> frozenset[str]:
        """The columns of the rows that decide the values of these columns of persons, and which persons have a row."""
        made = {one.column for name, one in self.made if name in used and one.column is not None}
        return frozenset({*made, *(step.column for step in conditions_of(self.steps))})

    @property
    def relation(self) -> OfPersons:
        """The same relation, on the table with one row for each person."""
        return replace(self.neighbours, each="row")

    def to_json(self) -> dict[str, object]:
        """The table as canonical JSON values."""
        return {
            "schema": self.schema.to_json(),
            "neighbours": self.neighbours.to_json(),
            "steps": [step_json(step, self.schema) for step in self.steps],
            "made": [{"name": name, **made.to_json()} for name, made in self.made],
            **({"table": self.table} if self.table else {}),
        }


def table_of_persons(name: str, schema: Schema, neighbours: OfPersons) -> PersonTable:
    """A table of persons of the data set: of all rows of one person, of each column the value that they agree on (U7)."""
    return PersonTable(schema, neighbours, (), tuple((column, only(column)) for column in schema.columns), name)


def person_table(schema: Schema, neighbours: Neighbours, steps: tuple[Step, ...], made: Mapping[str, object]) -> PersonTable:
    """The table with one row for each person, whose columns are made so.

    Raises:
        PlanError: a table of rows without persons, or without the table of them; steps that draw or bound; no column; one
            that does not fit.
    """
    if not isinstance(neighbours, OfPersons) or person_of(neighbours) is None:
        raise PlanError(f"per_person(): {no_persons(neighbours, 'leave it out')}")
    check_base(neighbours)
    facts = table_facts(schema, neighbours, steps)
    _check_steps(steps, facts)
    about = next((step.column for step in conditions_of(steps) if step.column in facts.tables), None)
    if about is not None and base_of(neighbours):
        raise PlanError(
            f"where('{about}'): is a condition on persons, and all persons of '{base_of(neighbours)}' have a row in the "
            f"table that per_person() makes; make {about}=dp.only('{about}') a column there, and put the condition on it"
        )
    if not made:
        raise PlanError("per_person(): names no column; name at least one, such as visits=dp.rows(0, 50)")
    for name, one in made.items():
        if not isinstance(one, OfRows):
            raise PlanError(
                f"per_person({name}={printed(one)}): must be rows(low, high), total(column, low, high), distinct(column, "
                "most=…), latest(column), earliest(column) or only(column)"
            )
    columns = tuple((name, one) for name, one in made.items() if isinstance(one, OfRows))
    return PersonTable(schema, neighbours, steps, columns)


def check_person_table(neighbours: Neighbours, table: PersonTable | None, schema: Schema) -> None:
    """Checks that a relation with one row for each person stands on such a table, and on no other.

    Raises:
        PlanError: it does not.
    """
    check_base(neighbours)
    stands = isinstance(neighbours, OfPersons) and neighbours.each == "row"
    if stands != (table is not None):
        raise PlanError("neighbours: one row for each person is what table.per_person(…) makes; declare AddRemove(person=…)")
    if table is not None and (neighbours != table.relation or schema != table.columns):
        raise InternalError("a table of persons has another schema than its columns")


def _check_steps(steps: tuple[Step, ...], facts: TableFacts) -> None:
    if facts.bound is not None:
        raise PlanError("per_person(): a person has one row in it, and needs no bound; leave bound() out")
    if facts.drawn is not None:
        raise PlanError("per_person(): stands before resize() and sample(), which then draw persons; put it first")
    drawn = next((step for step in steps if isinstance(step, Impute)), None)
    if drawn is not None:
        raise PlanError(
            f"impute('{drawn.column}'): draws values row by row, and a person may have any number of rows; impute the "
            "columns of persons instead, after per_person()"
        )


# The columns --------------------------------------------------------------------------------------------------------------


def _column(name: str, made: OfRows, facts: TableFacts) -> Column:
    """The public domain of a column of persons.

    Raises:
        PlanError: its rows have no such value, or the bounds do not fit them.
    """
    match made.how:
        case "rows" | "distinct":
            if made.column is not None:
                _ = facts[made.column]  # raises where it is not declared
            return Number(*_bounds(made), required=True)
        case "total":
            totals = _totals(name, made, facts)
            return Number(*_bounds(made), step=totals.unit)
        case "latest" | "earliest":
            known = facts[str(made.column)]
            if not isinstance(known, NumberFacts):
                raise PlanError(f"per_person({name}={made.how}('{made.column}')): the column has categories; ask for only()")
            return _own_range(known)
        case "only":
            known = facts[str(made.column)]
            return (
                Category(known.column.values[code] for code in known.kept)
                if isinstance(known, CategoryFacts)
                else (_own_range(known))
            )


def _own_range(known: NumberFacts) -> Column:
    """The values that the column has after its clamps."""
    low, high = known.column.value(known.low), known.column.value(known.high)
    if isinstance(known.column, Date):
        return Date(known.column.value(known.low), known.column.value(known.high))
    return Number(Fraction(str(low)), Fraction(str(high)), step=known.column.step)


def _bounds(made: OfRows) -> tuple[Fraction, Fraction]:
    if made.bounds is None:
        raise InternalError(f"'{made.how}' has bounds")
    return made.bounds


def _totals(name: str, made: OfRows, facts: TableFacts) -> Totals:
    """The totals on their grid."""
    column, known = str(made.column), facts[str(made.column)]
    if not isinstance(known, NumberFacts) or isinstance(known.column, Date):
        raise PlanError(f"per_person({name}=total('{column}')): is of a column of numbers; ask for distinct() or only()")
    try:
        return totals_of(Wanted(column, _bounds(made)), facts)
    except PlanError as wrong:
        low, high = (text(end) for end in _bounds(made))
        said = str(wrong).removeprefix("per_person: ")
        raise PlanError(f"per_person({name}=total('{column}', {low}, {high})): {said}") from None


# The scan -----------------------------------------------------------------------------------------------------------------


def person_rows(table: PersonTable, used: Collection[str]) -> PersonRows:
    """The scan that makes these columns of the table of persons."""
    start, facts = facts_of(table.schema, table.seen), table.facts
    if table.table and table.table == base_of(table.neighbours):  # its columns are read as of any table beside the rows
        start = replace(start, tables=dict.fromkeys(table.schema.columns, table.table))
    axes: list[KeyAxis] = []
    values: list[PersonValue] = []
    totals: list[Total] = []
    made = []
    for name, one in table.made:
        if name not in used:
            continue
        low, high, place = *_ends(one, facts), 0
        if one.how == "total":
            place, found = len(totals), _totals(name, one, facts)
            path = path_of(str(one.column), table.steps, start)
            if not isinstance(path, NumberPath):
                raise InternalError(f"column '{one.column}' is not numeric")
            low, high = found.low, found.high
            values.append(PersonValue(str(one.column), path))
            totals.append(Total(str(one.column), found.step, found.origin, low, high))
        elif one.column is not None:
            place = len(axes)
            axes.append(_axis(table, start, facts, one.column))
        made.append(PersonColumn(name, one.how, place, low, high))
    tests = tuple(condition_axis(step, path_of(step.column, table.steps, start)) for step in conditions_of(table.steps))
    scan = PersonRows(table.seen.person, tuple(axes), tests, tuple(values), tuple(totals), tuple(made), table.table)
    schemas = {**table.schema.joined, **({table.table: table.schema} if table.table else {})}
    return replace(scan, beside=tables_beside(scan.paths, table.neighbours, schemas, every=True))


def _ends(one: OfRows, facts: TableFacts) -> tuple[int, int]:
    """The least and the greatest number that a column is made of: its bounds, or the codes of its column."""
    if one.bounds is not None:
        return int(one.bounds[0]), int(one.bounds[1])
    known = facts[str(one.column)]
    return (known.low, known.high) if isinstance(known, NumberFacts) else (0, len(known.kept) - 1)


def _axis(table: PersonTable, start: TableFacts, facts: TableFacts, column: str) -> KeyAxis:
    """The codes of a column after its steps; of categories the places among those that are kept."""
    path, known = path_of(column, table.steps, start), facts[column]
    if not isinstance(path, CategoryPath) or not isinstance(known, CategoryFacts):
        return KeyAxis(path)
    place_of = {code: place for place, code in enumerate(known.kept)}
    targets = tuple(NULL if target == NULL else place_of[target] for target in path.targets)
    return KeyAxis(replace(path, targets=targets, null_target=NULL, laws=()))
