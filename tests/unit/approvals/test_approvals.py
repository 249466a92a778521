"""A signature is of one text; a demand counts different keys; a file of an approval is what it says or is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.signers import board, key_file, public, signed

import discreet as dp
from discreet.approvals.demand import demand_from, require_met, signed_by
from discreet.approvals.files import approvals_folder, approvals_in, read_approval, write_approval
from discreet.approvals.signing import ask_on_terminal, is_signed
from discreet.approvals.statements import ChangeStatement, ReleaseStatement, TotalsStatement, document, statement_of
from discreet.exact.canonical import canonical

RELEASE = ReleaseStatement("0" * 64, "d", "r", "{}", "plan", "{}", "zcdp", '{"rho":"0.1"}', ("0.1",), "quote")
TOTALS = TotalsStatement("0" * 64, "d", "{}", "totals", "schema", "{}")
CHANGE = ChangeStatement("0" * 64, "d", 1, (public("anna").text,), "mark")


@pytest.mark.parametrize("statement", [RELEASE, TOTALS, CHANGE])
def test_a_statement_is_read_from_exactly_its_text(statement: ReleaseStatement | TotalsStatement | ChangeStatement) -> None:
    text = document(statement)
    assert statement_of(text) == statement
    heading, body, _ = text.split("\n")
    values = json.loads(body)
    others = [
        text[:-1],
        text + "\n",
        text.replace("version 1", "version 2"),
        f"{heading}\n{json.dumps(values, indent=1)}\n",
        f"{heading}\n{canonical({**values, 'more': 1})}\n",
        *(f"{heading}\n{canonical({key: one for key, one in values.items() if key != left})}\n" for left in values),
        *(f"{heading}\n{canonical({**values, key: None})}\n" for key in values),
        *(f"{heading}\n{canonical({**values, key: 1.5})}\n" for key in values),
        f"{heading}\n{'[' * 100_000}\n",
        "",
    ]
    for other in others:
        with pytest.raises(dp.ArgumentError, match="not a text that this version"):
            statement_of(other)


def test_texts_of_different_kinds_begin_differently() -> None:
    kinds = [RELEASE.HEADING, TOTALS.HEADING, CHANGE.HEADING]
    assert len(set(kinds)) == 3
    assert not any(one != other and one.startswith(other) for one in kinds for other in kinds)
    assert not any(one.startswith(("SSHSIG", "\0")) for one in kinds)  # what the same keys sign for ssh


def test_equal_keys_count_once_whatever_they_are_called() -> None:
    (approval,) = signed(RELEASE, "anna")
    again = replace(approval, key=replace(approval.key, name="anna's second name"))
    assert signed_by(board(), document(RELEASE), [(one.key, one.signature) for one in (approval, again, approval)]) == (
        public("anna"),
    )
    with pytest.raises(dp.NotApproved, match="approved by 1 of 3 keys, and 2 must approve"):
        require_met(board(), RELEASE, [approval, again, approval], "release 'r'")
    with pytest.raises(dp.ArgumentError, match="on the list twice"):
        dp.Demand(1, (public("anna"), replace(public("anna"), name="ben")))


def test_who_is_missing_is_named_with_what_they_have_signed_instead() -> None:
    given = signed(RELEASE, "anna") + signed(replace(RELEASE, plan="other", amounts=("0.2",)), "ben")
    with pytest.raises(dp.NotApproved) as refused:
        require_met(board(3), RELEASE, given, "release 'r'")
    message = str(refused.value)
    assert f"missing {public('cleo')}" in message or f", {public('cleo')}" in message
    assert str(public("ben")) in message
    assert str(public("anna")) not in message
    assert "ben has signed another plan, amounts" in message


def test_foreign_and_damaged_signatures_do_not_count() -> None:
    stranger = signed(RELEASE, "dora")
    (approval,) = signed(RELEASE, "anna")
    damaged = replace(approval, signature=bytes(64))
    borrowed = replace(approval, key=public("ben"))
    for given in (stranger, [damaged], [borrowed], [replace(approval, signature=b"")]):
        assert not signed_by(board(), document(RELEASE), [(one.key, one.signature) for one in given])
    assert not is_signed(document(TOTALS), approval.key, approval.signature)


@pytest.mark.parametrize(("signatures", "names"), [(0, ("anna",)), (2, ("anna",)), (-1, ()), (True, ("anna",)), (1, ())])
def test_a_demand_that_nobody_or_everybody_meets_is_refused(signatures: int, names: tuple[str, ...]) -> None:
    with pytest.raises(dp.ArgumentError, match="signatures="):
        board(signatures, names)


def test_a_demand_is_read_back_with_its_names() -> None:
    demand = demand_from(json.loads(canonical(board().to_json())))
    assert demand == board()
    assert {key.name for key in demand.keys} == {"anna", "ben", "cleo"}
    for stated in (
        None,
        {},
        {"signatures": 1, "keys": "x"},
        {"signatures": 1, "keys": ["x"]},
        {**board().to_json(), "x": 1},
    ):
        with pytest.raises(dp.ArgumentError):
            demand_from(stated)


def test_approvals_wait_in_a_folder(tmp_path: Path) -> None:
    folder = approvals_folder(tmp_path / "plan.toml")
    assert approvals_in(folder) == ()
    anna, ben = signed(RELEASE, "anna", "ben")
    places = [write_approval(one, folder) for one in (anna, ben)]
    (folder / "notes.txt").write_text("not an approval, and not looked at")
    assert {one.key for one in approvals_in(folder)} == {public("anna"), public("ben")}
    assert folder == tmp_path / "plan.approvals"
    (newer,) = signed(replace(RELEASE, plan="newer"), "anna")
    assert write_approval(newer, folder) == places[0]
    assert {one.statement for one in approvals_in(folder)} == {RELEASE, newer.statement}


def test_every_change_of_a_file_is_refused(tmp_path: Path) -> None:
    (approval,) = signed(RELEASE, "anna")
    place = write_approval(approval, tmp_path)
    content = json.loads(place.read_text())
    (other,) = signed(RELEASE, "ben")
    changed = [
        {**content, "statement": document(replace(RELEASE, release="s"))},
        {**content, "key": other.key.text},
        {**content, "signature": "AAAA"},
        {**content, "signature": "*"},
        {**content, "format": "discreet approval 2"},
        {**content, "key": "ssh-rsa AAAA"},
        {**content, "more": ""},
        {key: one for key, one in content.items() if key != "key"},
        {**content, "signature": None},
        [],
    ]
    assert read_approval(place) == approval
    for one in changed:
        place.write_text(json.dumps(one))
        with pytest.raises(dp.ArgumentError, match="approval '"):
            approvals_in(tmp_path)
    for junk in (b"", b"\xff", b"{" * 50_000, b" " * 200_000):
        place.write_bytes(junk)
        with pytest.raises(dp.ArgumentError, match="approval '"):
            approvals_in(tmp_path)


def test_a_pipe_among_the_approvals_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.approval")
    with pytest.raises(dp.ArgumentError, match="not a regular file"):
        approvals_in(tmp_path)


def test_approve_signs_with_a_file(tmp_path: Path) -> None:
    assert dp.approve(RELEASE, key_file(tmp_path, "anna")) == signed(RELEASE, "anna")[0]
    path = key_file(tmp_path, "ben", "secret")
    assert dp.approve(RELEASE, path, ask=lambda _: "secret") == signed(RELEASE, "ben")[0]


def test_a_passphrase_is_never_read_where_it_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    import getpass
    import warnings

    def seen(_: str) -> str:
        warnings.warn("echoed", getpass.GetPassWarning, stacklevel=2)
        return "secret"

    monkeypatch.setattr(getpass, "getpass", seen)
    with pytest.raises(dp.ArgumentError, match="no terminal"):
        ask_on_terminal("passphrase: ")
