"""The suite that an engine which adds up persons has to pass: totals over persons and rows of persons as the reference's.

What is tried: ids of every type with nulls, texts that a collation or a trim would make one, persons in more groups than
the bound and with more rows, rows in any order and in two copies, totals beyond their bounds, values and bins of more rows
than count, weights of rows, and combinations that a list names. An engine that puts groups together after the bound, that
counts groups for all persons together, that rounds a weight or a share up, or that keeps rows without an id, has other
integers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence

from discreet.audit.engines.conformance import ConformanceError, OpenEngine, Rows, failures, first_difference
from discreet.cube.cube import Cube, compact
from discreet.domain.columns import Category, Date, Number
from discreet.domain.combinations import Keys
from discreet.domain.groups import bins
from discreet.domain.identifiers import Identifier
from discreet.domain.neighbours import AddRemove
from discreet.domain.of_persons import OfRows, distinct, earliest, latest, only, rows, total
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Header, Personal, PersonReading, totals_of_persons
from discreet.engines.reference import ReferenceEngine
from discreet.errors import InternalError
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

__all__ = ["check_persons", "sequence_of"]

_ROWS = 400
_IDS: Mapping[str, tuple[ColumnType, tuple[object, ...]]] = {
    "integers": (ColumnType("integer", "BIGINT"), (None, 0, 1, -1, 2**62, -(2**62), *range(5, 30))),
    "texts": (ColumnType("text", "VARCHAR"), (None, "a", "A", "a ", " a", "\u00e9", "e\u0301", "1", "01", *"bcdefgh")),
    "days": (ColumnType("date", "DATE"), (None, *(dt.date(2026, 1, 1 + k) for k in range(20)))),
}
_REST: Header = {
    "shop": ColumnType("text", "VARCHAR"),
    "amount": ColumnType("float", "DOUBLE"),
    "day": ColumnType("date", "DATE"),
    "times": ColumnType("integer", "BIGINT"),
}
_SCHEMA = Schema(
    visitor=Identifier(),
    shop=Category(["a", "b", "c"]),
    amount=Number(-4, 10, step="0.5"),
    day=Date("2026-01-01", "2026-12-31"),
    times=Number(0, 9),
)

_LISTED = Schema(
    visitor=Identifier(),
    place=Keys({"shop": ["b", "a", "a", "b"], "times": [1, 2, 9, 0]}, columns=["shop", "times"]),
    day=Date("2026-01-01", "2026-12-31"),
)


def check_persons(open_engine: OpenEngine) -> int:
    """The number of readings of persons that were compared, all equal to the reference's; 0 for an engine without them.

    Raises:
        ConformanceError: a cell differs, or the engine fails.
    """
    compared = 0
    for name, (kind, ids) in _IDS.items():
        header, given = {"visitor": kind, **_REST}, _drawn(ids)
        variants: dict[str, Rows] = {"as it is": given, "reversed and doubled": given[::-1] * 2, "without rows": ()}
        for variant, some in variants.items():
            where = f"persons with {name} as ids, {variant}"
            with failures(where):
                engine = open_engine(header, some)
            try:
                if not _adds_persons(engine):
                    return 0
                reference = ReferenceEngine(header, some)
                for what, plan in _requests():
                    _compare(f"{where}, {what}", engine, reference, plan)
                    compared += 1
            finally:
                engine.close()
    return compared


def _adds_persons(engine: Engine) -> bool:
    return isinstance(engine, Personal) and engine.can_add_persons()


def _drawn(ids: tuple[object, ...]) -> list[tuple[object, ...]]:
    """The same rows each time, a public table: values in the order of a congruential sequence."""
    days = [None, *(dt.date(2025, 12, 20) + dt.timedelta(days=k) for k in range(400))]
    columns: tuple[Sequence[object], ...] = (
        ids,
        ("a", "b", "c", "zz", None),
        (None, -3.0, 0.0, 0.74, 4.5, 6.25, 99.0),
        days,
        (None, 0, 1, 2, 9, 12, -1),
    )
    places = sequence_of(7)
    return [tuple(values[next(places) % len(values)] for values in columns) for _ in range(_ROWS)]


def sequence_of(state: int) -> Iterator[int]:
    """The upper bits of a linear congruential sequence (Knuth's MMIX) that begins with this state."""
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 40


def _requests() -> Iterator[tuple[str, Plan]]:
    """Requests that together use every part of both readings."""
    table = Table(_SCHEMA, AddRemove(person="visitor"))
    quarters = bins("day", step="quarter")
    values = sum_of("amount", per_person=(-6, 12)), mean("amount", per_person=(-6, 12)), persons()
    yield "all persons", table.agg(persons())
    yield "one group", table.bound(groups=1, rows=1).group_by("shop").agg(persons(), count())
    yield "two groups", table.bound(groups=2, rows=3).group_by("shop", quarters).agg(persons(), count())
    yield "all groups", table.bound(groups=99, rows=3).group_by("shop", quarters).agg(persons(), count())
    yield (
        "conditions and clamps",
        table.where({"amount": (-1, 8)}).clamp({"shop": ["b", "c"]}).bound(groups=1, rows=2).group_by("shop").agg(count()),
    )
    yield "values", table.bound(groups=2).group_by("shop").agg(*values)
    of_rows = mean("amount", nulls="skip"), std("amount", nulls="skip"), count("amount")
    yield "values of rows", table.bound(groups=2, rows=2).group_by("shop").agg(*of_rows)
    yield "squares", table.bound(groups=1).group_by("shop").agg(variance("amount", per_person=(-6, 12)))
    divided = histogram("amount", [-3, 0, 4, 6]), median("amount", nulls="skip")
    yield "divided", table.bound(groups=2, rows=3).group_by("shop").agg(*divided)
    yield (
        "divided, with weights",
        table.bound(groups=9, rows=4, weight="times").group_by("shop").agg(persons(), *divided, *of_rows),
    )
    cut = count(), sum_of("amount", per_person=(-12, 60)), counted_in_full()
    yield "in full", table.bound(groups=3, rows=7).group_by("shop").agg(*cut)
    yield "weights", table.bound(groups=1, rows=9, weight="times").group_by("shop").agg(persons(), count())
    yield "values with weights", table.bound(groups=2, weight="times").group_by(quarters).agg(*values)
    listed = Table(_LISTED, AddRemove(person="visitor"))
    yield "combinations", listed.bound(groups=1, rows=2).group_by("place", quarters).agg(persons(), count())
    yield (
        "a part of combinations",
        listed.where({"place.shop": ["a"]}).bound(groups=1).group_by("place.times").agg(persons()),
    )
    yield "combinations of persons", listed.per_person(places=distinct("place", most=5)).agg(count("places"))
    yield "rows of persons", table.where({"amount": (-3, 9)}).per_person(**_MADE).agg(*(count(name) for name in _MADE))


_MADE: Mapping[str, OfRows] = {
    "visits": rows(2, 12),
    "spent": total("amount", -5, 30),
    "shops": distinct("shop", most=2),
    "last": latest("day"),
    "least": earliest("amount"),
    "home": only("shop"),
}


def _compare(where: str, engine: Engine, reference: Engine, plan: Plan) -> None:
    scan = plan.layout.persons or plan.layout.each
    if scan is None:
        raise InternalError("a request on persons has a reading of persons")
    expected = _found(reference, scan)
    with failures(where):
        found = _found(engine, scan)
    if difference := first_difference(expected, found):
        raise ConformanceError(f"{where}: {difference}")


def _found(engine: Engine, scan: PersonReading) -> Cube:
    return compact(totals_of_persons(engine, scan))
