"""How the ledger's refusals are worded."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

from discreet.ledger.rules import _exceeded, _short


def test_sixty_letters_of_a_declaration_are_shown() -> None:
    assert _short("x" * 60) == "x" * 60
    assert _short("x" * 61) == "x" * 60 + "…"
    assert _short("") == ""
    assert _short(None) == "absent"


def test_a_refusal_says_by_how_much_each_coordinate_is_over() -> None:
    identity = SimpleNamespace(dataset="d", measure="approx-dp")
    wanted, left = (Fraction(1), Fraction(1, 10**7)), (Fraction(1, 4), Fraction(1, 10**6))
    assert "over by 0.75, 0 " in str(_exceeded(identity, wanted, left)).replace("(0.75, 0)", "0.75, 0")  # type: ignore[arg-type]
