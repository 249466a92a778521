"""The plan file: what it means, and where an error is said to be."""

from __future__ import annotations

import datetime as dt
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import datasets
from discreet.errors import ArgumentError, PlanError
from discreet.planfile.read import PlanFile, load_plan
from discreet.session.orders import checked_name

FULL = """\
# Every key of the format, except categories_file, categories_type and the other measures.
[data]
dataset = "wages-2025"
source = "wages.parquet"
neighbours = "replace-one"
rows = 29501
rows_per_person = 2
ledger = "budget.db"

[columns.state]
type = "category"
categories = ["Alabama", "Alaska", "Arizona"]
clamp = ["Alabama", "Alaska"]

[columns.sex]
type = "category"
categories = ["F", "M"]
impute = { distribution = "weights", weights = { F = 1, M = 1.5 } }

[columns.age]
type = "number"
lower = 0
upper = 110
impute = { distribution = "normal", mean = 40, sd = 15, lower = 18, upper = 100 }

[columns.wage]
type = "number"
lower = "0"
upper = 2000.0
step = 10
clamp = ["0", 1500]
impute = { distribution = "uniform", lower = 100, upper = 1000 }

[columns.hired]
type = "date"
first = 2020-01-01
last = "2025-12-31"

[budget]
measure = "approx-dp"
epsilon = 1.5
delta = "1e-9"
report_delta = 1e-6

[[release]]
name = "wages by state"
group_by = ["state", { bins = "age", edges = [18, 30, 50, 66] }]
statistics = [
    "count",
    { mean = "wage", weight = 2, as = "mean" },
    { sum = "wage", nulls = "skip" },
    { count = "hired" },
]
where = { age = [18, 65], sex = ["F"] }
spend = 0.1
resize = { rows = 30000, proportion = "0.9" }
clamp = { hired = [2020-01-01, 2024-12-31] }
impute = { hired = { distribution = "uniform" }, state = { distribution = "weights", weights = { Alaska = 1 } } }

[[release]]
name = "persons"
statistics = [{ count = "*", weight = 3, as = "persons" }]
where = { sex = "M" }
spend = { epsilon = 0.25, delta = 1e-10 }
"""
DATA = FULL[: FULL.index("[columns.state]")]
SMALL = """\
[data]
dataset = "d"
source = "s.csv"
neighbours = "add-remove"
ledger = "l.db"
[columns.sex]
type = "category"
categories = ["F", "M"]
[columns.age]
type = "number"
lower = 0
upper = 100
[budget]
measure = "zcdp"
rho = 0.5
[[release]]
name = "r"
statistics = ["count"]
"""


def load(tmp_path: Path, text: str, name: str = "plan.toml") -> PlanFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_plan(path)


def refused(tmp_path: Path, text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        load(tmp_path, text)
    assert caught.value.place.startswith("plan.toml")
    assert str(caught.value).startswith(caught.value.place + ": ")
    return caught.value


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)


# What a file means ----------------------------------------------------------------------------------------------------


