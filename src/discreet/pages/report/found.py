"""How groups that nobody listed were found: the rounds, and which part of the guarantee paid for them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

from discreet.exact.figures import name
from discreet.exact.numbers import decimal_text, decimal_up, exact
from discreet.pages.words import Words

__all__ = ["delta_words", "found_words", "noise_words"]


def found_words(document: Mapping[str, Any], words: Words) -> str:
    """The rounds with their thresholds, and the groups that no round has found; empty where all groups are in the plan."""
    found = document.get("discovery")
    if found is None:
        return ""
    rounds = [_round_words(one, number, words) for number, one in enumerate(found["rounds"], 1)]
    told = [words("report.found.rounds", column=name(found["column"]), rounds=words.enumerate(rounds))]
    if "most" in found:
        told.append(words("report.found.most", n=words.number(found["most"])))
    if "known" in found:
        told.append(words("report.found.known", names=words.enumerate([name(one) for one in found["known"]])))
    if "other" in found:
        told.append(words("report.found.other"))
    return " ".join(told)


def _round_words(one: Mapping[str, str], number: int, words: Words) -> str:
    unit = exact(one["unit"], "unit")
    return words(
        "report.found.round",
        n=words.number(number),
        threshold=words.figures(decimal_text(exact(one["threshold"], "threshold") / unit, 4)),
        deviation=words.figures(f"{sqrt(exact(one['variance'], 'variance') / unit**2):.4g}"),
    )


def delta_words(document: Mapping[str, Any], words: Words, *, rest: bool) -> str:
    """The δ that paid for names; `rest` says that what follows is about the rest of δ. Empty without rounds."""
    if "discovery" not in document:
        return ""
    delta = sum((exact(one["delta"], "delta") for one in document["discovery"]["rounds"]), Fraction(0))
    return words("report.found.delta_rest" if rest else "report.found.delta", delta=words.figures(decimal_up(delta, 4)))


def noise_words(document: Mapping[str, Any], symbol: str, words: Words) -> str:
    """The part of the noise's guarantee that paid for the rounds; empty without rounds."""
    if "discovery" not in document:
        return ""
    share = f"{words.figures(decimal_text(100 * exact(document['discovery']['share'], 'share'), 3))}\u00a0%"
    return words("report.found.noise", share=share, symbol=symbol)
