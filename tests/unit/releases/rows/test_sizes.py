"""Sizes of households as numbers, in bins and with an open end; pairs of files are made only where there are some."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.laws.mutants import Mutant
from tests.unit.releases.rows.homes import AREAS, HOMES, OF_PEOPLE, PEOPLE, TENURE, homes_of, made_up, people_of, released
from tests.unit.releases.rows.pairs import Pair

import discreet as dp
from discreet.errors import InternalError
from discreet.releases.rows import fit, households, sizes, sums
from discreet.releases.rows.division import Classes


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """Rows are fitted in two sweeps: enough for what holds after every draw."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(40), 20, 1)))


def living(found):
    """How many persons each household has."""
    many = Counter(found.persons.frame["household"].to_list())
    return [many[place] for place in range(len(found.homes.frame))]


def together(make, **options):
    """Households and persons of one of five pairs of releases: at less than one noise in a hundred none are found."""
    for _ in range(5):
        try:
            return dp.fit_households(*make(), size="size", **options)
        except dp.ArgumentError as refused:
            told = refused
    raise told


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(12))
def test_pairs_are_made_only_if_there_are_some(seed):
    """Everything that is made is right, and at least half of what exists is made.

    A pair that exists is tried with three noises: those found at all are found with at least 99 in 100. So that half of them
    are not found is less likely than 10^-6.
    """
    drawn, exist, made = np.random.default_rng(seed), 0, 0
    for _ in range(16):
        pair = Pair.drawn(drawn)
        try:
            pair.releases()
        except dp.DiscreetError:  # exact totals that leave nothing to change
            continue
        there = pair.exists()
        exist += there
        for _ in range(3 if there else 1):
            try:
                found = dp.fit_households(*pair.releases(), size="s", largest=pair.kind.largest)
            except dp.ArgumentError:
                continue
            assert there
            pair.check(found)
            made += 1
            break
    assert exist > 2
    assert 2 * made >= exist


def with_sizes(column, groups, values, exact=None, **options):
    """Releases of the made-up households with their sizes as this column says them, and of the persons."""
    homes = made_up()[0].with_columns(size=pl.Series(values(made_up()[0]["size"].to_list())))
    schema = dp.Schema(area=AREAS, tenure=TENURE, size=column)
    return released(homes, schema, [["area", groups], ["tenure", groups]], exact), people_of(**options)


def test_sizes_in_bins_are_numbers_of_persons():
    """Bins of several numbers: each household gets one of them, and the sums are those of exact totals of persons."""
    both = with_sizes(dp.Number(0, 9), dp.bins("size", [0, 1, 3, 9]), list)
    exact = both[0], people_of(dp.Totals("area", "sex"))
    for found in (dp.fit_households(*both, size="size"), dp.fit_households(*exact, size="size")):
        assert living(found) == found.homes.frame["size"].to_list()
        assert len(found.persons.frame) == len(made_up()[1])
    assert Counter(found.persons.frame.select("area", "sex").rows()) == Counter(made_up()[1].select("area", "sex").rows())


@pytest.mark.parametrize("kind", ["text", "number", "bounded"])
def test_an_open_end_goes_to_the_largest_size(kind):
    """Households of at least 3 persons; the column says what the release says, and the persons how many they are."""
    column, groups, values = {
        "text": (dp.Category(["1", "2", "3+"]), "size", lambda many: [str(one) if one < 3 else "3+" for one in many]),
        "number": (dp.Category([1, 2, 3]), "size", lambda many: [min(one, 3) for one in many]),
        "bounded": (dp.Number(0, 3), dp.bins("size", step=1), lambda many: [min(one, 3) for one in many]),
    }[kind]
    found = together(lambda: with_sizes(column, groups, values, dp.Totals("size"), invariants=dp.Totals("area")), largest=6)
    for many, said in zip(living(found), found.homes.frame["size"].to_list(), strict=True):
        assert (
            many == said
            or (str(said).startswith("3") and 3 < many <= 6)
            or (said == "3+" and many == 3)
            or str(many) == said
        )
    assert max(living(found)) > 3
    assert len(found.persons.frame) == len(made_up()[1])
    assert Counter(found.homes.frame["size"].to_list()) == Counter(values(made_up()[0]["size"].to_list()))


