"""Statistics from the request to the release: what they say, how they are called, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import time
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import MOMENT, session_over

import discreet as dp
from discreet.cube.queries import QuantileCodes
from discreet.plan.plan import plan_json
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics, frames
from discreet.releases.publish import COVERS, COVERS_ORIGINAL, covers
from discreet.statistics import outputs

SCHEMA = dp.Schema(
    g=dp.Category(["x", "y", "z"]),
    v=dp.Number(-2, 8, "0.5"),
    w=dp.Number(0, 20),
    k=dp.Number(7, 7),
    d=dp.Date("2025-01-01", "2025-12-31"),
)
ROWS = [
    *(("x", v / 2, w) for v, w in [(-4, 0), (-3, 20), (0, 3), (1, 3), (16, 7), (9, 19)]),
    *(("x", None, 5), ("x", 2.0, None), ("y", 3.5, None), (None, 8.0, 20)),
]
DAYS = [dt.date(2025, 1 + i, 28) for i in range(10)]
FRAME = pl.DataFrame(ROWS, schema={"g": pl.String, "v": pl.Float64, "w": pl.Int64}, orient="row").with_columns(
    k=pl.lit(7), d=pl.Series(DAYS)
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())
SKIP = {"nulls": "skip"}
EVERY = [
    dp.count(),
    dp.count("v"),
    dp.share(),
    dp.sum("v", **SKIP),
    dp.mean("v", **SKIP),
    dp.variance("v", **SKIP),
    dp.std("w", **SKIP),
    dp.median("w", **SKIP),
    dp.quantiles("v", ["0", "1/4", "0.5", "0.9", "1"], **SKIP, interval=1),
    dp.histogram("v", [-1, 0, "3.5", 8]),
]


def session(frame=FRAME, *, schema=SCHEMA, neighbours=None, budget=None):
    return session_over(frame, schema, budget=budget or dp.PureDP(10**6), neighbours=neighbours or dp.AddRemove())


def released(*statistics, by=(), frame=FRAME, schema=SCHEMA, spend=None, impute=None, neighbours=None):
    with session(frame, schema=schema, neighbours=neighbours) as one:
        table = one.table.impute(impute) if impute else one.table
        return one.release(table.group_by(*by).agg(*statistics), spend=spend, name="r")


# What they say ---------------------------------------------------------------------------------------------------------


def of_rows(rows):
    """The statistics of `EVERY` by their definitions, of a group with rows."""
    values, others = ([float(row[k]) for row in rows if row[k] is not None] for k in (1, 2))
    mean, middle = sum(values) / len(values), sum(others) / len(others) if others else None
    return {
        "count": len(rows),
        "count_v": len(values),
        "share": len(rows) / len(ROWS),
        "sum_v": sum(values),
        "mean_v": mean,
        "variance_v": sum((v - mean) ** 2 for v in values) / len(values),
        "std_w": sqrt(sum((w - middle) ** 2 for w in others) / len(others)) if others else None,
        "median_w": sorted(others)[ceil(len(others) / 2) - 1] if others else None,
        **{
            f"v_p{name}": sorted(values)[max(ceil(q * len(values)), 1) - 1]
            for name, q in {"0": 0, "25": Fraction(1, 4), "50": Fraction(1, 2), "90": Fraction(9, 10), "100": 1}.items()
        },
    }


def test_without_noise_every_statistic_is_what_its_definition_says():
    release = released(*EVERY, by=["g"])
    for name, *numbers in release.table.rows():
        found = dict(zip(release.table.columns[1:], numbers, strict=True))
        rows = [row for row in ROWS if row[0] == name]
        for statistic, value in (of_rows(rows) if rows else {"count": 0, "count_v": 0, "share": 0, "sum_v": 0}).items():
            if value is not None:
                assert found[statistic] == pytest.approx(value, abs=1e-9), (name, statistic)
                assert found[f"{statistic}_low"] <= value + 1e-9
                assert value - 1e-9 <= found[f"{statistic}_high"]
    assert release.table["g"].to_list() == ["x", "y", "z", None]


def test_a_histogram_is_a_frame_of_its_own_with_every_bin_of_every_group():
    frame = released(*EVERY, by=["g"]).tables["histogram_v"]
    assert frame.columns == ["g", "v", "count", "count_low", "count_high"]
    assert frame["v"].to_list() == ["[-1, 0)", "[0, 3.5)", "[3.5, 8]", None] * 4
    assert frame["count"].to_list() == [0, 3, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]


def test_a_histogram_of_dates_and_bins_of_the_grouped_column():
    days = released(dp.histogram("d", ["2025-01-01", "2025-02-01", dt.date(2025, 12, 31)])).tables["histogram_d"]
    assert days["d"].to_list() == ["[2025-01-01, 2025-02-01)", "[2025-02-01, 2025-12-31]", None]
    assert days["count"].to_list() == [1, 9, 0]
    fine = released(dp.histogram("w", [0, 3, 10]), by=[dp.bins("w", [0, 10, 20])]).tables["histogram_w"]
    assert len(set(fine.columns)) == 5
    assert fine["count"].to_list() == [1, 4, 0, 0, 0, 0, 0, 0, 2]


def test_margins_are_frames_that_agree():
    release = released(dp.tables(["g", dp.bins("w", [0, 5, 20])], ["g"], [dp.bins("w", [0, 5, 20])]), spend="0.5")
    assert set(release.tables) == {"table", "tables_g_w", "tables_g", "tables_w"}
    both, by_g, by_w = (release.tables[f"tables_{name}"] for name in ("g_w", "g", "w"))
    assert both["g"].to_list() == [g for g in ("x", "y", "z", None) for _ in range(3)]
    assert both["w"].to_list() == ["[0, 5)", "[5, 20]", None] * 4
    cells = both["count"].to_numpy().reshape(4, 3)
    assert cells.sum(axis=1) == pytest.approx(by_g["count"].to_numpy())
    assert cells.sum(axis=0) == pytest.approx(by_w["count"].to_numpy())
    exact = released(dp.tables(["g"], [dp.bins("w", [0, 5, 20])]))
    assert exact.tables["tables_g"]["count"].to_list() == pytest.approx([8, 1, 0, 1], abs=1e-6)
    assert exact.tables["tables_w"]["count"].to_list() == pytest.approx([3, 5, 2], abs=1e-6)


def test_margins_have_the_public_number_of_rows():
    release = released(dp.tables(["g"], ["g", dp.bins("w", [0, 20])]), spend="0.01", neighbours=dp.ReplaceOne(rows=10))
    for name in ("tables_g", "tables_g_w"):
        assert release.tables[name]["count"].sum() == pytest.approx(10)


# Whatever the noise is -------------------------------------------------------------------------------------------------

REQUESTS = {
    "private n": TABLE.group_by("g").agg(*EVERY),
    "public n": dp.Table(SCHEMA, dp.ReplaceOne(rows=7)).impute({"v": dp.Uniform(), "w": dp.Uniform()}).agg(*EVERY),
    "public n in groups": dp.Table(SCHEMA, dp.ReplaceOne(rows=7)).group_by("g").agg(*EVERY),
    "nothing varies": dp.Table(SCHEMA, dp.ReplaceOne(rows=7))
    .group_by("g")
    .agg(dp.count(), *(make("k", **SKIP) for make in (dp.sum, dp.mean, dp.variance, dp.std, dp.median))),
}
BOUNDS = {"v": (-2, 8), "w": (0, 20), "k": (7, 7)}


@pytest.mark.one_in(10)
@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1e-9"), dp.PureDP(1000)], ids=str)
@pytest.mark.parametrize("name", REQUESTS)
def test_whatever_the_noise_is_values_are_possible_and_within_their_intervals(name, spend):
    asked = quote(REQUESTS[name], spend)
    sizes = [asked.plan.layout.cells * sum(one.query.widths()) for one in asked.measured]
    number = st.one_of(st.integers(-30, 30), st.integers(-(10**9), 10**9), st.sampled_from([-(2**61), 2**61]))

    @settings(max_examples=12)
    @given(st.tuples(*(st.lists(number, min_size=size, max_size=size) for size in map(min, sizes, [40] * len(sizes)))))
    def check(drawn):
        noisy = [np.resize(np.array(part, dtype=np.int64), size) for part, size in zip(drawn, sizes, strict=True)]
        noisy = [as_chosen(part, one.query) for part, one in zip(noisy, asked.measured, strict=True)]
        found = {columns.name: columns.estimate for columns in estimate_statistics(asked, noisy)}
        for one in [*found.values(), *(frame.counts.estimate for frame in frames(asked, noisy))]:
            ends = np.array([one.low, one.value, one.high], dtype=float)
            assert np.isfinite(ends).all()
            assert (np.diff(ends, axis=0) >= 0).all()
        for statistic, one in found.items():
            low, high = possible(statistic)
            if low is not None:
                assert (one.low >= low).all()
                assert (one.high <= high * (1 + 1e-12)).all()
        ordered = [found[name] for name in ("v_p0", "v_p25", "v_p50", "v_p90", "v_p100") if name in found]
        for lower, higher in pairwise(ordered):
            assert (lower.value <= higher.value).all()

    check()


def as_chosen(drawn, query):
    """Chosen codes lie on the grid, those of a cell ascending."""
    if not isinstance(query, QuantileCodes):
        return drawn
    return np.sort((drawn % query.size).reshape(-1, len(query.at)), axis=1).ravel()


def possible(name):
    """The bounds of what a statistic can be; None for those that stay unbiased."""
    kind, _, column = name.partition("_")
    if kind in {"count", "sum"}:
        return None, None
    if kind == "share":
        return 0, 1
    if kind in BOUNDS:
        return BOUNDS[kind]
    width = BOUNDS[column][1] - BOUNDS[column][0]
    return {"variance": (0, width**2 / 4), "std": (0, width / 2)}.get(kind, BOUNDS[column])


def test_what_cannot_vary_is_said_without_error():
    table = released(*REQUESTS["nothing varies"].statistics, by=["g"], neighbours=dp.ReplaceOne(rows=10), spend="0.1").table
    for name, value in (("mean_k", 7), ("variance_k", 0), ("std_k", 0), ("median_k", 7)):
        assert [table[name + end].to_list() for end in ("", "_low", "_high")] == [[value] * 4] * 3


def test_a_median_is_the_half_quantile():
    table = released(dp.median("w", **SKIP), dp.quantiles("w", ["0.5"], **SKIP), by=["g"], spend="0.3").table
    for end in ("", "_low", "_high"):
        assert table[f"median_w{end}"].to_list() == table[f"w_p50{end}"].to_list()
    asked = quote(TABLE.agg(dp.median("w", **SKIP), dp.quantiles("w", ["0", "1"], **SKIP)), dp.PureDP(1))
    assert len(asked.measured) == 2, "all quantiles of a column share one choice and one tree"


@pytest.mark.parametrize("by", [[], ["g"]], ids=["whole", "groups"])
def test_without_noise_chosen_quantiles_are_those_of_a_rank_next_to_theirs(by):
    at = ["0", "1/4", "0.5", "0.9", "1"]
    frame = pl.DataFrame({"g": ["x", "y"] * 40, "w": [i % 21 for i in range(80)]})
    chosen = dp.quantiles("w", at, interval="1e-6", **SKIP)
    schema = dp.Schema(g=dp.Category(["x", "y"]), w=dp.Number(0, 20))
    table = released(chosen, by=by, frame=frame, schema=schema).table
    for row in table.rows(named=True):
        group = frame if not by else frame.filter(pl.col("g").eq_missing(row["g"]))
        values = sorted(group["w"].to_list())
        if values:
            for q, value in zip(map(Fraction, at), list(row.values())[len(by) :: 3], strict=True):
                rank = min(max(int(q * len(values)), 1), len(values)) - 1
                assert values[max(rank - 2, 0)] <= value <= values[min(rank + 2, len(values) - 1)]


def test_a_chosen_quantile_stays_in_its_interval_and_a_free_one_has_the_whole_range():
    whole = released(dp.median("w", interval=0, **SKIP), spend="0.01").table
    assert whole.select("median_w_low", "median_w_high").rows() == [(0, 20)]
    mixed = released(dp.median("w", **SKIP), dp.quantiles("w", ["0.1"], interval=0, **SKIP), spend="2").table
    assert mixed.select("w_p10_low", "w_p10_high").rows() == [(0, 20)]
    low, value, high = mixed.select("median_w_low", "median_w", "median_w_high").row(0)
    assert low <= value <= high


def test_more_spend_for_intervals_means_less_for_values():
    at_once = {part: quote(TABLE.agg(dp.median("w", interval=part, **SKIP)), dp.PureDP(1)) for part in ("0.1", "0.5")}
    ranges = {part: asked.measured[0].law.reach for part, asked in at_once.items()}
    assert ranges == {"0.1": Fraction(9, 10), "0.5": Fraction(1, 2)}
    reached = {part: asked.lines[0].recipe.interval_ranks(asked.noises(asked.lines[0])) for part, asked in at_once.items()}
    assert reached["0.5"] < reached["0.1"] / 3


@pytest.mark.parametrize("wrong", ["-0.1", "1.01", "nan", True, "much"])
def test_a_part_for_intervals_outside_0_and_1_is_refused(wrong):
    for make in (lambda: dp.median("w", interval=wrong), lambda: dp.quantiles("w", ["0.5"], interval=wrong)):
        with pytest.raises(dp.ArgumentError, match="interval"):
            make()


def test_quantiles_beyond_64_bits_are_doubles():
    step = 10**18
    schema = dp.Schema(v=dp.Number(-20 * step, 20 * step, step))
    table = released(dp.median("v", **SKIP), frame=pl.DataFrame({"v": [1e19, 1e19]}), schema=schema).table
    assert table.rows() == [(1e19, 1e19, 1e19)]


def test_no_number_of_rows_is_0():
    for wrong in (lambda: dp.ReplaceOne(rows=0), lambda: TABLE.resize(0)):
        with pytest.raises(dp.ArgumentError, match="must be at least 1"):
            wrong()


LITTLE = [dp.PureDP("1e-12"), dp.ZCDP("1e-24"), dp.GDP("2e-12"), dp.ApproxDP(1, "1e-300")]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("spend", [dp.PureDP(10**6), dp.ZCDP(10**6), *LITTLE], ids=str)
def test_requests_with_hardly_any_noise_or_nothing_else_are_answered(spend):
    """A release must not fail after its charge."""
    for statistics in (EVERY, [dp.tables(["g"], ["g", dp.bins("w", [0, 20])]), *EVERY[2:5]]):
        with session(budget=spend) as one:
            release = one.release(one.table.agg(*statistics), name="r")
            for frame in release.tables.values():
                assert np.isfinite(frame.select(pl.selectors.numeric()).to_numpy()).all()


def test_a_table_without_rows_is_answered():
    release = released(*EVERY, by=["g"], frame=FRAME.clear(), spend="0.1")
    numbers = np.array([release.table[name].to_list() for name in release.table.columns[1:]], dtype=float)
    assert np.isfinite(numbers).all()


# Names, files, JSON ----------------------------------------------------------------------------------------------------


def test_columns_are_called_after_statistic_column_and_level():
    asked = dp.quantiles("v", ["0.25", 1, "0.999", 0.1], **SKIP)
    assert outputs(asked) == ("v_p10", "v_p25", "v_p99.9", "v_p100")
    assert outputs(asked.alias("value")) == ("value_p10", "value_p25", "value_p99.9", "value_p100")
    assert [outputs(one) for one in (dp.std("v"), dp.share(), dp.histogram("v", [0, 1]))] == [("std_v",), ("share",), ()]


@pytest.mark.parametrize(
    ("statistics", "name"),
    [
        ((dp.median("v", **SKIP), dp.median("v", **SKIP)), "median_v"),
        ((dp.share(), dp.count().alias("share_low")), "share_low"),
        ((dp.quantiles("v", ["0.5"], **SKIP), dp.median("v", **SKIP).alias("v_p50")), "v_p50"),
        ((dp.histogram("v", [0, 1]), dp.histogram("v", [0, 2])), "histogram_v"),
        ((dp.count().alias("g"),), "g"),
        ((dp.histogram("v", [0, 1]).alias("table"),), "table"),
        ((dp.tables(["g"]).alias("table"),), "table"),
    ],
)
def test_two_things_of_one_name_are_refused(statistics, name):
    grouped = TABLE if name == "table" else TABLE.group_by("g")
    with pytest.raises(dp.PlanError, match=f"'{name}'"):
        grouped.agg(*statistics)


def test_frames_and_their_columns_have_different_names():
    schema = dp.Schema(count=dp.Number(0, 10), g=dp.Category(["x"]))
    asked = [dp.histogram("count", [0, 5, 10]), dp.histogram("count", [0, 5]).alias("h")]
    by = [dp.bins("count", [0, 5, 10])]
    for release in (
        released(*asked, frame=pl.DataFrame({"count": [1], "g": ["x"]}), schema=schema),
        released(*asked, frame=pl.DataFrame({"count": [1], "g": ["x"]}), schema=schema, by=by),
    ):
        assert {"histogram_count", "h"} <= set(release.tables)
        assert all(len(set(frame.columns)) == len(frame.columns) for frame in release.tables.values())
    twice = released(dp.tables(["g", dp.bins("w", [0, 5])], ["g", dp.bins("w", [5, 20])]))
    assert len(twice.tables) == 3


def test_all_frames_are_saved_and_loaded(tmp_path):
    release = released(*EVERY, dp.histogram("w", [0, 10]).alias("tens"), by=["g"])
    release.save(tmp_path / "out")
    assert dp.Release.load(tmp_path / "out").tables.keys() == release.tables.keys() == {"table", "histogram_v", "tens"}
    for name, frame in release.tables.items():
        assert dp.Release.load(tmp_path / "out").tables[name].equals(frame)
        assert pl.read_parquet(tmp_path / "out" / f"{name}.parquet").equals(frame)
        assert pl.read_csv(tmp_path / "out" / f"{name}.csv").shape == frame.shape
    assert dp.Release.load(tmp_path / "out").digest == release.digest


@pytest.mark.parametrize("alias", ["../evil", "a/b", "a\\b", "..", "release.json", "x" * 300, "nul", "ä ö"])
def test_files_stay_in_their_folder_whatever_a_frame_is_called(tmp_path, alias):
    release = released(dp.count(), dp.histogram("w", [0, 10]).alias(alias), dp.histogram("w", [0, 20]).alias("a_b"))
    folder = release.save(tmp_path / "out" / "here")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["here"]
    assert len(list(folder.iterdir())) == 7
    assert dp.Release.load(folder).tables.keys() == {"table", alias, "a_b"}


def test_every_part_of_a_statistic_is_in_the_digest():
    different = [
        *EVERY,
        dp.share(weight=2),
        dp.share().alias("s"),
        dp.median("v", **SKIP),
        dp.quantiles("v", ["0.5"], **SKIP),
        dp.quantiles("v", ["0.25"], **SKIP),
        dp.std("v", **SKIP),
        dp.histogram("v", [-1, 0, 8]),
        dp.histogram("v", [-1, 0, "3.5", 8], weight="1/3"),
    ]
    digests = [TABLE.agg(one).digest for one in different]
    digests += [TABLE.agg(dp.tables(["g"], *more)).digest for more in ([], [["w", "g"]] * 0, [[dp.bins("w", [0, 1])]])][1:]
    assert len(set(digests)) == len(digests)
    same = dp.quantiles("v", [1, 0.9, Fraction(1, 4), "0.50", 0], **SKIP, interval="1.0")
    assert TABLE.agg(same).digest == TABLE.agg(EVERY[8]).digest, "order and form of the levels do not matter"


def test_a_release_states_its_statistics_and_nothing_that_is_no_json():
    release = released(*EVERY, by=["g"])
    asked = TABLE.group_by("g").agg(*EVERY)
    assert release.document["plan"] == json.loads(json.dumps(plan_json(asked)))
    assert release.document["plan_digest"] == asked.digest
    shown = {one["name"]: one for one in release.document["statistics"]}
    assert shown["v"]["at"] == ["0", "0.25", "0.5", "0.9", "1"]
    assert (shown["histogram_v"]["labels"], shown["histogram_v"]["column"]) == (["[-1, 0)", "[0, 3.5)", "[3.5, 8]"], "v")
    assert {one["view"] for one in shown.values()} == {"unbiased", "clipped into the public bounds"}


# Refusals --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.median("g"), "the column is categorical; group by it and count"),
        (lambda: dp.std("d"), r"the column is a date; count it in bins\('d'"),
        (lambda: dp.quantiles("d", ["0.5"]), "the column is a date"),
        (lambda: dp.variance("v"), "impute it first, or ask for variance\\('v', nulls=\"skip\"\\)"),
        (lambda: dp.histogram("g", [0, 1]), "the column is categorical; group by 'g' itself"),
        (lambda: dp.histogram("v", [3, 1]), "increase strictly"),
        (lambda: dp.histogram("v", [1, 1]), "increase strictly"),
        (lambda: dp.histogram("v", [1]), "at least two"),
        (lambda: dp.histogram("v", []), "at least two"),
        (lambda: dp.histogram("v", [0, "0.25"]), "nearest grid values are 0 and 0.5"),
        (lambda: dp.histogram("v", [0, 9]), r"must lie within \[-2, 8\]"),
        (lambda: dp.histogram("d", [0, 9]), "must be a date such as"),
        (lambda: dp.histogram("v", 3), "must be a list of at least two"),
        (lambda: dp.histogram("c", [0, 1]), "not declared"),
        (lambda: dp.quantiles("v", ["1.01"]), r"at=1.01 must lie in \[0, 1\]"),
        (lambda: dp.quantiles("v", [-1]), r"at=-1 must lie in \[0, 1\]"),
        (lambda: dp.quantiles("v", ["0.5", "1/2"]), "different numbers"),
        (lambda: dp.quantiles("v", []), "different numbers"),
        (lambda: dp.quantiles("v", None), "must be a number"),
        (lambda: dp.quantiles("v", [float("nan")]), "must be finite"),
        (lambda: dp.median("v", weight=0), "weight=0: must be greater than 0; leave the statistic out"),
        (lambda: dp.share(weight=-1), "weight=-1: must be greater than 0"),
        (lambda: dp.std("v", nulls="keep"), "must be 'skip'"),
        (dp.tables, "must name different lists"),
        (lambda: dp.tables(["g"], ["g"]), "must name different lists"),
        (lambda: dp.tables([]), "must name different lists"),
        (lambda: dp.tables(["g", "g"]), "names a column twice"),
        (lambda: dp.tables(["w"]), "grouped by bins"),
        (lambda: dp.tables(["c"]), "not declared"),
        (lambda: dp.tables([dp.bins("w", [[0], [1]])], ["g"]), "must be a number"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(make, says):
    with pytest.raises(dp.ArgumentError, match=says):
        TABLE.agg(make())


def test_margins_stand_alone():
    with pytest.raises(dp.PlanError, match="without group_by"):
        TABLE.group_by("g").agg(dp.tables(["g"]))


def test_what_is_too_fine_is_refused_before_noise_is_drawn_for_it():
    table = dp.Table(dp.Schema(v=dp.Number(0, 10**8), g=dp.Category(list(range(1000)))), dp.AddRemove())
    with pytest.raises(
        dp.PlanError, match="clamp to tighter bounds with at most 10000000 values, or declare a coarser step: step=16"
    ):
        table.agg(dp.median("v", **SKIP))
    with pytest.raises(dp.PlanError, match="take at most 9990 bins, null included, or at most 299 groups"):
        table.group_by("g").agg(dp.histogram("v", range(0, 10**5, 3)))


def test_what_is_public_already_is_refused():
    one = dp.Table(SCHEMA, dp.ReplaceOne(rows=10)).impute({"k": dp.Uniform(), "w": dp.Uniform()})
    for statistic in (dp.share(), dp.std("k"), dp.median("k"), dp.histogram("w", [0, 20])):
        with pytest.raises(dp.PlanError, match="public"):
            quote(one.agg(statistic), dp.PureDP(1))


def test_a_hundred_statistics_of_ten_thousand_groups_take_a_moment():
    """The processor time, with the first of `estimate_statistics`, which works out the laws of the intervals too."""
    names = [f"v{place}" for place in range(32)]
    groups = dp.Category(list(range(99)))
    schema = dp.Schema({"a": groups, "b": groups, "k": dp.Number(0, 9), **{name: dp.Number(0, 900) for name in names}})
    of_columns = [one for name in names for one in (dp.count(name), dp.sum(name, **SKIP), dp.mean(name, **SKIP))]
    statistics = [dp.count(), dp.share(), dp.std("k", **SKIP), dp.median("k", **SKIP), *of_columns]
    request = dp.Table(schema, dp.ReplaceOne(rows=10**6)).group_by("a", "b").agg(*statistics)
    asked = quote(request, dp.ZCDP(1))
    assert (len(asked.lines), request.layout.cells) == (100, 10_000)
    noisy = [np.full(10_000 * sum(one.query.widths()), 100) for one in asked.measured]
    start = time.process_time()
    assert len(estimate_statistics(asked, noisy)) == 100
    assert time.process_time() - start < MOMENT


def test_a_release_says_whether_its_intervals_hold_for_the_original_table():
    imputed = TABLE.impute({"v": dp.Uniform()})
    assert covers(TABLE.group_by("g").agg(dp.mean("v", **SKIP))) == COVERS_ORIGINAL
    assert covers(imputed.agg(dp.count())) == COVERS_ORIGINAL, "the imputed column is not used"
    assert covers(imputed.agg(dp.mean("v"))) == COVERS
    assert covers(TABLE.resize(10).agg(dp.count())) == COVERS
    document = released(dp.count(), by=["g"]).document
    assert document["interval"]["covers"] == COVERS_ORIGINAL


def test_a_q_with_more_than_30_digits_is_refused():
    dp.quantiles("w", [Fraction(1, 10**30)])
    with pytest.raises(dp.ArgumentError, match="at most 30 digits"):
        dp.quantiles("w", ["0." + "3" * 31])


@pytest.mark.parametrize("spend", [dp.PureDP("1e-200"), dp.ZCDP("1e-350"), dp.GDP("1e-170")], ids=str)
def test_a_choice_for_next_to_nothing_is_refused_before_it_costs_anything(spend):
    with pytest.raises(dp.PlanError, match="spend: leaves"):
        quote(TABLE.agg(dp.median("w", **SKIP, interval=0)), spend)
