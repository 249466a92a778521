"""`release`: charged once, all together or not at all, and what is left when something breaks."""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.cli.exits import on_terminal
from discreet.cli.numbers import number_grid
from discreet.cli.output import Grid
from discreet.cli.releasing import folders_for, rename_orders
from discreet.errors import ReleaseFailed
from discreet.planfile.read import load_plan
from discreet.privacy.amounts import number_text
from discreet.session import attempts
from discreet.session.public_facts import PublicFacts
from discreet.session.session import Session

from .commands import FILES, SECOND, done, edit, entries, refused, run


def test_a_release_is_charged_once_and_given_back_after_that(folder: Path) -> None:
    shown = done("release", "plan.toml", "--out", "out")
    assert "Hours by gender: charged ρ = 0.1\n" in shown
    assert "remaining: ρ = 0.4 of ρ = 0.5\n" in shown
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    release = dp.Release.load("out")
    assert release.table.columns[:4] == ["gender", "count", "count_low", "count_high"]
    assert release.guarantee.measure == dp.ZCDP("0.1")
    content = Path("out/release.json").read_bytes()

    again = done("release", "plan.toml", "--out", "out")
    assert "the stored release of entry 2 (ρ = 0.1); the source was not looked at; no new charge" in again
    assert "remaining: ρ = 0.4 of ρ = 0.5\n" in again
    assert Path("out/release.json").read_bytes() == content
    kinds = ["reserve", "reading", "drawing", "commit"]
    assert entries(folder) == [("dataset", ""), *((kind, "Hours by gender") for kind in kinds)]
    note = "note: 'Hours by gender' is in the ledger and is returned at no charge; the source is not looked at"
    assert note in done("check", "plan.toml")
    assert "charge ρ = 0; remaining now ρ = 0.4, afterwards ρ = 0.4" in done("quote", "plan.toml")


def test_several_releases_have_a_folder_each_and_are_charged_together(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    shown = done("release", "plan.toml", "--out", "out/deep")
    assert "remaining: ρ = 0.35 of ρ = 0.5" in shown
    assert sorted(path.name for path in Path("out/deep").iterdir()) == ["hours-by-gender", "persons"]
    for name in ("hours-by-gender", "persons"):
        assert sorted(path.name for path in Path("out/deep", name).iterdir()) == FILES
    made = ["reading", "drawing", "commit"]
    assert [kind for kind, _ in entries(folder)] == ["dataset", "reserve", "reserve", *made, *made]


def test_several_releases_are_charged_all_or_none(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.5\n" + SECOND)
    assert "over by ρ = 0.05" in refused(3, "release", "plan.toml", "--out", "out")
    assert entries(folder) == []
    assert not Path("out").exists()


def test_an_exhausted_budget_leaves_with_3(folder: Path) -> None:
    edit(folder, "spend = 0.1", "spend = 0.5")
    done("release", "plan.toml", "--out", "first")
    edit(folder, "spend = 0.5", 'spend = "1e-18"')
    assert "remaining ρ = 0" in refused(3, "release", "plan.toml", "--out", "second", "--as", "second")
    edit(folder, 'spend = "1e-18"\n', "")
    assert "nothing remains" in refused(3, "release", "plan.toml", "--out", "second", "--as", "second")
    assert not Path("second").exists()


def test_a_spend_of_all_that_remains_is_given_back_too(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "")
    assert "charged ρ = 0.5" in done("release", "plan.toml", "--out", "out")
    assert "no new charge" in done("release", "plan.toml", "--out", "out")
    assert "charge ρ = 0;" in done("quote", "plan.toml")


def test_a_spend_of_all_that_remains_leaves_nothing_where_roots_are_rounded(folder: Path) -> None:
    edit(folder, 'measure = "zcdp"\nrho = 0.5', 'measure = "gdp"\nmu = 0.5')
    done("release", "plan.toml", "--out", "out")
    edit(folder, '"Hours by gender"', '"All the rest"')
    edit(folder, "spend = 0.1\n", "")
    assert ", afterwards μ = 0. " in done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "rest")
    assert "no new charge" in done("release", "plan.toml", "--out", "rest")
    again = json.loads(done("quote", "plan.toml", "--json"))
    assert (again["charge"], again["remaining"]) == (["0"], ["0"])
    stored = json.loads((folder / "rest" / "release.json").read_text(encoding="utf-8"))
    assert again["releases"][0]["spend"] == stored["guarantee"]["measure"]


def test_errors_in_place_of_a_spend_are_met_for_the_least(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "error = { count = 20, hours = 1.5 }\n" + SECOND)
    quoted = json.loads(done("quote", "plan.toml", "--json"))["releases"][0]
    met = quoted["expected_error"]
    assert met["count"] <= 20
    assert met["hours"] <= 1.5
    spend = Fraction(quoted["spend"]["rho"])
    assert met["count"] > 19.9 or met["hours"] > 1.49, "no more than it takes"
    assert f"charged ρ = {number_text(spend)}" in done("release", "plan.toml", "--out", "out")
    assert Fraction(str(dp.Release.load("out/hours-by-gender").guarantee.measure.rho)) == spend
    assert "no new charge" in done("release", "plan.toml", "--out", "out")
    edit(folder, "hours = 1.5", "hours = 0.5")
    assert "another spend" in refused(2, "release", "plan.toml", "--out", "out")


def test_errors_that_cost_more_than_remains_leave_with_3(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "error = { count = 1 }\n")
    for command in (["check"], ["quote"], ["release", "--out", "out"]):
        assert "ρ = 0.5" in refused(3, command[0], "plan.toml", *command[1:])
    assert entries(folder) == []


def test_a_release_says_that_its_intervals_hold_together(folder: Path) -> None:
    done("release", "plan.toml", "--out", "each")
    edit(folder, "spend = 0.1\n", 'spend = 0.1\nintervals = "simultaneous"\n')
    assert "all intervals hold together" in done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "all", "--as", "all")
    each, every = dp.Release.load("each"), dp.Release.load("all")
    assert [one.document["interval"]["hold"] for one in (each, every)] == ["each", "simultaneous"]
    wide = [one.table["count_high"] - one.table["count_low"] for one in (each, every)]
    assert (wide[0] < wide[1]).all()
    assert "all intervals of this release together" in Path("all/report.html").read_text(encoding="utf-8")


