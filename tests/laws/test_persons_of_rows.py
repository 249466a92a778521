"""U5 of docs/proofs/persons.md: values, squares and bins of the rows of a person, over all her states of a few rows.

The meaning is written down a second time, from the words of the proof. The reference engine must equal it, no state of one
person is further from another than the norms, and each mutant of either must break a bound or an equality.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import floor, isqrt

import numpy as np
import pytest

import discreet as dp
from discreet.cube import person_numbers
from discreet.cube.person_numbers import FINE, share_unit
from discreet.cube.persons import PersonScan, part_of
from discreet.cube.queries import Divided, PersonBins, PersonLevels, PersonSum
from discreet.cube.queries.persons import Weighed
from discreet.cube.scans import Scan
from discreet.cube.trees import Tree
from discreet.cube.weights import norms_of
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.privacy import ZCDP, PureDP
from discreet.quotes.allocate import quote
from discreet.quotes.persons import one_person
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.statistics.base import Statistic
from discreet.statistics.person_counting import Centred, Counting, Taken

from .visits import HEADER, SCHEMA, SHOPS

Row = tuple[object, str, int | None]
Spend = dp.PureDP | dp.ZCDP

LOW, HIGH, EDGES = -2, 2, (-2, 0, 1)
OTHER: list[Row] = [(2, "a", 1), (2, "b", -2), (2, "b", 2), (2, "b", None), (None, "a", 2)]
"""Rows that are in all tables."""
STATES = [
    rows
    for size in range(4)
    for rows in combinations_with_replacement([(1, shop, one) for shop, one in product(SHOPS, (None, -2, 0, 2))], size)
]
BINS, MEDIAN = dp.histogram("amount", [*EDGES]), dp.median("amount", nulls="skip")
ASKED: dict[str, Statistic] = {
    "known": dp.count("amount"),
    "mean": dp.mean("amount", nulls="skip"),
    "variance": dp.variance("amount", nulls="skip"),
    "variance of totals": dp.variance("amount", per_person=(-3, 2)),
    "bins": BINS,
    "median": MEDIAN,
}
BOUNDS = [(1, 1), (1, 2), (2, 2), (3, 1), (3, 2)]


def asked(what: str, groups: int, rows: int, spend: Spend, *, part: bool = False) -> Quote:
    table = dp.Table(SCHEMA, dp.AddRemove(person="visitor", part=part)).bound(groups=groups, rows=rows)
    return quote(table.group_by("shop").agg(ASKED[what]), spend)


def answers(quoted: Quote, rows: Sequence[Row]) -> list[list[int]]:
    found = exact_answers(quoted, run_scans(ReferenceEngine(HEADER, rows), quoted.plan.layout), system_bits())
    return [[int(value) for value in one] for one in found]


# From the words of the proof ----------------------------------------------------------------------------------------------


def largest_power(base: int, most: int, below: int) -> Fraction:
    """The largest power of the base, with any whole exponent, whose product with `most` is below."""
    power = Fraction(1)
    while power * base * most < below:
        power *= base
    while power * most >= below:
        power /= base
    return power


def weights(query: PersonSum | PersonBins | PersonLevels, cells: int, groups: int) -> int:
    weighed = query.weighed if isinstance(query, PersonSum) else query.divided.weighed
    unit = 1 if groups >= len(SHOPS) + 1 else {"squares": 2**10, "sums": 2**20}[weighed.weighting]
    larger = max(cells, groups)
    return isqrt(unit**2 * groups // larger) if weighed.weighting == "squares" else unit * groups // larger


def numbers(what: str, rows: Sequence[int | None], most: int) -> list[list[int]]:
    """What a person with these rows in a group counts for in each of the measured queries, in their order."""
    known = [value for value in rows if value is not None]
    m, n, span = len(known), len(rows), HIGH - LOW
    kept = min(m, most)
    if what in ("known", "mean", "variance"):
        fine = max(Fraction(1), largest_power(2, most * span, 2**20))
        above = floor(fine * sum(value - LOW for value in known) * Fraction(kept, max(m, 1)))
        fourth = largest_power(4, most * span**2, 2**24)
        squares = floor(fourth * sum((2 * value - LOW - HIGH) ** 2 for value in known) * Fraction(kept, max(m, 1)))
        found = [kept, int(2 * above - fine * span * kept), squares - floor(fourth * span**2) // 2 * kept]
        return [[one] for one in found[: {"known": 1, "mean": 2, "variance": 3}[what]]]
    if what == "variance of totals":
        low, high = -3, 2
        total = 2 * min(max(sum(known), low), high) - low - high
        fourth = min(Fraction(1), largest_power(4, (high - low) ** 2, 2**24))
        return [[one * (m > 0)] for one in (1, total, floor(fourth * total**2) - floor(fourth * (high - low) ** 2) // 2)]
    fine = largest_power(2, most, 2**20 + 1)
    if what == "bins":
        bins = [sum(value is not None and a <= value < b for value in rows) for a, b in ((-2, 0), (0, 1))]
        return [[floor(fine * min(n, most) * Fraction(one, n)) for one in (*bins, n - m)]]
    return [[floor(fine * kept * Fraction(known.count(value), m)) if m else 0 for value in range(LOW, HIGH + 1)]]


def meant(quoted: Quote, what: str, rows: Sequence[Row], groups: int, most: int) -> list[list[int]]:
    own: dict[object, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for person, shop, value in rows:
        if person is not None:
            own[person][shop].append(value)
    width = {"bins": 3, "median": HIGH - LOW + 1}.get(what, 1)
    found = [[0] * (len(SHOPS) + 1) * width for _ in quoted.measured]
    for cells in own.values():
        for shop, values in cells.items():
            for place, each in enumerate(numbers(what, values, most)):
                query = quoted.measured[place].query
                assert isinstance(query, PersonSum | PersonBins | PersonLevels)
                for i, one in enumerate(each):
                    found[place][SHOPS.index(shop) * width + i] += weights(query, len(cells), groups) * one
    return found if what != "median" else [in_levels(found[0], quoted)]


def in_levels(leaves: Sequence[int], quoted: Quote) -> list[int]:
    """The same in the nodes of every level of the tree of the quote."""
    (query,) = (one.query for one in quoted.measured)
    assert isinstance(query, PersonLevels)
    tree, found = query.tree, list[int]()
    for level, size in enumerate(tree.level_sizes):
        nodes = [0] * (size * (len(SHOPS) + 1))
        for place, one in enumerate(leaves):
            cell, value = divmod(place, tree.size)
            nodes[cell * size + value // tree.width // tree.branching ** (tree.depth - 1 - level)] += one
        found += nodes
    return found


# The laws -----------------------------------------------------------------------------------------------------------------


def check(what: str, groups: int, rows: int, spend: Spend, states: Sequence[tuple[Row, ...]] = tuple(STATES)) -> None:
    quoted, parts = asked(what, groups, rows, spend), asked(what, groups, rows, spend, part=True)
    tables = [answers(quoted, [*OTHER, *state]) for state in states]
    for state, found in zip(states, tables, strict=True):
        assert found == meant(quoted, what, [*OTHER, *state], groups, rows)
    for place, (one, other) in enumerate(zip(quoted.measured, parts.measured, strict=True)):
        every = np.array([found[place] for found in tables], dtype=np.float64)  # below 2**53
        whole, apart = norms(every - every[0]), norms(every[:, None, :] - every[None, :, :])
        assert whole[0] <= one.sensitivity.l1
        assert whole[1] <= one.sensitivity.l2_squared
        assert apart[0] <= other.sensitivity.l1
        assert apart[1] <= other.sensitivity.l2_squared
        if groups * rows <= 3 and groups < 3:  # the states have three rows
            by = isinstance(spend, ZCDP)
            assert whole[by] == (one.sensitivity.l1, one.sensitivity.l2_squared)[by]
            if what == "bins":
                assert apart[by] == (other.sensitivity.l1, other.sensitivity.l2_squared)[by]


def norms(moved: np.ndarray) -> tuple[float, float]:
    size = np.abs(moved)
    return size.sum(axis=-1).max(), (size**2).sum(axis=-1).max()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1)], ids=["pure", "zcdp"])
@pytest.mark.parametrize(("groups", "rows"), BOUNDS)
@pytest.mark.parametrize("what", ASKED)
def test_no_two_states_are_further_apart_than_the_norms_and_some_person_is_as_far_as_they_say(
    what: str, groups: int, rows: int, spend: Spend
) -> None:
    check(what, groups, rows, spend)


@pytest.mark.parametrize("tree", [Tree(5, 2, 2), Tree(5, 2, 3), Tree(5, 3, 2), Tree(5, 2, 2, 2)], ids=repr)
def test_a_person_is_in_every_level_of_a_tree_with_the_same_norm(tree: Tree) -> None:
    """Each level is the leaves added up, and all levels together move by as many times one of them."""
    plan = asked("median", 1, 2, ZCDP(1)).plan
    scan = plan.layout.persons
    assert scan is not None
    query = PersonLevels("amount", tree, Divided(0, 2, Weighed(1, 3, "squares")))
    moved = query.change(one_person(plan.neighbours), plan.facts).leaves
    brought, largest = Scan((), (), plan.layout.labels, 3), [0, 0]
    for state in STATES:
        cube = part_of(ReferenceEngine(HEADER, state).add_persons(scan), 1)
        levels = np.split(query.answer(cube, brought, cube.keys[:, 0], plan.facts), np.cumsum(tree.level_sizes)[:-1] * 3)
        leaves = levels[-1].reshape(3, -1)
        for above, level in enumerate(reversed(levels)):
            assert (level.reshape(3, -1) == leaves.reshape(3, -1, tree.branching**above).sum(axis=2)).all()
        every = np.concatenate(levels)
        largest = [max(largest[0], int(every.sum())), max(largest[1], int((every**2).sum()))]
    assert largest[1] == moved.l2_squared
    assert largest[0] <= moved.l1
    apart = query.change(one_person(dp.AddRemove(person="visitor", part=True)), plan.facts).leaves
    assert (apart.l1, apart.l2_squared) == (2 * moved.l1, 2 * moved.l2_squared)


# Persons who are counted in full ------------------------------------------------------------------------------------------


def in_full(groups: int, rows: int, *, part: bool = False) -> Quote:
    table = dp.Table(SCHEMA, dp.AddRemove(person="visitor", part=part)).bound(groups=groups, rows=rows).group_by("shop")
    return quote(table.agg(dp.count(), dp.sum("amount", per_person=(-2, 2)), dp.counted_in_full()), ZCDP(1))


def all_of_it_counts(rows: Sequence[Row], groups: int, most: int) -> bool:
    shops = {shop for _, shop, _ in rows}
    each = [[value for _, own, value in rows if own == shop] for shop in shops]
    within = (-2 <= sum(value for value in own if value is not None) <= 2 for own in each)
    return len(shops) <= groups and all(len(own) <= most for own in each) and all(within)


@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)])
def test_each_person_is_counted_in_full_or_with_less(groups: int, rows: int) -> None:
    quoted, others = in_full(groups, rows), all_of_it_counts([row for row in OTHER if row[0] == 2], groups, rows)
    found = []
    for state in STATES:
        (_, _, both) = answers(quoted, [*OTHER, *state])
        expected = [int(others), int(not others)] + [0] * 4
        if state:
            expected[not all_of_it_counts(state, groups, rows)] += 1
        assert both == expected
        found.append(both)
    every = np.array(found)
    for measured, moved in (
        (quoted.measured[2], norms(every - every[0])),
        (in_full(groups, rows, part=True).measured[2], norms(every[:, None, :] - every[None, :, :])),
    ):
        assert moved == (measured.sensitivity.l1, measured.sensitivity.l2_squared)


def test_a_bound_that_cuts_nobody_has_nobody_to_count() -> None:
    with pytest.raises(dp.PlanError, match="cuts anybody"):
        dp.Table(SCHEMA, dp.AddRemove(person="visitor")).bound(groups=3).group_by("shop").agg(dp.counted_in_full())
    with pytest.raises(dp.PlanError, match="leave it out"):
        dp.Table(dp.Schema(shop=SCHEMA["shop"]), dp.AddRemove()).agg(dp.counted_in_full())


MUTANTS: dict[str, tuple[object, str, Callable[..., object], str]] = {
    "all rows of a bin count": (PersonScan, "share", lambda scan, rows, of: scan.unit * rows, "bins"),
    "shares rounded up": (
        PersonScan,
        "share",
        lambda scan, rows, of: -(-scan.unit * rows * min(of, scan.rows) // of),
        "bins",
    ),
    "a bin for itself": (PersonScan, "share", lambda scan, rows, of: scan.unit * min(rows, scan.rows), "bins"),
    "all values count": (
        person_numbers,
        "_of_rows",
        lambda total, known, most, fine, coarse: fine * total // coarse,
        "mean",
    ),
    "values rounded up": (
        person_numbers,
        "_of_rows",
        lambda total, known, most, fine, coarse: -(-fine * total * min(known, most) // (known * coarse)) if known else 0,
        "variance",
    ),
    "nobody's squares": (
        person_numbers.TotalSquared,
        "of",
        lambda own, rows, parts: (2 * own.total.of(rows, parts) - own.total.low - own.total.high) ** 2 // own.coarse,
        "variance of totals",
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_person_who_counts_otherwise_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong, what = MUTANTS[mutant]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError):
        check(what, 1, 2, ZCDP(1))


def test_a_middle_that_is_not_taken_for_each_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Centred codes of n′ rows are up to n′ spans from 0; a middle that is taken once leaves more."""
    centred = Counting.centred

    def once(counting: Counting, taken: Taken, one: Centred) -> PersonSum:
        query = centred(counting, taken, one)
        return replace(query, low=-one.middle, high=one.middle)

    monkeypatch.setattr(Counting, "centred", once)
    with pytest.raises(AssertionError):
        check("mean", 1, 2, ZCDP(1))


