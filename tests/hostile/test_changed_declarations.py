"""Every field of a plan is changed, one by one, after a first release: it is fixed, or the change is recorded.

docs/proofs/declaration.md proves that what is fixed is enough, and needed. Here a search goes through the fields of plan
files, and mutants leave one of them out of what is fixed, or of what is recorded.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.cli.planning import open_session
from discreet.ledger import Entry, Identity, Ledger, drafts, rules
from discreet.planfile import load_plan

Field = tuple[str | int, ...]
Plan = dict[str, Any]

WITH_TOTALS: Plan = tomllib.loads(plan_text("growing"))
WITHOUT: Plan = {key: value for key, value in WITH_TOTALS.items() if key != "invariants"}
WITHOUT = {**WITHOUT, "data": {**WITHOUT["data"], "rows_per_person": 2}}
FRAME = pl.DataFrame(
    {
        "state": ["A"] * 12 + ["B"] * 8,
        "size": [0, 2, 4, 4] * 5,
        "opened": ["2025-01-02", "2025-01-04"] * 10,
        "sex": ["f", "m", "f", "x"] * 5,
        "age": [*range(10)] * 2,
        "day": ["2025-01-03"] * 20,
        "other": [1] * 20,
    }
)

FIXED: Mapping[Field, tuple[Any, tuple[str, ...]]] = {
    ("data", "rows"): (21, ("rows: 20 in the ledger, 21 now",)),
    ("data", "neighbours"): ("add-remove", ("neighbours: replace-one in the ledger, add-remove now",)),
    ("budget", "measure"): ("gdp", ("measure: zcdp in the ledger, gdp now",)),
    ("budget", "rho"): (2, ("rho: 1 in the ledger, 2 now",)),
}
"""Fields of both plans that are fixed: another value, and what the refusal says."""

FIXED_BY_TOTALS: Mapping[Field, tuple[Any, tuple[str, ...]]] = {
    ("invariants", "totals"): ([["state"]], ("invariants: [",)),
    ("invariants", "occupied"): ([["state"]], ("invariants: [",)),
    ("columns", "state", "categories"): (
        ["A", "B", "C"],
        ("categories of column 'state'", '["A","B"] in', '["A","B","C"] now'),
    ),
    ("columns", "size", "lower"): (-2, ("lower of column 'size'", "0 in the ledger, -2 now")),
    ("columns", "size", "upper"): (6, ("upper of column 'size'", "4 in the ledger, 6 now")),
    ("columns", "size", "step"): (1, ("step of column 'size'", "2 in the ledger, 1 now")),
    ("columns", "size", "type"): ("category", ("type of column 'size'", "number in the ledger, category now")),
    ("columns", "state", "type"): ("number", ("type of column 'state'", "category in the ledger, number now")),
    ("columns", "opened", "type"): ("number", ("type of column 'opened'", "date in the ledger, number now")),
    ("columns", "opened", "first"): ("2024-12-31", ("first of column 'opened'", "2025-01-01 in the ledger, 2024-12-31 now")),
    ("columns", "opened", "last"): ("2025-01-06", ("last of column 'opened'", "2025-01-05 in the ledger, 2025-01-06 now")),
}
FIXED_WITHOUT: Mapping[Field, tuple[Any, tuple[str, ...]]] = {
    ("data", "rows_per_person"): (3, ("rows_per_person: 2 in the ledger, 3 now",)),
}

AMENDED: Mapping[Field, Any] = {
    ("columns", "sex", "type"): "number",
    ("columns", "sex", "categories"): ["f", "m", "x"],
    ("columns", "age", "type"): "category",
    ("columns", "age", "lower"): -2,
    ("columns", "age", "upper"): 10,
    ("columns", "age", "step"): 1,
    ("columns", "day", "type"): "category",
    ("columns", "day", "first"): "2024-12-31",
    ("columns", "day", "last"): "2025-02-28",
}
"""Fields of columns that no exact total uses."""

ASKED: Mapping[Field, Any] = {
    ("columns", "age", "clamp"): [0, 4],
    ("columns", "age", "impute"): {"distribution": "normal", "mean": 4, "sd": 2},
    ("release", 0, "group_by"): [],
    ("release", 0, "statistics"): ["count"],
    ("release", 0, "where"): {"day": ["2025-01-02", "2025-01-15"]},
    ("release", 0, "intervals"): "simultaneous",
}
"""Fields of what is asked: the reservation has another plan."""

ELSEWHERE = {
    ("data", "dataset"): "another account",
    ("data", "ledger"): "another file",
    ("data", "source"): "where the records are, not what they are",
    ("budget", "report_delta"): "where ε is stated, not what is charged",
    ("release", 0, "name"): "of the reservation",
    ("release", 0, "spend"): "the charge of the reservation",
}
"""Fields that concern neither what is fixed nor what is asked, and why."""

OTHER_TYPE = {
    "number": {"type": "number", "lower": 0, "upper": 1},
    "category": {"type": "category", "categories": ["a", "b"]},
}


# One change -------------------------------------------------------------------------------------------------------------


def fields_of(value: Any, place: Field = ()) -> Iterator[Field]:
    """The fields of a plan, down to what is one value in our words: a list, a condition, a law."""
    tables = value.items() if isinstance(value, dict) else enumerate(value) if place == ("release",) else ()
    if not tables or place[-1:] in {("impute",), ("where",)}:
        yield place
    else:
        for key, inner in tables:
            yield from fields_of(inner, (*place, key))


def changed(plan: Plan, field: Field, value: Any) -> Plan:
    """The plan with another value in one field, and what has to go with it."""
    new = copy.deepcopy(plan)
    inner = new
    for key in field[:-1]:
        inner = inner[key]  # type: ignore[index]
    inner[field[-1]] = value  # type: ignore[index]
    if field == ("data", "neighbours"):
        del new["data"]["rows"]
        new.pop("invariants", None)
    if field == ("budget", "measure"):
        new["budget"] = {"measure": value, "mu": 1}
    if field[-1] == "type":
        new["columns"][field[1]] = OTHER_TYPE[value]
        new["invariants"] = plan.get("invariants", {}) if field[1] in {"state", "size"} else new.get("invariants", {})
    if not new.get("invariants"):
        new.pop("invariants", None)
    release = new["release"][0]
    if field[:2] == ("columns", "day") and field[-1] == "type":
        del release["where"]
    if field[:2] == ("columns", "age") and field[-1] == "type":
        release["statistics"] = ["count"]
    if field == ("columns", "sex", "type"):
        release["group_by"] = []
    return new


def written(plan: Plan) -> str:
    """The plan as TOML: every table on lines of its own, everything within a field on one."""
    lines = []
    for section in ("data", "invariants", "budget"):
        if section in plan:
            lines += [f"[{section}]", *(f"{key} = {_value(value)}" for key, value in plan[section].items())]
    for name, column in plan["columns"].items():
        lines += [f"[columns.{name}]", *(f"{key} = {_value(value)}" for key, value in column.items())]
    for release in plan["release"]:
        lines += ["[[release]]", *(f"{key} = {_value(value)}" for key, value in release.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return value.isoformat() if isinstance(value, dt.date) else json.dumps(value)


Outcome = tuple[str, list[Entry]]
"""The refusal, empty for none, and the entries of the second release."""


class Tried:
    """A plan with a first release, whose ledger is restored before each change."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        FRAME.write_csv(folder / "d.csv")
        assert self.released(plan, "first") == ""
        self.ledger = (folder / "budget.db").read_bytes()
        self.first = self.entries()

    def released(self, plan: Plan, name: str) -> str:
        (self.folder / "plan.toml").write_text(written(plan), encoding="utf-8")
        asked = load_plan(self.folder / "plan.toml")
        try:
            with open_session(asked) as session:
                answer = session.release_all([replace(order, name=name) for order in asked.orders])[0]
        except dp.DiscreetError as refused:
            return f"{type(refused).__name__}: {refused}"
        return "" if isinstance(answer, dp.Release) else f"{type(answer).__name__}: {answer}"

    def entries(self) -> list[Entry]:
        with Ledger.open(self.folder / "budget.db") as ledger:
            return [*ledger.entries("d")]

    def refusal(self, field: Field, value: Any) -> str:
        (self.folder / "budget.db").write_bytes(self.ledger)
        return self.released(changed(self.plan, field, value), "second")

    def after(self, field: Field, value: Any) -> Outcome:
        refusal = self.refusal(field, value)
        return refusal, self.entries()[len(self.first) :]