def test_a_changed_plan_needs_a_new_name(folder: Path) -> None:
    """Row 32 of the catalogue."""
    done("release", "plan.toml", "--out", "out")
    edit(folder, "[16, 100]", "[18, 100]")
    assert "used in data set 'acs12'" in refused(2, "release", "plan.toml", "--out", "other")
    assert "note: the name 'Hours by gender' is used in the ledger" in done("check", "plan.toml")
    edit(folder, "rho = 0.5", "rho = 0.6")
    assert "was declared otherwise" in refused(2, "check", "plan.toml")


def test_as_names_a_repeated_run(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    done("release", "plan.toml", "--out", "again", "--as", "second run")
    assert dp.Release.load("again").name == "second run"
    assert dp.Release.load("again").digest != dp.Release.load("out").digest
    for name in ("", " x", "a\nb", "y" * 201):
        assert "--as=" in refused(2, "release", "plan.toml", "--out", "third", "--as", name)
    assert [name for kind, name in entries(folder) if kind == "reserve"] == ["Hours by gender", "second run"]


def test_names_become_folders_that_every_file_system_takes(folder: Path) -> None:
    order = load_plan("plan.toml").orders[0]
    names = ["A b", "a-b", "a b 2", "../x", "é / ü", "日本", "CON.", "x" * 100, "a.b"]
    orders = [rename_orders([order], name)[0] for name in names]
    folders = [path.name for path in folders_for(orders, Path("out"))]
    assert folders == ["a-b", "a-b-2", "a-b-2-2", "x", "e-u", "release", "con", "x" * 60, "a-b-3"]
    assert folders_for(orders[:1], Path("out")) == [Path("out")]
    assert [order.name for order in rename_orders(orders[:2], "May")] == ["May: A b", "May: a-b"]


def test_another_release_is_not_overwritten(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    assert "holds another release" in refused(2, "release", "plan.toml", "--out", "out", "--as", "second")
    Path("out/release.json").write_text('{"format": 99}', encoding="utf-8")
    assert "newer version of discreet" in refused(2, "release", "plan.toml", "--out", "out")
    assert len(entries(folder)) == 5


def test_a_folder_that_cannot_be_written_is_refused_before_the_charge(folder: Path) -> None:
    Path("link").symlink_to("nowhere")
    for out in ("plan.toml", "plan.toml/out", "link"):
        assert "cannot be written" in refused(2, "release", "plan.toml", "--out", out)
    assert entries(folder) == []


def test_a_source_with_other_rows_is_refused_before_the_charge(folder: Path) -> None:
    """Soundness 4: nothing is charged or fixed, and outside a terminal the number that was found is not shown."""
    edit(folder, "rows = 2000", "rows = 1999")
    for command in (["check", "plan.toml"], ["release", "plan.toml", "--out", "out"]):
        for form in ([], ["--json"]):
            message = refused(2, *command, *form)
            assert (
                "source: does not have the declared number of rows (rows=1999); this command spent and fixed nothing"
                in message
            )
            assert "2000" not in message
    assert not (folder / "budget.db").exists()
    assert not Path("out").exists()
    done("quote", "plan.toml")  # which reads no rows
    edit(folder, "rows = 1999", "rows = 2000")
    done("check", "plan.toml")
    done("release", "plan.toml", "--out", "out")


def test_rows_that_come_while_the_source_is_read_fail_after_the_charge(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(folder, "rows = 2000", "rows = 1999")
    monkeypatch.setattr(PublicFacts, "compare", lambda *_: False)
    message = refused(4, "release", "plan.toml", "--out", "out")
    assert message == f"discreet: 'Hours by gender': {ReleaseFailed.UNFINISHED}\n"
    assert entries(folder) == [("dataset", ""), ("reserve", "Hours by gender"), ("reading", "Hours by gender")]
    assert not Path("out").exists()
    shown = done("ledger", "show", "budget.db")
    assert "finishes it at no further charge (1 of 8 attempts have begun)" in shown


@pytest.mark.parametrize("is_terminal", [True, False])
def test_both_numbers_are_for_a_terminal(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    error = dp.RowsDiffer("source: other rows", 1999, 2000)
    assert on_terminal(error) == "source: other rows" + ".\nIt has 2,000 rows, and 1,999 are declared." * is_terminal
    assert on_terminal(dp.SourceError("source: gone")) == "source: gone"


def test_one_failed_release_does_not_take_the_others_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    compute = attempts._compute

    def failing(workshop: Any, job: Any, draw: Any) -> Any:
        if job.order.name == "persons":
            draw()
            raise ValueError("a secret value: 4711")
        return compute(workshop, job, draw)

    monkeypatch.setattr(attempts, "_compute", failing)
    result = run("release", "plan.toml", "--out", "out")
    assert result.exit_code == 4
    assert "4711" not in result.output
    assert result.stderr == f"discreet: 'persons': {ReleaseFailed.TEXT}\n"
    assert "Hours by gender: charged ρ = 0.1" in result.stdout
    assert "remaining: ρ = 0.35" in result.stdout
    assert sorted(path.name for path in Path("out").iterdir()) == ["hours-by-gender"]


def test_results_that_cannot_be_written_stay_in_the_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: dp.Release, folder: Path, *, formulas: str) -> Path:
        raise MemoryError("a secret value: 4711")

    with monkeypatch.context() as patch:
        patch.setattr(dp.Release, "save", failing)
        message = refused(4, "release", "plan.toml", "--out", "out")
    assert "was charged, but could not be written to 'out' (MemoryError)" in message
    assert "4711" not in message
    assert "no new charge" in done("release", "plan.toml", "--out", "other")


def test_an_interruption_after_the_reservation_leaves_with_4(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(workshop: Any, job: Any, draw: Any) -> None:
        if job.order.again:
            draw()
        raise KeyboardInterrupt

    said = "discreet: interrupted after 'Hours by gender' was charged; the charge stands and the ledger records it. "
    with monkeypatch.context() as patch:
        patch.setattr(attempts, "_compute", interrupted)
        message = refused(4, "release", "plan.toml", "--out", "out")
        assert message == said + "The same command finishes 'Hours by gender' at no further charge\n"
        assert entries(folder)[-1] == ("reading", "Hours by gender")
        message = refused(4, "release", "plan.toml", "--out", "out", "--again")
        assert message == (
            "discreet: interrupted while 'Hours by gender' was being finished. 'Hours by gender' can only be made with a "
            "new charge: add --again\n"
        )
    assert entries(folder)[-1] == ("fail", "Hours by gender")
    assert "`discreet release --again` makes it with a new charge" in done("ledger", "show", "budget.db")
    done("release", "plan.toml", "--out", "out", "--again")
    shown = done("ledger", "show", "budget.db")
    assert "; entry 7 was made in its place, with a charge of its own" in shown
    assert "`discreet release --again`" not in shown


def test_an_interruption_before_the_reservation_spends_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "release_all", interrupted)
    assert refused(130, "release", "plan.toml", "--out", "out") == "discreet: interrupted; nothing was spent\n"
    assert entries(folder) == []


def test_a_bug_after_the_reservation_leaves_with_4_and_says_nothing_of_the_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release_all = Session.release_all

    def failing(self: Session, orders: Any) -> Any:
        release_all(self, orders)
        raise ValueError("a secret value: 4711")

    monkeypatch.setattr(Session, "release_all", failing)
    message = refused(4, "release", "plan.toml", "--out", "out")
    assert "failed after 'Hours by gender' was charged" in message
    assert "4711" not in message


def test_release_report_and_consistent_answer_in_json(folder: Path) -> None:
    found = json.loads(done("release", "plan.toml", "--out", "out", "--json"))
    (one,) = found["releases"]
    assert (one["name"], one["folder"], one["charged"]) == ("Hours by gender", "out", True)
    assert one["files"] == FILES
    assert one["guarantee"]["effective"] == {"kind": "zcdp", "rho": "0.1"}
    assert one["digest"] == dp.Release.load("out").digest
    assert (found["budget"]["rho"], found["remaining"]["rho"]) == ("0.5", "0.4")
    again = json.loads(done("release", "plan.toml", "--out", "out", "--json"))
    assert again["releases"] == [{**one, "charged": False}]
    assert json.loads(done("report", "out", "--json")) == {"written": ["out/report.html"]}
    assert json.loads(done("consistent", "out", "--json")) == {"written": ["out/consistent.csv"]}
    assert len(json.loads(done("ledger", "export", "budget.db", "--json"))["entries"]) == 5


def test_a_release_shows_its_first_rows_and_no_interval_shrinks(folder: Path) -> None:
    shown = done("release", "plan.toml", "--out", "out").splitlines()
    table = dp.Release.load("out").table
    at = next(place for place, line in enumerate(shown) if line.split() == ["gender", "count", "hours"])
    for line, row in zip(shown[at + 1 :], table.iter_rows(named=True), strict=False):
        cells = re.split(r"  +", line.strip())
        assert cells[0] == (row["gender"] or "not known")
        for name, cell in zip(("count", "hours"), cells[1:], strict=True):
            *value, low, high = (float(part.replace("−", "-")) for part in re.findall(r"−?[0-9.]+", cell.replace(",", "")))
            assert len(value) == (not cell.startswith("– ("))
            if row[f"{name}_high"] < 0:
                continue  # an interval that misses the 0 rows of a group, as one in forty does, is shown as it is
            least = max(row[f"{name}_low"], 0)  # neither number of this plan can be negative
            assert 0 <= low <= least <= row[f"{name}_high"] <= high
            assert value == pytest.approx([row[name]] * len(value), abs=high - low)


def test_more_rows_than_fit_are_counted() -> None:
    numbers = {"count": [5] * 20, "count_low": [1] * 20, "count_high": [9] * 20}
    grid, more = number_grid(pl.DataFrame({"who": ["[b]<i>\x1b"] * 20, **numbers}))
    assert isinstance(grid, Grid)
    assert grid.rows == [("[b]<i>⟨U+001B⟩", "5 (1 – 9)")] * 12
    assert more == "  … and 8 more rows"