def test_full_plan_means_the_same_as_the_python_calls(tmp_path: Path) -> None:
    plan = load(tmp_path, FULL)
    schema = dp.Schema(
        {
            "state": dp.Category(["Alabama", "Alaska", "Arizona"]),
            "sex": dp.Category(["F", "M"]),
            "age": dp.Number(0, 110),
            "wage": dp.Number("0", "2000", step="10"),
            "hired": dp.Date("2020-01-01", "2025-12-31"),
        }
    )
    neighbours = dp.ReplaceOne(rows=29501, rows_per_person=2)
    assert plan.schema == schema
    assert plan.neighbours == neighbours
    assert plan.budget == dp.ApproxDP("1.5", "1e-9")
    assert plan.report_delta == Fraction(1, 10**6)
    assert (plan.dataset, plan.source, plan.ledger) == (
        "wages-2025",
        str(tmp_path / "wages.parquet"),
        tmp_path / "budget.db",
    )

    laws = {"sex": dp.Weights({"F": 1, "M": "1.5"}), "age": dp.Normal(40, 15, 18, 100), "wage": dp.Uniform(100, 1000)}
    start = dp.Table(schema, neighbours)
    clamps = {"state": ["Alabama", "Alaska"], "wage": (0, 1500)}
    first = (
        start.clamp({**clamps, "hired": ("2020-01-01", "2024-12-31")})
        .impute({"state": dp.Weights({"Alaska": 1}), **laws, "hired": dp.Uniform()})
        .where({"age": (18, 65), "sex": ["F"]})
        .resize(30_000, proportion="0.9")
        .group_by("state", dp.bins("age", [18, 30, 50, 66]))
        .agg(
            dp.count(), dp.mean("wage", weight=2).alias("mean"), dp.sum("wage", nulls="skip"), dp.count("hired"),
        )
    )  # fmt: skip
    second = start.clamp(clamps).impute(laws).where({"sex": "M"}).agg(dp.count(weight=3).alias("persons"))
    assert [order.request.digest for order in plan.orders] == [first.digest, second.digest]
    assert [order.name for order in plan.orders] == ["wages by state", "persons"]
    assert [order.spend for order in plan.orders] == [
        dp.ApproxDP("0.1", Fraction(1, 15) / 10**9),
        dp.ApproxDP("0.25", "1e-10"),
    ]


def test_every_statistic_means_the_same_as_the_python_call(tmp_path: Path) -> None:
    written = """statistics = [
        "count", "share", { sum = "age", weight = 2 }, { mean = "age" }, { std = "age" },
        { variance = "age", as = "spread" },
        { median = "age", nulls = "skip", weight = 0.5 },
        { quantiles = "age", at = [1, "1/4", 0.9], as = "ages" },
        { histogram = "age", edges = [0, 18, 65], weight = "1/3", as = "bands" },
        { histogram = "hired", edges = [2020-01-01, "2021-01-01", 2025-12-31] },
        { tables = [["state", "sex"], [{ bins = "age", edges = [0, 50, 110] }, "sex"]], weight = 2, as = "margins" },
    ]
    intervals = "simultaneous"
    """
    head, tail = FULL.split("group_by =", maxsplit=1)[0], FULL[FULL.index("where =") : FULL.rindex("[[release]]")]
    (order,) = load(tmp_path, head + written + tail).orders
    table = dp.Table(order.request.schema, order.request.neighbours, order.request.steps)
    expected = table.agg(
        dp.count(), dp.share(), dp.sum("age", weight=2), dp.mean("age"), dp.std("age"),
        dp.variance("age").alias("spread"),
        dp.median("age", nulls="skip", weight="0.5"),
        dp.quantiles("age", [1, Fraction(1, 4), "0.9"]).alias("ages"),
        dp.histogram("age", [0, 18, 65], weight=Fraction(1, 3)).alias("bands"),
        dp.histogram("hired", [dt.date(2020, 1, 1), "2021-01-01", "2025-12-31"]),
        dp.tables(["state", "sex"], [dp.bins("age", [0, 50, 110]), "sex"], weight=2).alias("margins"),
    ).simultaneous()  # fmt: skip
    assert order.request == expected
    assert order.request.digest == expected.digest


def test_errors_stand_in_the_place_of_a_spend(tmp_path: Path) -> None:
    orders = load(tmp_path, changed(FULL, "spend = 0.1", 'error = { count = 10, mean = "1/3" }')).orders
    assert [order.spend is None for order in orders] == [True, False]
    assert [order.error for order in orders] == [{"count": 10, "mean": Fraction(1, 3)}, None]
    assert orders[0].request == load(tmp_path, FULL).orders[0].request