@pytest.fixture(params=[WITH_TOTALS, WITHOUT], ids=["with totals", "without"])
def tried(request: pytest.FixtureRequest, tmp_path: Path) -> Tried:
    return Tried(tmp_path, request.param)


def fixed_in(plan: Plan) -> Mapping[Field, tuple[Any, tuple[str, ...]]]:
    return {**FIXED, **(FIXED_BY_TOTALS if "invariants" in plan else FIXED_WITHOUT)}


def amended_in(plan: Plan) -> Mapping[Field, Any]:
    more = {} if "invariants" in plan else {field: value for field, (value, _) in FIXED_BY_TOTALS.items()}
    return {**AMENDED, **{field: value for field, value in more.items() if field[0] == "columns"}}


# The search -------------------------------------------------------------------------------------------------------------


RELEASED = ["reserve", "reading", "drawing", "commit"]


def faults(tried: Tried) -> list[Field]:
    """The fields whose change is neither refused in the right words nor recorded."""
    found = []
    for field, (value, words) in fixed_in(tried.plan).items():
        refusal, entries = tried.after(field, value)
        if not refusal.startswith("LedgerError") or entries or not all(word in refusal for word in words):
            found.append(field)
    for field, value in amended_in(tried.plan).items():
        refusal, entries = tried.after(field, value)
        amendments = [json.loads(entry.details) for entry in entries if entry.kind == "amend"]
        named = [column["name"] for one in amendments for column in one.get("changed", ())]
        if refusal or named != [field[1]] or [entry.kind for entry in entries] != ["amend", *RELEASED]:
            found.append(field)
    for field, value in ASKED.items():
        refusal, entries = tried.after(field, value)
        plans = {entry.plan_digest for entry in tried.first if entry.kind == "reserve"}
        if refusal or [entry.kind for entry in entries] != RELEASED or entries[0].plan_digest in plans:
            found.append(field)
    return found


