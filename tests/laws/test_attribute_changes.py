"""What a change of one attribute costs, against every pair of small tables: the rows it needs, where they change, the loss.

What is published of a table is found here from its records, and what the noise hides from its law alone.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms import SomeChanges
from discreet.noise.bits import system_bits
from discreet.quotes import attributes as costs
from discreet.quotes.attributes import part_of_change
from discreet.releases.evaluate import exact_answers
from discreet.totals import attributes
from discreet.totals.attributes import attributes_of, changes_of_attribute
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.statements import OccupiedStatement

from .mutants import Mutant
from .totals_laws import covered, quote_of, ratio, squared

ROWS = 3
STATE = {"a1": "A", "a2": "A", "b1": "B"}
ZONE = {"a1": "p", "b1": "p", "a2": "q"}  # neither follows from the state nor tells it
SCHEMA = dp.Schema(
    area=dp.Category([*STATE]),
    state=dp.DerivedColumn("state", of="area", by=STATE),
    zone=dp.DerivedColumn("zone", of="area", by=ZONE),
    sex=dp.Category(["f", "m"]),
    k=dp.Number(0, 1),
)
RECORDS = list(product(STATE, ["f", "m"], [0, 1]))
SHOWN = [
    dict(zip(("area", "sex", "k"), record, strict=True)) | {"state": STATE[record[0]], "zone": ZONE[record[0]]}
    for record in RECORDS
]
NUMBERS = np.array(list(product(range(len(RECORDS)), repeat=ROWS)))
LEFT = np.flatnonzero((np.diff(NUMBERS[:, 1:], axis=1) >= 0).all(axis=1))  # the order of the others is left aside

TOTALS = {
    "nothing": None,
    "states": dp.Totals("state"),
    "areas": dp.Totals("area"),
    "zones": dp.Totals("zone"),
    "states by sex": dp.Totals("state", "sex"),
    "states, sexes": dp.Margins(["state"], ["sex"]),
    "areas, which states by sex": dp.Totals("area") + dp.Occupied("state", "sex"),
    "a state": dp.Totals("state", only=["A"]),
    "the women of a state": dp.Totals("state", "sex", only=[("A", "f")]),
    "areas, and states by sex": dp.Totals("area") + dp.Totals("state", "sex"),
}
REQUESTS = {
    "states by sex": lambda table: table.group_by("state", "sex").agg(dp.count()),
    "areas": lambda table: table.group_by("area").agg(dp.count(), dp.sum("k", nulls="skip")),
    "sums": lambda table: table.group_by("sex").agg(dp.mean("k", nulls="skip")),
    "women": lambda table: table.where({"sex": ["f"]}).group_by("state").agg(dp.count()),
    "all": lambda table: table.group_by("area", "sex").agg(dp.count()),
    "two tables": lambda table: table.agg(dp.tables(["state", "sex"], ["sex"])),
}


def changes_beside(name):
    every = [changes_of_attribute(one, TOTALS[name], SCHEMA, ROWS) for one in attributes_of(SCHEMA)]
    return [change for found in every for change in found]


@cache
def same_facts(name):
    """For each pair of tables whether they have the same exact facts."""
    if TOTALS[name] is None:
        return np.ones((len(LEFT), len(NUMBERS)), dtype=bool)
    known = {}
    told = np.array([known.setdefault(told_of(TOTALS[name], table), len(known)) for table in NUMBERS])
    return told[LEFT, None] == told


def told_of(invariants, table):
    said = []
    for part in invariants.parts:
        seen = Counter(tuple(SHOWN[i][column] for column in part.columns) for i in table)
        kept = {cell: many for cell, many in seen.items() if part.only is None or cell in part.only}
        said.append(frozenset(kept) if isinstance(part, OccupiedStatement) else frozenset(kept.items()))
    return tuple(said)


@cache
def pairs_of(name, change):
    """Pairs in which row 0 changes in the attribute, others in what may change with it, with how many differ; who can."""
    differ = [[frozenset(c for c in one if one[c] != other[c]) for other in SHOWN] for one in SHOWN]
    own = frozenset(change.attribute) & change.moved
    first = np.array([[bool(cell) and cell <= own and change.within not in cell for cell in row] for row in differ])
    others = np.array([[cell <= change.moved for cell in row] for row in differ])
    left, right = np.nonzero(first[NUMBERS[LEFT, 0][:, None], NUMBERS[:, 0]] & same_facts(name))
    possible = set(zip(left.tolist(), NUMBERS[right, 0].tolist(), strict=True))
    left, before, after = LEFT[left], NUMBERS[LEFT[left]], NUMBERS[right]
    can = others[before[:, 1:], after[:, 1:]].all(axis=1)
    return possible, left[can], right[can], (before != after).sum(axis=1)[can]


def needed_of(name, change):
    """The most rows that must differ, over all tables and values that row 0 can take; 0 where it can take none."""
    possible, left, right, many = pairs_of(name, change)
    least = dict.fromkeys(possible, 100)
    for place, value, rows in zip(
        np.searchsorted(LEFT, left).tolist(), NUMBERS[right, 0].tolist(), many.tolist(), strict=True
    ):
        least[place, value] = min(least[place, value], rows)
    return max(least.values(), default=0)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TOTALS)
def test_no_change_of_an_attribute_needs_more_rows_or_other_columns(name):
    for change in changes_beside(name):
        needed = needed_of(name, change)
        assert needed <= change.rows.a, change
        assert not change.rows.exact or needed in (0, change.rows.a), change


@cache
def answers_of(name, asked, spend):
    relation = dp.AddRemove() if name == "nothing" and asked in ("areas", "women") else dp.ReplaceOne(rows=ROWS)
    plan = REQUESTS[asked](dp.Table(SCHEMA, relation))
    known = None if TOTALS[name] is None else exact_totals_of(TOTALS[name], SCHEMA, None, ROWS)
    quoted = quote_of(plan, spend, known)
    if quoted is None:
        return None, None
    header, found = dict.fromkeys(("area", "sex", "k"), "value"), {}
    for table in NUMBERS:
        key = tuple(sorted(table))
        if key not in found:
            rows = [RECORDS[i] for i in key]
            cubes = [ReferenceEngine(header, rows).aggregate(one.axes, one.moments) for one in plan.layout.scans]
            found[key] = exact_answers(quoted, cubes, system_bits())
    return quoted, [np.array(each) for each in zip(*(found[tuple(sorted(one))] for one in NUMBERS), strict=True)]


def largest_loss(name, asked, spend, change):
    """The largest loss for this change, relative to what the charge allows for."""
    quoted, answers = answers_of(name, asked, spend)
    _, left, right, many = pairs_of(name, change)
    first, second = left[many <= change.rows.a], right[many <= change.rows.a]
    moved = np.concatenate([(one[first] - one[second]).reshape(len(first), -1) for one in answers], axis=1)
    ends = np.cumsum([one[0].size for one in answers])[:-1]
    loss = ratio if isinstance(spend, dp.PureDP) else squared
    worst = Fraction(0)
    for shift in np.unique(moved, axis=0):
        parts = zip(quoted.measured, np.split(shift, ends), strict=True)
        worst = max(worst, sum((loss(one.law, u) for one, u in parts if u.any()), Fraction(0)))
    return worst / covered(quoted)


CASES = [
    (name, asked, spend) for name, asked, spend in product(TOTALS, REQUESTS, [dp.PureDP("0.75"), dp.ZCDP("0.75"), dp.GDP(1)])
]


@pytest.mark.one_in(48)
@pytest.mark.parametrize(("name", "asked", "spend"), CASES)
def test_no_change_of_an_attribute_costs_more_than_is_said(name, asked, spend):
    if answers_of(name, asked, spend)[0] is None:
        pytest.skip("the totals answer this request")
    for change in changes_beside(name):
        said = part_of_change(answers_of(name, asked, spend)[0], change)
        assert largest_loss(name, asked, spend, change) <= said, change


@pytest.mark.parametrize(
    ("name", "asked", "attained"),
    [
        ("states", "states by sex", {("area", "state"): 0, ("sex", None): Fraction(1, 4), ("k", None): 0}),
        ("nothing", "all", {("area", None): 1, ("area", "state"): 1, ("sex", None): 1, ("k", None): 0}),
    ],
)
def test_what_is_said_is_met(name, asked, attained):
    quoted, _ = answers_of(name, asked, dp.ZCDP("0.75"))
    changes = {(change.attribute[0], change.within): change for change in changes_beside(name)}
    for called, said in attained.items():
        assert part_of_change(quoted, changes[called]) == said
        assert largest_loss(name, asked, dp.ZCDP("0.75"), changes[called]) >= said * Fraction(999, 1000)


ROW_MUTANTS = {
    "totals tie nothing": (Mutant(attributes, "_counts_any", "return named and", "return False and"), "states"),
    "others keep their columns": (Mutant(attributes, "_moved_with", ".union(*touched)", ""), "the women of a state"),
    "others stay within the area": (
        Mutant(
            attributes,
            "_moved_with",
            "frozenset() if within is None or covers(own, (within,), schema) else frozenset(attribute)",
            "frozenset()",
        ),
        "zones",
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("planted", ROW_MUTANTS)
def test_a_change_that_is_said_to_need_too_little_is_noticed(monkeypatch, planted):
    error, name = ROW_MUTANTS[planted]
    error.plant(monkeypatch)
    assert any(needed_of(name, change) > change.rows.a for change in changes_beside(name))


COST_MUTANTS = {
    "a row that goes to another cell": (
        Mutant(costs, "_share", 'if outer or move == "within"', 'if move == "within"'),
        ("states", "states by sex"),
    ),
    "the columns of groups": (
        Mutant(costs, "_outer", "*(group.column for group in plan.group_by), ", ""),
        ("states", "all"),
    ),
    "only one row": (Mutant(costs, "_part", "change.rows.a", "1"), ("states", "states by sex")),
    "one step for two": (Mutant(costs, "_most", "quote.plan.neighbours.replacing", "1"), ("nothing", "areas")),
    "one row that stays": (
        Mutant(SomeChanges, "ratio", "type(guarantee).size(self.moved)", "type(guarantee).size(self.moved) // 2"),
        ("states", "all"),
    ),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("planted", COST_MUTANTS)
def test_a_cost_that_is_too_small_is_noticed(monkeypatch, planted):
    error, (name, asked) = COST_MUTANTS[planted]
    error.plant(monkeypatch)
    quoted, _ = answers_of(name, asked, dp.ZCDP("0.75"))
    found = [(part_of_change(quoted, change), change) for change in changes_beside(name)]
    assert any(largest_loss(name, asked, dp.ZCDP("0.75"), change) > said for said, change in found)
