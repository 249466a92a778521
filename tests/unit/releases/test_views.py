"""Views: non-negative numbers that agree with what is public, beside the unbiased ones and never in their place."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import session_over
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.noise.bits import system_bits
from discreet.releases.consistent import consistent_within
from discreet.releases.document import make_release
from discreet.releases.publish import publish

ROWS = 600
SCHEMA = dp.Schema(
    g=dp.Category(list("abc")),
    h=dp.Category([True, False]),
    k=dp.Category(list("wxyz")),
    v=dp.Number(0, 50),
    w=dp.Number(0, 9),
)
COUNTED = (dp.ReplaceOne(rows=ROWS), dp.AddRemove())


def frame():
    generator = np.random.default_rng(20261122)
    values = pl.DataFrame(
        {
            "g": generator.choice(list("abc"), ROWS, p=[0.8, 0.15, 0.05]),
            "h": generator.random(ROWS) < 0.1,
            "k": generator.choice(list("wxyz"), ROWS, p=[0.7, 0.2, 0.05, 0.05]),
            "v": np.minimum(generator.geometric(0.3, ROWS), 50),
            "w": generator.integers(0, 10, ROWS),
        }
    )
    return values.with_columns(w=pl.when(pl.col("w") < 8).then(pl.col("w")))


FRAME = frame()


def session(neighbours=COUNTED[0], invariants=None):
    return session_over(FRAME, SCHEMA, budget=dp.ZCDP(10**6), neighbours=neighbours, invariants=invariants)


def released(ask, spend="0.002", neighbours=COUNTED[0], invariants=None):
    with session(neighbours, invariants) as one:
        return one.release(ask(one.table), spend=spend, name="r")


def whole(view, name):
    assert view[name].dtype == pl.Int64
    assert view[name].min() >= 0
    return view[name].to_numpy()


# Histograms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", COUNTED, ids=lambda one: type(one).__name__)
def test_a_histogram_has_its_view_beside_the_unbiased_counts(neighbours):
    release = released(lambda table: table.group_by("g").agg(dp.histogram("v", [0, 2, 4, 8, 50])), neighbours=neighbours)
    view, own = dp.consistent(release, "histogram_v"), release.tables["histogram_v"]
    assert view.columns == ["g", "v", "count", "count_consistent"]
    assert view.select("g", "v", "count").equals(own.select("g", "v", "count")), "the unbiased numbers stay"
    found = whole(view, "count_consistent")
    if neighbours is COUNTED[0]:
        assert found.sum() == ROWS
    else:
        assert np.array_equal(found, np.maximum(own["count"], 0)), "nothing is public that they could add up to"
    assert dp.consistent(release).equals(view), "it is the first thing that there is a view of"


def test_bins_that_leave_rows_out_hold_at_most_the_public_number():
    release = released(lambda table: table.agg(dp.histogram("v", [0, 1, 2, 3, 4, 5])), spend="0.00001")
    noisy = release.tables["histogram_v"]["count"].to_numpy()
    found = whole(dp.consistent(release, "histogram_v"), "count_consistent")
    clipped = np.maximum(noisy, 0)
    assert found.sum() == min(ROWS, clipped.sum())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("edges", "spend", "runs"),
    [(list(range(51)), "0.01", 40), ([0, 1, 2, 3, 4, 50], "0.001", 160), ([0, 25, 50], "0.0001", 80)],
    ids=["sparse", "dense", "short"],
)
def test_the_view_of_a_histogram_is_no_worse_than_clipping_at_0(edges, spend, runs):
    """The runs put the means six deviations apart. A view with a wrong number of rows fails by far."""
    truth = np.append(np.histogram(FRAME["v"], bins=[*edges[:-1], 51])[0], 0)
    clipped, seen, wrong = [], [], []
    with session() as one:
        request = one.table.agg(dp.histogram("v", edges))
        quoted, brought = one.quote(request, spend=spend), request.layout.scans[0]
        cube = one._engine.aggregate(brought.axes, brought.moments)
    content = {"name": "r", "dataset": "d", "ledger": {}}
    for _ in range(runs):
        view = dp.consistent(publish(quoted, [cube], system_bits, report_delta=Fraction(1, 10**9), content=content))
        noisy = view["count"].to_numpy()
        far = consistent_within(noisy, [(np.zeros(len(noisy), np.int64), np.array([2 * ROWS]))], [])
        for errors, found in ((clipped, np.maximum(noisy, 0)), (seen, view["count_consistent"]), (wrong, far)):
            errors.append(np.abs(np.asarray(found) - truth).mean())
    assert np.mean(seen) <= np.mean(clipped)
    assert np.mean(wrong) > np.mean(clipped)
    if len(edges) > 6:
        assert np.mean(seen) < 0.8 * np.mean(clipped), "most of the empty bins of a sparse histogram are seen to be empty"


# Tables ---------------------------------------------------------------------------------------------------------------


def sums_by(view, column, by):
    return view.group_by(by, maintain_order=True).agg(pl.col(column).sum()).sort(by)[column].to_list()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("neighbours", COUNTED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("spend", ["0.002", 1000])
def test_tables_agree_as_whole_numbers_too(neighbours, spend):
    pairs = list(combinations(["g", "h", "k", "v"], 2))
    bins = {"v": dp.bins("v", [0, 2, 4, 8, 50])}
    asked = dp.tables(*([bins.get(column, column) for column in pair] for pair in pairs))
    release = released(lambda table: table.impute({"h": dp.Weights({True: 1})}).agg(asked), spend, neighbours)
    views = {pair: dp.consistent(release, f"tables_{'_'.join(pair)}") for pair in pairs}
    for pair, view in views.items():
        own = release.tables[f"tables_{'_'.join(pair)}"]
        assert view.columns == [*pair, "count", "count_consistent"]
        assert view.drop("count_consistent").equals(own.drop("count_low", "count_high"))
        whole(view, "count_consistent")
    for column in ("g", "h", "k", "v"):
        found = [sums_by(view, "count_consistent", column) for pair, view in views.items() if column in pair]
        assert all(one == found[0] for one in found)
        assert neighbours is COUNTED[1] or sum(found[0]) == ROWS
    if spend == 1000:
        best = views["g", "k"]
        assert np.abs(best["count_consistent"] - best["count"]).max() < 2, "it starts from the counts"


def test_tables_that_cannot_agree_in_everything_agree_in_every_group():
    groups = ["g", "h", "k", dp.bins("v", [0, 2, 4, 8, 50])]
    pairs = [*combinations(groups, 2), *combinations(groups, 3)]
    release = released(lambda table: table.agg(dp.tables(*map(list, pairs))), "0.001")
    views = [dp.consistent(release, name) for name in release.tables if name != "table"]
    assert len(views) == 10
    for column in ("g", "h", "k", "v"):
        found = [sums_by(view, "count_consistent", column) for view in views if column in view.columns]
        assert all(one == found[0] for one in found)


def test_a_table_alone_has_the_number_of_rows():
    release = released(lambda table: table.agg(dp.tables(["g", "k"])))
    view = dp.consistent(release, "tables")
    assert view.columns == ["g", "k", "count", "count_consistent"]
    assert whole(view, "count_consistent").sum() == ROWS


def test_tables_that_leave_rows_out_agree_in_those_that_are_not_printed():
    """Rows beyond the bins are counted as well: with them all tables have the same rows."""
    bins = dp.bins("v", [0, 2, 4])
    release = released(lambda table: table.agg(dp.tables(["g", bins], [bins, "k"], ["k"], ["g"])), "0.1")
    views = {name: dp.consistent(release, f"tables_{name}") for name in ("g_v", "v_k", "k", "g")}
    assert whole(views["k"], "count_consistent").sum() == ROWS
    by_bin = [sums_by(views[name], "count_consistent", "v") for name in ("g_v", "v_k")]
    assert by_bin[0] == by_bin[1]
    assert sum(by_bin[0]) < ROWS
    inside, every = (sums_by(views[name], "count_consistent", "g") for name in ("g_v", "g"))
    assert all(some <= most for some, most in zip(inside, every, strict=True))


# Counts and shares ----------------------------------------------------------------------------------------------------


def test_every_count_has_a_view():
    release = released(lambda table: table.group_by("g", "h").agg(dp.count("v"), dp.count("w"), dp.count().alias("n")))
    every = whole(dp.consistent(release, "n"), "n_consistent")
    assert every.sum() == ROWS
    # Which values are null is not known: of a column that can have nulls there are at most as many as rows.
    assert whole(dp.consistent(release, "count_w"), "count_w_consistent").sum() <= ROWS
    assert whole(dp.consistent(release, "count_v"), "count_v_consistent").sum() <= ROWS
    assert dp.consistent(release).columns == ["g", "h", "n", "n_consistent"], "the first count of rows"
    imputed = released(lambda table: table.impute({"w": dp.Uniform()}).group_by("g").agg(dp.count("w")))
    assert whole(dp.consistent(imputed), "count_w_consistent").sum() == ROWS, "without nulls it is a count of rows"


def test_rows_that_pass_a_condition_are_at_most_all_rows():
    release = released(lambda table: table.where({"v": (0, 3)}).group_by("g", "k").agg(dp.count()), spend="0.00001")
    clipped = np.maximum(release.table["count"].to_numpy(), 0)
    assert whole(dp.consistent(release), "count_consistent").sum() == min(ROWS, clipped.sum())


@pytest.mark.parametrize("neighbours", COUNTED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("beside", [[], [dp.count()]], ids=["alone", "beside a count"])
def test_shares_add_up_to_1(neighbours, beside):
    release = released(lambda table: table.group_by("g", "k").agg(dp.share(), *beside), neighbours=neighbours)
    view = dp.consistent(release, "share")
    assert view.columns == ["g", "k", "share", "share_consistent"]
    assert view["share"].equals(release.table["share"])
    found = view["share_consistent"].to_numpy()
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-9)
    if beside:
        counts = whole(dp.consistent(release, "count"), "count_consistent")
        assert found == pytest.approx(counts / counts.sum())
    elif neighbours is COUNTED[0]:
        assert found * ROWS == pytest.approx(np.rint(found * ROWS)), "whole numbers of rows"


# Exact totals ---------------------------------------------------------------------------------------------------------


def exact_by(column):
    return [FRAME.filter(pl.col(column) == value).height for value in sorted(FRAME[column].unique())]


def test_every_view_has_the_exact_totals():
    invariants, statistics = dp.Totals("g"), [dp.count(), dp.histogram("v", [0, 2, 4, 8, 50])]
    release = released(lambda table: table.group_by("g", "h").agg(*statistics), invariants=invariants)
    for name in ("count", "histogram_v"):
        view = dp.consistent(release, name)
        assert sums_by(view, "count_consistent", "g")[-3:] == exact_by("g")
        whole(view, "count_consistent")
    release = released(lambda table: table.agg(dp.tables(["g", "h"], ["h", "k"], ["k", "g"])), invariants=invariants)
    for name in ("tables_g_h", "tables_k_g"):
        assert sums_by(dp.consistent(release, name), "count_consistent", "g")[-3:] == exact_by("g")
    by_h = [sums_by(dp.consistent(release, name), "count_consistent", "h") for name in ("tables_g_h", "tables_h_k")]
    assert by_h[0] == by_h[1]


def test_bins_that_leave_rows_out_hold_at_most_the_exact_totals():
    ask = dp.histogram("v", [0, 2, 4])
    release = released(lambda table: table.group_by("g").agg(ask), "0.00001", invariants=dp.Totals("g"))
    view = dp.consistent(release, "histogram_v")
    assert all(np.array(sums_by(view, "count_consistent", "g")[-3:]) <= exact_by("g"))
    whole(view, "count_consistent")


def test_cells_that_hold_nobody_stay_empty():
    nobody = dp.Impossible("g", "h", cells=[("c", True), ("b", True)])
    data = FRAME.with_columns(h=pl.col("h") & (pl.col("g") == "a"))
    with session_over(data, SCHEMA, budget=dp.ZCDP(9), neighbours=COUNTED[0], invariants=nobody) as one:
        release = one.release(one.table.group_by("g", "h").agg(dp.count()), spend="0.00001", name="r")
    view = dp.consistent(release)
    found = view.filter(pl.col("h") & pl.col("g").is_in(["b", "c"]))
    assert found["count_consistent"].to_list() == [0, 0]
    assert whole(view, "count_consistent").sum() == ROWS


# How it is asked for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["counts", "tables", "mean_v", "table", "", 3, ["count"], float("nan")])
def test_what_has_no_view_is_refused_with_what_has(name):
    statistics = [dp.mean("v", nulls="skip"), dp.histogram("v", [0, 25, 50])]
    release = released(lambda table: table.group_by("g").agg(*statistics))
    with pytest.raises(dp.ArgumentError, match="has these counts and shares: histogram_v"):
        dp.consistent(release, name)


def test_a_release_without_counts_says_what_to_ask_for():
    release = released(lambda table: table.group_by("g").agg(dp.mean("v", nulls="skip")))
    with pytest.raises(dp.ArgumentError, match="none; ask for count"):
        dp.consistent(release)
    with pytest.raises(dp.ArgumentError, match="must be a Release"):
        dp.consistent("r")


def test_a_view_takes_no_name_that_a_group_has():
    schema = dp.Schema(count_consistent=dp.Category(["a", "b"]), count_whole=dp.Category([1, 2]))
    data = pl.DataFrame({"count_consistent": ["a"] * 5, "count_whole": [1] * 5})
    with session_over(data, schema, budget=dp.ZCDP(9), neighbours=dp.ReplaceOne(rows=5)) as one:
        by = one.table.group_by("count_consistent", "count_whole").agg(dp.count())
        view = dp.consistent(one.release(by, spend=1, name="a"))
        assert view.columns == ["count_consistent", "count_whole", "count", "count_consistent_view"]
        both = one.table.agg(dp.tables(["count_whole"], ["count_consistent"]))
        view = dp.consistent(one.release(both, spend=1, name="b"), "tables_count_whole")
        assert view.columns == ["count_whole_group", "count", "count_consistent"]


def test_a_release_from_before_has_its_view():
    release = released(lambda table: table.group_by("g").agg(dp.count(), dp.histogram("v", [0, 25, 50])))
    document = release.document
    del document["known_most"], document["digest"], document["interval"]["hold"], document["statistics"][0]["counts"]
    for one in document["frames"]:
        del one["known_sums"], one["known_most"]
    before = make_release(document)
    assert dp.consistent(before).equals(dp.consistent(release))
    whole(dp.consistent(before, "histogram_v"), "count_consistent")


def test_the_command_line_writes_the_view_that_is_named(tmp_path):
    release = released(lambda table: table.group_by("g").agg(dp.count(), dp.histogram("v", [0, 25, 50])))
    release.save(tmp_path)
    before = (tmp_path / "release.json").read_bytes()
    for arguments, statistic in (([], None), (["--statistic", "histogram_v"], "histogram_v")):
        done = CliRunner().invoke(app, ["consistent", str(tmp_path), *arguments])
        assert (done.exit_code, done.output.strip()) == (0, str(tmp_path / "consistent.csv"))
        assert pl.read_parquet(tmp_path / "consistent.parquet").equals(dp.consistent(release, statistic))
    wrong = CliRunner().invoke(app, ["consistent", str(tmp_path), "--statistic", "histogram"])
    assert wrong.exit_code == 2
    assert "histogram_v" in wrong.output
    assert (tmp_path / "release.json").read_bytes() == before
    assert json.loads(before)["digest"] == release.digest


# The projection -------------------------------------------------------------------------------------------------------


def test_groups_that_are_above_what_they_can_hold_get_exactly_that():
    labels = np.array([0, 0, 1, 1, -1])
    found = consistent_within(np.array([5, 9, 1, -4, 7]), [], [(labels, np.array([10, 10]))])
    assert found.tolist() == [3, 7, 1, 0, 7]
    assert consistent_within(np.array([1, 2, 3]), [], [(np.zeros(3, np.int64), np.array([6]))]).tolist() == [1, 2, 3]
    nested = [(np.zeros(5, np.int64), np.array([12])), (labels, np.array([10, 10]))]
    found = consistent_within(np.array([5, 9, 1, -4, 7]), [], nested)
    assert found.sum() == 12
    assert found[:2].sum() <= 10


def test_maxima_of_groups_within_groups_are_kept_though_they_cannot_all_be_met():
    outer, inner = (np.zeros(2, np.int64), np.array([200])), (np.array([0, 1]), np.array([50, 50]))
    for most in ([outer, inner], [inner, outer]):
        assert consistent_within(np.array([150, 90]), [], most).tolist() == [50, 50]
        assert consistent_within(np.array([150, 3]), [], most).tolist() == [50, 3]
    both = [(np.zeros(2, np.int64), np.array([10])), (np.array([0, 1]), np.array([6, 6]))]
    assert consistent_within(np.array([7, 7]), [], both).tolist() == [5, 5]
    assert consistent_within(np.array([20, 7]), [], both).tolist() == [6, 4]
    assert consistent_within(np.array([20, 1]), [], both).tolist() == [6, 1]


@settings(max_examples=150)
@given(st.data())
def test_whatever_a_table_can_hold_is_never_exceeded(data):
    """Of a hidden table some sums are known, and of other groups, which may share cells with them, more than their sums."""
    cells = data.draw(st.integers(1, 6))
    truth, noisy = (
        np.array(data.draw(st.lists(st.integers(*ends), min_size=cells, max_size=cells)), np.int64)
        for ends in ((0, 4), (-6, 12))
    )

    def sums(labels, values, groups):
        found = np.zeros(groups, np.int64)
        np.add.at(found, labels[labels >= 0], values[labels >= 0])
        return found

    parts = {"exact": [], "most": []}
    for kind, count in (("exact", data.draw(st.integers(0, 2))), ("most", data.draw(st.integers(0, 3)))):
        for _ in range(count):
            labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=cells, max_size=cells)), np.int64)
            more = data.draw(st.integers(0, 3)) if kind == "most" else 0
            parts[kind].append((labels, sums(labels, truth, 3) + more))
    found = consistent_within(noisy, **parts)
    assert found.min() >= 0
    assert all((sums(labels, found, 3) == totals).all() for labels, totals in parts["exact"])
    assert all((sums(labels, found, 3) <= totals).all() for labels, totals in parts["most"])