@pytest.mark.parametrize("exact", [dp.Totals("size"), dp.Totals("area") + dp.Totals("size")], ids=["sizes", "crossing"])
def test_exact_sizes_and_exact_persons_of_areas_hold_together(exact):
    found = together(lambda: (homes_of(exact, spend="1/50"), people_of(dp.Totals("area"), spend="1/50")))
    assert living(found) == found.homes.frame["size"].to_list()
    for one in exact.parts:
        assert Counter(found.homes.frame.select(one.columns).rows()) == Counter(made_up()[0].select(one.columns).rows())
    assert Counter(found.persons.frame["area"].to_list()) == Counter(made_up()[1]["area"].to_list())


NUMBERS = dp.Schema(area=AREAS, tenure=TENURE, size=dp.Number(1, 5))
BESIDE_SIZES = {
    "sums": (NUMBERS, dp.Sums("size", schema=NUMBERS)),
    "linear": (HOMES, dp.LinearInvariant(["size"], {"persons": {(size,): size for size in range(1, 6)}})),
    "occupied sizes": (HOMES, dp.Occupied("size")),
    "occupied cells": (HOMES, dp.Occupied("area", "size")),
    "ranges of areas": (HOMES, dp.Rounded("area", base=5)),
}


@pytest.mark.parametrize("kind", BESIDE_SIZES)
def test_other_facts_about_sizes_hold_beside_exact_persons_of_areas(kind):
    """Null sizes have no persons, so that facts are not met by them; what facts leave open is chosen with the sizes."""
    schema, exact = BESIDE_SIZES[kind]
    groups = dp.bins("size", step=1) if kind == "sums" else "size"
    tables = [["area", groups], ["tenure", groups]]
    found = together(lambda: (released(made_up()[0], schema, tables, exact, spend="1/50"), people_of(dp.Totals("area"))))
    made, true = found.homes.frame, made_up()[0]
    assert living(found) == made["size"].to_list()
    assert Counter(found.persons.frame["area"].to_list()) == Counter(made_up()[1]["area"].to_list())
    assert found.homes.left == found.persons.left == ()
    for columns in {"occupied sizes": (["size"],), "occupied cells": (["area", "size"],)}.get(kind, ()):
        assert {*made.select(columns).rows()} == {*true.select(columns).rows()}
    many, wanted = Counter(made["area"].to_list()), Counter(true["area"].to_list())
    assert kind != "ranges of areas" or all(abs(many[one] - wanted[one]) <= 5 for one in wanted)


def test_persons_come_first_where_their_totals_cross():
    crossing = dp.Totals("area", "sex") + dp.Totals("tenure", "sex")
    found = together(lambda: (homes_of(dp.Totals("area")), people_of(crossing)))
    assert living(found) == found.homes.frame["size"].to_list()
    for one in crossing.parts:
        assert Counter(found.persons.frame.select(one.columns).rows()) == Counter(made_up()[1].select(one.columns).rows())
    beside = found.homes.frame[found.persons.frame["household"].to_numpy()]
    assert beside.select(found.shared).equals(found.persons.frame.select(found.shared))
    assert "sizes of households" in found.persons.kept


def test_an_estimated_number_of_persons_goes_after_exact_sizes():
    """Noise of a standard deviation of 15 and more: at least one of eight numbers is another one, but for 10^-9."""
    exact = homes_of(dp.Totals("size", "area"))
    every = [dp.fit_households(exact, people_of(public=False, spend="1/500"), size="size") for _ in range(8)]
    assert {found.persons.made for found in every} == {len(made_up()[1])}
    told = [found for found in every if found.estimated != found.persons.made]
    assert told
    assert all(f"their release estimates {found.estimated:,}" in str(found) for found in told)


