"""How the ledger's refusals are worded."""

from __future__ import annotations

from discreet.ledger.rules import _short


def test_sixty_letters_of_a_declaration_are_shown() -> None:
    assert _short("x" * 60) == "x" * 60
    assert _short("x" * 61) == "x" * 60 + "…"
    assert _short("") == ""
    assert _short(None) == "absent"
