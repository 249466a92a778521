"""`discreet ledger`: older copies are found by the releases, exports can be followed, exact totals are shown."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from tests.builders import drawn, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet import datasets
from discreet.cli import app
from discreet.exact.canonical import canonical
from discreet.ledger import Identity, Ledger, Publication, Reservation, entry_digest
from discreet.releases.document import make_release
from discreet.session.orders import Order

WHO = Identity("wages", '{"invariants":["by state"]}', "zcdp", (Fraction(1),))


def asks(name: str) -> Reservation:
    return Reservation(name, (Fraction(1, 10),), "plan", b"source")


def run(code: int, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["ledger", *arguments])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def saved(name: str, shown: object, folder: str | None = None) -> bytes:
    """A release that shows an entry of the ledger, in a folder of its name."""
    content = {"name": name, "dataset": WHO.dataset, "guarantee": {}, "columns": [], "ledger": shown}
    payload = make_release(content).payload
    place = Path("out", folder or name)
    place.mkdir(parents=True, exist_ok=True)
    (place / "release.json").write_bytes(payload)
    return payload


def released(ledger: Ledger, *names: str) -> None:
    """Releases of one command, committed and written to folders of their names."""
    numbers = ledger.reserve(WHO, [asks(name) for name in names])
    for name, number in zip(names, numbers, strict=True):
        ledger.commit(drawn(ledger, number), saved(name, {"sequence": number, "head": ledger.head()}))


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """budget.db with exact totals at the second attempt, a copy of it, then two releases of one command in out/."""
    monkeypatch.chdir(tmp_path)
    with Ledger.open("budget.db") as opened:
        opened.fail(opened.publish(WHO, Publication("totals by state", "plan", b"source")))
        opened.commit(opened.publish(WHO, Publication("totals by state", "plan", b"source")), b"totals")
        shutil.copy("budget.db", "older.db")
        released(opened, "a", "b")
        yield opened


def test_the_newest_ledger_has_every_release(ledger: Ledger) -> None:
    assert "2 releases in out: all are in this ledger" in run(0, "verify", "budget.db", "--releases", "out")
    assert "1 release in out/a: all are in this ledger" in run(0, "verify", "budget.db", "--releases", "out/a")
    assert json.loads(run(0, "verify", "budget.db", "--releases", "out", "--json"))["releases"] == 2
    assert "releases" not in json.loads(run(0, "verify", "budget.db", "--json"))


def test_releases_of_a_session_are_of_its_ledger(tmp_path: Path) -> None:
    schema = dp.Schema(gender=dp.Category(["female", "male"]))
    with session_over(datasets.path("acs12"), schema, dataset="acs12", ledger=tmp_path / "l.db") as session:
        request = session.table.agg(dp.count())
        for answer in session.release_all([Order(request, "0.1", name) for name in ("first", "second")]):
            assert isinstance(answer, dp.Release)
            answer.save(tmp_path / answer.name)
    assert "2 releases" in run(0, "verify", str(tmp_path / "l.db"), "--releases", str(tmp_path))


def test_an_older_copy_and_another_ledger_are_found_out(ledger: Ledger) -> None:
    assert "is intact" in run(0, "verify", "older.db")
    message = run(2, "verify", "older.db", "--releases", "out")
    assert "does not have 2 of 2 releases: 'out/a/release.json', 'out/b/release.json'. It is an older copy" in message
    with Ledger.open("older.db") as older:  # the same again after the rollback is not the same
        older.commit(drawn(older, older.reserve(WHO, [asks("a")])[0]), Path("out/a/release.json").read_bytes())
    assert "does not have 2 of 2" in run(2, "verify", "older.db", "--releases", "out")


def test_a_copy_from_between_reservation_and_commit_is_found_out(ledger: Ledger) -> None:
    (number,) = ledger.reserve(WHO, [asks("c")])
    head = ledger.head()
    shutil.copy("budget.db", "older.db")
    ledger.commit(drawn(ledger, number), saved("c", {"sequence": number, "head": head}))
    assert "3 releases" in run(0, "verify", "budget.db", "--releases", "out")
    assert "does not have 1 of 3 releases: 'out/c/release.json'" in run(2, "verify", "older.db", "--releases", "out")


@pytest.mark.parametrize(
    "shown",
    [None, {}, {"sequence": "7", "head": ""}, {"sequence": 7, "head": 7}, {"sequence": 7, "head": "0" * 64}],
    ids=str,
)
def test_a_release_that_shows_no_entry_of_the_ledger_is_not_of_it(ledger: Ledger, shown: object) -> None:
    (number,) = ledger.reserve(WHO, [asks("c")])
    assert number == 14
    ledger.commit(drawn(ledger, number), saved("c", shown))
    assert "'out/c/release.json'" in run(2, "verify", "budget.db", "--releases", "out")


def test_a_head_from_before_the_reservation_is_not_its_own(ledger: Ledger) -> None:
    before = ledger.head()
    (number,) = ledger.reserve(WHO, [asks("c")])
    ledger.commit(drawn(ledger, number), saved("c", {"sequence": number, "head": before}))
    assert "'out/c/release.json'" in run(2, "verify", "budget.db", "--releases", "out")


def test_changed_files_and_folders_without_releases_are_named(ledger: Ledger) -> None:
    assert "'none' has no release.json in it" in run(2, "verify", "budget.db", "--releases", "none")
    changed = Path("out/b/release.json")
    changed.write_bytes(changed.read_bytes().replace(b'"b"', b'"c"'))
    assert "'out/b/release.json' is not a release as it was written" in run(2, "verify", "budget.db", "--releases", "out")
    saved("forged", json.loads(Path("out/a/release.json").read_bytes())["ledger"], folder="b")
    assert "does not have 1 of 2 releases: 'out/b/release.json'" in run(2, "verify", "budget.db", "--releases", "out")


def test_an_export_has_every_entry_and_its_chain_can_be_followed(ledger: Ledger) -> None:
    lines = [json.loads(line) for line in run(0, "export", "budget.db").splitlines()]
    assert " ".join(line["kind"] for line in lines) == (
        "dataset publish fail publish commit reserve reserve reading drawing commit reading drawing commit"
    )
    for before, line in pairwise(lines):
        body = canonical({name: value for name, value in line.items() if name != "digest"})
        assert line["digest"] == entry_digest(before["digest"], body)
    assert lines[-1]["digest"] == ledger.head()
    assert "there is no such file" in run(2, "export", "none.db")
    assert not Path("none.db").exists()


def test_exact_totals_are_shown_without_a_charge(ledger: Ledger) -> None:
    shown = run(0, "show", "budget.db")
    rows = [line.split() for line in shown.splitlines() if "totals by state" in line]
    assert [(row[0], row[3]) for row in rows] == [("2", "failed"), ("4", "committed")]
    assert all(" ".join(row[4:7]) == "exact, no charge" for row in rows)
    (account,) = json.loads(run(0, "show", "budget.db", "--json"))["datasets"]
    assert [(one["entry"], one["state"], one["charge"]) for one in account["publications"]] == [
        (2, "failed", []),
        (4, "committed", []),
    ]
    assert [one["name"] for one in account["releases"]] == ["a", "b"]