@pytest.mark.slow
def test_every_field_of_a_plan_is_fixed_or_its_change_is_recorded(tried: Tried) -> None:
    known = {*fixed_in(tried.plan), *amended_in(tried.plan), *ASKED, *ELSEWHERE}
    assert {*fields_of(tried.plan)} == known, "a new field has to be fixed, recorded, or listed elsewhere"
    assert faults(tried) == []


def test_columns_come_and_go_and_change_places(tried: Tried) -> None:
    columns = tried.plan["columns"]
    used = {"sex", "age", "day"} | ({"state", "size", "opened"} if "invariants" in tried.plan else set())
    grown = {**columns, "other": {"type": "number", "lower": 0, "upper": 9}}
    left = {name: column for name, column in columns.items() if name in used}
    for new, key, value in (
        (grown, "added", [{"name": "other", "type": "number", "lower": "0", "upper": "9", "step": "1"}]),
        (left, "left_out", [name for name in columns if name not in used]),
        (dict(reversed(columns.items())), "order", [*reversed(columns)]),
    ):
        refusal, entries = tried.after(("columns",), new)
        amendments = [json.loads(entry.details) for entry in entries if entry.kind == "amend"]
        assert (refusal, amendments) == ("", [{key: value}] if value else [])


# Mutants ----------------------------------------------------------------------------------------------------------------


