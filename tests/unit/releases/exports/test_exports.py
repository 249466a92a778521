"""Exports: read back with the readers of others, and checked by their validators; numbers are those of the document."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.releases.exports.digits import Shown, show_numbers
from discreet.releases.exports.ids import code_ids, concept_id
from discreet.releases.exports.json_stat import _decimals
from discreet.releases.exports.registry import FORMATS
from discreet.releases.exports.sheets import Measure
from discreet.releases.quality import numbers_of

EVIL = '=HYPERLINK("x")<script>, "q"'
SCHEMA = dp.Schema(
    {
        "sex": dp.Category(["F", "M"]),
        "état, civil": dp.Category(["=1+1", "b/c", "b c", EVIL]),
        "age": dp.Number(0, 100),
        "wage": dp.Number(-50, 200, "0.5"),
    }
)
ROWS = pl.DataFrame(
    {
        "sex": ["F", "M", None] * 400,
        "état, civil": ["=1+1", "b/c", "b c", EVIL] * 300,
        "age": [20, 60, 30, 90] * 300,
        "wage": [1.5, 100.0, None] * 400,
    }
)
ABOUT = dp.About(
    title='Wages <by> sex & "age"',
    publisher="Office",
    licence="CC-BY-4.0",
    period="2019",
    notes=["a note"],
    columns={
        "sex": dp.Labels("Sex", categories={"F": "female", "M": "=male"}, unknown="not stated"),
        "wage": dp.Labels("Wage", "euro"),
    },
    statistics={"mean_wage": dp.Labels("Mean wage [of: all?/*]" + "x" * 40)},
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> dp.Release:
    return made(tmp_path_factory.mktemp("r"), dp.Quality(suppress="quality"))


def made(path: Path, quality: dp.Quality | None, spend: object = "0.6") -> dp.Release:
    given_ = {"dataset": "d", "ledger": path / "l.db", "budget": dp.PureDP(100), "neighbours": dp.AddRemove()}
    with dp.Session(ROWS, SCHEMA, **given_) as session:
        asked = [dp.count(), dp.mean("wage", nulls="skip"), dp.histogram("age", [0, 50, 100])]
        plan = session.table.group_by("sex", "état, civil", dp.bins("age", [0, 50, 100])).agg(*asked[:2])
        if quality is None:
            plan = session.table.group_by("sex").agg(*asked)
        return session.release(plan, spend=spend, name="wages 1", about=ABOUT, quality=quality)


def numbers(release: dp.Release) -> dict[str, list[float]]:
    """Every number of the main table as the document has it."""
    found = {}
    for one in numbers_of(release.document, release.document["columns"]):
        found |= {one.column: one.values, f"{one.column}_low": one.lows, f"{one.column}_high": one.highs}
    return found


def classes(release: dp.Release) -> dict[str, tuple[str, ...]]:
    return {one.column: one.classes for one in numbers_of(release.document, release.document["columns"])}


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


# Digits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers_", "expected"),
    [
        ((410.45454545, 398.1, 422.8), ("410", "398", "423")),
        ((3563.000000013563, 0.0, 7185.0), ("3600", "0", "7200")),
        ((0.00889218228973694, 0.0071, 0.0102), ("0.0089", "0.0071", "0.0102")),
        ((750, 742, 758), ("750", "742", "758")),
        ((1234, 884, 1584), ("1230", "880", "1590")),
        ((-0.001, -1.0, 1.0), ("0.0", "-1.0", "1.0")),
        ((5, 5, 5), ("5", "5", "5")),
    ],
)
def test_as_many_digits_as_the_noise_allows(numbers_: tuple[float, ...], expected: tuple[str, ...]) -> None:
    found = show_numbers(*numbers_, "noise")
    assert (
        tuple(f"{one:f}" if isinstance(one, Decimal) else str(one) for one in (found.value, found.low, found.high))
        == expected
    )


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.floats(0, 1e9))
def test_what_is_written_contains_what_was_computed_and_is_near_it(value: float, down: float, up: float) -> None:
    found = show_numbers(value, value - down, value + up, "noise")
    assert found.low <= Decimal(repr(value - down)) if isinstance(found.low, Decimal) else found.low == value - down
    assert found.high >= Decimal(repr(value + up)) if isinstance(found.high, Decimal) else found.high == value + up
    half = max(value - (value - down), (value + up) - value)
    assert abs(float(found.value) - value) <= 0.05001 * half + 1e-9 + math.ulp(value)
    assert float(found.high) - float(found.low) <= (down + up) * 1.0001 + 0.2001 * half + 1e-9


# All formats ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [one.word for one in FORMATS])
def test_equal_releases_have_equal_files_from_release_json_alone(release: dp.Release, to: str, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_bytes(release.payload)
    alone = dp.Release.load(tmp_path / "release.json")
    first = release.export(to, tmp_path / "f")
    before = [path.read_bytes() for path in first]
    second = alone.export(to, tmp_path / "f")
    assert first == second
    assert [path.read_bytes() for path in second] == before


@pytest.mark.parametrize("to", [one.word for one in FORMATS])
@pytest.mark.parametrize("wrong", [{"frame": "none"}, {"digits": "all"}, {"encoding": "latin-1"}, {"formulas": "x"}])
def test_what_cannot_be_asked_is_refused(release: dp.Release, to: str, wrong: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(dp.ArgumentError):
        release.export(to, tmp_path / "f", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_formats_and_places_that_are_not_there_are_refused(release: dp.Release, tmp_path: Path) -> None:
    with pytest.raises(dp.ArgumentError, match="did you mean 'xlsx'"):
        release.export("xlxs", tmp_path / "f")
    with pytest.raises(dp.ArgumentError, match="cannot be written"):
        release.export("csv", tmp_path)


def test_a_large_release_is_refused() -> None:
    large = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "large")
    with pytest.raises(dp.ArgumentError, match=r"release\.scan"):
        large.export("csv", "f")


def test_an_old_release_without_words_is_exported_too(tmp_path: Path) -> None:
    old = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "small")
    for one in FORMATS:
        assert old.export(one.word, tmp_path / f"f{one.suffix}")
    old.export("csv", tmp_path / "h.csv", frame="histogram_age", digits="raw")
    rows = read_csv(tmp_path / "h.csv")
    frame = old.tables["histogram_age"]
    assert [int(row["count"]) for row in rows] == frame["count"].to_list()
    assert [row["age_lower"] for row in rows[:4]] == ["0", "18", "65", ""]


# CSV --------------------------------------------------------------------------------------------------------------------


def test_a_csv_file_has_labels_ends_of_bins_and_classes(release: dp.Release, tmp_path: Path) -> None:
    release.export("csv", tmp_path / "f.csv")
    rows, table = read_csv(tmp_path / "f.csv"), release.table
    assert list(rows[0])[:8] == ["sex", "sex_label", "état, civil", "age", "age_lower", "age_upper", "count", "count_low"]
    assert len(rows) == table.height
    assert [row["sex"] for row in rows] == [one or "" for one in table["sex"]]
    assert {row["sex"]: row["sex_label"] for row in rows} == {"F": "female", "M": "'=male", "": "not stated"}
    assert {row["age"]: (row["age_lower"], row["age_upper"]) for row in rows} == {
        "[0, 50)": ("0", "50"),
        "[50, 100]": ("50", "100"),
        "": ("", ""),
    }
    assert {row["état, civil"] for row in rows} == {"'=1+1", "b/c", "b c", "'" + EVIL, ""}
    for column, grades in classes(release).items():
        assert [row[f"{column}_quality"] for row in rows] == list(grades)
        assert {row[column] == "" for row, grade in zip(rows, grades, strict=True) if grade == "c"} == {True}
        assert {row[column] == "" for row, grade in zip(rows, grades, strict=True) if grade != "c"} <= {False}
    assert {"a", "c"} <= {grade for grades in classes(release).values() for grade in grades}


def test_raw_numbers_read_back_are_those_of_the_document(tmp_path: Path) -> None:
    release = made(tmp_path, None)
    release.export("csv", tmp_path / "f.csv", digits="raw")
    rows = read_csv(tmp_path / "f.csv")
    for column, values in numbers(release).items():
        assert [type(value)(row[column]) for row, value in zip(rows, values, strict=True)] == list(values)


def test_intervals_are_cut_and_a_value_that_says_nothing_is_left_out_unless_raw_numbers_are_asked(tmp_path: Path) -> None:
    old = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "small")
    old.export("csv", tmp_path / "f.csv")
    old.export("csv", tmp_path / "r.csv", digits="raw")
    rows, raw = read_csv(tmp_path / "f.csv"), read_csv(tmp_path / "r.csv")
    assert [row["count_low"] for row in rows] == ["0"] * 12
    assert [int(row["count_low"]) for row in raw] == old.table["count_low"].to_list()
    assert {(row["mean_wage"], row["mean_wage_quality"]) for row in rows} == {("", "c")}
    assert [float(row["mean_wage"]) for row in raw] == old.table["mean_wage"].to_list()


def test_a_mark_for_spreadsheets_and_formulas_on_request(release: dp.Release, tmp_path: Path) -> None:
    release.export("csv", tmp_path / "f.csv", encoding="utf-8-bom", formulas="keep")
    assert (tmp_path / "f.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert EVIL in {row["état, civil"] for row in read_csv(tmp_path / "f.csv")}
    release.export("csv", tmp_path / "g.csv")
    assert not (tmp_path / "g.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_other_words_give_another_file(release: dp.Release, tmp_path: Path) -> None:
    german = dp.About("de", columns={"sex": dp.Labels(categories={"F": "weiblich"})})
    release.labelled(german).export("csv", tmp_path / "f.csv")
    assert {"weiblich", "'=male"} <= {row["sex_label"] for row in read_csv(tmp_path / "f.csv")}


# Others -----------------------------------------------------------------------------------------------------------------


def test_a_workbook_has_notes_cross_tables_and_all_numbers(release: dp.Release, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    release.export("xlsx", tmp_path / "f.xlsx", digits="raw")
    book = openpyxl.load_workbook(tmp_path / "f.xlsx")
    assert len(book.sheetnames) == 4
    assert all(len(name) <= 31 for name in book.sheetnames)
    assert {cell.data_type for sheet in book for row in sheet for cell in row} <= {"s", "n"}
    notes = {row[0]: row[1] for row in book["Notes"].iter_rows(values_only=True) if row[0]}
    assert notes["SHA-256"] == release.digest
    assert (notes["Made"], notes["Licence"], notes["Note"]) == (release.time, "CC-BY-4.0", "a note")
    head, *rows = book["Data table"].iter_rows(values_only=True)
    for column, values in numbers(release).items():
        grades = classes(release)[column.removesuffix("_low").removesuffix("_high")]
        found = [row[head.index(column)] for row in rows]
        expected = [None if grade == "c" else value for value, grade in zip(values, grades, strict=True)]
        assert found == [one if one is None else pytest.approx(one, rel=1e-15) for one in expected]  # Excel has 15 digits
    cross = [*book.worksheets[1].iter_rows(values_only=True)]
    assert cross[2][:5] == ("Sex", "état, civil", "[0, 50)", "flag", "[50, 100]")
    counts = iter(zip(numbers(release)["count"], classes(release)["count"], strict=True))
    for row in cross[3:]:
        for value, flag in zip(row[2::2], row[3::2], strict=True):
            count, grade = next(counts)
            assert (value, flag or "a") == ("–" if grade == "c" else count, grade)
    assert next(counts, None) is None


def test_sdmx_is_read_by_pysdmx_with_states(release: dp.Release, tmp_path: Path) -> None:
    pytest.importorskip("pysdmx")
    from pysdmx.io import read_sdmx

    release.export("sdmx", tmp_path / "f.csv", digits="raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (dataset,) = read_sdmx(tmp_path / "f.csv", validate=False).data
    assert dataset.structure == "Dataflow=OFFICE:WAGES_1(1.0)"
    data = {name: [str(one) for one in dataset.data[name]] for name in dataset.data.columns}
    keys = [*zip(data["SEX"], data["ETAT_CIVIL"], data["AGE"], data["INDICATOR"], strict=True)]
    assert len(set(keys)) == len(keys) == 2 * release.table.height
    assert set(data["SEX"]) == {"F", "M", "_U"}
    rows = [*zip(data["INDICATOR"], data["OBS_VALUE"], data["OBS_STATUS"], data["CONF_STATUS"], strict=True)]
    states = {"a": ("A", "F"), "b": ("U", "F"), "c": ("Q", "N")}
    for column, grades in classes(release).items():
        values = ["" if g == "c" else repr(v) for v, g in zip(numbers(release)[column], grades, strict=True)]
        own = [row[1:] for row in rows if row[0].partition(":")[0] == concept_id(column)]
        assert own == [(value, *states[grade]) for value, grade in zip(values, grades, strict=True)]


def test_csvw_is_valid_and_reads_as_numbers(release: dp.Release, tmp_path: Path) -> None:
    csvw = pytest.importorskip("csvw")
    table, metadata = release.export("csvw", tmp_path / "wages.csv", digits="raw")
    assert metadata.name == f"{table.name}-metadata.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = csvw.CSVW(str(metadata), validate=True)
        assert found.is_valid, found.warnings
        rows = list(next(iter(found.tables)))
    document = json.loads(metadata.read_text("utf-8"))
    assert (document["dc:license"], document["dc:created"]) == ("CC-BY-4.0", release.time)
    release.export("csvw", tmp_path / "my table #1.csv")
    assert json.loads((tmp_path / "my table #1.csv-metadata.json").read_text("utf-8"))["url"] == "my%20table%20%231.csv"
    names = [one["name"] for one in document["tableSchema"]["columns"]]
    assert len(set(names)) == len(names)
    (count,) = [name for name in names if name.startswith("count_") and name.removeprefix("count_").isdigit()]
    grades, values = classes(release)["count"], numbers(release)["count"]
    expected = [None if grade == "c" else Decimal(value) for value, grade in zip(values, grades, strict=True)]
    assert [row[count] for row in rows] == expected


def test_json_stat_is_valid_and_has_each_number_in_its_cell(release: dp.Release, tmp_path: Path) -> None:
    validator = pytest.importorskip("jsonstat_validator")
    release.export("json-stat", tmp_path / "f.json", digits="raw")
    cube = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert validator.validate_jsonstat(cube) is True
    assert cube["size"] == [3, 5, 3, 6] if None in release.table["age"].to_list() else [3, 5, 2, 6]
    by_cell = {key: cell_of(cube, key) for key in cells_of(cube)}
    seen = 0
    for row in release.table.iter_rows(named=True):
        for column, grades in classes(release).items():
            place = (row["sex"] or "_U", row["état, civil"], row["age"])
            for end in ("", "_low", "_high"):
                value, state = by_cell[(*labels_in(cube, place), f"{column}{end}")]
                assert value == (None if state == "q" else row[f"{column}{end}"])
                assert state == "q" or state in set(grades)
                seen += 1
    assert seen == len(by_cell)


def labels_in(cube: dict[str, Any], place: tuple[Any, ...]) -> tuple[str, ...]:
    """The codes of a cell in the first three dimensions, found by their labels."""
    found = []
    for key, value in zip(cube["id"], place, strict=False):
        labels = cube["dimension"][key]["category"]["label"]
        wanted = {"F": "female", "M": "=male", "_U": "not stated", None: "not known"}.get(value, value)
        found.append(next(code for code, label in labels.items() if label == wanted))
    return tuple(found)


def cells_of(cube: dict[str, Any]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for key in cube["id"]:
        found = [(*one, code) for one in found for code in cube["dimension"][key]["category"]["index"]]
    return found


def cell_of(cube: dict[str, Any], key: tuple[str, ...]) -> tuple[float | None, str]:
    place = 0
    for dimension, many, code in zip(cube["id"], cube["size"], key, strict=True):
        place = place * many + cube["dimension"][dimension]["category"]["index"].index(code)
    return cube["value"][place], cube["status"][str(place)]


def test_codes_are_codes_and_no_two_are_alike() -> None:
    known = ["b/c", "b c", "b_c", None, "_U", "ä", "日本", "", True, 7]
    codes = code_ids(known)
    assert len(set(codes.values())) == len(known)
    assert all(code.replace("_", "a").replace("@", "a").isalnum() and code.isascii() for code in codes.values())
    assert (codes[None], codes[7], codes[True]) == ("_U", "7", "true")
    assert [concept_id(name) for name in ("état, civil", "1a", "日本")] == ["ETAT_CIVIL", "C_1A", "C"]


# Hard cases ---------------------------------------------------------------------------------------------------------------

TEMP = dp.Schema({"temp": dp.Number(-10, 10), "temp_lower": dp.Category(["x"]), "temp_quality": dp.Category(["y"])})


@pytest.fixture(scope="module")
def temperatures(tmp_path_factory: pytest.TempPathFactory) -> dp.Release:
    path = tmp_path_factory.mktemp("t")
    rows = pl.DataFrame({"temp": [-5, 5] * 50, "temp_lower": ["x"] * 100, "temp_quality": ["y"] * 100})
    given_ = {"dataset": "d", "ledger": path / "l.db", "budget": dp.PureDP(100), "neighbours": dp.AddRemove()}
    words = dp.About(columns={"temp": dp.Labels(categories={"[-10, 0)": "cold"})})
    with dp.Session(rows, TEMP, **given_) as session:
        groups = (dp.bins("temp", [-10, 0, 10]), "temp_lower", "temp_quality")
        plan = session.table.group_by(*groups).agg(dp.count(), dp.mean("temp", nulls="skip"))
        return session.release(plan, spend="0.05", name="temperatures", about=words)


def test_a_code_does_not_begin_like_a_formula(temperatures: dp.Release, tmp_path: Path) -> None:
    temperatures.export("sdmx", tmp_path / "f.csv")
    assert {"C-10_0: cold", "0_10: [0, 10]"} <= {row["TEMP"] for row in read_csv(tmp_path / "f.csv")}
    assert [*code_ids([-10, "@a", "-"]).values()] == ["C-10", "C@a", "C-"]


def test_a_number_of_which_nothing_is_known_is_not_marked_as_suppressed(temperatures: dp.Release, tmp_path: Path) -> None:
    temperatures.export("sdmx", tmp_path / "f.csv")
    rows = [row for row in read_csv(tmp_path / "f.csv") if row["OBS_VALUE"] == ""]
    assert rows
    assert {(row["INDICATOR"], row["OBS_STATUS"], row["CONF_STATUS"]) for row in rows} == {("MEAN_TEMP", "O", "F")}
    temperatures.export("json-stat", tmp_path / "f.json")
    cube = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert "q" not in cube["status"].values()
    assert [cube["value"][int(place)] for place, state in cube["status"].items() if state == "o"] == [None] * 3 * len(rows)


def test_headings_of_labels_ends_and_classes_are_those_of_no_column(temperatures: dp.Release, tmp_path: Path) -> None:
    temperatures.export("csv", tmp_path / "f.csv")
    head = next(csv.reader(io.StringIO((tmp_path / "f.csv").read_text("utf-8"), newline="")))
    assert len(set(head)) == len(head)
    assert head[:6] == ["temp", "temp_label", "temp_lower_2", "temp_upper", "temp_lower", "temp_quality"]


def test_decimals_are_those_of_the_numbers_that_are_written() -> None:
    measure = Measure("m", "m", "", "mean", [Shown(None, 1e-12, 0.5), Shown(1, 0, 2)], "ca", [True, False])
    assert _decimals(measure) == 0
    assert _decimals(replace(measure, cells=[Shown(Decimal("1.50"), 1, 2)])) == 2


def test_raw_numbers_in_csv_on_the_web_may_have_an_exponent(tmp_path: Path) -> None:
    old = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "exact")
    table, metadata = old.export("csvw", tmp_path / "f.csv", digits="raw")
    assert "1e-12" in table.read_text("utf-8")
    columns = json.loads(metadata.read_text("utf-8"))["tableSchema"]["columns"]
    assert {one["datatype"] for one in columns} == {"string", "number"}


def test_an_exact_number_is_good_and_has_all_its_digits() -> None:
    old = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "exact")
    for one in numbers_of(old.document, old.document["columns"]):
        for value, low, high, grade in zip(one.values, one.lows, one.highs, one.classes, strict=True):
            if high - low <= 1e-11:
                assert (one.column, value, grade) == (one.column, value, "a")
                assert show_numbers(value, low, high, "noise", one.rounding) == Shown(value, low, high)
    assert show_numbers(0.0, 0.0, 1e-12, "noise", 2**-39) == Shown(0.0, 0.0, 1e-12)


@pytest.mark.parametrize(
    "name",
    ["release.json", "Release.JSON", "table.csv", "table.parquet", "report.html", "consistent.csv", "histogram_age.csv"],
)
def test_no_file_of_a_release_is_replaced(name: str, tmp_path: Path) -> None:
    old = dp.Release.load(Path(__file__).parents[3] / "golden" / "frozen" / "v0_1_0" / "small")
    old.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(dp.ArgumentError, match=r"choose another name, such as"):
        old.export("csv", tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    old.export("csv", tmp_path / "wages.csv")
    assert old.export("csv", tmp_path / "wages.csv") == (tmp_path / "wages.csv",)
