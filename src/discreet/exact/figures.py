"""Numbers and names as people read them: rounded so that no interval shrinks, and without invisible characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from math import floor, isfinite, log10

from discreet.exact.numbers import decimal_up, text

__all__ = [
    "NO_NUMBER",
    "amount",
    "decimals_for",
    "enumerate_texts",
    "interval",
    "name",
    "number",
    "outwards",
    "percent_up",
    "plural",
]

NO_NUMBER = "–"
"""The mark in the place of a number that says nothing."""

_MOST_DECIMALS = 6
_LONG = 10**15
"""From here on numbers are written with an exponent."""

_JOINERS = {"\u200c", "\u200d"}
"""Invisible, but parts of words in several scripts and of emoji."""


def name(value: object) -> str:
    """A category, column or other name on one line; characters that cannot be seen are spelled out, ⟨U+202E⟩.

    Directional overrides and other invisible characters could make a name look like another one, or turn the text around
    it. What has a meaning in HTML is escaped by the template, not here.
    """
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "true" if value else "false"
    written = str(value)
    if written.isprintable():
        return written
    return "".join(char if _visible(char) else f"⟨U+{ord(char):04X}⟩" for char in written)


def plural(noun: str, many: int) -> str:
    """The noun for one or for several things: "row", "rows"."""
    return noun if many == 1 else f"{noun}s"


def enumerate_texts(texts: Sequence[str], last: str = "and") -> str:
    """The texts as an enumeration: "a, b and c", or with another word before the last one."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def _visible(char: str) -> bool:
    if char == " " or char in _JOINERS:
        return True
    return unicodedata.category(char) not in {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def decimals_for(halves: Sequence[float]) -> int:
    """The number of decimals that show two digits of the smallest half-width: enough to distinguish values, and known."""
    known = [half for half in halves if half > 0 and isfinite(half)]
    return min(max(0, 1 - floor(log10(min(known)))), _MOST_DECIMALS) if known else 0


def number(value: float | None, decimals: int = 0) -> str:
    """`value` to the nearest with `decimals` decimals and thousands separated: 1,414,593; "–" for none."""
    return NO_NUMBER if value is None else _write(value, decimals, ROUND_HALF_EVEN)


def interval(low: float, high: float, decimals: int = 0) -> str:
    """The text "low – high", rounded outwards: what is printed contains what was computed."""
    return " – ".join(outwards(low, high, decimals))


def outwards(low: float, high: float, decimals: int = 0) -> tuple[str, str]:
    """The two ends of an interval, the lower rounded down and the upper rounded up."""
    return _write(low, decimals, ROUND_FLOOR), _write(high, decimals, ROUND_CEILING)


def _write(value: float, decimals: int, rounding: str) -> str:
    if isinstance(value, int) and not decimals and abs(value) < _LONG:
        return f"{value:,}".replace("-", "−")
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if abs(exact) >= _LONG:
        with localcontext(prec=6, rounding=rounding):
            return f"{(+exact).normalize():e}".replace("-", "−")
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding)
    return f"{rounded + 0:,f}".replace("-", "−")  # adding 0 turns a negative zero into 0


def amount(written: str) -> str:
    """An exact amount from a release, as it is when that is short: "0.1", "1/3"; else rounded up to six digits, "≤ …"."""
    return written if len(written) <= 12 else f"≤ {decimal_up(Fraction(written))}"


def percent_up(share: float | Fraction) -> str:
    """A share in percent, rounded up to a tenth: "13.6 %"."""
    return f"{text(Fraction(-(-min(Fraction(share), Fraction(1)) * 1000 // 1), 10))}\u00a0%"
