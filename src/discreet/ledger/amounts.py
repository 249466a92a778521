"""Exact amounts in the coordinates in which a measure adds: their texts, their rules, and sums that are fast to check."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from discreet.errors import ArgumentError
from discreet.exact.numbers import text

__all__ = [
    "Amounts",
    "Meter",
    "amounts_from",
    "amounts_text",
    "fits",
    "is_short",
    "least",
    "minus",
    "plus",
    "require_amounts",
    "show",
    "spent_after",
]

Amounts = tuple[Fraction, ...]
"""One amount for each coordinate: (ε), (ε, δ), (ρ), (μ²), or one for each RDP order."""

# Above this length sums would become slow to add and unreadable by `exact`; 1e-1000 (3322 bits) still fits. The bound
# on the denominator of a *total* keeps loading linear in the number of entries, whatever fractions are spent.
_MAX_BITS = 3600
_MAX_STEPS = 1000  # remembered by a meter: most charges of a data set are one of a few


def amounts_text(amounts: Amounts) -> list[str]:
    """The exact texts of the amounts, "0.1" or "1/3"; `amounts_from` reads them back."""
    return [text(amount) for amount in amounts]


def amounts_from(texts: list[str]) -> Amounts:
    """The amounts that `amounts_text` wrote.

    Raises:
        ValueError: it wrote something else.
    """
    return tuple([Fraction(*_ratio(written)) for written in texts])


def _ratio(written: str) -> tuple[int, int]:
    """Numerator and positive denominator, not reduced."""
    # `exact` does the same with more checks, five times slower; here the digest of the entry vouches for the text.
    whole, _, decimals = written.partition(".")
    if decimals:
        return int(whole + decimals), 10 ** len(decimals)
    numerator, _, denominator = written.partition("/")
    ratio = int(numerator), int(denominator or 1)
    if ratio[1] <= 0:
        raise ValueError("has an amount with a denominator below 1")
    return ratio


@dataclass(slots=True)
class Meter:
    """One coordinate of what is spent and of the budget, as integers over one denominator.

    So a charge is one integer addition, where fractions would need greatest common divisors. `steps` remembers the
    charges that came before in units of 1/denominator.
    """

    denominator: int
    spent: int
    budget: int
    steps: dict[str, int] = field(default_factory=dict, repr=False)


def spent_after(meter: Meter, charge: str) -> int:
    """The value of `meter.spent` after a charge, given as `amounts_text` writes it; the amounts of `meter` are unchanged.

    Raises:
        ValueError: the charge is negative, or more than what remains.
    """
    step = meter.steps.get(charge)
    if step is None:
        step = _step(meter, charge)
    spent = meter.spent + step
    if spent > meter.budget:  # both over the same denominator: exact
        raise ValueError("spends more than the budget")
    return spent


def _step(meter: Meter, charge: str) -> int:
    numerator, denominator = _ratio(charge)
    if numerator < 0:
        raise ValueError("has a negative charge")
    if meter.denominator % denominator or len(meter.steps) >= _MAX_STEPS:
        _widen(meter, denominator)
    meter.steps[charge] = numerator * (meter.denominator // denominator)
    return meter.steps[charge]


def _widen(meter: Meter, denominator: int) -> None:
    """The same amounts over a multiple of `denominator`.

    Reduced first: so the common denominator is at most the common denominator of the total, the budget and one charge,
    however many different ones there were before.
    """
    common = gcd(meter.denominator, meter.spent, meter.budget)
    reduced = meter.denominator // common
    factor = lcm(reduced, denominator) // reduced
    meter.denominator = reduced * factor
    meter.spent, meter.budget = meter.spent // common * factor, meter.budget // common * factor
    meter.steps.clear()


def fits(charge: Amounts, remaining: Amounts) -> bool:
    """True if every coordinate of `charge` is at most what remains of it."""
    return all(map(operator.le, charge, remaining))


def plus(first: Amounts, second: Amounts) -> Amounts:
    """The sum, coordinate by coordinate."""
    return tuple(map(operator.add, first, second))


def minus(first: Amounts, second: Amounts) -> Amounts:
    """The difference, coordinate by coordinate."""
    return tuple(map(operator.sub, first, second))


def least(several: Sequence[Amounts]) -> Amounts:
    """The least of each coordinate, of at least one tuple of amounts. What fits into it fits into each of them."""
    return tuple(map(min, zip(*several, strict=True)))


def show(amounts: Amounts) -> str:
    """The amounts for people: exact when that is short, else "about" with three digits."""
    parts = [_show_amount(amount) for amount in amounts]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _show_amount(amount: Fraction) -> str:
    written = text(amount)
    if len(written) <= 60:
        return written
    exponent = len(str(abs(amount.numerator))) - len(str(amount.denominator)) - 3
    return f"about {round(amount / Fraction(10) ** exponent)}e{exponent}"


def require_amounts(amounts: object, name: str) -> None:
    """`amounts` is a tuple of exact rationals, none negative, at least one positive, none absurdly long."""
    if not isinstance(amounts, tuple) or not amounts or not all(type(amount) is Fraction for amount in amounts):
        raise ArgumentError(f"{name}={amounts!r}: must be a tuple of Fractions, one for each coordinate of the measure")
    if not all(is_short(amount) for amount in amounts):
        raise ArgumentError(
            f"{name}: numerators and denominators must have at most {_MAX_BITS} bits; round it up to a decimal"
        )
    if not all(amount >= 0 for amount in amounts) or not any(amounts):
        raise ArgumentError(f"{name}={show(amounts)}: must be positive (no coordinate negative, not all 0)")


def is_short(amount: Fraction) -> bool:
    """True if sums with `amount` stay fast and its text can be read back."""
    return amount.numerator.bit_length() <= _MAX_BITS and amount.denominator.bit_length() <= _MAX_BITS