def test_simulated_pairs_go_together_and_keep_what_is_exact():
    found = dp.fit_households(homes_of(), people_of(dp.Totals("area", "sex")), size="size")
    pairs = [*found.simulated(2)]
    for homes, people in pairs:
        many = Counter(people["household"].to_list())
        assert [many[place] for place in range(len(homes))] == homes["size"].to_list()
        assert Counter(people.select("area", "sex").rows()) == Counter(made_up()[1].select("area", "sex").rows())
    assert not pairs[0][0].equals(pairs[1][0])
    assert all(one.equals(other) for one, other in zip(pairs[0], next(found.simulated(2)), strict=True))
    told = found.interval(lambda homes, people: len(people) / len(homes), files=2)
    assert told.low == told.value == told.high  # both numbers are public
    with pytest.raises(dp.ArgumentError, match="files=1"):
        found.simulated(1)
    with pytest.raises(dp.ArgumentError, match="level=2"):
        found.interval(lambda homes, people: 0.0, level=2)


BAD = {
    "only its greatest value may be open": (dp.Category(["1+", "2"]), "size", {"largest": 9}),
    "'3\\+' has no end; give largest=": (dp.Category(["1", "2", "3+"]), "size", {}),
    "largest=2: must be at least 3": (dp.Category(["1", "2", "3+"]), "size", {"largest": 2}),
    "largest=0: must be a whole number": (dp.Category([1, 2, 3]), "size", {"largest": 0}),
    "largest=True: must be a whole number": (dp.Category([1, 2, 3]), "size", {"largest": True}),
    "largest=4.5: must be a whole number": (dp.Category([1, 2, 3]), "size", {"largest": 4.5}),
    "must be a category of whole numbers from 0 on": (dp.Category(["few", "many"]), "size", {}),
    "size='size': must be a category of whole": (dp.Category([-1, 2]), "size", {}),
    "of whole numbers from 0 on": (dp.Number(-1, 9), dp.bins("size", step=1), {}),
    "a number of whole numbers": (dp.Number(0, 9, "0.5"), dp.bins("size", step=1), {}),
    "must be a category": (dp.Date("2020-01-01", "2020-01-09"), dp.bins("size", ["2020-01-01", "2020-01-05"]), {}),
}


@pytest.mark.parametrize("message", BAD)
def test_columns_that_are_no_sizes_are_refused(message):
    column, groups, options = BAD[message]
    homes = made_up()[0].select("area", "tenure").with_columns(size=pl.lit(None))
    release = released(homes, dp.Schema(area=AREAS, tenure=TENURE, size=column), [["area", groups]])
    with pytest.raises(dp.ArgumentError, match=message):
        dp.fit_households(release, people_of(), size="size", **options)


@pytest.mark.parametrize("size", [None, 3, "", "Size", ["size"]])
def test_names_of_no_column_are_refused(size):
    with pytest.raises(dp.ArgumentError, match="must be a column of the households, such as 'size'"):
        dp.fit_households(homes_of(), people_of(), size=size)


@pytest.mark.parametrize("wrong", [None, "homes", 3, pl.DataFrame()], ids=["none", "text", "number", "frame"])
def test_anything_but_releases_is_refused(wrong):
    with pytest.raises(dp.ArgumentError, match=r"homes=.*: must be a Release"):
        dp.fit_households(wrong, people_of(), size="size")
    with pytest.raises(dp.ArgumentError, match=r"persons=.*: must be a Release"):
        dp.fit_households(homes_of(), wrong, size="size")
    with pytest.raises(dp.ArgumentError, match=r"release=.*: must be a Release"):
        dp.fit_rows(wrong)


