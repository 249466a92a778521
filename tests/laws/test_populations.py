"""Persons in several data sets and windows: the exact law of adaptive transcripts for every assignment of tiny tables.

Releases count persons with geometric noise whose odds are powers of 2, clamped to 0 … 2, so that laws are rational. Charges
are in units of log 2. The real ledger is asked what a person has lost on a path, and 2 to that must cover the likelihood
ratio of the path (Q1 to Q3 of docs/proofs/populations.md).
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import polars as pl
import pytest
from tests.joined import joined_engine

import discreet as dp
from discreet.domain.person_relations import AddRemoveParts, AddRemovePersons, with_beside
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.exact.canonical import canonical
from discreet.ledger import Entry, Identity, Ledger, Reservation
from discreet.ledger.losses import DatedCharge, charge_by, dated_charges
from discreet.noise.bits import system_bits
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.session import windows

TOP = 2
MONTHS = ("2026-01", "2026-02", "2026-03")
STARTS = [dt.date(2026, month, 1) for month in (1, 2, 3)]
SHOPS = "shops"  # a data set without windows: everybody can be in it
NEVER = -1  # the "window" of a row without a day

Persons = Sequence[tuple[frozenset[int], bool]]
"""For each person the windows that she has rows in, and whether she is in the other data set."""


@dataclass(frozen=True)
class Asked:
    """A release: of the windows of the visits, of all visits for none, or of the other data set; its charge in log 2."""

    windows: tuple[int, ...] = ()
    charge: int = 1
    dataset: str = "visits"

    def count(self, persons: Persons) -> int:
        if self.dataset == SHOPS:
            return sum(there for _, there in persons)
        return sum(bool(rows.intersection(self.windows) if self.windows else rows) for rows, _ in persons)


CHARGES = dated_charges

Strategy = Callable[[tuple[int, ...]], Asked | None]
"""What is asked after these answers; None at the end."""


def clamped(count: int, charge: int) -> Iterator[tuple[int, Fraction]]:
    """The law of a count with geometric noise of odds 2^charge, clamped to 0 … TOP."""
    q = Fraction(1, 2**charge)
    for answer in range(TOP + 1):
        tail = q ** abs(answer - count)
        yield answer, tail / (1 + q) if answer in {0, TOP} else tail * (1 - q) / (1 + q)


def paths(strategy: Strategy, persons: Persons, before: tuple[int, ...] = ()) -> dict[tuple[int, ...], Fraction]:
    """The law of the transcript."""
    asked = strategy(before)
    if asked is None:
        return {before: Fraction(1)}
    law: dict[tuple[int, ...], Fraction] = {}
    for answer, chance in clamped(asked.count(persons), asked.charge):
        for path, rest in paths(strategy, persons, (*before, answer)).items():
            law[path] = chance * rest
    return law


def identity_of(dataset: str) -> Identity:
    days = {"column": "day", "each": "month", "first": "2026-01-01", "last": "2026-03-31", "budget": ["100"]}
    windows = {"windows": days} if dataset == "visits" else {}
    declared = {"neighbours": {"relation": "add-remove", "rows_per_person": 9}, "schema": []}
    said = canonical({**declared, **windows, "population": {"name": "everybody", "budget": ["1000"]}})
    return Identity(dataset, said, "pure", (Fraction(900),))


class Booked:
    """What the ledger says after each path of a strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy, self.known = strategy, dict[tuple[Asked, ...], Stated]()

    def after(self, path: tuple[int, ...]) -> Stated:
        asked = tuple(one for n in range(len(path)) if (one := self.strategy(path[:n])) is not None)
        if asked not in self.known:
            self.known[asked] = stated(asked)
        return self.known[asked]


@dataclass(frozen=True)
class Stated:
    """All that the ledger states: charges with their days, the sum of each window, of each data set, of the population."""

    charges: Sequence[tuple[Identity, Sequence[Entry]]]
    in_window: Sequence[Fraction]
    spent: Sequence[Fraction]
    of_population: Fraction

    def by(self, day: dt.date) -> Fraction:
        """The stated loss of one person at a date."""
        found = [one for identity, entries in self.charges for one in CHARGES(identity, entries)]
        return charge_by(found, day, (Fraction(0),))[0]


