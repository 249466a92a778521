"""Windows of a data set: ranges of days, each with a budget, and the requests that read the rows of some of them only.

The library, not the request, compares the days, and does so before every other step (Q2 of docs/proofs/populations.md).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.domain.bounds import Bound
from discreet.domain.columns import Date
from discreet.domain.person_relations import AddRemovePersons, base_of
from discreet.domain.row_samples import SampleEach, SampleRows
from discreet.domain.schema import Schema
from discreet.domain.steps import Clamp, ClampCategories, Impute, Resize, Step, Where, WhereIn
from discreet.errors import ArgumentError, PlanError, did_you_mean, printed, unreachable
from discreet.exact.numbers import text
from discreet.exact.windows import Calendar
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.privacy.amounts import check_budget
from discreet.privacy.coordinates import Budget, coordinates

__all__ = ["Windows"]

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Windows:
    """The days, weeks, months, quarters or years of a column, each with a budget of its own.

    A window has its first day and every day before the next window begins. A row is in the window of the day that the schema
    reads: days outside the column's bounds count as the nearest bound, and a row without a day is in no window. There is no
    time zone and no clock in this.

    Args:
        column: a `Date` of the schema, which is fixed for good with the way in which it is read.
        each: "day", "week" (from Monday), "month", "quarter" or "year".
        budget: all that may ever be spent on the rows of one window, in the measure of the data set's budget, which bounds
            all windows together.

    Raises:
        ArgumentError: not a name of a column, or not a budget.
    """

    column: str
    each: str
    budget: Budget

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ArgumentError(f"column={printed(self.column)}: must be the name of a Date of the schema")
        check_budget(self.budget)

    def calendar(self, schema: Schema) -> Calendar:
        """The windows of the days that the column of a schema can have.

        Raises:
            ArgumentError: no such column, one that is not a Date, or too many windows.
        """
        found = schema.columns.get(self.column)
        if not isinstance(found, Date):
            hint = did_you_mean(self.column, schema.columns) if found is None else ""
            raise ArgumentError(f"windows: column='{self.column}' must be a Date of the schema{hint}")
        return Calendar(self.each, found.first, found.last)

    def to_json(self, schema: Schema) -> dict[str, object]:
        """The windows in the declaration of a data set; the budget in the coordinates in which the ledger adds."""
        calendar = self.calendar(schema)
        days = {"first": calendar.first.isoformat(), "last": calendar.last.isoformat()}
        budget = [text(amount) for amount in coordinates(self.budget)]
        return {"column": self.column, "each": self.each, **days, "budget": budget}

    def within(self, table: Table, names: Sequence[str]) -> Table:
        """The table of which only rows of these windows count. It must not have a step yet.

        Raises:
            PlanError: unknown windows, or windows that do not follow one another.
        """
        if table.steps:
            raise PlanError("window: must come before every other step; begin with it")
        return table.where({self.column: self._days(table.schema, names)})

    def _days(self, schema: Schema, names: Sequence[str]) -> tuple[dt.date, dt.date]:
        """The first and the last day of windows that follow one another, within the bounds of the column."""
        calendar = self.calendar(schema)
        starts, known = calendar.by_name(), calendar.names()
        for name in names:
            if not isinstance(name, str) or name not in starts:
                listed = f"{known[0]} to {known[-1]}"
                near = did_you_mean(name, known) if isinstance(name, str) else ""
                raise PlanError(f"window={printed(name)}: is not a {self.each} of column '{self.column}' ({listed}){near}")
        place = known.index(names[0]) if names else 0
        if not names or tuple(names) != known[place : place + len(names)]:
            raise PlanError(
                f"window={', '.join(names) or 'nothing'}: must be one window, or several in their order without gaps; make "
                "one release for each part"
            )
        last = calendar.end(starts[names[-1]]) - _DAY
        return max(starts[names[0]], calendar.first), min(last, calendar.last)

    def read_by(self, request: Plan) -> tuple[str, ...]:
        """The windows whose rows alone a request reads, in order; none where it can read all rows.

        Only a condition on rows that stands before every other step, and holds for whole windows, makes a request one of
        these windows; anything else is charged to all of them, also a condition on what becomes of all rows of a person.

        Raises:
            PlanError: rows are drawn after it: which ones depends on the rows of other windows too.
        """
        rows = request if request.persons is None else request.persons  # its steps are on the rows of the source
        if request.persons is not None and request.persons.table:
            return ()  # a table of persons is in all windows, whatever its columns are called
        if base_of(rows.neighbours):
            return ()  # every request reads who is in the table of persons
        if rows.schema.joined and not isinstance(rows.neighbours, AddRemovePersons):
            return ()  # where her row there may be another one, it stands on what she has in other windows as well (Q3)
        first = rows.steps[0] if rows.steps else None
        if not isinstance(first, Where) or first.column != self.column:
            return ()
        column = rows.schema.columns[self.column]
        if not isinstance(column, Date):
            raise ArgumentError(f"windows: column='{self.column}' must be a Date of the schema")
        days, calendar = (column.value(first.low), column.value(first.high)), self.calendar(rows.schema)
        names = calendar.names()
        touched = names[names.index(calendar.name_of(days[0])) : names.index(calendar.name_of(days[1])) + 1]
        if self._days(rows.schema, touched) != days:
            return ()
        _require_no_draw((*rows.steps, *request.steps))
        return touched


def _require_no_draw(steps: Sequence[Step]) -> None:
    """Every step treats each row, or all rows of one person, by themselves.

    Raises:
        PlanError: one does not.
    """
    for step in steps:
        match step:
            case Clamp() | ClampCategories() | Impute() | Where() | WhereIn() | Bound():
                pass
            case Resize() | SampleEach() | SampleRows():
                raise PlanError(
                    "window: takes no resize and no sample, because which rows are drawn depends on rows of other windows "
                    "too; leave the step out, or the window"
                )
            case _:
                raise unreachable(step)
