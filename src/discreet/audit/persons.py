"""Tables of persons to distinguish: one without and one with all rows of a canary, a person made to move the answers far.

A person can have any rows, so canaries differ in the number of groups that they are in, below and above the bound, in the
number of rows in each of them, and in the values of these rows. In a table of persons beside them a canary has one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from discreet.audit.distances import distances_of, furthest_of
from discreet.audit.draws import NOTHING, Kernel
from discreet.audit.tables import Row, codes_to_try, columns_of_plan, describe_row, engine_of
from discreet.cube.cube import Cube
from discreet.cube.persons import PersonScan
from discreet.domain.origins import root_of
from discreet.engines.base import Engine
from discreet.engines.joined import JoinedEngine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.errors import InternalError
from discreet.plan.plan import Plan
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import run_scans

__all__ = ["PersonPair", "canary_pairs"]

_MOST_GROUPS = 64
_MOST_VALUES = 12

_Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PersonPair:
    """Two tables with the rows of one person, of which the first one has none where persons are added or removed whole.

    Args:
        what: how they differ, in words.
        columns: what the codes of the rows are of, beside the identifier; those of tables of persons are the same in all.
        before: the rows of the first table.
        rows: those of the second one.
        moves: for each measured query what the second answer has more than the first.
    """

    what: str
    columns: tuple[str, ...]
    before: _Rows
    rows: _Rows
    moves: tuple[NDArray[np.float64], ...] | None

    def cubes(self, plan: Plan) -> tuple[Sequence[Cube], Sequence[Cube]]:
        """The cubes that an engine brings for each table."""
        return _cubes(plan, self.columns, self.before), _cubes(plan, self.columns, self.rows)


def canary_pairs(kernel: Kernel, quote: Quote) -> list[PersonPair]:
    """The persons that move all answers together, and each of them, the furthest; all states of one, if neighbours are."""
    columns = tuple(name for name in columns_of_plan(quote) if name != _scan_of(quote.plan).person)
    persons = [(), *_canaries(quote, columns)]
    answers = [list(kernel.exact(quote, _cubes(quote.plan, columns, rows), NOTHING)) for rows in persons]
    spread = distances_of(quote, answers)
    allowed = np.ones(spread.shape[1:], dtype=bool)
    allowed[1:] = quote.plan.neighbours.replacing == 1
    found = []
    for first, chosen in furthest_of(spread, allowed, np.zeros(len(persons), dtype=bool)):
        moves = tuple(np.subtract(b, a).astype(np.float64) for a, b in zip(answers[first], answers[chosen], strict=True))
        before, rows = persons[first], persons[chosen]
        found.append(PersonPair(_words(quote, columns, before, rows), columns, before, rows, moves))
    return found


def _cubes(plan: Plan, columns: tuple[str, ...], rows: _Rows) -> list[Cube]:
    scan = _scan_of(plan)
    engine: Engine = _engine(plan, columns, rows, ("", scan.person))
    if scan.beside:
        rest = {one.table: _engine(plan, columns, rows[:1], (one.table, one.codes.person)) for one in scan.beside}
        first = _engine(plan, columns, rows, ("", scan.person))
        engine = JoinedEngine(first, rest, ReferenceJoiner(first, rest))
    return list(run_scans(engine, plan.layout))


def _engine(plan: Plan, columns: tuple[str, ...], rows: _Rows, table: tuple[str, str]) -> ReferenceEngine:
    """The rows of one table, with its own columns, all of one person; the table by its name and its identifier."""
    name, person = table
    places = [place for place, column in enumerate(columns) if plan.schema.tables.get(column, "") == name]
    own = [tuple(row[place] for place in places) for row in rows]
    return engine_of(plan, tuple(columns[place] for place in places), own, {person: "one"})


def _canaries(quote: Quote, columns: tuple[str, ...]) -> Iterator[_Rows]:
    """All rows of each person worth trying, the same number in each of some groups."""
    scan, tables = _scan_of(quote.plan), quote.plan.schema.tables
    grouped = {root_of(key.axis.path.name, quote.plan.schema) for key in scan.keys if not key.axis.path.table}
    codes = codes_to_try(quote, columns)
    every = list(islice(product(*(codes[name] if name in grouped else (None,) for name in columns)), _MOST_GROUPS))
    # A person has one value in each column of a table of persons, whatever her rows are.
    alike = islice(product(*(codes[name] if name in tables else (None,) for name in columns)), _MOST_VALUES)
    each = [(None,) if name in grouped or name in tables else codes[name] for name in columns]
    for shared, other in product(alike, islice(product(*each), _MOST_VALUES)):
        rows = [tuple(map(_given, zip(shared, other, group, strict=True))) for group in every]
        for groups in sorted({1, 2, scan.groups, scan.groups + 1, len(rows)}):
            for times in sorted({1, scan.rows, scan.rows + 1}):
                yield tuple(row for row in rows[:groups] for _ in range(times))


def _given(codes: Sequence[int | None]) -> int | None:
    """The code of a column in the one list that has it; None for null."""
    return next((code for code in codes if code is not None), None)


def _scan_of(plan: Plan) -> PersonScan:
    scan = plan.layout.persons
    if scan is None:
        raise InternalError("a table of rows has no persons")
    return scan


def _words(quote: Quote, columns: tuple[str, ...], before: _Rows, rows: _Rows) -> str:
    if not before and quote.plan.neighbours.appears:
        return f"a person added with {_rows_words(quote, columns, rows)}"
    if not rows and quote.plan.neighbours.appears:
        return f"a person removed with {_rows_words(quote, columns, before)}"
    return f"the rows of a person, {_rows_words(quote, columns, before)}, replaced by {_rows_words(quote, columns, rows)}"


def _rows_words(quote: Quote, columns: tuple[str, ...], rows: _Rows) -> str:
    if not rows:
        return "none"
    kinds = dict.fromkeys(rows)
    each = len(rows) // len(kinds)
    shown = [describe_row(quote.plan, columns, row) for row in islice(kinds, 3)]
    rest = f" and {len(kinds) - len(shown)} more" if len(kinds) > len(shown) else ""
    times = f"{each} x " if each > 1 else ""
    return f"{', '.join(times + words for words in shown)}{rest}"