def stated(asked: Sequence[Asked]) -> Stated:
    with Ledger.open(":memory:") as ledger:
        for number, one in enumerate(asked):
            names = tuple(MONTHS[month] for month in one.windows)
            request = Reservation(str(number), (Fraction(one.charge),), "plan", b"", windows=names)
            ledger.reserve(identity_of(one.dataset), [request])
        every, visits = ledger.datasets(), identity_of("visits")
        windows, population = ledger.above.windows(visits), ledger.above.population(visits)
        assert windows is not None
        assert population is not None
        return Stated(
            [(ledger.identity(name), ledger.entries(name)) for name in every],
            [windows.spent(month)[0] for month in MONTHS],
            [ledger.spent(name)[0] for name in every],
            population.spent[0],
        )


SPANS = [((0,), (0, 1), ()), ((0, 1), (1, 2), (2,)), ((), (2,), (1,))]
"""The windows of the first release of visits, of the second after a high answer, and of the second after a low one."""


def strategy_of(spans: tuple[tuple[int, ...], ...]) -> Strategy:
    """Two releases of the visits and one of the shops; the second, and its charge, depend on the first answer."""

    def strategy(before: tuple[int, ...]) -> Asked | None:
        if not before:
            return Asked(spans[0], 1)
        if len(before) == 1:
            return Asked(spans[1], 2) if before[0] < 1 else Asked(spans[2], 1)
        return Asked(dataset=SHOPS) if len(before) == 2 else None

    return strategy


OTHERS: list[Persons] = [(), ((frozenset({0, 2}), True), (frozenset({NEVER}), False))]
ROWS = [frozenset(some) for size in range(5) for some in combinations((NEVER, 0, 1, 2), size)]
"""Every assignment of one person to windows, also to none, and to no window with a row."""

Case = tuple[Booked, tuple[int, ...], frozenset[int], Fraction]


@cache
def cases() -> list[Case]:
    """For every strategy, person and path the larger likelihood ratio of the tables with and without the person."""
    found = []
    for spans in SPANS:
        strategy = strategy_of(spans)
        booked = Booked(strategy)
        for others in OTHERS:
            less = paths(strategy, others)
            for rows, there in product(ROWS, (False, True)):
                more = paths(strategy, (*others, (rows, there)))
                found += [(booked, path, rows, max(more[path] / less[path], less[path] / more[path])) for path in more]
    return found


def last_begun(rows: frozenset[int]) -> dt.date:
    """The first day on which all windows of a person have begun; a row without a day waits for none."""
    return max((STARTS[month] for month in rows if month != NEVER), default=dt.date(2025, 12, 31))


def test_one_person_in_all_data_sets_loses_the_sum() -> None:
    assert all(ratio <= 2 ** booked.after(path).of_population for booked, path, _, ratio in cases())
    assert any(ratio == 2 ** booked.after(path).of_population for booked, path, _, ratio in cases())


def test_persons_lose_what_their_windows_were_charged() -> None:
    attained = 0
    for booked, path, rows, ratio in cases():
        stated = 2 ** booked.after(path).by(last_begun(rows))
        assert ratio <= stated
        attained += ratio == stated > 1
        months = rows - {NEVER}
        if months == rows and rows:  # all rows in some windows: the sum over these, and of the other data set
            assert ratio <= 2 ** (sum(booked.after(path).in_window[month] for month in months) + 1)
    assert attained > 50


# Mutants ------------------------------------------------------------------------------------------------------------------


def is_noticed(wrong: Callable[[Booked, tuple[int, ...], frozenset[int]], Fraction]) -> bool:
    """Whether some loss is above what a wrong statement says."""
    return any(ratio > 2 ** wrong(booked, path, rows) for booked, path, rows, ratio in cases())


def test_a_maximum_over_windows_is_noticed() -> None:
    def largest(booked: Booked, path: tuple[int, ...], rows: frozenset[int]) -> Fraction:
        months = rows if NEVER not in rows else range(3)
        found = [booked.after(path).in_window[month] for month in months]
        return max(found, default=Fraction(0)) + 1  # and the other data set

    assert is_noticed(largest)


def test_a_maximum_over_data_sets_is_noticed() -> None:
    def largest(booked: Booked, path: tuple[int, ...], _: frozenset[int]) -> Fraction:
        return max(booked.after(path).spent)

    assert is_noticed(largest)


def test_a_window_that_begins_a_day_too_late_is_noticed() -> None:
    assert is_noticed(lambda booked, path, rows: booked.after(path).by(last_begun(rows) - dt.timedelta(days=1)))