@pytest.mark.parametrize(
    ("budget", "spend", "expected", "amount"),
    [
        ('measure = "pure-dp"\nepsilon = "1/3"', '"1/4"', dp.PureDP("1/3"), dp.PureDP("1/4")),
        ('measure = "pure-dp"\nepsilon = 1', "{ epsilon = 0.1 }", dp.PureDP(1), dp.PureDP("0.1")),
        ('measure = "zcdp"\nrho = 0.1', "0.1", dp.ZCDP("0.1"), dp.ZCDP("0.1")),
        ('measure = "zcdp"\nrho = 1_0.5', "1e-400", dp.ZCDP("10.5"), dp.ZCDP(Fraction(1, 10**400))),
        ('measure = "gdp"\nmu = 1', '{ mu = "0.5" }', dp.GDP(1), dp.GDP("0.5")),
        (
            'measure = "approx-dp"\nepsilon = 1\ndelta = 1e-9',
            '[0.5, "1e-10"]',
            dp.ApproxDP(1, "1e-9"),
            dp.ApproxDP("0.5", "1e-10"),
        ),
        ('measure = "approx-dp"\nepsilon = 2\ndelta = 1e-9', "1", dp.ApproxDP(2, "1e-9"), dp.ApproxDP(1, "5e-10")),
    ],
)
def test_budgets_and_spends_are_exact(tmp_path: Path, budget: str, spend: str, expected: object, amount: object) -> None:
    plan = load(tmp_path, changed(SMALL, 'measure = "zcdp"\nrho = 0.5', budget) + f"spend = {spend}\n")
    assert plan.budget == expected
    assert plan.orders[0].spend == amount


def test_a_single_release_may_take_all_that_remains(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL).orders[0].spend is None
    error = refused(tmp_path, SMALL + '[[release]]\nname = "other"\nstatistics = ["count"]\nspend = 0.1\n')
    assert "only a single release can take all that remains" in str(error)
    assert error.place == "plan.toml:16: release[0]"


def test_the_report_delta_has_a_default(tmp_path: Path) -> None:
    assert load(tmp_path, SMALL).report_delta == Fraction(1, 10**9)


def test_paths_are_relative_to_the_folder_of_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a [1] folder"
    folder.mkdir()
    (folder / "sexes.txt").write_text("F\nM\n", encoding="utf-8")
    text = changed(SMALL, 'categories = ["F", "M"]', 'categories_file = "sexes.txt"')
    monkeypatch.chdir(tmp_path)
    (folder / "plan.toml").write_text(changed(text, "s.csv", "parts/*.csv"), encoding="utf-8")
    plan = load_plan(Path("a [1] folder") / "plan.toml")
    assert plan.schema["sex"] == dp.Category(["F", "M"])
    assert plan.ledger == Path("a [1] folder/l.db")
    assert plan.source == "a [[]1] folder/parts/*.csv", "brackets of the folder are no part of the glob"
    (folder / "s[1].csv").touch()
    (folder / "plan.toml").write_text(changed(text, "s.csv", "s[1].csv"), encoding="utf-8")
    assert load_plan(folder / "plan.toml").source == str(folder / "s[1].csv"), "a file of that name is no glob"


def test_a_file_of_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "tracts.txt").write_text("101\n-7\n+3\n", encoding="utf-8")
    kept = 'categories_file = "tracts.txt"\ncategories_type = "{}"'
    for kind, values in (("integer", [101, -7, 3]), ("text", ["101", "-7", "+3"])):
        text = changed(SMALL, 'categories = ["F", "M"]', kept.format(kind))
        assert load(tmp_path, text).schema["sex"] == dp.Category(values)
    for line in ("1.5", "x", " 7", "", "٣"):
        (tmp_path / "tracts.txt").write_text(f"101\n{line}\n7\n", encoding="utf-8")
        with pytest.raises(PlanError, match=r"columns\.sex: categories=.*: line 2 must be a whole number"):
            load(tmp_path, changed(SMALL, 'categories = ["F", "M"]', kept.format("integer")))


def test_absolute_paths_and_example_data(tmp_path: Path) -> None:
    plan = load(tmp_path, changed(changed(SMALL, "s.csv", "/data/s.csv"), "l.db", "/data/l.db"))
    assert (plan.source, plan.ledger) == ("/data/s.csv", Path("/data/l.db"))
    assert load(tmp_path, changed(SMALL, "s.csv", "example:acs12")).source == str(datasets.path("acs12"))
    error = refused(tmp_path, changed(SMALL, "s.csv", "example:acs21"))
    assert error.place == "plan.toml:3: data.source"
    assert "did you mean 'acs12'" in str(error)


