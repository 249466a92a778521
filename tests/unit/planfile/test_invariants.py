"""The `[invariants]` section of a plan file says what the functions of the interface say, or is refused with its place."""

from __future__ import annotations

import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.planfile.read import load_plan

PLAN = plan_text("invariants")
LINE = PLAN.count("\n")  # of [invariants]


def read(section, tmp_path, plan=PLAN):
    path = tmp_path / "plan.toml"
    path.write_text(plan + section, encoding="utf-8")
    return load_plan(path).invariants


SAME = [
    ('totals = [["state"]]', dp.Totals("state")),
    ('totals = [["state"], ["sex"]]', dp.Margins("state", "sex")),
    ('totals = [["state", "sex"], { columns = ["age"] }]', dp.Margins(["state", "sex"], ["age"])),
    ('totals = [["state"], ["state", "sex"]]', dp.Totals("state") + dp.Totals("state", "sex")),
    ('totals = [{ columns = ["state"], only = ["A"] }]', dp.Totals("state", only=["A"])),
    ('totals = [{ columns = ["state"], only = [["A"], ["B"]] }]', dp.Totals("state", only=["A", "B"])),
    ('totals = [{ columns = ["sex", "age"], only = [["f", 3]] }]', dp.Totals("sex", "age", only=[("f", 3)])),
    ('totals = [{ columns = ["veteran"], only = [true] }]', dp.Totals("veteran", only=[True])),
    ('totals = [{ columns = ["born"], only = [2020-01-02] }]', dp.Totals("born", only=["2020-01-02"])),
    ('totals = [{ columns = ["wage"], only = [0.5, "1.5", 2] }]', dp.Totals("wage", only=["0.5", "1.5", 2])),
    ('occupied = [["state", "sex"]]', dp.Occupied("state", "sex")),
    ('occupied = [{ columns = ["state"], only = ["A"] }]', dp.Occupied("state", only=["A"])),
    ('impossible = [{ columns = ["sex"], cells = ["m"] }]', dp.Impossible("sex", cells=["m"])),
    (
        'totals = [["sex"]]\nimpossible = [{ columns = ["state", "sex"], cells = [["A", "m"]] }]',
        dp.Totals("sex") + dp.Impossible("state", "sex", cells=[("A", "m")]),
    ),
    ('rounded = [{ columns = ["state"], base = 5 }]', dp.Rounded("state", base=5)),
    (
        'rounded = [{ columns = ["state"], base = 3, to = "up", only = ["A"] }]',
        dp.Rounded("state", base=3, to="up", only=["A"]),
    ),
    (
        'totals = [["state"]]\nsuppressed = [{ columns = ["state", "sex"], below = 10 }]',
        dp.Totals("state") + dp.Suppressed("state", "sex", below=10),
    ),
    ('suppressed = [{ columns = ["sex"], below = 3, zeros = "shown" }]', dp.Suppressed("sex", below=3, zeros="shown")),
    ('size_classes = [{ columns = ["sex"], starts = [5, 10] }]', dp.SizeClasses("sex", starts=[5, 10])),
    ('at_least = [{ columns = ["state"], rows = 3 }]', dp.AtLeast("state", rows=3)),
    (
        'at_least = [{ columns = ["state", "sex"], only = [["A", "f"]], rows = 3 }]',
        dp.AtLeast("state", "sex", rows=3, only=[("A", "f")]),
    ),
    (
        'linear = [{ columns = ["age"], coefficients = { visits = [[1, 1], [2, -2]] } }]',
        dp.LinearInvariant("age", {"visits": {1: 1, 2: -2}}),
    ),
    (
        'linear = [{ columns = ["state", "sex"], coefficients = { "a b" = [["A", "f", 2]], c = [["B", "m", 3]] } }]',
        dp.LinearInvariant(["state", "sex"], {"a b": {("A", "f"): 2}, "c": {("B", "m"): 3}}),
    ),
    (
        'totals = [["state"]]\n[[invariants.linear]]\ncolumns = ["wage"]\ncoefficients = { w = [["0.5", 1], [1, 2]] }',
        dp.Totals("state") + dp.LinearInvariant("wage", {"w": {"0.5": 1, 1: 2}}),
    ),
]


@pytest.mark.parametrize(("section", "invariants"), SAME)
def test_a_section_says_what_the_functions_say(section, invariants, tmp_path):
    assert read(section, tmp_path).to_json() == invariants.to_json()