def test_a_release_that_counts_from_its_last_window_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_the_last(identity: Identity, entries: Sequence[Entry]) -> list[DatedCharge]:
        return dated_charges(identity, [replace(one, windows=one.windows[-1:]) for one in entries])

    monkeypatch.setattr(sys.modules[__name__], "CHARGES", from_the_last)
    assert is_noticed(lambda booked, path, rows: booked.after(path).by(last_begun(rows)))


# What a release of windows sees -------------------------------------------------------------------------------------------

SCHEMA = dp.Schema(day=dp.Date("2026-01-10", "2026-03-20"), g=dp.Category(["x", "y"]), n=dp.Number(0, 9))
WINDOWS = dp.Windows("day", each="month", budget=dp.PureDP(1))
INSIDE = [dt.date(2026, 2, 1), dt.date(2026, 2, 28)]
OUTSIDE = [dt.date(2026, 1, 31), dt.date(2026, 3, 1), dt.date(2025, 7, 7), dt.date(2027, 1, 1), None]


def rows_of(rng: random.Random, days: Sequence[dt.date | None], count: int) -> list[tuple[Any, ...]]:
    return [(rng.choice(days), rng.choice(["x", "y", None]), rng.choice([0, 5, 9, None])) for _ in range(count)]


def seen(request: Plan, rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """The exact answers of all queries of a request."""
    frame = pl.DataFrame(rows, schema={"day": pl.Date, "g": pl.String, "n": pl.Int64}, orient="row")
    engine = open_source(frame, SCHEMA)
    quoted = quote(request, dp.PureDP(1))
    return [answer.tolist() for answer in exact_answers(quoted, run_scans(engine, request.layout), system_bits())]


def requests(table: dp.Table) -> Iterator[Plan]:
    clamped = table.clamp({"n": (1, 8)})
    yield table.group_by("g").agg(
        dp.count(), dp.sum("n", nulls="skip"), dp.mean("n", nulls="skip"), dp.median("n", nulls="skip")
    )
    yield clamped.group_by(dp.bins("n", [0, 5, 9])).agg(dp.count(), dp.histogram("n", [0, 5, 9]))
    yield clamped.where({"g": ["x"]}).agg(dp.count(), dp.variance("n", nulls="skip"))
    yield table.group_by(dp.bins("day", step=7)).agg(dp.count())
    yield table.where({"day": ("2026-02-10", "2026-02-14")}).agg(dp.count())


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.AddRemove(rows_per_person=3)])
def test_a_release_of_windows_does_not_see_other_rows(neighbours: dp.AddRemove) -> None:
    rng = random.Random(5)  # noqa: S311
    table = WINDOWS.within(dp.Table(SCHEMA, neighbours), ["2026-02"])
    for request in requests(table):
        assert WINDOWS.read_by(request) == ("2026-02",)
        inside = rows_of(rng, INSIDE, 6)
        expected = seen(request, inside)
        for _ in range(3):
            rows = inside + rows_of(rng, OUTSIDE, 5)
            rng.shuffle(rows)
            assert seen(request, rows) == expected


