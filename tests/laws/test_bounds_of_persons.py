"""U9 of docs/proofs/persons.md: what a bound on groups leaves out, against the reference on tables of persons."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.errors import ArgumentError, PlanError
from discreet.noise.bits import system_bits
from discreet.plan.plan import Plan
from discreet.quotes import bounds
from discreet.quotes.allocate import quote
from discreet.quotes.bounds import bound_errors, read_groups
from discreet.releases.evaluate import exact_answers, run_scans

SHOPS = [f"s{place}" for place in range(12)]
SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS), day=dp.Number(0, 6))
PERSONS = dp.AddRemove(person="visitor")
TABLE = dp.Table(SCHEMA, PERSONS)
HEADER = {"visitor": ColumnType("integer", ""), "shop": ColumnType("text", ""), "day": ColumnType("integer", "")}
SPENDS = [dp.ZCDP("0.05"), dp.PureDP("0.5"), dp.ApproxDP("0.5", "1e-6")]


def asked(groups: int, *, nulls: str = "drop") -> Plan:
    return TABLE.bound(groups=groups).group_by("shop", nulls=nulls).agg(dp.persons())


def drawn(seed: int, persons: int = 60) -> list[tuple[int, str | None, int]]:
    chosen = random.Random(seed)  # noqa: S311
    rows: list[tuple[int, str | None, int]] = []
    for person in range(persons):
        many = min(len(SHOPS), int(chosen.paretovariate(0.9)))
        rows += [(person, shop, chosen.randrange(7)) for shop in chosen.sample(SHOPS, many) for _ in range(2)]
        rows += [(person, None, 0)] * (chosen.random() < 0.1)
    return rows


def persons_of(rows: list[tuple[int, str | None, int]], *, null: bool) -> Counter[int]:
    """h(g): how many persons are in g of the printed groups."""
    own: dict[int, set[str | None]] = {}
    for person, shop, _ in rows:
        own.setdefault(person, set()).update({shop} if shop is not None or null else ())
    return Counter(len(groups) for groups in own.values() if groups)


def lost_of(plan: Plan, rows: list[tuple[int, str | None, int]], spend: dp.PureDP) -> tuple[Fraction, int]:
    """What the bounded numbers of persons are too small by, of the reference, and all persons in groups."""
    quoted = quote(plan, spend)
    (found,) = exact_answers(quoted, run_scans(ReferenceEngine(HEADER, rows), plan.layout), system_bits())
    unit = quoted.measured[0].query.unit  # type: ignore[attr-defined]
    every = sum(g * many for g, many in persons_of(rows, null="shop" not in plan.dropped).items())
    return every - Fraction(int(sum(found)), unit), every


@pytest.mark.parametrize("spend", SPENDS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("groups", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("nulls", ["drop", "show"])
def test_public_numbers_say_exactly_what_is_left_out(groups: int, spend: dp.PureDP, nulls: str) -> None:
    plan, rows = asked(groups, nulls=nulls), drawn(groups)
    errors = quote(plan, spend).left_out(dict(persons_of(rows, null=nulls == "show")))
    lost, every = lost_of(plan, rows, spend)
    assert errors.lost == (lost, lost)
    assert errors.share == (lost / every, lost / every)
    assert errors.printed == len(SHOPS) + (nulls == "show")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_ranges_hold_all_tables_within_them_and_some_table_reaches_each_end(groups: int) -> None:
    given = {1: (2, 3), (2, 4): (0, 2), (6, 12): 1}
    errors = quote(asked(groups), dp.ZCDP(1)).left_out(given)
    lost, shares = [], []
    for ones, second, third in product(
        (2, 3), [(), *((g,) for g in (2, 3, 4)), *product((2, 3, 4), repeat=2)], range(6, 13)
    ):
        own = Counter([1] * ones + [*second, third])
        exact = quote(asked(groups), dp.ZCDP(1)).left_out(dict(own))
        lost.append(exact.lost[0])
        shares.append(exact.share[0])
    assert errors.lost == (min(lost), max(lost))
    assert errors.share == (min(shares), max(shares))


@pytest.mark.parametrize("spend", SPENDS[:2], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("given", [{2: (0, 2)}, {1: (0, 2), 3: (0, 2)}, {(1, 2): (0, 1), 3: (1, 2), 12: (0, 1)}])
def test_ranges_from_nobody_on_hold_all_shares(given: dict[Any, tuple[int, int]], spend: dp.PureDP) -> None:
    """Noisy numbers are often ranges from 0 on: the largest part is then that of the worst persons alone."""
    quoted, shares = quote(asked(1), spend), []
    for counts in product(*(range(low, high + 1) for low, high in given.values())):
        for places in product(*((one, one) if isinstance(one, int) else one for one in given)):
            own: Counter[int] = Counter()
            for place, many in zip(places, counts, strict=True):
                own[place] += many
            if sum(own.values()):
                exact = quoted.left_out({place: many for place, many in own.items() if many})
                shares.append(exact.share[0])
    errors = quoted.left_out(given)
    assert errors.share == (min(shares), max(shares))


def test_a_part_of_nobody_that_is_taken_for_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = bounds._share

    def last(*given: Any) -> Fraction:
        found = literal(*given)
        return found if any(one.count[0] for one in given[0]) else Fraction(0)

    monkeypatch.setattr(bounds, "_share", last)
    with pytest.raises(AssertionError):
        test_ranges_from_nobody_on_hold_all_shares({2: (0, 2)}, dp.ZCDP(1))


def released(rows: list[tuple[int, str | None, int]], most: int = 12, edges: list[int] | None = None) -> dp.Release:
    each = TABLE.per_person(shops=dp.distinct("shop", most=most))
    return release_of(each.agg(dp.histogram("shops", edges or [*range(most + 1)])), rows)


def release_of(request: Plan, rows: list[tuple[int, str | None, int]]) -> dp.Release:
    frame = pl.DataFrame(rows, schema=["visitor", "shop", "day"], orient="row")
    with session_over(frame, SCHEMA, neighbours=PERSONS, budget=dp.PureDP(10**9)) as session:
        return session.release(request, spend=10**6, name="how many shops")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("nulls", ["drop", "show"])
@pytest.mark.parametrize("most", [3, 12])
def test_a_release_of_numbers_of_groups_holds_what_is_left_out(most: int, nulls: str) -> None:
    """Without noise, but with a last bin that may hold more groups, and perhaps a null group beside each."""
    rows = drawn(7)
    release = released(rows, most)
    for groups in (1, 2, 4, 8):
        plan = asked(groups, nulls=nulls)
        errors = quote(plan, dp.ZCDP("0.05")).left_out(release)
        lost, every = lost_of(plan, rows, dp.ZCDP("0.05"))
        assert errors.lost[0] <= lost <= errors.lost[1]
        assert errors.share[0] <= lost / every <= errors.share[1]
        if nulls == "drop" and most == 12:
            many = persons_of(rows, null=False)
            assert errors.lost[1] - errors.lost[0] <= many[11] + many[12]  # which are in one bin


def test_released_numbers_are_closer_than_the_stated_distance_on_average() -> None:
    rows, plan = drawn(3, 400), asked(2)
    errors = quote(plan, dp.ZCDP("0.05")).left_out(dict(persons_of(rows, null=False)))
    true = Counter(shop for _, shop in {(person, shop) for person, shop, _ in rows if shop is not None})
    lost = np.zeros(len(SHOPS))
    own: dict[int, set[str]] = {}
    for person, shop, _ in rows:
        if shop is not None:
            own.setdefault(person, set()).add(shop)
    for groups in own.values():
        for shop in groups:
            lost[SHOPS.index(shop)] += 1 - min(1.0, (2 / len(groups)) ** 0.5)
    rng = np.random.default_rng(5)
    distances = np.abs(rng.normal(0, errors.deviation, (20_000, len(SHOPS))) - lost).mean()
    assert sum(true.values()) * 0.999 < sum(len(groups) for groups in own.values())
    assert 0.6 * errors.whole < distances < errors.whole


@pytest.mark.one_in(3)
@pytest.mark.parametrize("spend", SPENDS, ids=lambda one: type(one).__name__)
def test_no_other_bound_has_a_smaller_distance(spend: dp.PureDP) -> None:
    for seed, persons in ((1, 40), (2, 400), (3, 4_000)):
        given = dict(persons_of(drawn(seed, persons), null=False))
        choice = dp.choose_bound(given, asked(1), spend=spend)
        every = [quote(asked(groups), spend).left_out(given).whole for groups in range(1, 14)]
        assert choice.best.whole == min(every)
        assert choice.groups == max(place for place, one in enumerate(every, 1) if one == min(every))
        assert str(choice).startswith("assumed of persons")
        assert choice.to_json()["groups"] == choice.groups


def test_more_persons_make_a_larger_bound_the_best() -> None:
    shares = {1: 600, 2: 200, 3: 100, 4: 60, 6: 30, 12: 10}
    found = [
        dp.choose_bound({g: many * n for g, many in shares.items()}, asked(1), spend=dp.ZCDP("0.001")).groups
        for n in (1, 10, 100, 10_000)
    ]
    assert found == sorted(found)
    assert found[0] < found[-1] == 12


def test_weights_of_another_bound_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = bounds.weight
    monkeypatch.setattr(bounds, "weight", lambda by, g, groups, cells: literal(by, g, groups + 1, cells))
    with pytest.raises(AssertionError):
        test_public_numbers_say_exactly_what_is_left_out(2, dp.ZCDP("0.05"), "drop")


def test_a_last_bin_that_ends_at_the_most_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = bounds._Bin
    monkeypatch.setattr(bounds, "_Bin", lambda least, most, count: literal(least, min(most, max(least, 3)), count))
    with pytest.raises(AssertionError):
        test_a_release_of_numbers_of_groups_holds_what_is_left_out(3, "drop")


WRONG = {
    "nothing": ({}, "must be a release"),
    "a text": ("many", "must be a release"),
    "no group": ({0: 5}, "number of groups"),
    "half a group": ({1.5: 5}, "number of groups"),
    "a pair that falls": ({(3, 2): 5}, "number of groups"),
    "twice": ({(1, 3): 5, 2: 1}, "give each number once"),
    "more than there are": ({14: 1}, "the request has 12 groups"),
    "persons below 0": ({1: -3}, "must be from 0"),
    "a range that falls": ({1: (5, 3)}, "least must come first"),
}


@pytest.mark.parametrize("what", WRONG)
def test_numbers_of_another_form_are_refused(what: str) -> None:
    given, said = WRONG[what]
    with pytest.raises(ArgumentError, match=said):
        quote(asked(2), dp.ZCDP(1)).left_out(given)


def test_declarations_of_a_release_are_those_of_the_request() -> None:
    """Who is in two of a few shops may be in all of many, and a household in more than each of its members."""
    few = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS[:2]), day=dp.Number(0, 6))
    families = dp.Schema(family=dp.Identifier(), **TABLE.schema.columns)
    others = dp.Table(few, PERSONS), dp.Table(families, dp.AddRemove(person="family"))
    release = released(drawn(1))
    for other in others:
        with pytest.raises(ArgumentError, match="other declarations"):
            quote(other.bound(groups=2).group_by("shop").agg(dp.persons()), dp.ZCDP(1)).left_out(release)
    wider = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS), day=dp.Number(0, 9))
    same = dp.Table(wider, PERSONS).bound(groups=2).group_by("shop").agg(dp.persons())
    assert quote(same, dp.ZCDP(1)).left_out(release).lost[1] > 0  # no condition is on the days


def test_declarations_that_nobody_compares_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_declared", lambda *_: {})
    with pytest.raises(pytest.fail.Exception):
        test_declarations_of_a_release_are_those_of_the_request()


def test_persons_without_a_value_are_in_no_group_where_null_has_none() -> None:
    """A bin of nobody and some: all its persons may be in no group, and then those of the others are a larger part."""
    rows = [*((k, shop, 0) for k in range(10) for shop in SHOPS[:2]), *((10 + k, None, 0) for k in range(30))]
    plan = asked(1)
    errors = quote(plan, dp.ZCDP("0.05")).left_out(released(rows, edges=[0, 2, 3, 12]))
    lost, every = lost_of(plan, rows, dp.ZCDP("0.05"))
    assert errors.share[0] <= lost / every <= errors.share[1]


def test_a_bin_of_nobody_that_is_taken_for_one_group_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = bounds._Bin
    monkeypatch.setattr(bounds, "_Bin", lambda least, most, count: literal(max(least, 1), most, count))
    with pytest.raises(AssertionError):
        test_persons_without_a_value_are_in_no_group_where_null_has_none()


def test_releases_about_others_are_refused() -> None:
    release, quoted = released(drawn(1)), quote(asked(2), dp.ZCDP(1))
    elsewhere = TABLE.where({"day": (0, 3)}).bound(groups=2).group_by("shop").agg(dp.persons())
    with pytest.raises(ArgumentError, match="other rows than the request"):
        quote(elsewhere, dp.ZCDP(1)).left_out(release)
    by_day = TABLE.bound(groups=2).group_by(dp.bins("day", [0, 3, 6])).agg(dp.persons())
    with pytest.raises(ArgumentError, match="the request has other groups"):
        quote(by_day, dp.ZCDP(1)).left_out(release)
    as_bins = TABLE.per_person(days=dp.distinct("day", most=7)).agg(dp.histogram("days", range(8)))
    with pytest.raises(ArgumentError, match="the request has other groups"):  # two days may be in one bin
        quote(by_day, dp.ZCDP(1)).left_out(release_of(as_bins, drawn(1)))
    weighed = TABLE.bound(groups=2, weight="day").group_by("shop").agg(dp.persons())
    with pytest.raises(ArgumentError, match="0 in 'day' too"):
        quote(weighed, dp.ZCDP(1)).left_out(release)
    with pytest.raises(ArgumentError, match="do not hold all numbers"):
        quoted.left_out(released(drawn(1), edges=[0, 3, 5]))
    with pytest.raises(PlanError, match="left_out"):
        quote(TABLE.bound(groups=2, rows=1).group_by("shop").agg(dp.count()), dp.ZCDP(1)).left_out(release)
    with pytest.raises(PlanError, match="left_out"):
        bound_errors(quote(TABLE.agg(dp.persons()), dp.ZCDP(1)), read_groups({1: 5}, asked(1)))
    with pytest.raises(PlanError, match="in groups on a table"):
        dp.choose_bound({1: 5}, TABLE.agg(dp.persons()), spend=dp.ZCDP(1))
    with pytest.raises(ArgumentError, match="must be a measure"):
        dp.choose_bound({1: 5}, asked(1), spend="0.1")
    assert dp.choose_bound(release, asked(1), spend="0.1").groups >= 1
