"""Totals by two columns of one family, neither of which is finer: they tell less than the column of the source (K3).

Two areas have the same state and the same zone, so a row may go from one to the other while all totals stay as they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.codes import NULL
from discreet.domain.origins import joint_columns
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.quotes import lattice, space
from discreet.releases.evaluate import exact_answers
from discreet.totals import adjacency, general
from discreet.totals.exact_totals import Star, exact_totals_of
from discreet.totals.published import totals_of_counts

from .mutants import Mutant
from .totals_laws import SPENDS, covered, on_support, quote_of, ratio, squared

ROWS = 3
STATE = {"a1": "A", "a2": "A", "a3": "A", "b1": "B"}
ZONE = {"a1": "p", "a2": "p", "a3": "q", "b1": "q"}
SCHEMA = dp.Schema(
    area=dp.Category([*STATE]),
    state=dp.DerivedColumn("state", of="area", by=STATE),
    zone=dp.DerivedColumn("zone", of="area", by=ZONE),
    y=dp.Number(0, 1),
)
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
TOTALS = {
    "one list": dp.Totals("state", "zone"),
    "and by areas of a state": dp.Totals("state", "zone") + dp.Totals("area", only=["b1"]),
    "two lists": dp.Totals("state") + dp.Totals("zone"),
    "and by values": dp.Totals("state", "zone") + dp.Totals("y"),
}
REQUESTS = {
    "areas": TABLE.group_by("area").agg(dp.count()),
    "areas where a value is known": TABLE.where({"y": (0, 1)}).group_by("area").agg(dp.count(), dp.sum("y", nulls="skip")),
    "states": TABLE.group_by("state").agg(dp.count("y")),
    "all levels": TABLE.group_by("state", "zone", "area").agg(dp.sum("y", nulls="skip")),
}
TABLES = list(combinations_with_replacement(product([*STATE, None], [0, 1]), ROWS))


@cache
def alike(name):
    """The two largest sets of tables of which the same is published, and what that is."""
    invariants = TOTALS[name]
    axes = [
        KeyAxis(path_of(name, (), facts_of(SCHEMA, TABLE.neighbours))) for name in joint_columns(invariants.columns, SCHEMA)
    ]
    found = defaultdict(list)
    for table in TABLES:
        cube = ReferenceEngine({"area": "value", "y": "value"}, table).aggregate(axes, ())
        found[totals_of_counts(invariants, SCHEMA, (cube.keys, cube.rows))].append(table)
    return sorted(found.items(), key=lambda item: len(item[1]), reverse=True)[:2]


def check_pairs(name, plan):
    """How many pairs of tables a charge was compared for."""
    pairs, brought, invariants = 0, plan.layout.scans[0], TOTALS[name]
    for (totals, tables), known, spend in product(alike(name), (True, False), SPENDS):
        exact_totals = exact_totals_of(invariants, SCHEMA, totals if known else None, ROWS)
        quoted = quote_of(plan, spend, exact_totals)
        if quoted is None:
            continue
        exact = {}
        for table in tables[:: max(1, len(tables) // 9)]:
            engine = ReferenceEngine({"area": "value", "y": "value"}, table)
            exact[table] = exact_answers(quoted, [engine.aggregate(brought.axes, brought.moments)], system_bits())
        for first, second in combinations(exact, 2):
            moved = [(one.law, a - b) for one, a, b in zip(quoted.measured, exact[first], exact[second], strict=True)]
            assert all(on_support(law, u) for law, u in moved)
            if sum((Counter(first) - Counter(second)).values()) <= exact_totals.adjacency.a:
                pairs += 1
                loss = ratio if isinstance(spend, dp.PureDP) else squared
                assert sum(loss(law, u) for law, u in moved) <= covered(quoted)
    return pairs


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TOTALS)
def test_every_pair_of_tables_with_equal_totals_is_charged_for(name):
    assert all(check_pairs(name, plan) for plan in REQUESTS.values())


def test_totals_that_are_taken_for_those_of_the_source_are_noticed(monkeypatch):
    """They were: two rows that go from one area to another were charged as if they stayed."""
    for module in (lattice, space):
        monkeypatch.setattr(module, "star_of", lambda *_: Star(("area",), ()))
    monkeypatch.setattr(lattice, "_counts", lambda *_: None)
    with pytest.raises(AssertionError):
        check_pairs("one list", REQUESTS["areas where a value is known"])


def test_areas_are_released_beside_totals_of_crossing_levels():
    areas = [*STATE, None, "a2", "a1", "b1"] * 25
    session = dp.Session(
        pl.DataFrame({"area": areas, "y": [0, 1] * 100}), SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(9),
        neighbours=dp.ReplaceOne(rows=200), invariants=TOTALS["one list"],
    )  # fmt: skip
    for number, request in enumerate(("area", "state, zone and area", "a condition")):
        table = session.table.where({"y": (1, 1)}) if request == "a condition" else session.table
        groups = ["state", "zone", "area"] if "state" in request else ["area"]
        release = session.release(table.group_by(*groups).agg(dp.count()), spend=1, name=str(number))
        counts = dict(zip(release.table["area"].to_list(), release.table["count"].to_list(), strict=True))
        if request != "a condition":
            assert counts["a1"] + counts["a2"] == 100
            assert [counts[name] for name in ("a3", "b1", None)] == [25, 50, 25]
    with pytest.raises(dp.PlanError, match="public already"):
        session.quote(session.table.group_by("state").agg(dp.count()), spend=1)
    assert np.array_equal(session.totals.table(("state", "zone"), SCHEMA), [[100, 25, 0], [0, 50, 0], [0, 0, 25]])


SIDES = 4
RING = {f"{kind}{side}": (f"s{side}", f"z{(side + (kind == 'b')) % SIDES}") for kind in "ab" for side in range(SIDES)}
"""Areas in a ring: each state has one area in its own zone and one in the next, so that all other pairs cannot occur."""

AROUND = dp.Schema(
    area=dp.Category([*RING]),
    state=dp.DerivedColumn("state", of="area", by={area: state for area, (state, _) in RING.items()}),
    zone=dp.DerivedColumn("zone", of="area", by={area: zone for area, (_, zone) in RING.items()}),
)


def needed_around() -> int:
    """The rows that must change for one to change, at most, in tables with a row in each state and zone and one in none."""
    tables = [
        Counter(rows)
        for rows in combinations_with_replacement([*RING, None], SIDES + 1)
        if sorted(RING[one][0] for one in rows if one) == sorted(RING[one][1].replace("z", "s") for one in rows if one)
        and len({RING[one][0] for one in rows if one}) == SIDES
    ]
    found = 0
    for table, takes in product(tables, [*RING, None]):
        for leaves in table:
            fewest = [
                SIDES + 1 - ((table - Counter([leaves])) & (other - Counter([takes]))).total()
                for other in tables
                if takes != leaves and takes in other
            ]
            found = max([found, *([min(fewest)] if fewest else [])])
    return found


def adjacency_around() -> int:
    rows = np.array([[area] for area in range(SIDES)] + [[NULL]])
    totals = totals_of_counts(AROUND_TOTALS, AROUND, (rows, np.ones(SIDES + 1, dtype=np.int64)))
    return exact_totals_of(AROUND_TOTALS, AROUND, totals, SIDES + 1).adjacency.a


AROUND_TOTALS = dp.Totals("state") + dp.Totals("zone")


def test_pairs_of_levels_that_cannot_occur_are_zeros_of_both(monkeypatch):
    """Without them the two margins would be said to need three rows, but a row goes round the ring with all others."""
    assert 4 <= needed_around() <= adjacency_around()
    Mutant(
        general, "decomposable", "    zeros += [set(own) for own in families(named, schema).values() if len(own) > 1]\n", ""
    ).plant(monkeypatch)
    monkeypatch.setattr(adjacency, "decomposable", general.decomposable)
    assert adjacency_around() < needed_around()
