"""The suite that engines which put tables of persons beside rows have to pass: the same integers as the reference's.

What is tried: persons that are there several times, in agreement or not, persons without rows and rows without persons,
null ids on both sides, rows in any order and in two copies, and columns of both tables as groups, bins, conditions, values
and texts. Engines that join each row of a person, that take the first one, that join nulls with nulls, that lose rows
without a person or bound before they join have other integers. Where the table of persons has all persons, so have engines
that keep rows of others, that lose persons without rows, or that count those without an id once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence

from discreet.audit.engines.conformance import ConformanceError, Rows, failures, first_difference
from discreet.audit.engines.persons import sequence_of
from discreet.cube.cube import Cube, compact
from discreet.domain.areas import DerivedColumn
from discreet.domain.categories import Value
from discreet.domain.columns import Category, Date, Number
from discreet.domain.groups import bins
from discreet.domain.identifiers import Identifier
from discreet.domain.of_persons import distinct, earliest, latest, only, rows, total
from discreet.domain.person_relations import AddRemovePersons, ReplacePersons, with_beside
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Header, totals_of_persons
from discreet.engines.joined import JoinedEngine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.errors import InternalError
from discreet.plan.person_table import table_of_persons
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.statistics.counts import count
from discreet.statistics.histograms import histogram
from discreet.statistics.in_full import counted_in_full
from discreet.statistics.means import mean
from discreet.statistics.persons import persons
from discreet.statistics.quantile import median
from discreet.statistics.sums import sum_of
from discreet.statistics.variances import std, variance

__all__ = ["JOINED_SCHEMAS", "OpenBoth", "Source", "check_joins", "joined_header", "joined_requests"]

Source = tuple[Header, Rows]
"""The types of the columns of a table, and its rows."""
OpenBoth = Callable[[Source, Source], Engine]
"""Opens an engine over a table of visits and, beside it, a table of persons called "people"; the suite closes it."""

_VISITS, _PEOPLE = 160, 50
_TEXT, _DOUBLE, _DAY = ColumnType("text", "VARCHAR"), ColumnType("float", "DOUBLE"), ColumnType("date", "DATE")
_IDS: Mapping[str, tuple[ColumnType, tuple[object, ...]]] = {
    "integers": (ColumnType("integer", "BIGINT"), (None, 0, 1, -1, 2**62, *range(5, 25))),
    "texts": (_TEXT, (None, "a", "A", "a ", " a", "\u00e9", "e\u0301", "1", "01", *"bcdefgh")),
    "days": (_DAY, (None, *(dt.date(2026, 1, 1 + k) for k in range(18)))),
}
_NORTH: Mapping[Value, Value | None] = {"n": "north", "e": "north", "s": "south"}
JOINED_SCHEMAS = (
    Schema(visitor=Identifier(), shop=Category(["a", "b", "c"]), amount=Number(-4, 10, step="0.5")),
    Schema(
        id=Identifier(),
        town=Category(["n", "e", "s"]),
        part=DerivedColumn("part", of="town", by=_NORTH),
        age=Number(0, 110),
        since=Date("2026-01-01", "2026-12-31"),
    ),
)
"""Of the visits, and of the persons."""


def joined_header(ids: ColumnType) -> tuple[Header, Header]:
    """The types of the columns of both tables, with ids of this type."""
    visits = {"visitor": ids, "shop": _TEXT, "amount": _DOUBLE}
    return visits, {"id": ids, "town": _TEXT, "age": _DOUBLE, "since": _DAY}


def check_joins(open_both: OpenBoth) -> int:
    """The number of readings of both tables that were compared, all equal to the reference's.

    Raises:
        ConformanceError: a cell differs, or the engine fails.
    """
    compared = 0
    for name, (kind, ids) in _IDS.items():
        headers, (visits, people) = joined_header(kind), _drawn(ids)
        variants: Mapping[str, tuple[Rows, Rows]] = {
            "as they are": (visits, people),
            "reversed, and visits doubled": (visits[::-1] * 2, people[::-1]),
        }
        more: Mapping[str, tuple[Rows, Rows]] = {
            "persons doubled": (visits, people * 2),
            "without persons": (visits, ()),
            "without visits": ((), people),
        }
        for variant, (some, others) in {**variants, **(more if name == "texts" else {})}.items():
            where = f"joined tables with {name} as ids, {variant}"
            tables = (headers[0], some), (headers[1], others)
            with failures(where):
                engine = open_both(*tables)
            try:
                for what, plan in joined_requests():
                    _compare(f"{where}, {what}", engine, _reference(*tables), plan)
                    compared += 1
            finally:
                engine.close()
    return compared


def _reference(visits: Source, people: Source) -> Engine:
    engine, others = ReferenceEngine(*visits), {"people": ReferenceEngine(*people)}
    return JoinedEngine(engine, others, ReferenceJoiner(engine, others))


def _drawn(ids: tuple[object, ...]) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """The same rows each time, public tables. About a third of the persons are there twice, half of these in agreement."""
    places = sequence_of(11)
    days = [None, *(dt.date(2025, 12, 20) + dt.timedelta(days=20 * k) for k in range(20))]
    visits = (ids, ("a", "b", "c", "zz", None), (None, -3.0, 0.0, 0.74, 4.5, 6.25, 99.0))
    people: tuple[Sequence[object], ...] = (
        ids,
        ("n", "e", "s", "?", None),
        (None, 3.0, 17.6, 40.0, 40.4, 71.0, 200.0),
        days,
    )
    rows = [_row(visits, places) for _ in range(_VISITS)], [_row(people, places) for _ in range(_PEOPLE)]
    return rows[0], [*rows[1], *rows[1][::4]]


def _row(columns: Sequence[Sequence[object]], places: Iterator[int]) -> tuple[object, ...]:
    return tuple(values[next(places) % len(values)] for values in columns)


def joined_requests() -> Iterator[tuple[str, Plan]]:
    """Requests that together use every part of the readings of both tables."""
    schemas, relation = JOINED_SCHEMAS, with_beside(AddRemovePersons("visitor"), {"people": "id"})
    table = Table(schemas[0], relation, beside=(("people", schemas[1]),)).join("people")
    ages, quarters = bins("age", [0, 18, 41, 110]), bins("since", step="quarter")
    values = sum_of("amount", per_person=(-6, 12)), mean("age", per_person=(0, 120)), persons()
    yield "persons by their towns", table.bound(groups=1, rows=1).group_by("town").agg(persons(), count())
    yield "towns and shops", table.bound(groups=2, rows=3).group_by("shop", "part", ages).agg(persons(), count())
    yield "nulls dropped", table.bound(groups=1, rows=2).group_by("shop", "town", nulls="drop").agg(persons(), count())
    yield (
        "conditions and clamps",
        table.where({"age": (10, 80), "amount": (-1, 8)})
        .clamp({"town": ["e", "s"], "since": ("2026-03-01", "2026-10-31")})
        .bound(groups=2, rows=2)
        .group_by("town", quarters)
        .agg(count(), persons()),
    )
    yield "values of both", table.bound(groups=2).group_by("shop", "part").agg(*values)
    of_rows = std("age", nulls="skip"), mean("amount", nulls="skip"), count("age"), variance("amount", per_person=(-6, 12))
    yield "values of rows of both", table.bound(groups=2, rows=2).group_by("shop", "town").agg(*of_rows)
    divided = histogram("age", [0, 18, 41, 110]), median("amount", nulls="skip"), median("age", nulls="skip")
    whole = persons(), counted_in_full()
    yield "divided among values of both", table.bound(groups=2, rows=3).group_by("part").agg(*divided, *whole)
    yield "all persons", table.clamp({"age": (20, 60)}).where({"town": ["n", "s"]}).agg(*values)
    made = table.where({"part": ["north"]}).per_person(
        visits=rows(1, 9),
        spent=total("amount", -5, 30),
        ages=total("age", 0, 500),
        town=only("town"),
        shops=distinct("shop", most=2),
        towns=distinct("town", most=2),
        age=latest("age"),
        since=earliest("since"),
    )
    yield "a row of each", made.agg(*(count(name) for name in made.schema.columns))
    people = table_of_persons("people", schemas[1], relation)
    alone = Table(people.columns, people.relation, (), people).where({"age": (5, 90)})
    yield "persons themselves", alone.agg(*(count(name) for name in people.columns.columns))
    yield from _of_everybody()


def _of_everybody() -> Iterator[tuple[str, Plan]]:
    """Requests on tables where one has a row of each person, and this number is public."""
    schemas, relation = JOINED_SCHEMAS, with_beside(ReplacePersons(_PEOPLE, "visitor"), {"people": "id"})
    table = Table(schemas[0], relation, beside=(("people", schemas[1]),))
    yield "of all persons", table.bound(groups=2, rows=3).group_by("shop").agg(persons(), count())
    joined = table.join("people").where({"age": (10, 80)}).bound(groups=1, rows=2)
    yield "of all persons, joined", joined.group_by("town").agg(persons(), count(), mean("age", nulls="skip"))
    made = table.where({"shop": ["a", "b"]}).per_person(visits=rows(0, 9), spent=total("amount", -5, 30), shop=only("shop"))
    yield "a row of everybody", made.where({"visits": (0, 3)}).agg(count(), *map(count, made.schema.columns))
    of_both = table.join("people").clamp({"amount": (0, 5)})
    both = of_both.per_person(visits=rows(0, 2), town=only("town"), age=latest("age"), part=distinct("part", most=1))
    yield "a row of everybody, joined", both.agg(*map(count, both.schema.columns))
    people = table_of_persons("people", schemas[1], relation)
    yield "everybody", Table(people.columns, people.relation, (), people).agg(*map(count, people.columns.columns))


def _compare(where: str, engine: Engine, reference: Engine, plan: Plan) -> None:
    with failures(where):
        found = _found(engine, plan)
    if difference := first_difference(_found(reference, plan), found):
        raise ConformanceError(f"{where}: {difference}")


def _found(engine: Engine, plan: Plan) -> Cube:
    scan = plan.layout.persons or plan.layout.each
    if scan is None:
        raise InternalError("a request on persons has a reading of persons")
    return compact(totals_of_persons(engine, scan))
