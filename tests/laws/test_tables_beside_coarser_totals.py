"""Tables by areas beside exact totals of wider areas: cells add up to them, and a document says so where it is true."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.domain.origins import says_more
from discreet.quotes import table_sums
from discreet.quotes.primitives import Asked
from discreet.statistics.counted import APART

PARENT = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "s3": "west"}
HALF = {"north": "one", "south": "two", "west": "two"}
ODD = {"n1": "odd", "n2": "even", "s1": "odd", "s2": "even"}
"""A function of areas that states do not determine, and that has no value for one area."""
SCHEMA = dp.Schema(
    area=dp.Category([*PARENT]),
    state=dp.DerivedColumn("state", of="area", by=PARENT),
    half=dp.DerivedColumn("half", of="state", by=HALF),
    odd=dp.DerivedColumn("odd", of="area", by=ODD),
    sex=dp.Category(["f", "m"]),
    size=dp.Number(0, 3),
)
GENERATOR = np.random.default_rng(22)
ROWS = 300
AREA = GENERATOR.choice(["n1", "n2", "s1", "s2", "s3", None], ROWS).tolist()
FRAME = pl.DataFrame(
    {
        "area": AREA,
        "sex": GENERATOR.choice(["f", "m", None], ROWS, p=[0.6, 0.3, 0.1]).tolist(),
        "size": GENERATOR.integers(0, 4, ROWS).tolist(),
    }
)
SHOWN = FRAME.with_columns(
    state=pl.col("area").replace_strict(PARENT, default=None),
    odd=pl.col("area").replace_strict(ODD, default=None),
    half=pl.col("area").replace_strict({area: HALF[state] for area, state in PARENT.items()}, default=None),
)
FINER = {"area": {"area", "state", "half", "odd"}, "state": {"state", "half"}, "half": {"half"}, "odd": {"odd"}}
"""The columns that each column determines."""
LISTS = [
    *(
        dp.Totals("state"),
        dp.Totals("state", "sex"),
        dp.Totals("half"),
        dp.Totals("odd"),
        dp.Totals("area"),
        dp.Totals("size"),
    ),
    dp.Totals("state", only=["north"]),
    dp.Totals("half", "sex", only=[("one", "f"), ("two", None)]),
]
TABLES = [
    ["area"],
    ["area", "sex"],
    ["state", "sex"],
    ["half"],
    ["odd", "sex"],
    ["area", dp.bins("size", [0, 1, 3])],
    ["sex"],
]
SPENDS = [dp.ZCDP(1), dp.GDP(1), dp.PureDP(1)]


def released(tables, totals, budget=SPENDS[0], make=lambda table: table):
    options = {"budget": budget, "neighbours": dp.ReplaceOne(rows=ROWS), "invariants": totals}
    with session_over(FRAME, SCHEMA, **options) as session:
        return session.release(make(session.table).agg(dp.tables(*tables)), spend=budget, name="t")


def determined(table):
    return set().union(*(FINER.get(one, {one}) for one in table if isinstance(one, str)))


def frames(release, tables):
    for table, frame in zip(tables, release.document["frames"], strict=True):
        keys = [one if isinstance(one, str) else one.column for one in table]
        yield table, keys, frame, pl.DataFrame({one["name"]: one["values"] for one in frame["columns"]})


def by_listed(table, keys, columns, frame):
    """The counts of a table, by columns that it determines."""
    shown = frame
    for name in columns:
        if name not in keys:
            fine = next(one for one in table if isinstance(one, str) and name in FINER.get(one, {one}))
            pairs = SHOWN.select(fine, name).unique()
            shown = shown.join(pairs, on=fine, how="left", nulls_equal=True)
    return shown.group_by(columns).agg(pl.col("count").sum())


def lists_met(table, keys, shown, parts):
    """Of each list that a table determines some columns of: its columns of these, and whether the cells add up to it."""
    for part in (one for whole in parts for one in whole.parts):
        columns = [name for name in part.columns if name in determined(table)]
        if not columns or (part.only is not None and len(columns) < len(part.columns)):
            continue
        exact = SHOWN.group_by(columns).agg(exact=pl.len())
        both = by_listed(table, keys, columns, shown).join(exact, on=columns, how="full", nulls_equal=True)
        lines = [line for line in both.iter_rows() if part.only is None or line[: len(columns)] in part.only]
        yield columns, all(abs((line[len(columns)] or 0) - (line[-1] or 0)) < 1e-8 for line in lines)


def check(tables, parts, **options):
    """What documents say of totals is so, also of whole numbers; gives how many lists of wider areas were met.

    Tables that are measured as effects meet every list, and single tables under PureDP those that their noise keeps.
    """
    release = released(tables, reduce(add, parts), **options)
    dp.verify(release)
    wider = 0
    for table, keys, frame, shown in frames(release, tables):
        met = [*lists_met(table, keys, shown, parts)]
        said = frame["totals"] != APART["totals"]
        assert said or "measured" not in release.document, (table, parts)
        assert not said or all(one for _, one in met), (table, parts)
        name = frame["name"] if len(tables) > 1 else None
        whole = shown.with_columns(count=pl.Series(dp.consistent(release, name).to_series(-1)))
        assert not said or all(one for _, one in lists_met(table, keys, whole, parts)), (table, parts)
        wider += "measured" in release.document and sum(not {*columns} <= {*keys} for columns, _ in met)
    return wider


def cases(many, seed):
    chosen = np.random.default_rng(seed)
    for _ in range(many):
        tables = [TABLES[place] for place in chosen.choice(len(TABLES), chosen.integers(1, 4), replace=False)]
        parts = [LISTS[place] for place in chosen.choice(len(LISTS), chosen.integers(1, 4), replace=False)]
        yield tables, parts


def check_all(many, seed):
    """Some cases, and how many lists of wider areas there were."""
    return sum(check_or_refuse(*one, SPENDS[number % len(SPENDS)]) for number, one in enumerate(cases(many, seed)))


def check_or_refuse(tables, parts, budget):
    try:
        return check(tables, parts, budget=budget)
    except dp.PlanError as refused:
        if "public already" in str(refused):
            return 0
        raise


def test_cells_add_up_to_totals_of_wider_areas():
    assert check_all(12, 1) > 5


@pytest.mark.slow
def test_cells_add_up_to_totals_of_wider_areas_in_many_requests():
    assert check_all(250, 2) > 200


def test_a_condition_drops_rows_of_wider_areas():
    """Then states are no sums of cells, but for those of which all rows are left."""
    north = {"make": lambda table: table.where({"area": ["n1", "n2", "s1"]})}
    release = released([["area"], ["area", "sex"]], dp.Totals("state"), **north)
    dp.verify(release)
    exact = FRAME.filter(pl.col("area").is_in(["n1", "n2"])).height
    for _, _, frame, shown in frames(release, [["area"], ["area", "sex"]]):
        assert shown.filter(pl.col("area").is_in(["n1", "n2"]))["count"].sum() == pytest.approx(exact, abs=1e-8)
        assert frame["totals"] == APART["totals"]


def test_effects_alone_do_not_meet_totals_of_wider_areas(monkeypatch):
    """A mutant: without what a list says of finer columns, nothing makes the cells add up to it."""
    monkeypatch.setattr(table_sums, "says_more", lambda *_: False)
    with pytest.raises((AssertionError, dp.ArgumentError)):
        check([["area"], ["sex"]], [dp.Totals("state")])


def test_noise_that_keeps_some_totals_is_not_said_to_keep_all(monkeypatch):
    """A mutant: the lattice of some lists passes for that of all of them."""
    tables, parts = [["area"]], [dp.Totals("state", "sex"), dp.Totals("odd")]
    check(tables, parts, budget=dp.PureDP("1/10"))
    monkeypatch.setattr(Asked, "keeps_all", lambda *_: True)
    with pytest.raises(AssertionError):  # but for a chance below 10^-6: noise of odd areas would add up to 0 twelve times
        repeat(12, tables, parts)


def repeat(times, tables, parts):
    for _ in range(times):
        check(tables, parts, budget=dp.PureDP("1/10"))


@pytest.mark.parametrize(
    ("listed", "own", "more"),
    [
        (["state"], ["area"], True),
        (["half"], ["state"], True),
        (["odd"], ["state"], True),
        (["state", "sex"], ["area", "sex"], True),
        (["area"], ["state"], False),
        (["state"], ["half", "sex"], False),
        (["area"], ["area"], False),
        (["sex"], ["area"], False),
        (["area"], ["state", "odd"], False),
    ],
)
def test_what_lists_say_beside_margins(listed, own, more):
    assert says_more(listed, own, SCHEMA) is more


def test_whole_numbers_of_tables_with_a_public_margin_and_hidden_groups():
    """The margin is put together from its own effects, while the conditions of the tables are about others as well."""
    release = released(
        [["area", "sex"], ["half", "sex"], ["state"]],
        dp.Totals("state", "sex") + dp.Totals("area"),
        make=lambda table: table.where({"sex": ["f"]}),
    )
    frame = release.document["frames"][0]
    assert dp.consistent(release, frame["name"])["count_consistent"].sum() == FRAME.filter(sex="f").height