def test_too_many_persons_and_no_households_are_refused():
    few = released(made_up()[0].head(20), HOMES, [["area", "size"]])
    refused = r"20 households of 1 to {} persons are not those of \d+ persons; take two releases of one population"
    with pytest.raises(dp.ArgumentError, match=rf"{refused.format(5)}, and give largest= \(--largest\) where"):
        dp.fit_households(few, people_of(), size="size")
    least = -(-len(made_up()[1]) // 20)
    with pytest.raises(dp.ArgumentError, match=rf"{refused.format(6)}, or a largest= \(--largest\) of at least {least}, if"):
        dp.fit_households(few, people_of(), size="size", largest=6)
    alone = released(made_up()[1].head(10), PEOPLE, OF_PEOPLE)
    with pytest.raises(dp.ArgumentError, match=r"20 households of .* 10 persons; take two releases of one population$"):
        dp.fit_households(few, alone, size="size", largest=6)
    assert len(dp.fit_households(few, released(made_up()[1].head(40), PEOPLE, OF_PEOPLE), size="size").persons.frame) == 40


def exchanged(seed):
    """Whether numbers reach the sums of others with the same lists, and keep these; all of it from one generator."""
    drawn, values = np.random.default_rng(seed), 3
    of = drawn.integers(2, size=4)
    other = drawn.integers(4, size=12)
    lists = [np.arange(12) % values, np.arange(12) // values // 2, np.arange(12) // values][: drawn.integers(1, 4)]
    found = other.copy()
    for _ in range(30):  # exchanges that keep the lists
        one, two = drawn.integers(4, size=2)
        gives, takes = drawn.integers(values, size=2)
        cells = [one * values + gives, two * values + takes, two * values + gives, one * values + takes]
        if (
            all(Counter(of[cells[:2]]) == Counter(of[cells[2:]]) for of in lists)
            and found[cells[:2]].min() > 0
            and one != two
        ):
            np.add.at(found, cells, [-1, -1, 1, 1])
    each = np.tile([1, 2, 4], 4)
    labels = np.unique(np.repeat(of, values), return_inverse=True)[1]
    totals = np.bincount(labels, weights=each * other).astype(np.int64)
    wanted = sums.Sums(
        Classes(labels, totals),
        each,
        each,
        stated=True,
        limits=(np.zeros(12, dtype=np.int64), np.full(12, 99)),
        near=found,
    )
    before = [np.bincount(one, weights=found) for one in lists]
    met = sums.exchange_rows(found, np.full(12, 99), wanted, [Classes(one, None) for one in lists], values)
    assert all((np.bincount(one, weights=found) == had).all() for one, had in zip(lists, before, strict=True))
    assert found.min() >= 0
    assert not met or (np.bincount(labels, weights=each * found) == totals).all()
    return met


def test_exchanges_keep_lists_and_reach_sums():
    assert sum(map(exchanged, range(60))) >= 54


MUTANTS = {
    "lists are broken by exchanges": (
        (sums, "_can_exchange", "fits &= straight | turned", "fits &= straight | True"),
        test_exchanges_keep_lists_and_reach_sums,
    ),
    "exchanges that turn": (
        (sums, "_can_exchange", "fits &= straight | turned", "fits &= straight | (turned & False)"),
        test_exchanges_keep_lists_and_reach_sums,
    ),
    "exchanges of one side": (
        (sums, "_exchange", "((mine, 1), (other, -1))", "((mine, 1),)"),
        test_exchanges_keep_lists_and_reach_sums,
    ),
    "sizes of their own": (
        (households, "sizes_of", "within = ", "within = int(drawn[mine].sum()) + 0 * "),
        test_sizes_in_bins_are_numbers_of_persons,
    ),
    "any size is open": (
        (sizes, "_ranges_of", "if one == top and", "if one and"),
        lambda: test_an_open_end_goes_to_the_largest_size("text"),
    ),
    "sums are not met": (
        (sums, "_met", "(least <= sums.totals) & (sums.totals <= most)", "least <= sums.totals + 10**9"),
        lambda: test_exact_sizes_and_exact_persons_of_areas_hold_together(dp.Totals("size")),
    ),
    "persons that come first are made again": (
        (households, "_together", "if first is None else first", "if first is None else persons.swept()"),
        test_persons_come_first_where_their_totals_cross,
    ),
}


@pytest.mark.parametrize("planted", MUTANTS)
def test_what_breaks_sizes_is_noticed(planted, monkeypatch):
    change, check = MUTANTS[planted]
    Mutant(*change).plant(monkeypatch)
    with pytest.raises((AssertionError, InternalError, dp.ArgumentError, ValueError, IndexError)):
        check()