def without(*place: str) -> Callable[[Identity], Any]:
    """What is fixed, but for one item; columns are fixed by the totals that use them."""
    real = rules._identify

    def fixed(identity: Identity) -> Any:
        part, measure, budget = real(identity)
        declared = json.loads(part)
        inner = declared
        for key in place[:-1]:
            inner = inner.get(key, {})
        inner.pop(place[-1], None)
        if place == ("invariants",):
            declared.pop("schema")
        if place[0] == "budget":
            measure, budget = ("", budget) if place[-1] == "kind" else (measure, ())
            declared["budget"] = {}
        return json.dumps(declared, sort_keys=True), measure, budget

    return fixed


MUTANTS: Mapping[str, tuple[tuple[str, ...], Plan, Field]] = {
    "rows": (("neighbours", "rows"), WITHOUT, ("data", "rows")),
    "rows beside totals": (("neighbours", "rows"), WITH_TOTALS, ("data", "rows")),
    "unit": (("neighbours", "rows_per_person"), WITHOUT, ("data", "rows_per_person")),
    "relation and rows": (("neighbours",), WITHOUT, ("data", "neighbours")),
    "budget": (("budget", "rho"), WITHOUT, ("budget", "rho")),
    "totals": (("invariants",), WITH_TOTALS, ("invariants", "totals")),
    "categories": (("schema", "state", "categories"), WITH_TOTALS, ("columns", "state", "categories")),
    "lower": (("schema", "size", "lower"), WITH_TOTALS, ("columns", "size", "lower")),
    "upper": (("schema", "size", "upper"), WITH_TOTALS, ("columns", "size", "upper")),
    "step": (("schema", "size", "step"), WITH_TOTALS, ("columns", "size", "step")),
    "first": (("schema", "opened", "first"), WITH_TOTALS, ("columns", "opened", "first")),
    "last": (("schema", "opened", "last"), WITH_TOTALS, ("columns", "opened", "last")),
    "columns of totals": (("schema",), WITH_TOTALS, ("columns", "size", "type")),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_an_item_that_is_left_out_of_what_is_fixed_is_noticed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, plan, field = MUTANTS[name]
    tried = Tried(tmp_path, plan)
    (value, words) = fixed_in(plan)[field]
    assert all(word in tried.refusal(field, value) for word in words)
    monkeypatch.setattr(rules, "_identify", without(*place))
    refusal = tried.refusal(field, value)
    assert not all(word in refusal for word in words)


def test_another_measure_is_refused_by_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ρ = 1 and ε = 1 are one amount: nothing but the measure tells them apart."""
    tried = Tried(tmp_path, WITHOUT)
    same = {"budget": {"measure": "pure-dp", "epsilon": 1}}
    field, value = ("budget",), same["budget"]
    assert "measure: zcdp in the ledger, pure-dp now" in tried.refusal(field, value)
    monkeypatch.setattr(rules, "_identify", lambda one: (json.loads(one.declaration)["neighbours"], one.budget))
    assert "measure" not in tried.refusal(field, value)


@pytest.mark.slow
def test_an_amendment_that_is_not_recorded_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = Tried(tmp_path, WITHOUT)
    monkeypatch.setattr(drafts, "amendment", lambda *_: "")
    assert {*faults(tried)} == {*amended_in(WITHOUT)}


NEW_FIELDS: Mapping[Field, tuple[Any, str]] = {
    ("columns", "size", "missing"): (
        [-8],
        "missing of column 'size', which the exact totals use: not there in the ledger, [\"-8\"] now",
    ),
    ("data", "csv"): ({"quote": "'"}, "csv of column "),
}


@pytest.mark.parametrize("field", NEW_FIELDS, ids=lambda field: field[-1])
def test_how_a_column_comes_from_the_source_is_fixed_for_exact_totals_and_recorded_otherwise(
    field: Field, tmp_path: Path
) -> None:
    value, words = NEW_FIELDS[field]
    for plan, place in ((WITH_TOTALS, tmp_path / "with"), (WITHOUT, tmp_path / "without")):
        place.mkdir()
        tried = Tried(place, plan)
        refusal, entries = tried.after(field, value)
        if "invariants" in plan:
            assert refusal.startswith("LedgerError")
            assert words in refusal
            assert entries == []
        else:
            assert refusal == ""
            assert entries[0].kind == "amend"
            assert field[-1] in entries[0].details