@pytest.mark.parametrize(
    ("section", "by"), [('sums = ["age"]', []), ('totals = [["sex"]]\nsums = [{ column = "age", by = ["sex"] }]', ["sex"])]
)
def test_a_section_of_sums_says_what_the_function_says(section, by, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN + section, encoding="utf-8")
    read_plan = load_plan(tmp_path / "plan.toml")
    sums = dp.Sums("age", read_plan.schema, by)
    assert read_plan.invariants.to_json() == (dp.Totals(*by) + sums if by else sums).to_json()


def test_a_plan_without_the_section_has_no_invariants(tmp_path):
    assert read("", tmp_path, PLAN.replace("[invariants]\n", "")) is None


REFUSED = [
    # section, the place after "invariants", words
    ("", "", 'is empty; write totals = [["state"]]'),
    ("totals = []", "", "is empty; write totals"),
    ('totals = "state"', ".totals", "must be a list"),
    ('totals = ["state"]', ".totals[0]", "must be a list"),
    ("totals = [[]]", ".totals[0]", "names no column"),
    ("totals = [[3]]", ".totals[0][0]", "must be a text in quotes, not a number"),
    ('totals = [["state"], ["sex", "sex"]]', ".totals[1]", "column 'sex' is named twice"),
    ('totals = [["stat"]]', "", "column 'stat': is not declared in the schema; did you mean 'state'"),
    ('total = [["state"]]', ".total", "no such key; did you mean 'totals'"),
    ('margins = [["state"]]', ".margins", "no such key; known: totals, occupied, impossible, linear"),
    ('totals = [{ column = ["state"] }]', ".totals[0].column", "did you mean 'columns'"),
    ('totals = [{ only = ["A"] }]', ".totals[0]", "the key 'columns' is missing"),
    ('totals = [{ columns = "state" }]', ".totals[0].columns", "must be a list"),
    ('totals = [{ columns = ["state"], only = [] }]', ".totals[0]", "only=[] names no cell"),
    ('totals = [{ columns = ["state"], only = "A" }]', ".totals[0].only", "must be a list"),
    ('totals = [{ columns = ["state"], only = ["A", ["A"]] }]', ".totals[0]", 'cell ["A"] is listed twice'),
    ('totals = [{ columns = ["state"], only = ["C"] }]', "", "state='C': is not a category of this column; known: A, B"),
    ('totals = [{ columns = ["state"], only = [true] }]', "", "state=True: is not a category"),
    ('totals = [{ columns = ["state"], only = [2020-01-01] }]', ".totals[0].only[0]", "is not a category"),
    ('totals = [{ columns = ["state"], only = [07:00:00] }]', ".totals[0].only[0]", "must be a single value"),
    ('totals = [{ columns = ["state"], only = [{}] }]', ".totals[0].only[0]", "must be a single value, not a table"),
    ('totals = [{ columns = ["state", "sex"], only = ["A"] }]', ".totals[0].only[0]", "a value for each of state, sex"),
    ('totals = [{ columns = ["state", "sex"], only = [["A", ["f"]]] }]', ".totals[0].only[0][1]", "must be a single value"),
    (
        'totals = [{ columns = ["age"], only = [0.5] }]',
        "",
        "must lie on the grid of step 1; the nearest grid values are 0 and 1",
    ),
    ('totals = [{ columns = ["age"], only = [nan] }]', "", "must be a number"),
    ('totals = [{ columns = ["born"], only = [2021-01-01] }]', "", "must lie within"),
    ('rounded = [["state"]]', ".rounded[0]", "must be a table, not a list"),
    ('rounded = [{ columns = ["state"] }]', ".rounded[0]", "the key 'base' is missing"),
    ('rounded = [{ columns = ["state"], base = 1 }]', ".rounded[0]", "base=1 must be a whole number from 2"),
    ('rounded = [{ columns = ["state"], base = "3" }]', ".rounded[0]", "base='3' must be a whole number"),
    ('rounded = [{ columns = ["state"], base = [3] }]', ".rounded[0]", "base=<list> must be a whole number"),
    ('rounded = [{ columns = ["state"], base = 3, to = "random" }]', ".rounded[0]", "to='random' must be one of"),
    ('rounded = [{ columns = ["stat"], base = 3 }]', "", "'stat': is not declared in the schema; did you mean 'state'"),
    ('suppressed = [{ columns = ["state"], below = 0 }]', ".suppressed[0]", "below=0 must be a whole number from 2"),
    ('suppressed = [{ columns = ["state"], under = 5 }]', ".suppressed[0].under", "no such key"),
    ('size_classes = [{ columns = ["state"], starts = [9, 5] }]', ".size_classes[0]", "must be in ascending order"),
    ('size_classes = [{ columns = ["state"], starts = 9 }]', ".size_classes[0]", "starts=9 must be a list"),
    ('at_least = [{ columns = ["state"], rows = -1 }]', ".at_least[0]", "rows=-1 must be a whole number from 1"),
    ('at_least = [{ columns = ["state"], rows = 11 }]', "", "22 rows or more, and 20 or fewer"),
    ('impossible = [["state"]]', ".impossible[0]", "must be a table, not a list"),
    ('impossible = [{ columns = ["state"] }]', ".impossible[0]", "the key 'cells' is missing"),
    ('linear = { columns = ["age"] }', ".linear", "must be a list"),
    ('linear = [{ columns = ["age"], coefficients = {} }]', ".linear[0].coefficients", "must have at least one entry"),
    ('linear = [{ columns = ["age"], coefficients = { s = [] } }]', ".linear[0]", "has no coefficient other than 0"),
    (
        'linear = [{ columns = ["age"], coefficients = { s = [[1]] } }]',
        ".linear[0].coefficients.s[0]",
        "then the coefficient",
    ),
    ('linear = [{ columns = ["age"], coefficients = { s = [1] } }]', ".linear[0].coefficients.s[0]", "must be a list"),
    ('linear = [{ columns = ["age"], coefficients = { s = [[1, 0.5]] } }]', ".linear[0]", "must be an integer"),
    ('linear = [{ columns = ["age"], coefficients = { s = [[1, "1"]] } }]', ".linear[0]", "must be an integer"),
    ('linear = [{ columns = ["age"], coefficients = { s = [[1, 9999999999]] } }]', ".linear[0]", "must be an integer"),
    ('linear = [{ columns = ["age"], coefficients = { sex = [[1, 1]] } }]', "", "'sex': is the name of a column"),
    (
        'linear = [{ columns = ["age"], coefficients = { "\\u001b[31m" = [[1, 1]] } }]',
        ".linear[0]",
        "must be printable text",
    ),
    ('totals = [["state", "sex"], ["sex", "age"], ["state", "age"]]', "", "too large for the general case"),
    (
        'totals = [["state", "sex", "veteran", "born", "age", "wage"]]',
        "",
        "cells, more than 1000000|nothing is left to protect",
    ),
]


