"""Draws of a file from a population that keep secret who was drawn; and designs from which nothing follows.

Charges and noise protect the rows of the file in any case. A draw that is declared adds what the total of all charges
promises to everybody who could have been drawn (W2 of docs/proofs/samples.md). It needs that the data of one person change
nothing about the draw of others; W4 shows for each refused design what happens otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar, TypeGuard, cast

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import number
from discreet.exact.names import one_form
from discreet.exact.numbers import Amount, exact, text

__all__ = ["Draw", "Poisson", "WithoutReplacement", "draw_of", "draws", "is_draw", "refuse_design"]

_NO_DRAW = "declare no draw: the guarantee is then the guarantee for the rows of the file, given who was drawn"
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "stratified": "strata that are sampled in proportion to their sizes are refused: one more person can change the "
        "numbers drawn from all strata at once, so that a table of strata reveals more than it would without a sample",
        "cluster": "a sample of clusters is refused: a result that differs between clusters tells which of them was drawn, "
        "and then nobody in it is hidden by the draw",
        "size": "a draw with probability in proportion to size is refused: one more person changes the probabilities of "
        "all others",
        "systematic": "a systematic draw from a list is refused: one more person moves everybody behind",
        "quota": "a quota sample is refused: who is taken depends on who else was there",
        "balanced": "a balanced sample is refused: who is taken depends on the data of others",
        "multi-stage": "a draw in several stages is refused: its first stage is a sample of clusters",
    }
)
"""Designs in which the data of one person change the draw of others, each with the reason (W4)."""


@dataclass(frozen=True, slots=True)
class Poisson:
    """Every person of the population is in the file with probability at most `rate`, independently of all others.

    The probability may differ by person if it is a function of the person's own data only; `rate` is the largest one.

    Args:
        rate: above 0 and at most 1.
        draw: a name of the draw; data sets about the same persons of one draw give the same name, and share one budget.
    """

    rate: Fraction
    draw: str

    word: ClassVar[str] = "poisson"
    """The name of the design in plan files and documents."""
    fields: ClassVar[tuple[str, ...]] = ("rate",)
    """Its keys in plan files and documents, besides the name of the draw."""

    def __init__(self, rate: Amount, *, draw: str = "") -> None:
        share = exact(rate, "rate")
        if not 0 < share <= 1:
            raise ArgumentError(f"rate={text(share)}: must be above 0 and at most 1: the largest probability of being drawn")
        object.__setattr__(self, "rate", share)
        object.__setattr__(self, "draw", _check_name(draw))

    def rate_of(self, rows: int | None) -> Fraction:  # noqa: ARG002
        """The largest probability with which a person is drawn."""
        return self.rate

    def check(self, rows: int | None, rows_per_person: int) -> None:  # noqa: ARG002
        """Checks that the number of rows of the file is private, because it says how many were drawn.

        Raises:
            ArgumentError: it is declared public.
        """
        if rows is not None:
            raise ArgumentError(
                f"sampled=Poisson(…): the number of rows of such a sample is random, and rows={rows} would be public; "
                "declare AddRemove(sampled=…), or WithoutReplacement(of=…) for a sample of fixed size"
            )

    def to_json(self) -> dict[str, object]:
        """The draw as canonical JSON values."""
        return {"design": self.word, "rate": text(self.rate), "draw": self.draw}

    def words(self) -> str:
        """A few words: how the persons were drawn."""
        return f"each person drawn independently, with probability at most {text(self.rate)}"


@dataclass(frozen=True, slots=True)
class WithoutReplacement:
    """The rows of the file are a uniformly drawn subset of a population of `of` persons, each with one row.

    Args:
        of: the public number of persons in the population, at least the number of rows of the file.
        draw: as for `Poisson`.
    """

    of: int
    draw: str

    word: ClassVar[str] = "without-replacement"
    fields: ClassVar[tuple[str, ...]] = ("of",)

    def __init__(self, of: int, *, draw: str = "") -> None:
        if isinstance(of, bool) or not isinstance(of, int) or not 1 <= of < 2**60:
            raise ArgumentError(f"of={printed(of)}: must be a whole number of at least 1: the size of the population")
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "draw", _check_name(draw))

    def rate_of(self, rows: int | None) -> Fraction:
        """The probability with which each person is drawn: rows/of."""
        self.check(rows, 1)
        return Fraction(cast("int", rows), self.of)

    def check(self, rows: int | None, rows_per_person: int) -> None:
        """Checks that the number of rows of the file is public, at most `of`, and that a person has one row.

        Raises:
            ArgumentError: otherwise.
        """
        if rows is None:
            raise ArgumentError(
                "sampled=WithoutReplacement(…): the size of such a sample is fixed and public; declare "
                "ReplaceOne(rows=…, sampled=…), or Poisson(rate) where each person was drawn independently"
            )
        if rows > self.of:
            raise ArgumentError(f"rows={rows}: must be at most the size of the population, of={self.of}")
        if rows_per_person != 1:
            raise ArgumentError(
                f"rows_per_person={rows_per_person}: a sample without replacement is of persons with one row each; "
                "otherwise its number of rows would tell who was drawn. Declare AddRemove(…, sampled=Poisson(…)), or no draw"
            )

    def to_json(self) -> dict[str, object]:
        """The draw as canonical JSON values."""
        return {"design": self.word, "of": self.of, "draw": self.draw}

    def words(self) -> str:
        """A few words: how the persons were drawn."""
        return f"drawn without replacement from {number(self.of)} persons"


Draw = Poisson | WithoutReplacement

_DRAWS: tuple[type[Draw], ...] = (Poisson, WithoutReplacement)


def draws() -> tuple[type[Draw], ...]:
    """Every design from which a guarantee for the population follows."""
    return _DRAWS


def is_draw(value: object) -> TypeGuard[Draw]:
    """True if the value is a draw of the registry."""
    return type(value) in _DRAWS


def draw_of(written: Mapping[str, object]) -> Draw:
    """The draw that `to_json` has written, or a plan file.

    Raises:
        ArgumentError: the design is unknown or refused, or its numbers are out of range.
    """
    word = written.get("design")
    known = {kind.word: kind for kind in _DRAWS}
    if not isinstance(word, str) or word not in known:
        raise refuse_design(word)
    facts = {key: value for key, value in written.items() if key != "design"}
    return known[word](**facts)  # type: ignore[arg-type]  # it checks its numbers itself


def refuse_design(value: object) -> ArgumentError:
    """The refusal of what is not a draw: for a known design with the reason and what to do instead."""
    known = [kind.word for kind in _DRAWS]
    if isinstance(value, str) and value in _REFUSED:
        return ArgumentError(f"sampled='{value}': {_REFUSED[value]}; {_NO_DRAW}")
    if isinstance(value, str):
        return ArgumentError(f"sampled='{value}' is unknown{did_you_mean(value, [*known, *_REFUSED])}")
    return ArgumentError(f"sampled={printed(value)}: must be Poisson(rate), WithoutReplacement(of=…), or None")


def _check_name(name: object) -> str:
    """The name of a draw in the form in which names are compared; empty for none."""
    kept = one_form(name) if isinstance(name, str) else None
    if kept is None or kept != kept.strip() or len(kept) > 200 or not kept.isprintable():
        raise ArgumentError(f"draw={printed(name)}: must be printable text of at most 200 characters")
    return kept
