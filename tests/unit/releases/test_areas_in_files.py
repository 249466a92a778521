"""Areas in files: the same counts and numbers as in memory, whatever comes together, and a reader who can recompute all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.builders import run, session_over

import discreet as dp
from discreet.plan import area_reading, in_files, sizes
from discreet.releases.areas import measuring, ordered, publishing
from discreet.releases.areas.reading import read_areas_in_files
from discreet.releases.document import make_release
from discreet.statistics.area_recipe import ends_of_areas
from discreet.statistics.tree_cells import cells_of_areas, errors_of_areas

LEVELS = {
    "state": ["44", "44", "10", "44", "10", "10", "44"],
    "county": ["443", "441", "103", "443", "101", "103", "441"],
    "tract": ["4439", "4411", "1031", "4430", "1010", "1032", "4412"],
}
SCHEMA = dp.Schema(
    area=dp.Hierarchy(LEVELS, levels=["state", "county", "tract"]),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 9),
    kind=dp.Category(["x", "y"], required=True),
)
ROWS = [
    (tract, sex, age, kind)
    for place, (tract, sex, age, kind) in enumerate(
        product([*LEVELS["tract"], "9999"], ["f", "m", None], [0, 3, 4, 9, None], ["x", "y"])
    )
    for _ in range(1 + place % 3)
]
FRAME = pl.DataFrame(ROWS, schema=["area", "sex", "age", "kind"], orient="row")
BY = [[], ["sex"], [dp.bins("age", step=5), "sex"], ["kind"]]
KEYS = ("area.state", "area.county", "area.tract", "sex", "age", "kind")


@pytest.fixture(autouse=True)
def _low(monkeypatch):
    """Everything is large: four cells in a document, some numbers at once, some rows in a file."""
    for module in (in_files, publishing):
        monkeypatch.setattr(module, "MOST_WHOLE_CELLS", 40)
    monkeypatch.setattr(area_reading, "_SLICE", 60)
    monkeypatch.setattr(ordered, "_AT_ONCE", 60)
    monkeypatch.setattr(publishing, "ROWS", 20)
    monkeypatch.setattr(measuring, "_IN_A_FILE", 90)


def asked(table):
    return table.agg(dp.agreeing_areas("area", by=BY))


CASES = {
    "replaced": {},
    "added": {"neighbours": dp.AddRemove()},
    "gdp": {"budget": dp.GDP(1)},
    "where": {"make": lambda table: asked(table.where({"age": (0, 5)}))},
    "where it counts": {"make": lambda table: asked(table.where({"kind": ["x"]}))},
    "imputed": {"make": lambda table: asked(table.impute({"sex": dp.Weights({"f": 1})}))},
    "simultaneous": {"make": lambda table: asked(table).simultaneous()},
    "stated shares": {
        "make": lambda table: table.agg(
            dp.agreeing_areas(
                "area", by=BY, shares={"": [1, 1, 0, 0], "area.state": [3, 0, 0, 0], "area.tract": [0, 0, 2, 1]}
            )
        )
    },
    "totals of a level": {"invariants": dp.Totals("area.state")},
    "totals of a level by sex": {"invariants": dp.Totals("area.county", "sex") + dp.Totals("area.state")},
    "totals of the last level": {"invariants": dp.Totals("area.tract")},
    "totals that cross": {"invariants": dp.Totals("area.county") + dp.Totals("area.state", "sex")},
    "totals and a condition": {
        "invariants": dp.Totals("area.state", "kind"),
        "make": lambda table: asked(table.where({"kind": ["x"]})),
    },
}


def released(tmp_path, neighbours=None, budget=None, make=asked, **options):
    neighbours, budget = neighbours or dp.ReplaceOne(rows=len(ROWS)), budget or dp.ZCDP("1/2")
    source = tmp_path / "rows.parquet"
    FRAME.write_parquet(source)
    session = session_over(source, SCHEMA, neighbours=neighbours, budget=budget, **options)
    return session.release(make(session.table), spend=budget, name="all", to=tmp_path / "out")


def frame_of(release, name):
    return release.scan(name).collect()


def names_of(release):
    return [frame["name"] for frame in release.document["frames"]]


@pytest.fixture
def without_noise(monkeypatch):
    """Noise is left out, so that what is printed is what was counted."""
    monkeypatch.setattr(measuring, "add_noise", lambda values, _law, _bits: values)


def exactly(conditions=()):
    """The rows with the codes of their areas at all levels; null where the table of areas has none."""
    codes = pl.DataFrame(LEVELS).select(
        pl.col("tract").alias("area.tract"), pl.col("county").alias("area.county"), pl.col("state").alias("area.state")
    )
    rows = FRAME.with_columns(
        pl.when(pl.col("area") != "9999").then("area").alias("area.tract"),
        pl.when(pl.col("age") < 5).then(pl.lit("[0, 5)")).when(pl.col("age") >= 5).then(pl.lit("[5, 9]")).alias("age"),
        years=pl.col("age"),
    ).join(codes, on="area.tract", how="left")
    for condition in conditions:
        rows = rows.filter(condition)
    return rows


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize(
    ("case", "conditions"),
    [("replaced", []), ("added", []), ("where", [pl.col("years") <= 5]), ("totals of a level", [])],
    ids=["replaced", "added", "where", "totals"],
)
def test_without_noise_every_cell_is_the_number_of_its_rows(tmp_path, case, conditions):
    """Slices, chunks and files take areas apart and put them together again."""
    release = released(tmp_path, **CASES[case])
    rows = exactly(conditions)
    for name in names_of(release):
        frame = frame_of(release, name)
        keys = [key for key in KEYS if key in frame.columns]
        if not keys:
            assert frame["count"].to_list() == [len(rows)]
            continue
        counts = rows.group_by(keys).agg(exact=pl.len())
        both = frame.join(counts, on=keys, how="left", nulls_equal=True)
        assert len(both) == len(frame)
        assert (both["count"] == both["exact"].fill_null(0)).all(), name
        if "kind" not in keys:  # rows that are null there are not printed
            assert frame["count"].sum() == len(rows)


def measured_of(areas):
    """All measured numbers in memory."""
    found = {}
    for level in range(len(areas.measured)):
        every = np.concatenate([numbers for _, numbers in areas.numbers(level)])
        for part in (part for one, part in areas.behind if one == level):
            found[level, part] = replace(areas.behind[level, part], values=areas.columns.of(part, every))
    return found


@pytest.mark.one_in(6)
@pytest.mark.parametrize("case", CASES)
def test_every_cell_is_what_it_is_in_memory_and_follows_from_the_measured_integers(tmp_path, case):
    release = released(tmp_path, **CASES[case])
    document, folder = release.document, tmp_path / "out" / "table"
    areas = read_areas_in_files(document, folder)
    measured, names = measured_of(areas), names_of(release)
    values = cells_of_areas(areas.tables, areas.asked, measured)
    halves = errors_of_areas(areas.tables, areas.asked, measured, Fraction(document["measured"][0]["level"]))
    in_files = release.in_files
    assert in_files, "some tables are in files"
    for name, table in zip(names, areas.asked, strict=True):
        numbers, denominator = values[table]
        near, low, high = ends_of_areas(numbers, denominator, halves[table][areas.tables.tree.shapes.of[table.level]])
        if name in in_files:
            frame = areas.rows(table).frame(0, (near, low, high))
            assert frame_of(release, name).equals(frame), name
    found = dp.verify(dp.Release.load(tmp_path / "out"))
    assert found.tables == len(names)
    assert found.cells == sum(frame_of(release, name).height for name in names)
    if "totals" in case and "cross" not in case:
        assert found.sums > 3


def test_cells_in_which_nobody_can_be_are_0_in_files_too(tmp_path, monkeypatch):
    nobody = (pl.col("sex") == "m") & (pl.col("kind") == "y")
    monkeypatch.setitem(globals(), "FRAME", FRAME.filter(nobody.not_().fill_null(value=True)))
    asked = {"make": lambda table: table.agg(dp.agreeing_areas("area", by=[*BY, ["kind", "sex"]]))}
    rows = {"neighbours": dp.ReplaceOne(rows=FRAME.height), "invariants": dp.Impossible("sex", "kind", cells=[("m", "y")])}
    release = released(tmp_path, **asked, **rows)
    dp.verify(dp.Release.load(tmp_path / "out"))
    assert {"areas_area.tract_kind_sex", "areas_area.county_kind_sex"} <= {*release.in_files}
    for name in names_of(release):
        frame = frame_of(release, name)
        if {"sex", "kind"} <= {*frame.columns}:
            assert frame.filter(nobody).select("count", "count_low", "count_high").sum().row(0) == (0, 0, 0)
    dp.write_whole(dp.Release.load(tmp_path / "out"), tmp_path / "whole")
    files = tmp_path / "whole" / f"whole-{names_of(release).index('areas_area.tract_kind_sex')}-*.parquet"
    assert pl.read_parquet(files).filter(nobody)["count_consistent"].sum() == 0


def test_files_have_the_tree_depth_first_and_nothing_that_is_not_described(tmp_path):
    release = released(tmp_path)
    rows = {level: pl.read_parquet(tmp_path / "out" / "table" / f"measured-{level}-*.parquet") for level in range(4)}
    assert rows[1]["area"].to_list() == ["44", "10", None]
    assert rows[2].select("area", "within").rows() == [
        ("443", "44"),
        ("441", "44"),
        ("103", "10"),
        ("101", "10"),
        (None, None),
    ]
    assert rows[3]["area"].to_list() == ["4439", "4430", "4411", "4412", "1031", "1032", "1010", None]
    assert rows[3].columns == ["area", "within", "rows", "sex", "age", "kind", "sex × age"]
    assert {path.name for path in (tmp_path / "out" / "table").iterdir()} == {
        part.file.split("/")[1] for part in release.files
    }
    assert release.document["files"]["files"] == len(release.files) > 20


def test_totals_are_met_at_every_level_without_noise(tmp_path):
    release = released(tmp_path, invariants=dp.Totals("area.county", "sex"))
    counties = frame_of(release, "areas_area.county_sex")
    exact = exactly().group_by("area.county", "sex").agg(exact=pl.len())
    both = counties.join(exact, on=["area.county", "sex"], how="left", nulls_equal=True)
    assert (both["count"] == both["exact"].fill_null(0)).all()
    assert (both["count_low"] == both["count_high"]).all()
    tracts = frame_of(release, "areas_area.tract_sex").with_columns(
        pl.col("area.tract").str.slice(0, 3).alias("area.county")
    )
    sums = tracts.group_by("area.county", "sex").agg(pl.col("count").sum())
    both = sums.join(counties, on=["area.county", "sex"], nulls_equal=True)
    assert both["count"].to_list() == pytest.approx(both["count_right"].to_list(), abs=1e-9)
    told = {frame["name"]: frame["totals"] for frame in release.document["frames"]}
    assert told["areas_area.county_sex"] == "are the published ones"
    assert told["areas_area.tract"] == "add up to the published ones"


def test_every_number_with_noise_has_its_own(tmp_path, monkeypatch):
    """Each effect of each level is drawn from its law, as often as it has numbers."""
    drawn = {}
    real = measuring.add_noise

    def counted(values, law, bits):
        drawn[law.sigma2] = drawn.get(law.sigma2, 0) + len(values)
        return real(values, law, bits)

    monkeypatch.setattr(measuring, "add_noise", counted)
    release = released(tmp_path, neighbours=dp.AddRemove())
    document = release.document
    areas = read_areas_in_files(document, tmp_path / "out" / "table")
    wanted = {}
    for (level, part), one in areas.behind.items():
        numbers = areas.tables.tree.sizes[level] * areas.tables.effects.scale(part)
        wanted[one.law.sigma2] = wanted.get(one.law.sigma2, 0) + numbers
    assert drawn == wanted
    assert sorted(map(str, wanted)) == sorted({str(Fraction(one["variance"])) for one in document["noise"]})


# What a reader notices ------------------------------------------------------------------------------------------------


def rewritten(tmp_path, stem, change, number=0):
    """The release with one file changed, and a document that describes it as it is now."""
    document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    del document["digest"]
    path = sorted((tmp_path / "out" / "table").glob(f"{stem}-*.parquet"))[number]
    change(pl.read_parquet(path)).write_parquet(path)
    told = [frame["table"] for frame in document["frames"] if "table" in frame] + document["measured"][0]["files"]
    ((table, part),) = ((one, part) for one in told for part in one["parts"] if part["file"] == f"table/{path.name}")
    table["rows"] += pl.read_parquet(path).height - part["rows"]
    part["rows"] = pl.read_parquet(path).height
    part["size"], part["sha256"] = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "out" / "release.json").write_bytes(make_release(document).payload)
    return dp.Release.load(tmp_path / "out")


def first(column, value):
    return lambda frame: frame.with_columns(
        pl.Series(column, [value, *frame[column].to_list()[1:]], dtype=frame[column].dtype)
    )


CHANGES = {
    "a count": ("counts-11", first("count", 12345.0), "'areas_area.tract_age_sex' does not follow"),
    "an end": ("counts-11", first("count_low", -12345.0), "'areas_area.tract_age_sex' does not follow"),
    "a label": ("counts-11", first("sex", "m"), "'areas_area.tract_age_sex' does not follow"),
    "an integer": ("measured-3", first("rows", 10**9), "does not follow"),
    "a wide integer": ("measured-0", first("rows", 10**9), "does not follow"),
    "a parent": ("measured-3", first("within", "441"), "cannot be read"),
    "a code": ("measured-2", first("area", "441"), "cannot be read"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_noticed(tmp_path, change):
    stem, changed, told = CHANGES[change]
    released(tmp_path, neighbours=dp.AddRemove())
    with pytest.raises(dp.ArgumentError, match=told):
        dp.verify(rewritten(tmp_path, stem, changed))


def test_totals_in_files_that_are_not_the_published_ones_are_noticed(tmp_path):
    """Even where everything else follows from them."""
    released(tmp_path, invariants=dp.Totals("area.state"))
    document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    del document["digest"]
    (listed,) = document["invariants"]["totals"]["parts"]
    listed["cells"][0][-1] += 1
    (tmp_path / "out" / "release.json").write_bytes(make_release(document).payload)
    with pytest.raises(dp.ArgumentError, match="not the published totals"):
        dp.verify(dp.Release.load(tmp_path / "out"))


def test_more_rows_than_areas_are_noticed(tmp_path):
    released(tmp_path)
    with pytest.raises(dp.ArgumentError, match="more rows than areas"):
        dp.verify(rewritten(tmp_path, "counts-11", lambda frame: pl.concat([frame, frame.head(1)]), -1))


def test_a_release_without_its_folder_says_where_the_numbers_are(tmp_path):
    release = dp.Release(released(tmp_path).payload)
    with pytest.raises(dp.ArgumentError, match="are in files"):
        dp.verify(release)
    with pytest.raises(dp.ArgumentError, match="table is in files"):
        release.scan("areas_area.tract_age_sex")


# Reading them ---------------------------------------------------------------------------------------------------------


def test_frames_are_scanned_saved_and_listed(tmp_path):
    release = released(tmp_path)
    assert release.table.columns == []
    assert "areas_area.state" in release.tables
    assert "areas_area.tract_age_sex" in release.in_files
    assert "areas_area.tract_age_sex" not in release.tables
    assert release.in_files["areas_area.tract_age_sex"] == frame_of(release, "areas_area.tract_age_sex").height
    with pytest.raises(dp.ArgumentError, match=r"has no such frame; it has table, .*areas_area\.tract_age_sex"):
        release.scan("areas_area.block")
    release.save(tmp_path / "copy")
    copy = dp.Release.load(tmp_path / "copy")
    assert copy == release
    assert frame_of(copy, "areas_area.tract_age_sex").equals(frame_of(release, "areas_area.tract_age_sex"))
    assert (tmp_path / "copy" / "areas_area_state.csv").exists()
    (tmp_path / "copy" / "table" / "measured-3-00000.parquet").unlink()
    with pytest.raises(dp.ArgumentError, match=r"measured-3-00000\.parquet is missing"):
        dp.Release.load(tmp_path / "copy")


def test_the_commands_write_verify_and_show_them(tmp_path):
    released(tmp_path)
    done = run("verify", str(tmp_path / "out"), "--json")
    assert done.exit_code == 0
    assert json.loads(done.output)["verified"][0]["tables"] == 16


# Whole numbers --------------------------------------------------------------------------------------------------------


def whole_of(folder, release, name):
    place = names_of(release).index(name)
    return pl.read_parquet(folder / f"whole-{place}-*.parquet")


WITHIN = {"area.county": "area.state", "area.tract": "area.county"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "case", ["added", "where", "totals of a level", "totals of a level by sex", "totals of the last level"]
)
def test_whole_numbers_in_files_add_up_over_areas_tables_and_totals(tmp_path, case):
    release = released(tmp_path, **CASES[case])
    moved = dp.write_whole(dp.Release.load(tmp_path / "out"), tmp_path / "whole")
    codes = pl.DataFrame(LEVELS).select(
        pl.col("tract").alias("area.tract"), pl.col("county").alias("area.county"), pl.col("state").alias("area.state")
    )
    whole = {name: whole_of(tmp_path / "whole", release, name) for name in names_of(release)}
    for name, frame in whole.items():
        keys = [key for key in KEYS if key in frame.columns]
        assert frame["count_consistent"].dtype == pl.Int64
        assert frame["count_consistent"].min() >= 0
        assert moved.filter(pl.col("table") == name)["cells"].sum() >= frame.height
        for fine, wide in WITHIN.items():
            if fine in keys:
                above = codes.select(fine, wide).unique()
                sums = frame.join(above, on=fine, how="left", nulls_equal=True)
                by = [wide, *keys[1:]] if keys[0] == fine else keys
                sums = sums.group_by(by).agg(pl.col("count_consistent").sum())
                other = whole[name.replace(fine, wide)]
                both = sums.join(other, on=by, nulls_equal=True)
                assert len(both) == len(other)
                assert (both["count_consistent"] == both["count_consistent_right"]).all(), name
    for level in () if case == "where" else ("state", "county", "tract"):  # cells without rows are not printed there
        fine, coarse = whole[f"areas_area.{level}_age_sex"], whole[f"areas_area.{level}_sex"]
        sums = fine.group_by(f"area.{level}", "sex").agg(pl.col("count_consistent").sum())
        both = sums.join(coarse, on=[f"area.{level}", "sex"], nulls_equal=True)
        assert (both["count_consistent"] == both["count_consistent_right"]).all()
    if case == "totals of a level by sex":
        exact = exactly().group_by("area.county", "sex").agg(exact=pl.len())
        both = whole["areas_area.county_sex"].join(exact, on=["area.county", "sex"], nulls_equal=True)
        assert (both["count_consistent"] == both["exact"]).all()


def test_the_command_writes_whole_numbers_in_files_and_how_far_they_are(tmp_path):
    released(tmp_path)
    done = run("consistent", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert "areas_area.tract_age_sex: " in done.output
    assert len(list((tmp_path / "out" / "whole").glob("whole-*.parquet"))) >= 16
    again = run("consistent", str(tmp_path / "out"))
    assert again.exit_code == 2
    assert "is not empty; choose another folder" in again.output


def test_whole_numbers_in_files_are_of_releases_in_files(tmp_path):
    release = released(tmp_path)
    with pytest.raises(dp.ArgumentError, match="write_whole"):
        dp.consistent(release)
    for wrong in (dp.Release(release.payload), "out", None):
        with pytest.raises(dp.ArgumentError, match="takes a release of areas in files"):
            dp.write_whole(wrong, tmp_path / "whole")
    with pytest.raises(dp.ArgumentError, match="view_deviations"):
        dp.view_deviations(release)


# What is refused ------------------------------------------------------------------------------------------------------


LAWS = {"sex": dp.Weights({"f": 1}), "age": dp.Uniform(), "kind": dp.Weights({"x": 1}), "area": dp.Weights({"4430": 1})}
REFUSED = {
    "another statistic": (
        lambda table: table.agg(dp.agreeing_areas("area", by=BY), dp.count()),
        "written to files: ask for it in a request of its own",
    ),
    "a draw": (
        lambda table: asked(table.impute({"sex": dp.Weights({"f": 1, "m": 1})})),
        "area by area, and 'sex' is imputed by a draw",
    ),
    "a resize": (
        lambda table: table.impute(LAWS).resize(100).agg(dp.agreeing_areas("area.tract", by=BY)),
        "clamp, impute or complete of 'area'|samples and resizes are not",
    ),
    "a sample": (lambda table: asked(table.sample(rate="1/2")), "samples and resizes are not"),
}


@pytest.mark.parametrize(("make", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_area_by_area_is_refused(make, told):
    with pytest.raises(dp.PlanError, match=told):
        make(dp.Table(SCHEMA, dp.ReplaceOne(rows=len(ROWS))))


def test_too_many_cells_in_one_area_or_in_all_are_refused(monkeypatch):
    table = dp.Table(SCHEMA, dp.AddRemove())
    monkeypatch.setattr(area_reading, "MOST_IN_AN_AREA", 20)
    with pytest.raises(dp.PlanError, match="have 27 cells in one area together, more than 20"):
        asked(table)
    monkeypatch.setattr(sizes, "MAX_IN_FILES", 100)
    with pytest.raises(dp.PlanError, match="numbers, more than 100; take fewer levels or groups"):
        asked(table)


def test_a_folder_is_needed_and_named(tmp_path):
    session = session_over(FRAME, SCHEMA, neighbours=dp.AddRemove(), budget=dp.ZCDP(1))
    with pytest.raises(dp.ArgumentError, match="is written to files; name their folder with to=folder"):
        session.release(asked(session.table), spend="1/2", name="all")
    assert session.spent == dp.ZCDP(0)


def test_integers_beyond_64_bits_are_refused_before_the_charge():
    session = session_over(FRAME, SCHEMA, neighbours=dp.AddRemove(), budget=dp.ZCDP("1e30"))
    with pytest.raises(dp.PlanError, match="so little noise"):
        session.quote(asked(session.table), spend="1e30")
