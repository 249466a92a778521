"""Ratios, changes and means of releases: what is read from a document, which groups meet, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.exact.canonical import seal
from discreet.noise.single.laws import DiscreteLaplace
from discreet.releases.derived.linear import Linear, LogConcave
from discreet.releases.derived.reading import Printed, identity, numbers_of
from discreet.releases.document import Release

SCHEMA = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    area=dp.Category(["north", "south", "west"], required=True),
    wage=dp.Number(0, 100, 5),
    hours=dp.Number(10, 30),
)
SKIP = {"nulls": "skip"}
BOTH = (dp.count(), dp.sum("wage", **SKIP))


def persons(rows=600, seed=3):
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "sex": draw.choice(["f", "m"], rows, p=[0.6, 0.4]),
            "area": draw.choice(["north", "south", "west"], rows, p=[0.7, 0.29, 0.01]),
            "wage": 5 * draw.integers(0, 21, rows),
            "hours": draw.integers(10, 31, rows),
        }
    )


def released(name="r", spend="2", statistics=BOTH, *, budget=None, by=("sex", "area"), **options):
    given = {
        "dataset": "d",
        "ledger": ":memory:",
        "budget": budget or dp.PureDP(40),
        "neighbours": dp.AddRemove(),
        **options,
    }
    session = dp.Session(persons(), SCHEMA, **given)
    return session.release(session.table.group_by(*by).agg(*statistics), spend=spend, name=name)


RELEASE = released()
OTHER = released("s", "3")


def changed(release, change):
    """The release with a document that was changed, and a digest that fits."""
    document = release.document
    change(document)
    document.pop("digest")
    return Release(seal(document).encode("ascii"))


def test_a_count_is_known_with_its_law():
    first = numbers_of(RELEASE.document, "count")[0]
    assert isinstance(first, Linear)
    assert first.value == RELEASE.table["count"][0]
    (noise,) = RELEASE.document["noise"][:1]
    assert first.terms[0][1].law == DiscreteLaplace(Fraction(noise["scale"]))
    assert first.half_width(Fraction("0.95")) == RELEASE.table["count_high"][0] - RELEASE.table["count"][0]


@pytest.mark.parametrize(
    "statistics",
    [
        (dp.sum("wage", **SKIP),),
        (dp.count("wage"), dp.sum("wage", **SKIP)),
        (dp.sum("hours", **SKIP), dp.mean("hours", **SKIP)),
    ],
)
@pytest.mark.parametrize("budget", [dp.PureDP(4), dp.ZCDP(4)])
def test_a_sum_is_known_with_its_laws(statistics, budget):
    release = released(statistics=statistics, budget=budget)
    name = next(one.name for one in statistics if one.name.startswith("sum"))
    found = numbers_of(release.document, name)
    assert all(isinstance(one, Linear) for one in found)
    for one, value, high in zip(found, release.table[name], release.table[f"{name}_high"], strict=True):
        assert one.value == Fraction(value)
        assert one.half_width(Fraction("0.95")) == pytest.approx(high - value, rel=1e-3)


def test_a_width_that_the_law_does_not_explain_leaves_the_printed_interval():
    def wider(document):
        for one in document["columns"]:
            if one["name"] == "count_high":
                one["values"] = [value + 50 for value in one["values"]]

    found = numbers_of(changed(RELEASE, wider).document, "count")
    assert all(isinstance(one, Printed) for one in found)


def test_other_statistics_have_their_printed_intervals_only():
    release = released(statistics=(dp.mean("wage", **SKIP), dp.median("wage", **SKIP)))
    for name in ("mean_wage", "median_wage"):
        first = numbers_of(release.document, name)[0]
        assert isinstance(first, Printed)
        assert first.low <= first.value <= first.high
        assert first.statement != numbers_of(release.document, name)[1].statement


def test_cells_of_a_lattice_are_tied_and_their_widths_stretched():
    schema = dp.Schema(area=dp.Category(["north", "south", "west"]), sex=dp.Category(["f", "m"]))
    session = dp.Session(
        persons().select("area", "sex"), schema, dataset="d", ledger=":memory:", budget=dp.PureDP(9),
        neighbours=dp.ReplaceOne(rows=600), invariants=dp.Totals("area"),
    )  # fmt: skip
    release = session.release(session.table.group_by("area", "sex").agg(dp.count()), spend="4", name="r")
    found = numbers_of(release.document, "count")
    cells = [cell for one in found for _, cell in one.terms]
    assert all(cell.tied and isinstance(cell.law, LogConcave) for cell in cells)
    totals = dp.numbers(release, "count", by=["area"])
    shares = dp.ratio(dp.numbers(release, "count"), totals)
    assert all(isinstance(one, Linear) and not one.terms for one in totals.cells.values())  # published, so constants
    exactly = persons().group_by("area").len().rows()
    assert {area: one.value for (area,), one in totals.cells.items()} == {**dict(exactly), None: 0}
    count, first = release.table.row(0, named=True), shares.table.row(0, named=True)
    assert first["ratio_high"] == pytest.approx(count["count_high"] / totals.cells[(count["area"],)].value)
    everyone = dp.numbers(release, "count", by=[])
    assert everyone.cells[()] == Linear(Fraction(600))
    # The same over the frame of the totals, and over cells of the same block, which depend on one another.
    frame = release.tables["totals_area"]
    listed = dp.ratio(dp.numbers(release, "count"), dp.constants(frame)).table
    assert listed.equals(shares.table.head(9))  # areas without a row are not in the frame
    odds = dp.ratio(dp.numbers(release, "count", at={"sex": "f"}), dp.numbers(release, "count", at={"sex": "m"}))
    row = odds.table.row(0, named=True)
    halves = LogConcave(count["count_high"] - count["count"]).half_width(Fraction("0.975"))
    other = release.table.row(1, named=True)["count"]
    assert row["ratio_high"] == pytest.approx((count["count"] + halves) / (other - halves), rel=0.02)


def test_a_ratio_has_the_labels_of_its_numerator_and_the_certified_interval():
    found = dp.ratio(dp.numbers(RELEASE, "sum_wage"), dp.numbers(RELEASE, "count"))
    assert found.table.columns == ["sex", "area", "ratio", "ratio_low", "ratio_high"]
    truth = persons().group_by("sex", "area").agg(pl.col("wage").mean())
    both = found.table.join(truth, on=["sex", "area"]).drop_nulls()
    assert ((both["ratio_low"] <= both["ratio"]) & (both["ratio"] <= both["ratio_high"])).all()
    assert ((both["ratio_low"] - 5 <= both["wage"]) & (both["wage"] <= both["ratio_high"] + 5)).all()


def test_a_rate_over_public_denominators_lists_the_areas_that_are_missing(tmp_path):
    file = tmp_path / "population.csv"
    file.write_text("area,year,people\nnorth,2020,1000\neast,2020,5\nsouth,2020,500\n", encoding="utf-8")
    people = dp.constants({"area": ["north", "east", "south"], "people": [1000, 5, 500]})
    rate = dp.ratio(dp.numbers(RELEASE, "count"), people, per=1000)
    assert rate.missing == ((("f", "west"), ("m", "west")), (("east",),), ())
    assert "only in people of a public table: east" in str(rate)
    low, high = rate.table["ratio_low"][0], rate.table["ratio_high"][0]
    assert (low, high) == (RELEASE.table["count_low"][0], RELEASE.table["count_high"][0])  # 1,000 times over 1,000
    with pytest.raises(dp.ArgumentError, match="'year', which over has not"):
        dp.ratio(dp.numbers(RELEASE, "count"), dp.constants(file, "people"))


def test_an_index_has_one_group_as_its_base():
    index = dp.ratio(dp.numbers(RELEASE, "count"), dp.numbers(RELEASE, "count", at={"area": "north", "sex": "f"}), per=100)
    row = index.table.row(0, named=True)
    assert (row["ratio"], row["ratio_low"], row["ratio_high"]) == (100, 100, 100)


def test_a_share_of_a_share_adds_up_the_noise_it_shares():
    shares = dp.ratio(dp.numbers(RELEASE, "count"), dp.numbers(RELEASE, "count", by=["sex"]))
    apart = dp.ratio(dp.numbers(RELEASE, "count"), dp.numbers(OTHER, "count", by=["sex"]))
    assert (
        shares.table["ratio_high"][0] - shares.table["ratio_low"][0]
        < apart.table["ratio_high"][0] - apart.table["ratio_low"][0]
    )


def test_a_tiny_denominator_gives_no_number():
    # Noise of a thousand rows in all six groups: each has a number in one of twenty releases at most.
    few = dp.ratio(dp.numbers(OTHER, "count"), dp.numbers(released(spend="0.001"), "count"))
    assert few.table.filter(pl.col("ratio_low").is_null())["ratio"].null_count() > 0
    assert "unbounded, so no number is given there" in str(few)


def test_printed_intervals_allow_what_they_hold_together():
    means = released(statistics=(dp.mean("wage", **SKIP), dp.mean("hours", **SKIP)))
    operands = [dp.numbers(means, name) for name in ("mean_wage", "mean_hours")]
    with pytest.raises(dp.ArgumentError, match=r"confidence=0.95: only the printed intervals .* allow confidence=0.9;"):
        dp.ratio(*operands)
    found = dp.ratio(*operands, confidence="0.9").table.row(0, named=True)
    shown = means.table.row(0, named=True)
    assert found["ratio_low"] == pytest.approx(shown["mean_wage_low"] / shown["mean_hours_high"])
    session = dp.Session(persons(), SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(9), neighbours=dp.AddRemove())
    plan = session.table.group_by("sex").agg(dp.mean("wage", **SKIP), dp.mean("hours", **SKIP)).simultaneous()
    together = session.release(plan, spend="4", name="t")
    assert dp.ratio(*(dp.numbers(together, name) for name in ("mean_wage", "mean_hours"))).confidence == Fraction("0.95")


def test_a_change_has_a_difference_and_a_relative_change():
    found = dp.change(RELEASE, OTHER)
    row, first, last = found.table.row(0, named=True), RELEASE.table["count"][0], OTHER.table["count"][0]
    assert row["change"] == last - first
    assert row["relative_change"] == pytest.approx((last - first) / first)
    assert row["relative_change_low"] < row["relative_change"] < row["relative_change_high"]
    same = dp.change(RELEASE, RELEASE).table.row(0, named=True)
    assert (same["change_low"], same["change_high"], same["relative_change_high"]) == (0, 0, 0)


def test_a_relabelled_document_is_the_same_draw():
    def relabelled(document):
        document["about"] = {"language": "de"}
        document["columns"][0]["values"] = [label.upper() for label in document["columns"][0]["values"]]

    assert identity(changed(RELEASE, relabelled).document) == identity(RELEASE.document)
    assert identity(OTHER.document) != identity(RELEASE.document)


def test_a_mean_of_releases_is_narrower_than_each():
    found = dp.combine(dp.numbers(RELEASE, "sum_wage"), dp.numbers(OTHER, "sum_wage")).table.row(0, named=True)
    for one in (RELEASE, OTHER):
        row = one.table.row(0, named=True)
        assert found["mean_high"] - found["mean_low"] <= row["sum_wage_high"] - row["sum_wage_low"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: dp.change(RELEASE, dp.numbers(OTHER, "sum_wage")), "the count of rows and the sum of wage"),
        (lambda: dp.change(dp.numbers(RELEASE, by=["sex"]), OTHER), "group columns sex and sex, area"),
        (lambda: dp.combine(RELEASE), "at least two"),
        (lambda: dp.combine(RELEASE, dp.numbers(OTHER, "sum_wage")), "different quantities"),
        (lambda: dp.combine(RELEASE, released("x", dataset="e")), "different quantities"),
        (lambda: dp.numbers(RELEASE, "wage"), "did you mean 'sum_wage'"),
        (lambda: dp.numbers(RELEASE, by=["aera"]), "did you mean 'area'"),
        (lambda: dp.numbers(RELEASE, at={"area": "nroth"}), "did you mean 'north'"),
        (lambda: dp.ratio(RELEASE, 3), "under: must be numbers"),
        (lambda: dp.ratio(RELEASE, OTHER, per=0), "per=0: must be greater than 0"),
        (lambda: dp.ratio(RELEASE, OTHER, confidence=1), "confidence=1: must lie strictly between"),
        (lambda: dp.ratio(RELEASE, dp.constants({"area": ["east"], "n": [3]})), "share no group"),
        (lambda: dp.constants({"area": ["a", "a"], "n": [1, 2]}), "a group occurs twice"),
        (lambda: dp.constants("nowhere.csv"), "nowhere.csv"),
        (lambda: dp.constants(object()), "must be a number, a table or the path"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused_with_a_next_step(wrong, message):
    with pytest.raises(dp.ArgumentError, match=message):
        wrong()


def test_imputed_tables_differ_and_are_not_averaged():
    session = dp.Session(persons(), SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(9), neighbours=dp.AddRemove())
    table = session.table.impute({"wage": dp.Uniform(0, 100)}).group_by("sex")
    one, two = (session.release(table.agg(dp.sum("wage")), spend="2", name=name) for name in "ab")
    assert "prepared tables" in str(dp.change(one, two))
    with pytest.raises(dp.ArgumentError, match="prepared table of its own"):
        dp.combine(one, two)


def test_numbers_of_two_units_are_not_compared():
    def in_unit(release, unit):
        return release.labelled(dp.About(columns={"wage": dp.Labels(unit=unit)}))

    euros, dollars = in_unit(RELEASE, "euro"), in_unit(OTHER, "US dollar")
    for wrong in (dp.change, dp.combine):
        with pytest.raises(dp.ArgumentError, match="is in 'euro' and sum_wage of 's' in 'US dollar'"):
            wrong(*(dp.numbers(one, "sum_wage") for one in (euros, dollars)))
    assert dp.change(*(dp.numbers(one, "count") for one in (euros, dollars))).groups  # counts have no unit here
    assert dp.change(dp.numbers(euros, "sum_wage"), dp.numbers(in_unit(OTHER, "euro"), "sum_wage")).groups


def test_everything_follows_from_the_documents_alone(tmp_path):
    """The same numbers from release.json, without ledger or source."""
    place = RELEASE.save(tmp_path / "results")
    again = Release.load(place)
    expected = dp.ratio(dp.numbers(RELEASE, "sum_wage"), dp.numbers(RELEASE, "count"))
    found = dp.ratio(dp.numbers(again, "sum_wage"), dp.numbers(again, "count"))
    assert found.to_json() == expected.to_json()
    saved = json.loads((expected.save(tmp_path / "out", "wages") / "wages.json").read_text(encoding="utf-8"))
    assert saved["sources"][0]["digest"] == RELEASE.digest
    assert pl.read_csv(tmp_path / "out" / "wages.csv").columns == expected.table.columns


def test_the_command_line_derives_and_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RELEASE.save("first")
    OTHER.save("second")
    done = run("derive", "ratio", "first", "--over", "sum_wage", "--under", "count", "--out", "out", "--name", "wages")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("sum_wage of 'r' over count of 'r'; each interval holds with 95 %")
    assert (tmp_path / "out" / "wages.csv").is_file()
    shares = run("derive", "ratio", "first", "--under-by", "sex", "--json")
    assert json.loads(shares.stdout)["derived"] == "ratio"
    index = run("derive", "ratio", "first", "--under-at", "area=north", "--under-at", "sex=f", "--per", "100")
    assert "100 (100 – 100)" in index.stdout, index.stdout
    (tmp_path / "people.csv").write_text("area,people\nnorth,1000\nsouth,10\n", encoding="utf-8")
    rate = run("derive", "ratio", "first", "--public", "people.csv", "--per", "1000")
    assert "only in count of 'r': f, west; m, west" in rate.stdout, rate.output
    assert run("derive", "change", "first", "second").exit_code == 0
    mean = run("derive", "combine", "first", "second", "--statistic", "sum_wage")
    assert mean.exit_code == 0, mean.output
    (tmp_path / "strata.csv").write_text("n\n10\n", encoding="utf-8")
    assert "is not a mean" in run("derive", "poststratified", "first", "--sizes", "strata.csv").stderr
    wrong = run("derive", "ratio", "first", "--under-at", "north")
    assert (wrong.exit_code, wrong.stderr) == (2, "discreet: --at=north: must be NAME=LABEL, such as --at year=2020\n")


def test_changes_of_chosen_medians_rest_on_both_printed_intervals():
    asked = (dp.median("wage", interval="chosen", **SKIP), dp.std("hours", interval="joint", **SKIP))
    first, second = (released(name, "8", asked, by=("sex",)) for name in ("a", "b"))
    for column in ("median_wage", "std_hours"):
        before, after = (dp.numbers(one, column) for one in (first, second))
        with pytest.raises(dp.ArgumentError):
            dp.change(before, after)
        found = dp.change(before, after, confidence="0.9").table
        low, high = (
            second.table[f"{column}_{end}"] - first.table[f"{column}_{other}"]
            for end, other in (("low", "high"), ("high", "low"))
        )
        assert found["change_low"].to_list() == pytest.approx(low.to_list())
        assert found["change_high"].to_list() == pytest.approx(high.to_list())
