"""Entries that say that rows were inspected: before or after a declaration, at no charge, and under one name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from discreet.errors import ArgumentError, LedgerError
from discreet.ledger import Ledger, entry_body, entry_digest
from discreet.ledger import account as account_module

from .declared import amounts, asks, identity


def test_it_declares_nothing_and_costs_nothing(ledger: Ledger) -> None:
    assert ledger.inspect("wages") == 1
    assert (ledger.datasets(), ledger.inspected("wages"), ledger.inspected("other")) == ((), 1, 0)
    ledger.reserve(identity(1), [asks("a", "0.1")])
    assert ledger.inspect("wages") == 4
    assert ledger.inspected("wages") == 1, "the first look"
    assert ledger.spent("wages") == amounts("0.1")
    assert [entry.kind for entry in ledger.entries("wages")] == ["inspect", "dataset", "reserve", "inspect"]
    assert ledger.verify().intact


def test_it_survives_and_is_found_under_the_other_spelling(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.inspect("Zu\u0308rich")
    with Ledger.open(tmp_path / "l.db") as ledger:
        assert ledger.inspected("Z\u00fcrich") == 1
        assert ledger.verify().intact


def test_a_name_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l.db") as ledger:
        for name in ("", "a\nb", " a"):
            with pytest.raises(ArgumentError):
                ledger.inspect(name)
        assert not (tmp_path / "l.db").exists()


def test_an_inspection_with_a_charge_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = account_module.inspecting

    def charged(book, dataset):
        entry = replace(honest(book, dataset), charge=amounts("0.1"))
        return replace(entry, digest=entry_digest(book.digest, entry_body(entry)))

    monkeypatch.setattr(account_module, "inspecting", charged)
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.inspect("wages")
    with pytest.raises(LedgerError, match="inspects rows at a charge"), Ledger.open(tmp_path / "l.db") as ledger:
        ledger.datasets()