def test_two_states_in_different_bins_are_further_apart_than_one_is_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def together(own: Divided, row: Row, levels: int) -> object:
        weighed, most = own.weighed, share_unit(own.most) * own.most
        one = norms_of(weighed.weighting, weighed.groups, weighed.cells, most)
        return row.is_person((one.l1, one.l2_squared), lambda: (one.l1, one.l2_squared))  # type: ignore[attr-defined]

    monkeypatch.setattr(Divided, "change", together)
    with pytest.raises(AssertionError):
        check("bins", 1, 1, ZCDP(1))


# Numbers of all sizes -----------------------------------------------------------------------------------------------------


WIDE: dict[str, tuple[Statistic, int, int]] = {
    "values of rows": (dp.mean("amount", nulls="skip"), 2**20, 2**19),
    "squares of rows": (dp.variance("amount", nulls="skip"), 2**31 - 1, 1),
    "squares of totals": (dp.variance("amount", per_person=(0, 2**39)), 2**40, 1),
}


@pytest.mark.parametrize("what", WIDE)
def test_the_widest_columns_have_exact_sums_within_their_norms(what: str) -> None:
    statistic, top, rows = WIDE[what]
    schema = dp.Schema(visitor=dp.Identifier(), amount=dp.Number(0, top))
    plan = dp.Table(schema, dp.AddRemove(person="visitor")).bound(rows=rows).agg(statistic)
    quoted = quote(plan, ZCDP(10**6))
    header = {"visitor": HEADER["visitor"], "amount": ColumnType("integer", "BIGINT")}
    for values in ([top], [0], [top, top, top], [0, top, 0], [top // 3] * 5):
        found = exact_answers(
            quoted, run_scans(ReferenceEngine(header, [(1, one) for one in values]), plan.layout), system_bits()
        )
        for one, answer in zip(quoted.measured, found, strict=True):
            assert abs(int(answer[0])) <= one.sensitivity.l1
            assert int(answer[0]) ** 2 <= one.sensitivity.l2_squared


def test_a_row_is_divided_as_finely_as_a_person_has_rows() -> None:
    assert [share_unit(most) * most <= FINE < 2 * share_unit(most) * most for most in (1, 2, 3, 1000, 10**6)] == [True] * 5


TOO_FINE: dict[str, tuple[Statistic, int]] = {
    "sums of rows": (dp.mean("amount", nulls="skip"), 2),
    "squares of rows": (dp.std("amount", nulls="skip"), 1),
}


@pytest.mark.parametrize("what", TOO_FINE)
def test_sums_without_room_are_refused(what: str) -> None:
    statistic, rows = TOO_FINE[what]
    schema = dp.Schema(visitor=dp.Identifier(), amount=dp.Number(0, 2**39))
    with pytest.raises(dp.PlanError, match="declare a coarser step"):
        dp.Table(schema, dp.AddRemove(person="visitor")).bound(rows=rows).agg(statistic)
