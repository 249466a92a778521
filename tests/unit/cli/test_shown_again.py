"""`report` and `ledger`: what was released is shown again, and nothing is spent."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

from discreet.ledger import Ledger

from .commands import SECOND, done, edit, refused


def test_report_writes_the_page_again(folder: Path) -> None:
    edit(folder, "spend = 0.1\n", "spend = 0.1\n" + SECOND)
    done("release", "plan.toml", "--out", "out")
    page = Path("out/persons/report.html").read_bytes()
    Path("out/persons/report.html").unlink()
    assert done("report", "out").splitlines() == ["out/hours-by-gender/report.html", "out/persons/report.html"]
    assert Path("out/persons/report.html").read_bytes() == page
    assert done("report", "out/persons") == "out/persons/report.html\n"
    assert "no release.json there" in refused(2, "report", "none")
    Path("out/persons/release.json").write_text("{}", encoding="utf-8")
    assert "release" in refused(2, "report", "out/persons")


def test_ledger_show_and_verify(folder: Path) -> None:
    assert "there is no such file" in refused(2, "ledger", "show", "budget.db")
    assert "there is no such file" in refused(2, "ledger", "verify", "budget.db")
    assert not Path("budget.db").exists()
    done("release", "plan.toml", "--out", "out")
    shown = done("ledger", "show", "budget.db")
    assert "data set 'acs12' (zcdp)" in shown
    assert re.search(r"remaining +ρ = 0.4\n", shown)
    assert re.search(r"committed +ρ = 0.1 +Hours by gender\n", shown)
    assert done("ledger", "show", "budget.db", "--dataset", "acs12") == shown
    assert "did you mean 'acs12'" in refused(2, "ledger", "show", "budget.db", "--dataset", "acs21")
    facts = json.loads(done("ledger", "show", "budget.db", "--json"))
    (account,) = facts["datasets"]
    assert (account["spent"], account["remaining"]) == (["0.1"], ["0.4"])
    assert account["releases"][0]["state"] == "committed"

    assert done("ledger", "verify", "budget.db").startswith("budget.db is intact: 5 entries\n")
    assert json.loads(done("ledger", "verify", "budget.db", "--json"))["head"] == facts["head"]
    content = Path("budget.db").read_bytes()
    Path("budget.db").write_bytes(content.replace(b"Hours by gender", b"Hours by fender", 1))
    assert "is damaged at entry" in refused(2, "ledger", "verify", "budget.db")
    assert "is damaged" in refused(2, "ledger", "show", "budget.db")
    Path("budget.db").write_bytes(content[: len(content) // 2])
    refused(2, "ledger", "verify", "budget.db")


def test_a_ledger_of_another_program_is_shown_in_its_own_amounts(folder: Path) -> None:
    from discreet.ledger import Identity, Reservation

    identity = Identity("other", '{"anything":1}', "rdp", (Fraction(1), Fraction(1, 3)))
    with Ledger.open("budget.db") as ledger:
        ledger.reserve(identity, [Reservation("one", (Fraction(1, 7), Fraction(0)), "digest", b"source")])
    shown = done("ledger", "show", "budget.db")
    assert re.search(r"budget +1, 1/3\n", shown)
    assert re.search(r"reserved +1/7, 0 +one\n", shown)
