"""What is wrong in a plan file is refused at its place, with its rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.session.orders import check_name

from .plans import FULL, SMALL, changed, refused


def keys_of_the_format() -> list[tuple[int, str]]:
    """Line and key of every place in FULL where a key of the format stands (not a name that the author chose)."""
    chosen = {"state", "sex", "age", "wage", "hired", "F", "M", "Alaska"}
    found = []
    for number, line in enumerate(FULL.splitlines(), start=1):
        for key in re.findall(r"\b([a-z_]+) = ", line):
            if key not in chosen:
                found.append((number, key))
        if header := re.fullmatch(r"\[+([a-z]+).*", line):
            found.append((number, header[1]))
    return found


def test_the_full_plan_uses_every_key() -> None:
    used = {key for _, key in keys_of_the_format()}
    assert used >= {
        "data", "columns", "budget", "release", "dataset", "source", "neighbours", "rows", "rows_per_person", "ledger",
        "type",
        "categories", "lower", "upper", "step", "first", "last", "clamp", "impute", "distribution", "weights", "mean", "sd",
        "measure", "epsilon", "delta", "report_delta", "name", "group_by", "statistics", "spend", "where", "resize",
        "sample",
        "proportion", "bins", "edges", "count", "sum", "weight", "as", "nulls",
    }  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("line", "key"), keys_of_the_format())
def test_a_misspelt_key_is_refused_with_its_line_and_the_nearest_name(tmp_path: Path, line: int, key: str) -> None:
    lines = FULL.splitlines()
    wrong = key[:-1] + "q" + key[-1]
    lines[line - 1] = re.sub(rf"\b{key}\b(?= = |\]|\.)", wrong, lines[line - 1], count=1)
    error = refused(tmp_path, "\n".join(lines))
    assert f"{wrong}: no such key" in str(error) or f"'{key}'" in str(error)
    if wrong in error.place:
        # A section of the wrong name is found at its first line; statements of several lines at the line they begin.
        assert re.match(r"plan\.toml:(\d+):", error.place)
        found = int(error.place.split(":")[1])
        assert found <= line
        assert found == line or lines[found - 1].endswith("[")
    if len(key) > 2:
        assert "did you mean" in str(error) or "known:" in str(error)


def line_of(text: str, place: str) -> int:
    """The line of a place in a file like FULL, by reading it as people do: find the section, then the key."""
    section, key = re.fullmatch(r"(columns\.\w+|release\[\d\]|\w+)(?:\.(\w+).*)?", place).groups()  # type: ignore[union-attr]
    release = re.fullmatch(r"release\[(\d)\]", section)
    header, skipped = ("[[release]]", int(release[1])) if release else (f"[{section}]", 0)
    lines = text.splitlines()
    start = [number for number, line in enumerate(lines) if line == header][skipped]
    if key is None:
        return start + 1
    return next(number for number in range(start, len(lines)) if lines[number].startswith(f"{key} = ")) + 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("old", "new", "place", "rule"),
    [
        ("upper = 110", "upper = -1", "columns.age.lower", "lower=0 must not be greater than upper=-1"),
        ("upper = 2000.0", "upper = 2005", "columns.wage.upper", "nearest grid values are 2000 and 2010"),
        ("step = 10", "step = 0", "columns.wage.step", "must be greater than 0"),
        ("upper = 110\n", "", "columns.age", "the key 'upper' is missing (with type = 'number')"),
        ("upper = 110", "upper = nan", "columns.age.upper", "must be a number"),
        ("upper = 110", "upper = inf", "columns.age.upper", "must be a number"),
        ("upper = 110", "upper = true", "columns.age.upper", "must be a number"),
        ("upper = 110", "upper = [110]", "columns.age.upper", "not a list"),
        ("upper = 110", 'upper = "ten"', "columns.age.upper", "must be a number"),
        ("upper = 110", "upper = 0x10000000000000000", "columns.age.upper", "more than 64 bits"),
        ('categories = ["F", "M"]', "categories = []", "columns.sex.categories", "the list is empty"),
        ('categories = ["F", "M"]', 'categories = ["F", "F"]', "columns.sex.categories", "listed twice"),
        ('categories = ["F", "M"]', 'categories = ["F", ""]', "columns.sex.categories", "the empty text"),
        ('categories = ["F", "M"]', 'categories = ["F", 1]', "columns.sex.categories", "must all be texts"),
        ('categories = ["F", "M"]', 'categories = ["F", 1.5]', "columns.sex.categories[1]", "a number is not a category"),
        ('categories = ["F", "M"]', 'categories = "FM.txt"', "columns.sex.categories", "must be a list"),
        ('categories = ["F", "M"]', 'categories_file = "no.txt"', "columns.sex.categories_file", "there is no file"),
        ('categories = ["F", "M"]\n', "", "columns.sex", "either 'categories' or 'categories_file'"),
        ('= ["F", "M"]', '= ["F", "M"]\ncategories_type = "text"', "columns.sex.categories_type", "leave it out"),
        ("first = 2020-01-01", "first = 2030-01-01", "columns.hired.first", "must not be after"),
        ("first = 2020-01-01", "first = 2020-01-01T00:00:00", "columns.hired.first", "without a time"),
        ("first = 2020-01-01", "first = 10:00:00", "columns.hired.first", "not a date or time"),
        ('type = "date"', 'type = "day"', "columns.hired.type", "known: category, number, date, derived, hierarchy"),
        ('"replace-one"', '"replace-two"', "data.neighbours", "did you mean 'replace-one'"),
        ('neighbours = "replace-one"\n', "", "data", "give one of replace-one, add-remove"),
        ('"replace-one"', '"add-remove"', "data.rows", "with neighbours = 'add-remove'"),
        ("rows = 29501\n", "", "data", "the key 'rows' is missing"),
        ("rows = 29501", "rows = 29501.0", "data.rows", "must be a whole number"),
        ("rows = 29501", 'rows = "29501"', "data.rows", "must be a whole number"),
        ("rows = 29501", "rows = 0", "data.rows", "must be at least 1"),
        ("rows = 29501", "rows = true", "data.rows", "must be a whole number"),
        ('dataset = "wages-2025"', 'dataset = " "', "data.dataset", "printable text"),
        ('dataset = "wages-2025"', "dataset = 2025", "data.dataset", "must be a text in quotes"),
        ('source = "wages.parquet"', 'source = ""', "data.source", "must be a path"),
        ('ledger = "budget.db"', 'ledger = ":memory:"', "data.ledger", "would forget what was spent"),
        ("epsilon = 1.5", "epsilon = 0", "budget", "must be greater than 0"),
        ("epsilon = 1.5", "epsilon = -1", "budget.epsilon", "must not be negative"),
        ("epsilon = 1.5", 'epsilon = "nan"', "budget.epsilon", "must be a number"),
        ('delta = "1e-9"', "delta = 1", "budget.delta", "less than 1"),
        ('delta = "1e-9"\n', "", "budget", "the key 'delta' is missing"),
        ("report_delta = 1e-6", "report_delta = 0", "budget.report_delta", "strictly between 0 and 1"),
        ('"approx-dp"', '"zcpd"', "budget.measure", "did you mean 'zcdp'"),
        ('clamp = ["0", 1500]', "clamp = [0, 1505]", "columns.wage.clamp", "must lie on the grid"),
        ('clamp = ["0", 1500]', "clamp = [1500, 0]", "columns.wage.clamp", "exchange the two"),
        ('clamp = ["0", 1500]', "clamp = 1500", "columns.wage.clamp", "must be a pair"),
        ('clamp = ["0", 1500]', "clamp = { lower = 0 }", "columns.wage.clamp", "must be a single value"),
        ('clamp = ["Alabama", "Alaska"]', 'clamp = ["Alabana"]', "columns.state.clamp", "did you mean 'Alabama'"),
        ('{ distribution = "uniform", lower', '{ distribution = "unifrom", lower', "columns.wage.impute.distribution",
         "did you mean"),
        ("sd = 15", "sd = 0", "columns.age.impute", "must be greater than 0"),
        ("{ F = 1, M = 1.5 }", "{ F = 1, N = 1.5 }", "columns.sex.impute", "not a category"),
        ("{ F = 1, M = 1.5 }", "{}", "columns.sex.impute.weights", "at least one entry"),
        ('name = "wages by state"', 'name = "persons"', "release[1].name", "names are unique"),
        ('name = "wages by state"', 'name = "a\\u0007b"', "release[0].name", "printable text"),
        ("edges = [18,", "edges = [18.5,", "release[0].group_by[1]", "must lie on the grid"),
        ("edges = [18,", "edges = [40,", "release[0].group_by[1]", "increase strictly"),
        ('group_by = ["state"', 'group_by = ["age"', "release[0].group_by[0]", "is grouped by bins"),
        ('group_by = ["state"', 'group_by = ["stat"', "release[0].group_by[0]", "did you mean 'state'"),
        ('mean = "wage", weight', 'mean = "wages", weight', "release[0].statistics[1]", "did you mean 'wage'"),
        ('{ mean = "wage", weight', '{ quantiles = "wage", weight', "release[0].statistics[1]", "the key 'at' is missing"),
        ('{ mean = "wage", weight', '{ quantiles = "wage", at = [0, 2], weight', "release[0].statistics[1]",
         "at=2 must lie in [0, 1]"),
        ('{ mean = "wage", weight', '{ quantiles = "wage", at = 0.5, weight', "release[0].statistics[1].at",
         "must be a list"),
        ('{ mean = "wage", weight', '{ median = "sex", weight', "release[0].statistics[1]", "the column is categorical"),
        ('{ mean = "wage", weight', '{ std = "hired", weight', "release[0].statistics[1]", "the column is a date"),
        ('{ mean = "wage", weight', '{ median = "wage", at = [0.5], weight', "release[0].statistics[1].at", "no such key"),
        ('{ mean = "wage", weight', '{ histogram = "wage", weight', "release[0].statistics[1]",
         "bins('wage'): give either a list of edges or a step"),
        ('{ mean = "wage", weight', '{ histogram = "wage", edges = [0, 100], step = 10, weight', "release[0].statistics[1]",
         "bins('wage'): give either a list of edges or a step"),
        ('{ mean = "wage", weight', '{ histogram = "wage", step = [1], weight', "release[0].statistics[1].step",
         "must be a number"),
        ('{ mean = "wage", weight', '{ histogram = "sex", edges = [0, 1], weight', "release[0].statistics[1]",
         "the column is categorical"),
        ('{ mean = "wage", weight', '{ histogram = "wage", edges = [10, 5], weight', "release[0].statistics[1]",
         "must lie on the grid"),
        ('{ mean = "wage", weight', '{ histogram = "wage", edges = [20, 10], weight', "release[0].statistics[1]",
         "increase strictly"),
        ('{ mean = "wage", weight', '{ variance = "wage", nulls = "keep", weight', "release[0].statistics[1].nulls",
         "must be 'skip'"),
        ('{ mean = "wage", weight', '{ quantiles = "wage", att = [1], weight', "release[0].statistics[1].att",
         "did you mean 'at'"),
        ('    "count",', '    "median",', "release[0].statistics[0]", "needs a column"),
        ('    "count",', '    "shares",', "release[0].statistics[0]", "did you mean 'share'"),
        ('    "count",', '    "share", "share",', "release[0].statistics", "use .alias"),
        ('{ mean = "wage", weight = 2', '{ mean = "wage", sum = "wage", weight = 2', "release[0].statistics[1]",
         "one statistic"),
        ('{ mean = "wage", weight', "{ weight", "release[0].statistics[1]", "one statistic"),
        ('    "count",', '    "mean",', "release[0].statistics[0]", "needs a column"),
        ('    "count",', '    "cuont",', "release[0].statistics[0]", "did you mean 'count'"),
        ('    "count",', "    1,", "release[0].statistics[0]", "must be a text"),
        ("weight = 2", "weight = 0", "release[0].statistics[1].weight", "must be greater than 0"),
        ('nulls = "skip"', 'nulls = "drop"', "release[0].statistics[2].nulls", "must be 'skip'"),
        ('{ count = "hired" }', '{ count = "hired", nulls = "skip" }', "release[0].statistics[3].nulls", "no such key"),
        ("where = { age = [18, 65]", "where = { agee = [18, 65]", "release[0].where.agee", "did you mean 'age'"),
        ("where = { age = [18, 65]", "where = { age = 18", "release[0].where.age", "must be a pair"),
        ('sex = ["F"] }', "sex = [1.5] }", "release[0].where.sex[0]", "a number is not a category"),
        ("spend = 0.1", "spend = 0", "release[0].spend", "must be greater than 0"),
        ("spend = 0.1", "spend = -0.1", "release[0].spend", "must not be negative"),
        ("spend = 0.1", "spend = true", "release[0].spend", "must be a number"),
        ("spend = 0.1", "spend = { rho = 1 }", "release[0].spend.rho", "no such key"),
        ("spend = 0.1", "spend = [1, 2, 3]", "release[0].spend", "a pair"),
        ("spend = 0.1", "spend = []", "release[0].spend", "a pair"),
        ("spend = 0.1", "error = { counts = 1 }", "release[0].error.counts", "did you mean 'count'"),
        ("spend = 0.1", "error = { count = 0 }", "release[0].error.count", "must be greater than 0"),
        ("spend = 0.1", "error = { count = nan }", "release[0].error.count", "must be a number"),
        ("spend = 0.1", "error = { count = [1] }", "release[0].error.count", "must be a number"),
        ("spend = 0.1", "error = {}", "release[0].error", "at least one entry"),
        ("spend = 0.1", "error = 10", "release[0].error", "must be a table"),
        ("spend = 0.1", "spend = 0.1\nerror = { count = 1 }", "release[0].error", "either a spend or the errors"),
        ("spend = 0.1", 'spend = 0.1\nintervals = "all"', "release[0].intervals", "'all' is unknown"),
        ("spend = 0.1", "spend = 0.1\nintervals = true", "release[0].intervals", "must be a text"),
        ('    "count",', '    "tables",', "release[0].statistics[0]", "needs lists of columns"),
        ('    "count",', '    { tables = [["state"], ["sex"]] },', "release[0].statistics", "without group_by"),
        ('    "count",', '    { tables = [["state"], ["state"]] },', "release[0].statistics[0]", "is given twice"),
        ('    "count",', '    { tables = [["state"], []] },', "release[0].statistics", "without group_by"),
        ('    "count",', "    { tables = [[]] },", "release[0].statistics[0]", "different lists of columns"),
        ('    "count",', "    { tables = [] },", "release[0].statistics[0]", "different lists of columns"),
        ('    "count",', '    { tables = { of = ["sex"], ways = [3] } },', "release[0].statistics[0].tables", "from 1 to 1"),
        ('    "count",', '    { tables = { of = ["sex"] } },', "release[0].statistics[0].tables", "'ways' is missing"),
        ('    "count",', '    { tables = [["sex"]], errors = [0] },', "release[0].statistics[0]", "greater than"),
        ('    "count",', '    { tables = ["state"] },', "release[0].statistics[0].tables[0]", "must be a list"),
        ('    "count",', '    { tables = [["stat"]] },', "release[0].statistics[0].tables[0][0]", "did you mean 'state'"),
        ('    "count",', '    { tables = [["age"]] },', "release[0].statistics[0].tables[0][0]", "bins"),
        ('    "count",', '    { tables = [["state"]], nulls = "skip" },', "release[0].statistics[0].nulls", "no such key"),
        ("rows = 30000", "rows = 1.5", "release[0].resize", "must be a whole number"),
        ('proportion = "0.9"', "proportion = 0", "release[0].resize", "greater than 0"),
        ('sample = "1/10"', "sample = 2", "release[1].sample", "greater than 0 and less than 1"),
        ('sample = "1/10"', "sample = { rows = 0 }", "release[1].sample", "must be at least 1"),
        ('sample = "1/10"', "sample = { rows = 40000 }", "release[1].sample", "at most the 29501 rows"),
        ('sample = "1/10"', "sample = { rows = 10, rate = 1 }", "release[1].sample.rate", "no such key"),
        ('sample = "1/10"', 'sample = "1/10"\nresize = { rows = 10 }', "release[1].sample", "resized already"),
        ("clamp = { hired", "clamp = { hird", "release[0].clamp.hird", "did you mean 'hired'"),
        ("hired = { distribution", "state = [1], hired = { distribution", "", "is not valid TOML"),
        ('[[release]]\nname = "persons"', '[release]\nname = "persons"', "", "is not valid TOML"),
        ("[budget]", '[invariants]\ntotals = [["state"]]\n[budget]', "invariants", "each person has one row"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_at_its_place_with_its_rule(
    tmp_path: Path, old: str, new: str, place: str, rule: str
) -> None:
    error = refused(tmp_path, changed(FULL, old, new))
    assert rule in str(error)
    if place:
        assert error.place == f"plan.toml:{line_of(changed(FULL, old, new), place)}: {place}"


def test_bracket_errors_are_explained(tmp_path: Path) -> None:
    error = refused(tmp_path, changed(SMALL, "[[release]]", "[release]"))
    assert error.place == "plan.toml:16: release"
    assert "two pairs of brackets" in str(error)
    error = refused(tmp_path, "release = []\n" + SMALL[: SMALL.index("[[release]]")])
    assert "is empty; write at least one [[release]]" in str(error)


@pytest.mark.parametrize("section", ["data", "columns", "budget", "release"])
def test_a_missing_section_is_named(tmp_path: Path, section: str) -> None:
    kept = [part for part in re.split(r"(?m)^(?=\[)", SMALL) if not re.match(rf"\[+{section}", part)]
    error = refused(tmp_path, "".join(kept))
    assert str(error) == f"plan.toml: the key '{section}' is missing"


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "x" * 201])
def test_names_that_no_ledger_takes_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="printable text of 1 to 200"):
        check_name(name, "name")
    assert check_name("x" * 200, "name") == "x" * 200


@settings(max_examples=30)
@given(st.integers(0, len(FULL.splitlines()) - 1), st.integers(0, 40))
@example(0, 0)
def test_lines_are_counted_through_comments_strings_and_lists(
    tmp_path_factory: pytest.TempPathFactory, position: int, blank: int
) -> None:
    """Whatever stands before it, an error is at the line where its statement begins."""
    folder = tmp_path_factory.mktemp("plan")
    lines = FULL.splitlines()
    if "statistics = [" in lines[: position + 1] and "]" not in lines[lines.index("statistics = [") : position]:
        position = 0
    inserted = [*lines[:position], *["# rows = 1 ]]] '''"] * blank, *lines[position:]]
    text = "\n".join(inserted).replace('nulls = "skip"', 'nulls = "drop"')
    assert refused(folder, text).place == f"plan.toml:{inserted.index('statistics = [') + 1}: release[0].statistics[2].nulls"
