"""What the command line says of plans that are allowed and yet seldom meant, and of requests that nearly fit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.domain.groups import BinGroup

PLAN = plan_text("notes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"delay": [-5, 0, 31, 60, 90, None]}).write_csv("delays.csv")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def run(code: int, *arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == code, done.output
    return done.output


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "plan.toml").write_text(text.replace(old, new), encoding="utf-8")


NOTE = "note: 'delays': rows with delay below 0 or from 60 on are in no bin and do not count at all, not even as null"


def test_values_that_are_in_no_bin_are_named(folder: Path) -> None:
    assert NOTE in run(0, "check", "plan.toml").splitlines()
    edit(folder, '["count"]', '[{ histogram = "delay", edges = [0, 30, 60] }]')
    edit(folder, 'group_by = [{ bins = "delay", edges = [0, 30, 60] }]\n', "")
    assert NOTE in run(0, "quote", "plan.toml").splitlines()
    edit(folder, '{ histogram = "delay", edges = [0, 30, 60] }', '{ tables = [[{ bins = "delay", edges = [0, 30, 60] }]] }')
    assert NOTE in run(0, "check", "plan.toml").splitlines()


@pytest.mark.parametrize(
    "line", ["where = { delay = [0, 59] }", "clamp = { delay = [0, 60] }", "clamp = { delay = [5, 59] }"]
)
def test_nothing_is_said_where_no_value_is_lost_or_all_others_were_left_out_on_purpose(folder: Path, line: str) -> None:
    edit(folder, "spend = 1000", f"{line}\nspend = 1000")
    assert "in no bin" not in run(0, "check", "plan.toml")


def test_only_the_end_that_is_lost_is_named(folder: Path) -> None:
    edit(folder, "spend = 1000", "clamp = { delay = [0, 61] }\nspend = 1000")
    assert "rows with delay from 60 on are in no bin" in run(0, "check", "plan.toml")
    edit(folder, "[0, 61]", "[-1, 60]")
    assert "rows with delay below 0 are in no bin" in run(0, "check", "plan.toml")


def test_what_a_clamp_moves_to_the_last_edge_is_in_the_last_bin(folder: Path) -> None:
    edit(folder, "spend = 1000", "clamp = { delay = [0, 60] }\nspend = 1000")
    run(0, "release", "plan.toml", "--out", "out")
    table = dp.Release.load("out").table
    assert table.rows_by_key("delay", include_key=False).keys() == {"[0, 30)", "[30, 60]", None}
    assert table["count"].to_list() == [2, 3, 1]


def test_the_last_bin_is_open_below_the_bound_and_closed_at_it() -> None:
    table = dp.Table(dp.Schema(delay=dp.Number(0, 600, step=10)), dp.AddRemove())
    for cap, edges, label in ((600, (0, 61), "[0, 600]"), (300, (0, 31), "[0, 300]"), (310, (0, 30), "[0, 300)")):
        last = 600 if cap == 600 else 300
        (group,) = table.clamp({"delay": (0, cap)}).group_by(dp.bins("delay", [0, last])).agg(dp.count()).group_by
        assert isinstance(group, BinGroup)
        assert (group.edges, group.labels) == (edges, (label,))


def test_check_knows_that_a_stored_release_had_another_spend(folder: Path) -> None:
    run(0, "release", "plan.toml", "--out", "out")
    edit(folder, "spend = 1000", "spend = 2000")
    shown = run(0, "quote", "plan.toml")
    assert "'delays' is in the ledger, made with ρ = 1000, and is not made again under that name with another spend" in shown
    assert "charge ρ = 2000; remaining now ρ = 9000" in shown
    assert "another spend" in run(2, "release", "plan.toml", "--out", "out")
    run(0, "release", "plan.toml", "--out", "out2", "--as", "again")
    edit(folder, "spend = 2000", "spend = 1000")
    assert "returned at no charge" in run(0, "check", "plan.toml")
    edit(folder, "spend = 1000", "")
    assert "returned at no charge" in run(0, "check", "plan.toml")


def test_a_release_of_histograms_alone_shows_them(folder: Path) -> None:
    edit(folder, '["count"]', '[{ histogram = "delay", edges = [-60, 0, 30, 600] }]')
    edit(folder, 'group_by = [{ bins = "delay", edges = [0, 30, 60] }]\n', "")
    lines = run(0, "release", "plan.toml", "--out", "out").splitlines()
    start = lines.index("  histogram_delay.csv:")
    assert [line.split()[0] for line in lines[start + 1 : start + 5]] == ["delay", "[-60,", "[0,", "[30,"]
    assert "" not in lines


def test_a_text_where_a_list_belongs_is_shown_as_a_list(folder: Path) -> None:
    edit(folder, "[{ bins", '"delay" # [{ bins')
    assert 'must be a list [...], not a text; write ["delay"]' in run(2, "check", "plan.toml")
    edit(folder, '"delay" #', '"de\\u202Elay" #')
    assert run(2, "check", "plan.toml").strip().endswith("must be a list [...], not a text")


def test_what_the_numbers_of_quote_and_explain_count(folder: Path) -> None:
    edit(folder, '["count"]', '[{ median = "delay", nulls = "skip" }]')
    shown = [line for line in run(0, "quote", "plan.toml").splitlines() if line.startswith("    median_delay: ")]
    assert len(shown) == 1
    assert shown[0].endswith(" rows")
    assert "The answers of all 3 groups are one vector. A row stays" in run(0, "explain", "plan.toml")
    edit(folder, 'group_by = [{ bins = "delay", edges = [0, 30, 60] }]\n', "")
    assert "There is one group. A row stays" in run(0, "explain", "plan.toml")


def test_a_refused_spend_says_what_fits(folder: Path) -> None:
    edit(folder, "spend = 1000", "spend = 10001")
    advice = "ask for at most what remains, or for larger errors; a single release without a spend takes all of it"
    assert advice in run(3, "release", "plan.toml", "--out", "out")


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("lower = -60", "lower = -60", "its lower bound is -60"),
        ("lower = -60", "lower = -60\nmissing = [-8]", ""),
        ("lower = -60\nupper = 600", "lower = 0\nupper = 999", "its upper bound is 999, "),
        ("lower = -60\nupper = 600", "lower = 0\nupper = 999\nmissing = [999]", ""),
        ("lower = -60", "lower = 0", ""),
    ],
)
def test_bounds_that_seem_to_make_room_for_codes_are_named(folder: Path, old: str, new: str, shown: str) -> None:
    edit(folder, "edges = [0, 30, 60]", "edges = [0, 30, 60, 600]")
    edit(folder, old, new)
    found = [line for line in run(0, "check", "plan.toml").splitlines() if "no codes are declared missing" in line]
    assert [shown in line for line in found] == [True] * bool(shown)
    assert all(line.startswith("note: column 'delay': ") for line in found)


def test_a_budget_that_protects_hardly_anybody_is_remarked_on(folder: Path) -> None:
    """The edges: ε = 10 is no reason, a little more is one."""
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    start = text[: text.index("[budget]")]
    release = '\n[[release]]\nname = "one"\nstatistics = [{ mean = "delay", nulls = "skip" }]\nspend = "0.1"\n'

    def notes(budget: str) -> str:
        (folder / "plan.toml").write_text(f"{start}[budget]\n{budget}{release}", encoding="utf-8")
        return run(0, "check", "plan.toml")

    assert "note: the budget is worth" not in notes('measure = "pure-dp"\nepsilon = 10\n')
    assert "note: the budget is worth ε = 10.5, and above 10" in notes('measure = "pure-dp"\nepsilon = "10.5"\n')
    assert "note: the budget is worth" not in notes('measure = "zcdp"\nrho = 1\n')
    assert " at δ = 1e-9, and above 10 a guarantee says little" in notes('measure = "zcdp"\nrho = 1000\n')
    assert "report_delta = 0.01 is more than 1/rows" not in notes('measure = "zcdp"\nrho = 1\nreport_delta = "1e-9"\n')


def test_a_report_delta_above_one_row_is_remarked_on(folder: Path) -> None:
    rows = pl.DataFrame({"delay": [0] * 200})
    rows.write_csv("delays.csv")
    (folder / "plan.toml").write_text(plan_text("delays"), encoding="utf-8")
    assert "note: report_delta = 0.01 is more than 1/rows = 0.005" in run(0, "check", "plan.toml")