def test_booleans_and_whole_numbers_are_categories_and_keys_of_weights(tmp_path: Path) -> None:
    text = changed(SMALL, 'categories = ["F", "M"]', "categories = [true, false]\nclamp = [true]\nimpute = IMPUTE")
    law = '{ distribution = "weights", weights = { true = 1 } }'
    (step,) = [s for s in load(tmp_path, changed(text, "IMPUTE", law)).orders[0].request.steps if hasattr(s, "law")]
    assert step.law == dp.Weights({True: 1})
    text = changed(SMALL, 'categories = ["F", "M"]', "categories = [1, -2]\nimpute = IMPUTE")
    law = '{ distribution = "weights", weights = { 1 = 1, "-2" = 3 } }'
    (step,) = [s for s in load(tmp_path, changed(text, "IMPUTE", law)).orders[0].request.steps if hasattr(s, "law")]
    assert step.law == dp.Weights({1: 1, -2: 3})


def test_a_release_replaces_the_clamp_of_a_column_and_does_not_add_to_it(tmp_path: Path) -> None:
    text = changed(SMALL, "upper = 100\n", "upper = 100\nclamp = [0, 50]\n") + "clamp = { age = [60, 100] }\n"
    request = load(tmp_path, text).orders[0].request
    assert request.digest == dp.Table(request.schema, dp.AddRemove()).clamp({"age": (60, 100)}).agg(dp.count()).digest


def test_loading_reads_no_data_and_writes_nothing(tmp_path: Path) -> None:
    load(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, ending: str, start: str) -> None:
    (tmp_path / "plan.toml").write_bytes((start + SMALL.replace("\n", ending)).encode())
    assert load_plan(tmp_path / "plan.toml").orders[0].request.digest == load(tmp_path, SMALL).orders[0].request.digest
    (tmp_path / "plan.toml").write_bytes((start + SMALL.replace("rho", "rhu").replace("\n", ending)).encode())
    with pytest.raises(PlanError, match=re.escape("plan.toml:15: budget.rhu")):
        load_plan(tmp_path / "plan.toml")


# Round trips: the same digest through TOML as through Python calls ----------------------------------------------------

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Cn")), min_size=1, max_size=8
)
AMOUNTS = st.one_of(
    st.integers(1, 50),
    st.decimals("0.01", 50, places=2).map(str),
    st.fractions(Fraction(1, 50), 50, max_denominator=60).map(lambda value: f"{value.numerator}/{value.denominator}"),
)