@pytest.mark.parametrize(("section", "place", "words"), REFUSED)
def test_a_wrong_section_is_refused_with_its_place(section, place, words, tmp_path):
    with pytest.raises(dp.PlanError) as refused:
        read(section, tmp_path)
    assert refused.value.place.endswith(f": invariants{place}")
    assert refused.value.place.startswith(f"plan.toml:{LINE if not place else LINE + 1}")
    assert any(part in str(refused.value) for part in words.split("|"))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("cells", ["[[1], 1]", "[{}, 1]", "[1, 1], [1, 2]"])
def test_odd_cells_of_coefficients_are_refused(cells, tmp_path):
    with pytest.raises(dp.PlanError):
        read(f'linear = [{{ columns = ["age"], coefficients = {{ s = [{cells}] }} }}]', tmp_path)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (PLAN.replace('neighbours = "replace-one"\nrows = 20', 'neighbours = "add-remove"'), "neighbours=ReplaceOne"),
        (PLAN.replace("rows = 20", "rows = 20\nrows_per_person = 3"), "not rows_per_person=3"),
    ],
)
def test_neighbours_that_totals_do_not_allow_are_refused(plan, words, tmp_path):
    with pytest.raises(dp.PlanError) as refused:
        read('totals = [["state"]]', tmp_path, plan)
    assert refused.value.place.endswith(": invariants")
    assert words in str(refused.value)


def test_totals_of_everything_are_refused(tmp_path):
    plan = PLAN[: PLAN.index("[columns.veteran]")] + PLAN[PLAN.index("[budget]") :]
    with pytest.raises(dp.PlanError, match="nothing is left to protect; publish totals of fewer columns"):
        read('totals = [["state", "sex"]]', tmp_path, plan)
