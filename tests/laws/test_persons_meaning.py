"""What a request on a table of persons counts, from the words of docs/proofs/persons.md alone, with every kind of step.

Engines are compared with the reference elsewhere, and both read the scan of a plan. Here the scan itself is compared: a
row is a dictionary, a step is a line of Python, and no code of the library says in which cell a row is.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isqrt, prod
from typing import Any

import pytest

import discreet as dp
from discreet.cube.queries import PersonSum
from discreet.domain.groups import BinGroup
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan import persons
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, run_scans

Row = dict[str, Any]

STATE = {"11": "1", "12": "1", "21": "2"}
AREAS = {"state": [*STATE.values()], "county": [*STATE]}
SCHEMA = dp.Schema(
    pid=dp.Identifier(),
    area=dp.Hierarchy(AREAS, levels=["state", "county"]),
    coast=dp.DerivedColumn("coast", of="area.state", by={"1": "x"}),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 9),
)
LABELS = {"area.county": [*STATE], "area.state": ["1", "2"], "coast": ["x"], "sex": ["f", "m"]}
COLUMNS = {"pid": "text", "area": "text", "sex": "text", "age": "integer"}
HEADER = {name: ColumnType(kind, "") for name, kind in COLUMNS.items()}
SPENDS = (dp.PureDP(1), dp.ZCDP(1))


@dataclass
class Asked:
    """A request, and the same in plain Python: clamps, conditions and what of it is dropped."""

    plan: Plan
    bound: tuple[int, int]
    clamps: Mapping[str, Any]
    conditions: Sequence[tuple[str, Any]]
    dropped: set[str]


def value_of(row: Row, column: str) -> Any:
    county = row["area"] if row["area"] in STATE else None
    state = STATE.get(county or "")
    sex = row["sex"] if row["sex"] in LABELS["sex"] else None
    known = {"area.county": county, "area.state": state, "coast": "x" if state == "1" else None, "sex": sex}
    return row["age"] if column == "age" else known[column]


def cleaned(row: Row, asked: Asked) -> Row:
    found = {name: value_of(row, name) for name in (*LABELS, "age")}
    for name, kept in asked.clamps.items():
        if name == "age" and found[name] is not None:
            found[name] = min(max(found[name], kept[0]), kept[1])
        elif name != "age" and found[name] not in kept:
            found[name] = None
    return found


def passes(value: Any, wanted: Any) -> bool:
    return value is not None and (value in wanted if isinstance(wanted, list) else wanted[0] <= value <= wanted[1])


def cell_of(row: Row, asked: Asked) -> tuple[int, ...] | None:
    values = cleaned(row, asked)
    if not all(passes(values[name], wanted) for name, wanted in asked.conditions):
        return None
    places = []
    for group, labels in zip(asked.plan.group_by, asked.plan.layout.labels, strict=True):
        value = values[group.column]
        if value is None and group.column in asked.dropped:
            return None
        if value is not None and isinstance(group, BinGroup):
            there = [i for i in range(len(group.labels)) if group.edges[i] <= value < group.edges[i + 1]]
            if not there:
                return None
            places.append(there[0])
        else:
            places.append(labels.index(value))
    return tuple(places)


def meant(rows: Sequence[Row], asked: Asked, query: PersonSum) -> list[int]:
    """The answer, by the definitions of U2."""
    cells_of: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for row in rows:
        cell = cell_of(row, asked)
        if row["pid"] is not None and cell is not None:
            cells_of[row["pid"]][cell] += 1
    shape = [len(labels) for labels in asked.plan.layout.labels]
    groups, most = asked.bound
    weighting, rows_counted = query.weighed.weighting, query.counted != "persons"
    unit = 1 if groups >= prod(shape) else {"squares": 2**10, "sums": 2**20}[weighting]
    found = [0] * prod(shape)
    for counted in cells_of.values():
        larger = max(len(counted), groups)
        weight = isqrt(unit**2 * groups // larger) if weighting == "squares" else unit * groups // larger
        for cell, n in counted.items():
            place = 0
            for at, size in zip(cell, shape, strict=True):
                place = place * size + at
            found[place] += (unit if groups >= prod(shape) else weight) * (min(n, most) if rows_counted else 1)
    return found


def some_of(rng: random.Random, name: str) -> Any:
    return (
        rng.sample(LABELS[name], rng.randint(1, len(LABELS[name])))
        if name in LABELS
        else (*sorted(rng.sample(range(10), 2)),)
    )


def random_request(rng: random.Random) -> Asked:
    """A request with at most one clamp, some conditions and some groups.

    Raises:
        PlanError: the steps or groups do not fit together.
    """
    table, every = dp.Table(SCHEMA, dp.AddRemove(person="pid")), [*LABELS, "age"]
    clamps = {name: some_of(rng, name) for name in rng.sample(every, rng.choice([0, 0, 1]))}
    conditions = [(name, some_of(rng, name)) for name in rng.sample(every, rng.choice([0, 1, 2, 2]))]
    for name, kept in (*clamps.items(), *conditions):
        table = table.clamp({name: kept}) if (name, kept) not in conditions else table.where({name: kept})
    bound = rng.choice([1, 2, 3, 40]), rng.choice([1, 2, 3])
    named = rng.sample(every, rng.choice([0, 1, 1, 2, 2]))
    low, high = clamps.get("age", (0, 9))
    edges = sorted({*rng.sample(range(low, high + 1), min(3, high - low + 1))})
    groups = [dp.bins("age", edges) if name == "age" else name for name in named]
    dropped = {*rng.sample(named, rng.choice([0, 0, len(named) and 1]))}
    grouped = table.bound(groups=bound[0], rows=bound[1]).group_by(*groups, nulls=dict.fromkeys(dropped, "drop"))
    return Asked(grouped.agg(dp.persons(), dp.count()), bound, clamps, conditions, dropped)


def random_rows(rng: random.Random) -> list[Row]:
    choices = {
        "pid": [None, "a", "b", "c"],
        "area": [*STATE, "99", None],
        "sex": ["f", "m", "?", None],
        "age": [None, *range(10)],
    }
    return [{name: rng.choice(values) for name, values in choices.items()} for _ in range(rng.randint(0, 25))]


def answers(asked: Asked, rows: Sequence[Row], quoted: Quote) -> list[list[int]]:
    engine = ReferenceEngine(HEADER, [tuple(row[name] for name in COLUMNS) for row in rows])
    return [found.tolist() for found in exact_answers(quoted, run_scans(engine, asked.plan.layout), system_bits())]


def check_cases(number: int) -> int:
    """The number of random requests whose answers are what the definitions say, and change by no more than is stated."""
    rng, done = random.Random(23), 0  # noqa: S311
    for _ in range(number):
        with suppress(dp.PlanError):
            asked, rows = random_request(rng), random_rows(rng)
            quoted = quote(asked.plan, rng.choice(SPENDS))
            for one, found in zip(quoted.measured, answers(asked, rows, quoted), strict=True):
                assert isinstance(one.query, PersonSum)
                assert found == meant(rows, asked, one.query)
                for person in "abc":
                    other = meant([row for row in rows if row["pid"] != person], asked, one.query)
                    moved = [abs(left - right) for left, right in zip(found, other, strict=True)]
                    assert sum(moved) <= one.sensitivity.l1
                    assert sum(value**2 for value in moved) <= one.sensitivity.l2_squared
            done += 1
    return done


def test_answers_are_what_the_definitions_say_and_no_person_changes_them_more() -> None:
    assert check_cases(150) > 90


def first_condition(literal: Callable[..., Any]) -> Callable[..., Any]:
    return lambda steps: literal(steps)[:1]


def without_steps(literal: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, _steps, start: literal(name, (), start)


def null_passes(literal: Callable[..., Any]) -> Callable[..., Any]:
    """A row without a category fulfils a condition on it."""

    def test(step: Any, path: Any) -> Any:
        axis = literal(step, path)
        own = axis.path
        return axis if axis.cuts else type(axis)(type(own)(own.name, own.column, own.targets, 1, own.laws))

    return test


def nulls_kept(_literal: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _request, _group: ()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("conditions_of", first_condition),
        ("path_of", without_steps),
        ("condition_axis", null_passes),
        ("hidden_labels", nulls_kept),
    ],
)
def test_a_scan_that_reads_a_request_otherwise_is_noticed(
    name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persons, name, wrong(getattr(persons, name)))
    with pytest.raises((AssertionError, ValueError)):
        check_cases(150)
