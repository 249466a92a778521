"""Exact totals at any level of a small tree, against all tables of three rows: a(t), charges, lattices and known counts.

What is published of a table and where its rows count is found here from the words of the tree, one record at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.cells import cells_of
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.origins import joint_columns
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.quotes.space import space_of
from discreet.releases.evaluate import exact_answers
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts
from discreet.totals.statements import ImpossibleStatement, LinearStatement, OccupiedStatement, TotalsStatement
from discreet.totals.structure import Blocks, exact_sums

from .fibres import largest_cost
from .totals_laws import SPENDS, covered, on_support, quote_of, ratio, squared

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow

ROWS = 3
STATE = {"a1": "A", "a2": "A", "b1": "B"}
ZONE = {"a1": "p", "b1": "p", "a2": "q"}  # neither follows from the state nor tells it
SCHEMA = dp.Schema(
    area=dp.Category([*STATE]),
    state=dp.DerivedColumn("state", of="area", by=STATE),
    zone=dp.DerivedColumn("zone", of="area", by=ZONE),
    sex=dp.Category(["f"]),
    k=dp.Category(["u"]),
)
READ = ("area", "sex", "k")
RECORDS = list(product([*STATE, None], ["f", None], ["u", None]))
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))

TOTALS = {
    "states": dp.Totals("state"),
    "areas": dp.Totals("area"),
    "states and areas": dp.Totals("state") + dp.Totals("area"),
    "areas, states and zones": dp.Totals("zone") + dp.Totals("state") + dp.Totals("area"),
    "states by sex": dp.Totals("state") + dp.Totals("state", "sex"),
    "areas by sex and states": dp.Totals("area", "sex") + dp.Totals("state"),
    "areas, and states by sex": dp.Totals("area") + dp.Totals("state", "sex"),
    "states and zones": dp.Totals("state") + dp.Totals("zone"),
    "both by sex": dp.Totals("state", "sex") + dp.Totals("zone", "sex"),
    "a state": dp.Totals("state", only=["A"]),
    "a state and an area": dp.Totals("state", only=["A"]) + dp.Totals("area", only=["a1"]),
    "states and which areas": dp.Totals("state") + dp.Occupied("area"),
    "which states and which areas": dp.Occupied("state") + dp.Occupied("area"),
    "states, nobody of an area": dp.Totals("state") + dp.Impossible("area", "sex", cells=[("a1", None)]),
    "a weighted sum of states": dp.LinearInvariant(["state"], {"s": {"A": 1, "B": 2}}),
    "states, sexes": dp.Margins(["state"], ["sex"]),
    "states twice": dp.Totals("state", "area"),
}
REQUESTS = {
    "states": TABLE.group_by("state"),
    "areas": TABLE.group_by("area"),
    "zones": TABLE.group_by("zone"),
    "states and areas": TABLE.group_by("state", "area"),
    "states by sex": TABLE.group_by("state", "sex"),
    "areas by sex and more": TABLE.group_by("sex", "area", "k"),
    "all": TABLE.group_by(),
    "areas of a state": TABLE.where({"state": ["A"]}).group_by("area"),
    "states of an area": TABLE.where({"area": ["a1", "b1"]}).group_by("state"),
    "areas clamped away": TABLE.clamp({"area": ["a1", "b1"]}).group_by("area", "sex"),
    "states clamped away": TABLE.clamp({"state": ["B"]}).group_by("state", "k"),
    "zones of a state": TABLE.where({"state": ["A"], "sex": ["f"]}).group_by("zone"),
}


def value(record, name):
    cells = dict(zip(READ, record, strict=True))
    maps = {"state": STATE, "zone": ZONE}
    return maps[name].get(cells["area"]) if name in maps else cells[name]


def published(invariants, table):
    """What is said of a table, read off the definitions; None where a row is impossible."""
    said = []
    for part in invariants.parts:
        seen = Counter(tuple(value(record, name) for name in part.columns) for record in table)
        match part:
            case TotalsStatement(only=only):
                said.append(frozenset((cell, k) for cell, k in seen.items() if only is None or cell in only))
            case OccupiedStatement(only=only):
                said.append(frozenset(cell for cell in seen if only is None or cell in only))
            case ImpossibleStatement(cells=never):
                if any(cell in seen for cell in never):
                    return None
            case LinearStatement(rows=rows):
                said.append(tuple(sum(dict(row).get(cell, 0) * k for cell, k in seen.items()) for row in rows))
    return tuple(said)


@cache
def fibres(name):
    """All tables by what is said of them, the largest fibres first, each with the totals that the library publishes."""
    invariants, found = TOTALS[name], defaultdict(list)
    for table in combinations_with_replacement(RECORDS, ROWS):
        said = published(invariants, table)
        if said is not None:
            found[said].append(table)
    alike = sorted(found.values(), key=len, reverse=True)
    columns = joint_columns(invariants.columns, SCHEMA)
    axes = [KeyAxis(path_of(name, (), facts_of(SCHEMA, TABLE.neighbours))) for name in columns]
    shown = []
    for tables in alike:
        cubes = [ReferenceEngine(dict.fromkeys(READ, "value"), table).aggregate(axes, ()) for table in tables]
        own = {totals_of_counts(invariants, SCHEMA, (cube.keys, cube.rows)) for cube in cubes}
        assert len(own) == 1  # the library says the same of all of them, and of no other (see below)
        shown.append((own.pop(), tables))
    assert len({totals for totals, _ in shown}) == len(shown)
    return shown


def histograms(tables):
    places = {record: place for place, record in enumerate(RECORDS)}
    return np.array([np.bincount([places[record] for record in table], minlength=len(RECORDS)) for table in tables])


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", TOTALS)
def test_a_is_the_largest_number_of_rows_that_must_change(name):
    bounds, exactly = [], 0
    for totals, tables in fibres(name):
        found, literal = semi_adjacency(TOTALS[name], SCHEMA, totals, ROWS), largest_cost(histograms(tables))
        assert found.a == literal if found.exact else found.a >= literal
        exactly += found.a == literal
        bounds.append(found.a)
    assert max(bounds) <= semi_adjacency(TOTALS[name], SCHEMA, None, ROWS).a
    assert exactly


@pytest.mark.slow
def test_nested_totals_are_one_partition_and_others_are_not():
    """F3: totals that follow from finer ones add nothing; areas and (state, sex) are not nested, and three rows change."""
    nested = ("states and areas", "areas, states and zones", "states by sex", "areas by sex and states", "states twice")
    for name in nested:
        assert {semi_adjacency(TOTALS[name], SCHEMA, totals, ROWS).a for totals, _ in fibres(name)} == {1, 2}
    crossing = "areas, and states by sex"
    assert max(largest_cost(histograms(tables)) for _, tables in fibres(crossing)) == 3
    assert semi_adjacency(TOTALS[crossing], SCHEMA).a == 3


@pytest.mark.parametrize("name", ["states", "areas", "states and areas"])
def test_a_condition_on_a_wider_area_takes_its_rows_out_of_the_totals_that_are_kept(name):
    hold_for_every_pair(name, "areas of a state")
    hold_for_every_pair(name, "states of an area")


@pytest.mark.one_in(135)
@pytest.mark.one_in(13)
@pytest.mark.parametrize(("name", "asked"), list(product(TOTALS, REQUESTS)))
def test_charges_and_lattices_hold_for_every_pair_of_tables_with_equal_totals(name, asked):
    hold_for_every_pair(name, asked)


def hold_for_every_pair(name, asked):
    plan, invariants = REQUESTS[asked].agg(dp.count()), TOTALS[name]
    brought, bits, pairs = plan.layout.scans[0], system_bits(), 0
    for (totals, tables), known, spend in product(fibres(name)[:2], (True, False), SPENDS):
        exact_totals = exact_totals_of(invariants, SCHEMA, totals if known else None, ROWS)
        check_public_numbers(plan, exact_totals, tables)
        quoted = quote_of(plan, spend, exact_totals)
        if quoted is None:
            continue
        header = dict.fromkeys(READ, "value")
        exact = {
            table: exact_answers(quoted, [ReferenceEngine(header, table).aggregate(brought.axes, brought.moments)], bits)
            for table in tables[:: max(1, len(tables) // 24)]
        }
        for first, second in combinations(exact, 2):
            moved = [
                (one.law, left - right)
                for one, left, right in zip(quoted.measured, exact[first], exact[second], strict=True)
            ]
            assert all(on_support(law, u) for law, u in moved)
            if sum((Counter(first) - Counter(second)).values()) <= exact_totals.adjacency.a:
                pairs += 1
                loss = ratio if isinstance(spend, dp.PureDP) else squared
                assert sum(loss(law, u) for law, u in moved) <= covered(quoted)
        assert pairs or len(exact) < 2


def check_public_numbers(plan, exact_totals, tables):
    """What is said to be known of the cells of a request, and to be their sums, is so in every table."""
    space, brought = space_of(plan, exact_totals), plan.layout.scans[0]
    for table in tables:
        cube = ReferenceEngine(dict.fromkeys(READ, "value"), table).aggregate(brought.axes, brought.moments)
        places = cells_of(plan, cube, brought)
        counts = np.bincount(places[places >= 0], weights=cube.rows[places >= 0], minlength=space.cells).astype(int)
        known = None if space.known is None else space.known.counts()
        assert known is None or known.tolist() == counts.tolist()
        assert not np.delete(counts, space.held).any()
        for labels, sums in [] if space.structure is None else exact_sums(space.structure):
            there = labels >= 0
            assert np.bincount(labels[there], weights=counts[there], minlength=len(sums)).tolist() == sums.tolist()


def test_a_table_at_a_finer_level_has_a_block_for_each_published_area():
    totals, _ = fibres("states")[0]
    exact_totals = exact_totals_of(TOTALS["states"], SCHEMA, totals, ROWS)
    finer = space_of(REQUESTS["areas by sex and more"].agg(dp.count()), exact_totals)
    assert isinstance(finer.structure, Blocks)
    shown = {"A": 8, "B": 4, None: 4}  # areas of the state × 2 sexes × 2 of k, null a level of each
    there = [shown[state] for state, rows in zip(["A", "B", None], totals.values[0], strict=True) if rows]
    assert sorted(finer.structure.sizes.tolist()) == sorted(there)
    coarser = exact_totals_of(TOTALS["areas"], SCHEMA, fibres("areas")[0][0], ROWS)
    known = space_of(REQUESTS["states"].agg(dp.count()), coarser)
    (records,) = [tables[0] for given, tables in fibres("areas") if given == coarser.totals]
    counted = Counter(value(record, "state") for record in records)
    assert known.known.counts().tolist() == [counted[state] for state in ("A", "B", None)]


def test_releases_keep_the_totals_of_any_level():
    areas = ["a1", "a2", "b1", None]
    source = pl.DataFrame({"area": areas * 50, "sex": ["f", None] * 100, "k": ["u"] * 200})
    session = dp.Session(
        source, SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(9), neighbours=dp.ReplaceOne(rows=200),
        invariants=dp.Totals("state") + dp.Totals("state", "sex"),
    )  # fmt: skip
    request = session.table.group_by("state", "area", "sex").agg(dp.count())
    release = session.release(request, spend=1, name="areas")
    assert release.document["statistics"][0]["totals"] == "add up to the published ones"
    added = release.table.group_by("state", "sex").agg(pl.col("count").sum())
    exact = release.tables["totals_sex_state"]
    for state, sex, count in added.select("state", "sex", "count").iter_rows():
        told = exact.filter(pl.col("state").eq_missing(state) & pl.col("sex").eq_missing(sex))["count"].sum()
        assert count == told
    exactly = session.release(session.table.group_by("zone").agg(dp.count()), spend=1, name="zones")
    assert exactly.table["count"].sum() == 200
    with pytest.raises(dp.PlanError, match="cannot be imputed"):
        session.quote(session.table.impute({"area": dp.Weights({"a1": 1})}).group_by("area").agg(dp.count()), spend=1)
    with pytest.raises(dp.PlanError, match="public already"):
        session.quote(session.table.group_by("state").agg(dp.count()), spend=1)