def toml(value: Any) -> str:
    """A value as TOML; a text that is a decimal is sometimes written as a number, which must mean the same."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {toml(inner)}" for key, inner in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Bare):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


class Bare(str):
    """A decimal that is written without quotes."""

    __slots__ = ()


@st.composite
def described(draw: st.DrawFn) -> tuple[dict[str, Any], dp.Schema, list[Any]]:
    """Sections of a plan file, the schema, and the Python request of each release."""
    numeric = {f"n{i}": draw(st.sampled_from([(0, 60, 1), (-5, 5, "0.5"), ("1/3", "7/3", "1/3")])) for i in range(2)}
    categories = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: dp.Category([name]).values[0]))
    schema = dp.Schema({"c": dp.Category(categories), **{name: dp.Number(*bounds) for name, bounds in numeric.items()}})
    columns: dict[str, Any] = {"c": {"type": "category", "categories": categories}}
    for name, (lower, upper, step) in numeric.items():
        columns[name] = {"type": "number", "lower": lower, "upper": upper, "step": step}

    clamps: dict[str, Any] = {}
    laws: dict[str, Any] = {"c": dp.Weights(weights := dict.fromkeys(categories, draw(AMOUNTS)))}
    columns["c"]["impute"] = {"distribution": "weights", "weights": weights}
    for name in numeric:
        grid = [schema[name].value(code) for code in range(schema[name].size)]  # type: ignore[union-attr]
        if draw(st.booleans()):
            low, high = sorted(draw(st.lists(st.sampled_from(grid), min_size=2, max_size=2)))
            columns[name]["clamp"] = [f"{low.numerator}/{low.denominator}", f"{high.numerator}/{high.denominator}"]
            clamps[name] = (low, high)
        if draw(st.booleans()):
            laws[name] = dp.Uniform()
            columns[name]["impute"] = {"distribution": "uniform"}
        else:
            mean, spread = draw(AMOUNTS), draw(AMOUNTS)
            laws[name] = dp.Normal(mean, spread)
            columns[name]["impute"] = {"distribution": "normal", "mean": mean, "sd": spread}

    table = dp.Table(schema, dp.AddRemove())
    table = (table.clamp(clamps) if clamps else table).impute(laws)
    releases, requests = [], []
    for position in range(draw(st.integers(1, 3))):
        release, request = draw(release_of(table, categories))
        releases.append({"name": f"release {position}", **release, "spend": Bare("0.01")})
        requests.append(request)
    sections = {
        "data": {"dataset": "d", "source": "s.csv", "neighbours": "add-remove", "ledger": "l.db"},
        "columns": columns,
        "budget": {"measure": "zcdp", "rho": Bare("0.5")},
        "release": releases,
    }
    return sections, schema, requests


WORDS = ["count", "sum", "mean", "variance", "std", "median", "quantiles", "histogram"]


@st.composite
def release_of(draw: st.DrawFn, table: dp.Table, categories: list[str]) -> tuple[dict[str, Any], Any]:
    release: dict[str, Any] = {}
    asked, written = [], []
    for word in draw(st.lists(st.sampled_from(WORDS), unique=True, min_size=1, max_size=4)):
        weight, column = draw(AMOUNTS), draw(st.sampled_from(["n0", "n1"]))
        also: dict[str, Any] = {}
        if word == "quantiles":
            also["at"] = draw(st.lists(st.sampled_from(["0", "1/3", "0.5", "1"]), unique=True, min_size=1))
        if word == "histogram":
            also["edges"] = draw(st.lists(st.sampled_from([0, 1, "4/3", 2, 5]), min_size=1, max_size=3))
        asked.append(getattr(dp, word)(column, weight=weight, **also).alias(word))
        written.append({word: column, **also, "weight": weight, "as": word})
    release["statistics"] = written
    by: list[Any] = []
    if draw(st.booleans()):
        chosen = draw(st.lists(st.sampled_from(categories), min_size=1, unique=True))
        release["where"] = {"c": chosen}
        table = table.where({"c": chosen})
    if draw(st.booleans()):
        proportion = draw(AMOUNTS)
        release["resize"] = {"rows": 7, "proportion": proportion}
        table = table.resize(7, proportion=proportion)
    if draw(st.booleans()):
        release["group_by"] = ["c", {"bins": "n0", "edges": [1, 2]}]
        by = ["c", dp.bins("n0", [1, 2])]
    try:
        return release, table.group_by(*by).agg(*asked)
    except ArgumentError as refusal:  # an edge off the grid: the file must be refused for the same reason
        return release, refusal


def written_plan(sections: dict[str, Any]) -> str:
    lines = []
    for section in ("data", "budget"):
        lines += [f"[{section}]", *(f"{key} = {toml(value)}" for key, value in sections[section].items())]
    for name, column in sections["columns"].items():
        lines += [f"[columns.{json.dumps(name)}]", *(f"{key} = {toml(value)}" for key, value in column.items())]
    for release in sections["release"]:
        lines += ["[[release]]", *(f"{key} = {toml(value)}" for key, value in release.items())]
    return "\n".join(lines) + "\n"


@settings(max_examples=60)
@given(described())
def test_a_plan_has_the_same_digest_through_toml_as_through_python(
    tmp_path_factory: pytest.TempPathFactory, plan: tuple[dict[str, Any], dp.Schema, list[Any]]
) -> None:
    sections, schema, requests = plan
    folder = tmp_path_factory.mktemp("plan")
    text = written_plan(sections)
    refusals = [request for request in requests if isinstance(request, ArgumentError)]
    if refusals:
        with pytest.raises(PlanError) as caught:
            load(folder, text)
        assert str(refusals[0]) in str(caught.value)
        return
    found = load(folder, text)
    assert found.schema == schema
    assert [order.request.digest for order in found.orders] == [request.digest for request in requests]


# Errors and their places ----------------------------------------------------------------------------------------------


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
        "proportion", "bins", "edges", "count", "sum", "weight", "as", "nulls",
    }  # fmt: skip


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
        ('categories = ["F", "M"]', 'categories = ["F", 1.5]', "columns.sex.categories[1]", "a number is no category"),
        ('categories = ["F", "M"]', 'categories = "FM.txt"', "columns.sex.categories", "must be a list"),
        ('categories = ["F", "M"]', 'categories_file = "no.txt"', "columns.sex.categories_file", "there is no file"),
        ('categories = ["F", "M"]\n', "", "columns.sex", "either 'categories' or 'categories_file'"),
        ('= ["F", "M"]', '= ["F", "M"]\ncategories_type = "text"', "columns.sex.categories_type", "leave it out"),
        ("first = 2020-01-01", "first = 2030-01-01", "columns.hired.first", "must not be after"),
        ("first = 2020-01-01", "first = 2020-01-01T00:00:00", "columns.hired.first", "without a time"),
        ("first = 2020-01-01", "first = 10:00:00", "columns.hired.first", "not a date or time"),
        ('type = "date"', 'type = "day"', "columns.hired.type", "known: category, number, date"),
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
         "the key 'edges' is missing"),
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
        ('sex = ["F"] }', "sex = [1.5] }", "release[0].where.sex[0]", "a number is no category"),
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
        ('    "count",', '    { tables = [["state"], ["state"]] },', "release[0].statistics[0]", "stands there twice"),
        ('    "count",', '    { tables = [["state"], []] },', "release[0].statistics[0]", "different lists of columns"),
        ('    "count",', "    { tables = [] },", "release[0].statistics[0]", "different lists of columns"),
        ('    "count",', '    { tables = ["state"] },', "release[0].statistics[0].tables[0]", "must be a list"),
        ('    "count",', '    { tables = [["stat"]] },', "release[0].statistics[0].tables[0][0]", "did you mean 'state'"),
        ('    "count",', '    { tables = [["age"]] },', "release[0].statistics[0].tables[0][0]", "bins"),
        ('    "count",', '    { tables = [["state"]], nulls = "skip" },', "release[0].statistics[0].nulls", "no such key"),
        ("rows = 30000", "rows = 1.5", "release[0].resize", "must be a whole number"),
        ('proportion = "0.9"', "proportion = 0", "release[0].resize", "greater than 0"),
        ("clamp = { hired", "clamp = { hird", "release[0].clamp.hird", "did you mean 'hired'"),
        ("hired = { distribution", "state = [1], hired = { distribution", "", "is no TOML"),
        ('[[release]]\nname = "persons"', '[release]\nname = "persons"', "", "is no TOML"),
        ("[budget]", '[invariants]\ntotals = [["state"]]\n[budget]', "invariants", "one person has one row"),
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
    assert "asks for no release" in str(refused(tmp_path, "release = []\n" + SMALL[: SMALL.index("[[release]]")]))


@pytest.mark.parametrize("section", ["data", "columns", "budget", "release"])
def test_a_missing_section_is_named(tmp_path: Path, section: str) -> None:
    kept = [part for part in re.split(r"(?m)^(?=\[)", SMALL) if not re.match(rf"\[+{section}", part)]
    error = refused(tmp_path, "".join(kept))
    assert str(error) == f"plan.toml: the key '{section}' is missing"


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "x" * 201])
def test_names_that_no_ledger_takes_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="printable text of 1 to 200"):
        checked_name(name, "name")
    assert checked_name("x" * 200, "name") == "x" * 200


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
