"""`discreet approve` and `discreet ledger demand`: a board without data and ledger signs; `release` says who is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.builders import plan_text
from tests.signers import NAMES, key_file, public
from typer.testing import CliRunner

from discreet.cli import app, approving

PLAN = plan_text("approved")


READ = 'rows = 100\ncsv = { quote = "" }'
"""Another way of reading the same source."""


def run(code: int, *arguments: str, typed: str = "") -> str:
    result = CliRunner().invoke(app, list(arguments), input=typed)
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


@pytest.fixture(autouse=True)
def _an_office_and_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        key_file(tmp_path, name)
    (tmp_path / "board.pub").write_text("".join((tmp_path / f"{name}.pub").read_text() for name in NAMES))
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "d.csv").write_text("g\n" + "x\n" * 100)
    (tmp_path / "board").mkdir()
    for file in ("plan.toml", "board.pub"):
        shutil.copy(tmp_path / file, tmp_path / "board")
    monkeypatch.chdir(tmp_path)


def digest() -> str:
    return str(json.loads(run(0, "approve", "plan.toml", "--json"))["ledger"])


def test_a_board_without_data_and_ledger_signs_and_the_office_releases() -> None:
    refused = run(2, "release", "plan.toml", "--out", "out")
    assert "approved by 0 of 3 keys, and 2 must approve" in refused
    assert all(str(public(name)) in refused for name in NAMES)
    ledger = digest()
    shown = run(0, "approve", "board/plan.toml", "--key", "anna", "--ledger", ledger, "--yes")
    assert "it is not here: compare the digest" in shown
    for words in ("data set    d", "exactly 100 rows", "by g (ρ = 0.1)", "count by g", "noise rounded Gaussian", ledger):
        assert words in shown
    assert not Path("board/budget.db").exists()
    shutil.copytree("board/plan.approvals", "plan.approvals")
    assert "approved by 1 of 3 keys" in run(2, "release", "plan.toml", "--out", "out")
    run(0, "approve", "plan.toml", "--key", "ben", "--yes")
    assert "charged ρ = 0.1" in run(0, "release", "plan.toml", "--out", "out")
    report = Path("out/report.html").read_text()
    assert str(public("anna")) in report
    assert "2 signatures of approvals" in run(0, "ledger", "verify", "budget.db", "--releases", "out")
    shown = run(0, "ledger", "show", "budget.db")
    assert "releases of data set 'd' need the approval of 2 of 3 keys" in shown
    assert str(public("cleo")) in shown
    assert json.loads(run(0, "ledger", "show", "budget.db", "--json"))["demands"][0]["signatures"] == 2
    assert "nothing to sign" in run(0, "approve", "plan.toml")


def test_check_says_how_many_signatures_are_demanded_and_how_many_are_there() -> None:
    assert "2 of 3 keys must approve each release; nobody can before `discreet approve` has made" in run(
        0, "check", "plan.toml"
    )
    assert not Path("budget.db").exists()
    for number, name in enumerate(("anna", "ben")):
        shown = run(0, "check", "plan.toml") if number else ""
        assert not number or "note: 'by g': approved by 1 of 3 keys, and 2 must approve; missing 1 of " in shown
        run(0, "approve", "plan.toml", "--key", name, "--ledger", digest(), "--yes")
    assert "note: 'by g': approved by 2 of 3 keys, and 2 must approve\n" in run(0, "check", "plan.toml")
    Path("plan.toml").write_text(PLAN.replace("spend = 0.1", "spend = 0.2"))
    assert "approved by 0 of 3 keys, and 2 must approve; missing 2 of " in run(0, "check", "plan.toml")
    assert "ben has signed another spend, quote" in run(0, "check", "plan.toml")
    Path("plan.toml").write_text(PLAN)
    run(0, "release", "plan.toml", "--out", "out")
    assert "must approve" not in run(0, "check", "plan.toml"), "what is paid needs no signature"
    run(0, "ledger", "demand", "other.db", "--signatures", "1", "--keys", "board.pub")
    without = PLAN.replace('[approval]\nsignatures = 2\nkeys = "board.pub"\n', "").replace("budget.db", "other.db")
    Path("plan.toml").write_text(without)
    assert "approved by 0 of 3 keys, and 1 must approve" in run(0, "check", "plan.toml"), "the ledger demands it"


def test_a_plan_that_changes_after_it_was_signed_is_refused() -> None:
    for name in ("anna", "ben"):
        run(0, "approve", "plan.toml", "--key", name, "--ledger", digest(), "--yes")
    for old, new in (
        ("spend = 0.1", "spend = 0.2"),
        ('"x", "y"', '"x", "z"'),
        ('name = "by g"', 'name = "g"'),
        ("rows = 100", READ),
    ):
        Path("plan.toml").write_text(PLAN.replace(old, new))
        assert "has signed another" in run(2, "release", "plan.toml", "--out", "out")
    assert not Path("out/release.json").exists()
    Path("plan.toml").write_text(PLAN)
    run(0, "release", "plan.toml", "--out", "out")


def test_a_plan_without_the_demand_still_needs_the_signatures() -> None:
    run(0, "ledger", "demand", "budget.db", "--signatures", "1", "--keys", "board.pub")
    Path("plan.toml").write_text(PLAN.replace('[approval]\nsignatures = 2\nkeys = "board.pub"\n', ""))
    assert "1 must approve" in run(2, "release", "plan.toml", "--out", "out")
    run(0, "approve", "plan.toml", "--key", "cleo", "--yes")
    run(0, "release", "plan.toml", "--out", "out")


def test_it_asks_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = digest()
    assert "there is no terminal" in run(2, "approve", "plan.toml", "--key", "anna", "--ledger", ledger)
    monkeypatch.setattr(approving, "_is_terminal", lambda: True)
    for typed in ("n\n", "\n", ""):
        assert "nothing was signed" in run(2, "approve", "plan.toml", "--key", "anna", typed=typed)
    assert not Path("plan.approvals").exists()
    assert "Signed 1 approval" in run(0, "approve", "plan.toml", "--key", "anna", typed="y\n")


def test_another_ledger_than_the_one_that_was_named_is_refused() -> None:
    digest()
    assert "another first digest" in run(2, "approve", "plan.toml", "--key", "anna", "--ledger", "0" * 64, "--yes")
    assert "64 hexadecimal digits" in run(2, "approve", "plan.toml", "--ledger", "x")
    assert "add --ledger" in run(2, "approve", "board/plan.toml", "--key", "anna", "--yes")
    assert not Path("board/budget.db").exists()


def test_who_signs_before_there_is_a_ledger_is_told_both_steps() -> None:
    told = run(2, "approve", "plan.toml", "--key", "anna", "--yes")
    assert "'budget.db': there is no such file" in told
    assert "nothing was signed" in told
    assert not Path("budget.db").exists()
    assert not Path("plan.approvals").exists()
    assert "run `discreet approve plan.toml` first" in told
    said = run(0, "approve", "plan.toml")
    command = said.partition("To sign: discreet ")[2].split()
    assert "Signed 1 approval" in run(0, *command[:3], "anna", *command[4:], "--yes")


def test_releases_are_signed_one_by_one_and_under_the_name_of_a_run() -> None:
    assert "has no release 'x'" in run(2, "approve", "plan.toml", "--release", "x")
    for name in ("anna", "ben"):
        run(0, "approve", "plan.toml", "--release", "by g", "--as", "again", "--key", name, "--ledger", digest(), "--yes")
    assert "another release" in run(2, "release", "plan.toml", "--out", "out")
    run(0, "release", "plan.toml", "--out", "out", "--as", "again")


def test_a_key_that_others_can_read_is_refused() -> None:
    Path("anna").chmod(0o644)
    assert "chmod 600" in run(2, "approve", "plan.toml", "--key", "anna", "--ledger", digest(), "--yes")


def test_exact_totals_have_an_approval_of_their_own() -> None:
    columns = 'h = { type = "category", categories = ["x", "y"] }\n\n[invariants]\ntotals = [["g"]]\n\n[budget]'
    Path("plan.toml").write_text(PLAN.replace("\n[budget]", columns).replace('group_by = ["g"]', 'group_by = ["h"]'))
    Path("d.csv").write_text("g,h\n" + "x,y\n" * 100)
    shown = run(0, "approve", "plan.toml")
    assert "exact totals of g" in shown
    assert "nothing protects them" in shown
    assert "2 must approve" in run(2, "release", "plan.toml", "--out", "out")
    for name in ("anna", "cleo"):
        assert "Signed 2 approvals" in run(0, "approve", "plan.toml", "--key", name, "--yes")
    run(0, "release", "plan.toml", "--out", "out")
    assert "4 signatures" in run(0, "ledger", "verify", "budget.db", "--releases", "out")


def test_a_demand_changes_only_with_its_signatures() -> None:
    demand = ("ledger", "demand", "budget.db", "--dataset", "d")
    run(0, *demand, "--signatures", "2", "--keys", "board.pub")
    shutil.copy("cleo.pub", "new.pub")
    new = (*demand, "--signatures", "1", "--keys", "new.pub")
    assert "missing 2 of" in run(2, *new)
    assert "What is signed" in run(0, *new, "--key", "anna", "--yes")
    assert "missing 1 of" in run(2, *new)
    run(0, *new, "--key", "cleo", "--yes")
    assert "written as entry 2" in run(0, *new)
    assert "missing cleo" in run(2, *demand, "--signatures", "0")
    run(0, *demand, "--signatures", "0", "--key", "cleo", "--yes")
    assert "written as entry 3" in run(0, *demand, "--signatures", "0")
    assert "no such file" in run(2, "ledger", "demand", "other.db", "--signatures", "0", "--key", "anna", "--yes")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("signatures = 2", "'keys' is missing"),
        ("signatures = 0\nkeys = []", "1 or more"),
        ("signatures = true\nkeys = []", "1 or more"),
        ('signatures = 1\nkeys = "missing.pub"', "cannot be read"),
        ('signatures = 1\nkeys = ["ssh-rsa AAAA anna"]', "'ssh-rsa'"),
        ('signatures = 4\nkeys = "board.pub"', "3 different keys"),
        ('signatures = 1\nkeys = ""', "path of a file"),
        ("signatures = 1\nkeys = [1]", "must be a text"),
        (f'signatures = 1\nkeys = ["{public("anna").text} anna", "{public("anna").text} ben"]', "on the list twice"),
    ],
)
def test_a_section_that_cannot_be_met_is_refused_with_its_place(section: str, said: str) -> None:
    Path("plan.toml").write_text(PLAN.replace('signatures = 2\nkeys = "board.pub"', section))
    message = run(2, "check", "plan.toml")
    assert "plan.toml:" in message
    assert said in message
