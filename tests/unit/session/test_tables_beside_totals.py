"""Tables beside exact totals: which of them keep the totals, and what steps and a resize do to them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import system_bits
from discreet.privacy.amplify import Resampling
from discreet.quotes.allocate import quote
from discreet.quotes.space import space_of
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.statistics.counted import PublicCells
from discreet.totals.structure import Blocks, exact_sums

from .with_totals import BY_BOTH, FRAME, STATES, TABLE, cells, counted, session, sums, unpublished

KEPT = {
    "totals": (dp.Totals("state"), BY_BOTH, [("state",)]),
    "nested": (dp.Totals("state") + dp.Totals("state", "sex"), (*BY_BOTH, "age"), [("state",), BY_BOTH]),
    "margins": (dp.Margins("sex", "owner"), ("sex", "owner"), [("sex",), ("owner",)]),
    "margins and a free column": (dp.Margins("sex", "owner"), ("sex", "owner", "age"), [("sex",), ("owner",)]),
    "some groups": (dp.Totals("state", only=["A", None]), BY_BOTH, [("state",)]),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "budget"), [*[(name, dp.ZCDP(1)) for name in KEPT], ("nested", dp.PureDP(1)), ("margins", dp.PureDP(1))]
)
def test_lattice_tables_are_integers_that_add_up(name, budget):
    invariants, by, columns = KEPT[name]
    groups = [dp.bins("age", [0, 5, 10]) if column == "age" else column for column in by]
    with session(invariants, budget=budget) as one:
        release = one.release(counted(one, *groups), name="r")
        assert release.document["statistics"][0]["totals"] == "add up to the published ones"
        assert release.table["count"].dtype == pl.Int64
        for position, part in enumerate(columns):
            published, found = cells(one.totals, position), sums(release, *part)
            if name == "some groups":  # the others add up to what is left
                assert {cell: found[cell] for cell in published} == published
                assert sum(found.values()) == FRAME.height
            else:
                assert found == published


def test_weighted_sums_are_kept_too():
    invariants = dp.LinearInvariant("state", {"visits": {"A": 1, "B": 2, "C": 5}})
    with session(invariants) as one:
        release = one.release(counted(one), name="r")
        assert release.document["statistics"][0]["totals"] == "add up to the published ones"
        found = sums(release, "state")
        visits = sum(found.get((state,), 0) * weight for state, weight in [("A", 1), ("B", 2), ("C", 5)])
        assert visits == one.totals.value(invariants.parts[0])[0] == 13 + 16 + 5
        assert sum(found.values()) == FRAME.height
        assert release.tables["linear_state"].rows() == [("visits", 34)]


def test_cells_that_hold_nobody_stay_empty():
    without = FRAME.with_columns(state=pl.col("state").replace({"C": "B"}))
    with session(dp.Totals("state") + dp.Impossible("sex", "age", cells=[("m", 1)]), source=without) as one:
        table = one.release(counted(one), name="r").table
        empty = table.filter(pl.col("state") == "C")
        assert empty.select("count", "count_low", "count_high").rows() == [(0, 0, 0)] * 3
        assert (table.filter(pl.col("state") == "A")["count_high"] > table.filter(pl.col("state") == "A")["count_low"]).all()


def test_plain_noise_is_labelled():
    with session(dp.Totals("state")) as one:
        request = one.table.group_by("state").agg(dp.count(), dp.count("sex"))
        lines = one.release(request, spend="0.1", name="a").document["statistics"]
        assert [line["totals"] for line in lines] == ["are the published ones", "do not match the published ones"]
        request = one.table.where({"sex": ["f"]}).group_by("state").agg(dp.count())
        lines = one.release(request, spend="0.1", name="b").document["statistics"]
        assert lines[0]["totals"] == "do not match the published ones"


def test_counts_that_are_published_as_doubles_do_not_claim_to_add_up():
    with session(dp.Totals("state"), budget=dp.PureDP(1)) as one:
        release = one.release(counted(one), spend="1e-16", name="r")
        assert release.table["count"].dtype == pl.Float64
        exactly = Counter()
        for row in release.table.iter_rows(named=True):
            exactly[(row["state"],)] += Fraction(row["count"])
        assert exactly == STATES or release.document["statistics"][0]["totals"] == "do not match the published ones"


NOTHING = Blocks(0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), None)


STEPS = {
    "nothing": lambda t: t.group_by("state", "sex"),
    "another order": lambda t: t.group_by("sex", "state"),
    "where, of the totals": lambda t: t.where({"state": ["A", "C"]}).group_by("state", "sex"),
    "where, free": lambda t: t.where({"sex": ["f"]}).group_by("state"),
    "clamp, of the totals": lambda t: t.clamp({"state": ["A", "B"]}).group_by("state", "sex"),
    "clamp and where, free": lambda t: t.clamp({"age": (2, 8)}).where({"age": (3, 10)}).group_by("state", "sex"),
    "bins, free": lambda t: t.group_by("state", dp.bins("age", [0, 4, 10])),
    "bins that leave rows out": lambda t: t.group_by("state", dp.bins("age", [2, 4, 9])),
    "bins of the totals": lambda t: t.group_by(dp.bins("wage", [0, 1, 2]), "state"),
    "bins of the totals that leave rows out": lambda t: t.group_by(dp.bins("wage", ["0.5", 1]), "sex"),
    "clamp of a number": lambda t: t.clamp({"wage": ("0.5", "1.5")}).group_by(dp.bins("wage", [0, 1, 2]), "state"),
    "where of a number": lambda t: t.where({"wage": (1, 2)}).group_by("state", "sex"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("invariants", [dp.Margins("state", "wage"), dp.Totals("state", "wage")], ids=["margins", "joint"])
def test_what_follows_from_the_totals_is_what_a_request_counts(invariants):
    """Stray values, clamps, conditions and bins: sums that noise keeps are those of the counts, and counts that are said to
    be public are the counts."""
    kept, bits = set(), system_bits()
    with session(invariants) as one:
        one.publish_totals()
        for name, grouped in STEPS.items():
            request = grouped(one.table).agg(dp.count(), dp.count("sex"))
            quoted, brought = one.quote(request, spend=1), request.layout.scans[0]
            cube = one._engine.aggregate(brought.axes, brought.moments)
            plain = quote(request, dp.ZCDP(1))
            exact = exact_answers(plain, [cube], bits)[0]
            count = quoted.lines[0].recipe.count
            if isinstance(count, PublicCells):
                assert (count.values() == exact).all(), name
                kept.add(name)
                continue
            (place,) = (place for place, one in enumerate(quoted.measured) if one.asked == count.query)
            noisy = noisy_answers(quoted, exact_answers(quoted, [cube], bits), bits)[place]
            for labels, totals in exact_sums(space_of(request, quoted.beside).structure or NOTHING):
                for label, total in enumerate(totals):
                    assert exact[labels == label].sum() == total, name
                    if quoted.measured[place].law.keeps_totals:
                        assert noisy[labels == label].sum() == total, name
                        kept.add(name)
            assert name in kept or not quoted.measured[place].law.keeps_totals
    free = {"where, free", "clamp and where, free"}
    assert kept & free == set()
    assert len(kept) >= (9 if invariants == dp.Totals("state", "wage") else 6)


def test_nulls_of_the_totals_are_a_group_of_their_own():
    with session(dp.Totals("state"), budget=dp.ZCDP("0.01")) as one:
        release = one.release(counted(one), name="r")
        assert release.tables["totals_state"].rows() == [("A", 13), ("B", 8), ("C", 1), (None, 2)]
        assert sums(release, "state") == STATES
        nulls = release.table.filter(pl.col("state").is_null())
        assert nulls["count"].sum() == 2
        assert nulls["sex"].to_list() == ["f", "m", None]
        assert (nulls["count_high"] > nulls["count_low"]).all()


@pytest.mark.parametrize(
    "budget", [dp.PureDP(1), dp.ZCDP(1), dp.ApproxDP(1, "1e-6"), dp.GDP(1)], ids=lambda b: type(b).__name__
)
@pytest.mark.parametrize(("rows", "proportion"), [(20, "0.75"), (40, "1.5")])
def test_a_resize_counts_the_other_rows_through_the_copies(budget, rows, proportion):
    table = TABLE.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(rows, proportion=proportion)
    request = table.group_by("sex").agg(dp.count())
    quoted, alone = quote(request, budget, unpublished(dp.Totals("state"))), quote(request, budget)
    sampled = Resampling(rows, proportion, TABLE.neighbours, 2)
    (measured,) = quoted.measured
    assert quoted.group == sampled.most == 2 * alone.group
    assert measured.law.variance() > alone.measured[0].law.variance()
    if isinstance(budget, dp.PureDP):
        assert measured.guarantee == sampled.functional(budget)
        assert measured.law == LaplaceNoise(2 / measured.guarantee.epsilon)
    if isinstance(budget, dp.ZCDP):
        assert measured.guarantee.rho == Fraction(1, sampled.most**2)
        assert quoted.advertised == dp.ZCDP(Fraction(1, 4))


def test_a_resized_table_is_labelled_and_may_not_fill_columns_of_the_totals():
    with session(dp.Totals("state")) as one:
        table = one.table.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(20, proportion="0.75")
        release = one.release(table.group_by("sex").agg(dp.count()), name="r")
        assert release.document["statistics"][0]["totals"] == "do not match the published ones"
        assert np.isfinite(release.table["count"].to_numpy()).all()
        with pytest.raises(dp.PlanError, match="imputation law"):
            table.group_by("state").agg(dp.count())
