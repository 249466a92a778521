"""Views of noisy counts respect published ranges: which ranges a request has (A17), and the nearest table within them.

Oracles: the true counts of every small table lie in the ranges that are carried over to a request; of all tables of small
integers that meet random nested ranges none is nearer.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.origins import joint_columns
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.errors import ArgumentError
from discreet.noise.bits import system_bits
from discreet.quotes import public_ranges
from discreet.quotes.allocate import quote
from discreet.quotes.public_ranges import ranges_of_counts
from discreet.releases import within_ranges
from discreet.releases.evaluate import exact_answers
from discreet.releases.within_ranges import fit_ranges, lies_within
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.laminar import Fact
from discreet.totals.published import totals_of_counts
from discreet.totals.rules import NO_LIMIT

from .mutants import Mutant

ROWS = 4
HALF = {"k": "low", "l": "low", "m": "high", "n": "high"}
SCHEMA = dp.Schema(
    a=dp.Category(["x", "y"]),
    b=dp.Category([*HALF]),
    half=dp.DerivedColumn("half", of="b", by=HALF),
    c=dp.Category(["p", "q"], required=True),
)
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
RANGES = {
    "rounded": dp.Rounded("b", base=2),
    "suppressed, joint": dp.Suppressed("a", "b", below=3),
    "classes beside totals": dp.SizeClasses("b", starts=[1, 2]) + dp.Totals("a"),
    "of halves": dp.Rounded("half", base=2),
    "at least": dp.AtLeast("c", rows=1),
    "of some": dp.Rounded("b", base=3, only=["k", "m"]),
}
REQUESTS = {
    "as they are": TABLE.group_by("a", "b"),
    "coarser": TABLE.group_by("half"),
    "finer": TABLE.group_by("b", "c"),
    "without some rows": TABLE.where({"b": ["l", "m", "n"]}).group_by("b", "c"),
    "without some rows by another column": TABLE.where({"c": ["p"]}).group_by("b"),
    "the whole": TABLE.where({"a": ["x", "y"]}).group_by("c"),
}


def tables_of(invariants):
    """Some tables, by what is published of them."""
    axes = [
        KeyAxis(path_of(name, (), facts_of(SCHEMA, TABLE.neighbours))) for name in joint_columns(invariants.columns, SCHEMA)
    ]
    found = defaultdict(list)
    every = [*combinations_with_replacement(product(["x", None], ["k", "l", "m", None], ["p", "q"]), ROWS)]
    for table in every[:: len(every) // 60]:
        cube = ReferenceEngine({"a": "value", "b": "value", "c": "value"}, table).aggregate(axes, ())
        try:
            totals = totals_of_counts(invariants, SCHEMA, (cube.keys, cube.rows))
        except dp.DiscreetError:
            continue  # it breaks a lower bound
        found[totals].append(table)
    return found


def outside(invariants, request):
    """How many ranges were compared with true counts, and how many of these lie outside."""
    plan, compared, wrong = request.agg(dp.count()), 0, 0
    for totals, tables in tables_of(invariants).items():
        exact_totals = exact_totals_of(invariants, SCHEMA, totals, ROWS)
        told = ranges_of_counts(plan, exact_totals)
        if not told:
            continue
        quoted = quote(plan, dp.ZCDP(1))  # the counts alone, of a table without totals
        for table in tables[:2]:
            engine, (brought, *_) = ReferenceEngine({"a": "value", "b": "value", "c": "value"}, table), plan.layout.scans
            (counts,) = exact_answers(quoted, [engine.aggregate(brought.axes, brought.moments)], system_bits())
            for one in told:
                compared += one.least.size
                wrong += not lies_within(counts, [Fact(one.labels, one.least, one.most, ranged=True)])
    return compared, wrong


@pytest.mark.parametrize("name", RANGES)
def test_true_counts_lie_in_the_ranges_that_a_request_has(name):
    found = [outside(RANGES[name], request) for request in REQUESTS.values()]
    assert not any(wrong for _, wrong in found)
    assert sum(compared > 0 for compared, _ in found) >= 2


CARRIED = {
    "rows that are dropped": ("whole[owner[(owner >= 0) & (place < 0)]] = False", "pass", "of halves", "without some rows"),
    "rows that drop out elsewhere": (
        "np.full(published.size, view.kept)",
        "np.full(published.size, True)",
        "rounded",
        "without some rows by another column",
    ),
    "rows of no range": ("unlimited[others[others >= 0]] = True", "pass", "of some", "coarser"),
}


@pytest.mark.parametrize("planted", CARRIED)
def test_a_range_that_is_carried_over_wrongly_is_noticed(monkeypatch, planted):
    old, new, name, request = CARRIED[planted]
    Mutant(public_ranges, "_ranges_of", old, new).plant(monkeypatch)
    assert outside(RANGES[name], REQUESTS[request])[1] > 0


# The nearest table --------------------------------------------------------------------------------------------------------

LARGEST = 9
SMALL = {cells: np.array([*product(range(LARGEST), repeat=cells)], dtype=np.int64) for cells in (1, 2, 3, 4)}


def nested(draw, cells):
    """Random ranges of nested sets of the cells, around a table of small counts."""
    truth, facts = draw.integers(0, 3, cells), []
    for width in [(1, 2, 4), (1, 3), (4,)][draw.integers(3)]:
        labels = np.arange(cells) // width
        labels = np.where(draw.random(labels.max() + 1) < 0.3, -1, np.arange(labels.max() + 1))[labels]
        kept, labels = np.unique(labels, return_inverse=True)
        labels = labels.reshape(-1) - (kept[0] == -1)
        sums = np.array([truth[labels == one].sum() for one in range(labels.max() + 1)], dtype=np.int64)
        spare = draw.integers(0, 3, (2, sums.size))
        high = np.where(draw.random(sums.size) < 0.2, NO_LIMIT, sums + spare[1])
        if sums.size:
            facts.append(Fact(labels, np.maximum(sums - spare[0], 0), high, ranged=True))
    return draw.integers(-5, 7, cells), facts


def farther(times, cells):
    """In how many random cases the table found is farther from the noisy one than the nearest of all."""
    found, draw = 0, np.random.default_rng(5)  # the same cases whichever tests have run before
    for number in range(times):
        noisy, facts = nested(draw, cells[number % len(cells)])
        values = fit_ranges(noisy, np.maximum(noisy, 0), facts)
        every = SMALL[noisy.size]
        inside = np.ones(len(every), dtype=bool)
        for one in facts:
            sums = np.stack([every[:, one.labels == number].sum(axis=1) for number in range(one.low.size)], axis=1)
            inside &= ((sums >= one.low) & (sums <= one.high)).all(axis=1)
        found += ((values - noisy) ** 2).sum() > ((every[inside] - noisy) ** 2).sum(axis=1).min()
    return found


def test_no_table_within_nested_ranges_is_nearer():
    assert farther(100, (1, 2, 3, 4)) == 0


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("_take", "tree.low[nodes], tree.high[nodes])", "0, tree.high[nodes])"),
        ("_fit_tree", "price + 1", "price + 2"),
        ("_share_out", "left - before", "left"),
    ],
)
def test_a_planted_error_finds_another_table(monkeypatch, name, old, new):
    Mutant(within_ranges, name, old, new).plant(monkeypatch)
    with suppress(dp.DiscreetError):  # the check of the sums notices it
        assert farther(400, (3, 4)) > 0


def fact(labels, low, high):
    return Fact(labels, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64), ranged=True)


def test_ranges_that_cross_are_met_or_refused():
    across, down, nothing = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.int64)
    facts = [fact(across, [3, 0], [4, 1]), fact(down, [0, 2], [2, NO_LIMIT])]
    assert lies_within(fit_ranges(np.array([-3, 0, 9, -4]), np.array([0, 0, 9, 0]), facts), facts)
    many = fact(across, [3, 3], [4, 4])
    for few in (fact(down, [0, 0], [1, 1]), fact(across, [0, 0], [1, 1])):
        with pytest.raises(ArgumentError, match="no table"):
            fit_ranges(nothing, nothing, [many, few])


# In releases --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RANGES)
def test_a_view_of_a_release_lies_in_the_published_ranges(name):
    rows = pl.DataFrame({"a": ["x", "y", None] * 4, "b": ["k", "l", "m", "n"] * 3, "c": ["p", "q"] * 6})
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(9), "neighbours": dp.ReplaceOne(rows=12)}
    told = 0
    with dp.Session(rows, SCHEMA, invariants=RANGES[name], **options) as session:
        counts, tables = session.table.group_by("b", "c").agg(dp.count()), session.table.agg(dp.tables(["a", "b"], ["half"]))
        for number, asked in enumerate((counts, counts, tables)):
            release = session.release(asked, spend="0.01", name=str(number))
            frames = [one for one in release.tables if one.startswith("tables")]
            sources = release.document["frames"] or [release.document]
            views = [dp.consistent(release, one) for one in (frames or [None])]
            for source, view in zip(sources, views, strict=True):
                for one in source.get("known_ranges", ()):
                    ends = one["least"], [NO_LIMIT if end is None else end for end in one["most"]]
                    assert lies_within(view[view.columns[-1]].to_numpy(), [fact(np.array(one["labels"]), *ends)])
                    told += 1
    assert told