def test_a_release_of_windows_does_not_see_other_rows_of_a_person() -> None:
    """All rows of a person are protected, and still only those of the windows count: weights, bounds and numbers."""
    rng = random.Random(6)  # noqa: S311
    schema = dp.Schema(pid=dp.Identifier(), **SCHEMA.columns)
    table = WINDOWS.within(dp.Table(schema, dp.AddRemove(person="pid")), ["2026-02"])
    request = table.bound(groups=1, rows=2).group_by("g").agg(dp.persons(), dp.count())

    def answers(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
        kinds = {"pid": pl.Int64, "day": pl.Date, "g": pl.String, "n": pl.Int64}
        engine = open_source(pl.DataFrame(rows, schema=kinds, orient="row"), schema)
        found = exact_answers(quote(request, dp.ZCDP(1)), run_scans(engine, request.layout), system_bits())
        return [answer.tolist() for answer in found]

    inside = [(rng.randrange(3), *row) for row in rows_of(rng, INSIDE, 12)]
    expected = answers(inside)
    for _ in range(3):
        rows = inside + [(rng.randrange(4), *row) for row in rows_of(rng, OUTSIDE, 12)]
        rng.shuffle(rows)
        assert answers(rows) == expected


def test_a_condition_on_persons_is_none_on_rows() -> None:
    """The last day of a person is in February only if no row is later: it depends on rows of all windows."""
    schema = dp.Schema(pid=dp.Identifier(), **SCHEMA.columns)
    table = dp.Table(schema, dp.AddRemove(person="pid"))
    february = ("2026-02-01", "2026-02-28")
    by_last_day = table.per_person(day=dp.latest("day")).where({"day": february}).agg(dp.count())
    assert WINDOWS.read_by(by_last_day) == ()
    within = WINDOWS.within(table, ["2026-02"]).per_person(day=dp.latest("day"), visits=dp.rows(0, 5))
    request = within.where({"visits": (1, 3)}).agg(dp.count(), dp.sum("visits", nulls="skip"))
    assert WINDOWS.read_by(request) == ("2026-02",)
    with pytest.raises(dp.PlanError, match="no resize and no sample"):
        WINDOWS.read_by(within.sample("1/2").agg(dp.count()))
    kinds = {"pid": pl.Int64, "day": pl.Date, "g": pl.String, "n": pl.Int64}

    def answers(asked: Plan, *rows: tuple[Any, ...]) -> list[list[Any]]:
        engine = open_source(pl.DataFrame([*rows], schema=kinds, orient="row"), schema)
        found = exact_answers(quote(asked, dp.ZCDP(1)), run_scans(engine, asked.layout), system_bits())
        return [answer.tolist() for answer in found]

    first, later, other = (1, INSIDE[0], "x", 1), (1, OUTSIDE[1], "x", 1), (2, OUTSIDE[0], "y", 5)
    assert answers(request, first) == answers(request, first, later, other)
    assert answers(by_last_day, first) != answers(by_last_day, first, later)


def test_a_joined_request_sees_other_windows_where_parts_of_a_person_may_differ() -> None:
    """Somebody of the household differs in the table of households. Others of it have rows in February, she has none."""
    schema = dp.Schema(pid=dp.Identifier(), **SCHEMA.columns)
    homes = dp.Schema(home=dp.Identifier(), size=dp.Category(["one", "more"]))
    headers = (
        {"pid": ColumnType("integer", ""), "day": ColumnType("date", "")},
        {"home": ColumnType("integer", ""), "size": ColumnType("text", "")},
    )

    def joined(relation: AddRemovePersons | AddRemoveParts) -> Plan:
        table = dp.Table(schema, with_beside(relation, {"people": "home"}), beside=(("people", homes),))
        return WINDOWS.within(table, ["2026-02"]).join("people").bound(groups=1).group_by("size").agg(dp.persons())

    def answers(size: str) -> list[list[Any]]:
        engine, request = joined_engine([(1, INSIDE[0])], [(1, size)], headers), joined(AddRemoveParts("pid"))
        found = exact_answers(quote(request, dp.ZCDP(1)), run_scans(engine, request.layout), system_bits())
        return [answer.tolist() for answer in found]

    assert answers("one") != answers("more")  # both tables have the same visits, in February and in all other months
    assert WINDOWS.read_by(joined(AddRemoveParts("pid"))) == ()  # it is charged to all
    assert WINDOWS.read_by(joined(AddRemovePersons("pid"))) == ("2026-02",)


def test_joined_requests_that_are_charged_to_their_windows_alone_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "AddRemovePersons", AddRemoveParts)
    with pytest.raises(AssertionError):
        test_a_joined_request_sees_other_windows_where_parts_of_a_person_may_differ()


def test_a_window_that_is_a_day_too_long_is_noticed() -> None:
    table = dp.Table(SCHEMA, dp.AddRemove()).where({"day": ("2026-02-01", "2026-03-01")})
    request = table.agg(dp.count())
    rows: list[tuple[Any, ...]] = [(INSIDE[0], "x", 1)]
    assert seen(request, rows) != seen(request, [*rows, (OUTSIDE[1], "x", 1)])
    assert WINDOWS.read_by(request) == ()  # it is charged to all


def test_a_draw_of_rows_sees_other_windows() -> None:
    """One of two rows is drawn: a row of another window takes the place of the one that counts (the proof's example)."""
    condition = WINDOWS.within(dp.Table(SCHEMA, dp.AddRemove()), ["2026-02"])
    drawn = condition.sample(rows=1).agg(dp.count())
    with pytest.raises(dp.PlanError, match="no resize and no sample"):
        WINDOWS.read_by(drawn)
    alone = {str(seen(drawn, [(INSIDE[0], "x", 1)])) for _ in range(40)}
    beside = {str(seen(drawn, [(INSIDE[0], "x", 1), (OUTSIDE[0], "x", 1)])) for _ in range(40)}
    assert len(alone) == 1
    assert len(beside) == 2  # each of 2 is missed with probability 2^-40
