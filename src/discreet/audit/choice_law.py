"""The law of chosen quantiles from its definition, for a few codes: what the choices of a kernel are held against.

Written down a second time, code by code and piece by piece (docs/proofs/selection.md), for a small grid with the quantiles
and the range of the quote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import ceil, exp, log

import numpy as np

from discreet.audit.checks import Counted
from discreet.audit.choices import is_choice, law_of_choice
from discreet.audit.draws import Kernel
from discreet.mechanisms import ExponentialQuantiles
from discreet.noise.bits import Bits
from discreet.quotes.quote import Measured, Quote

__all__ = ["SHARES", "choice_counts", "law_of_choices"]

SHARES = (3, 1, 0, 0, 2)
"""The records at the codes of the small grid: heaps of different sizes, and a gap."""
_PIECES = 16
_MOST_AT_ONCE = 1 << 17
_MOST_RUNS = 200_000
_LEAST_CHANCE = 1e-4

_Counts = tuple[int, ...]
_Chances = dict[tuple[int, ...], float]


@dataclass(frozen=True, slots=True)
class _Slice:
    """The records of a choice: the codes from `low` to `high`, the records at every code, and the span of q."""

    counts: _Counts
    low: int
    high: int
    span: tuple[Fraction, Fraction]


def choice_counts(kernel: Kernel, quote: Quote, one: Measured, runs: int, bits: Bits) -> Iterator[Counted]:
    """The counts of all chosen codes on a small grid, for the first, the middle and the last of the quantiles."""
    if not is_choice(one):
        return
    whole = law_of_choice(one)
    at = whole.at
    law = replace(whole, size=len(SHARES), at=tuple(dict.fromkeys((at[0], at[len(at) // 2], at[-1]))))
    counts = tuple(share * ceil(1 / law.reach) for share in SHARES)
    runs = min(runs, _MOST_RUNS)
    small = replace(quote, measured=(replace(one, law=law),))
    sizes = [min(_MOST_AT_ONCE, runs - start) for start in range(0, runs, _MOST_AT_ONCE)]
    chosen = np.concatenate([_choose(kernel, small, law, counts, copies, bits) for copies in sizes])
    for codes, chance in sorted(law_of_choices(law, counts).items()):
        if chance >= _LEAST_CHANCE:
            hits = int((chosen == codes).all(axis=1).sum())
            yield Counted(f"codes {codes} chosen on a grid of {law.size}", hits, runs, (chance, chance))


def _choose(  # noqa: PLR0917 (one run of the kernel)
    kernel: Kernel, quote: Quote, law: ExponentialQuantiles, counts: _Counts, copies: int, bits: Bits
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    own = np.array([(0, code, count) for code, count in enumerate(counts) if count], dtype=np.int64)
    many = np.tile(own, (copies, 1))
    many[:, 0] = np.repeat(np.arange(copies), len(own))
    (one,) = quote.measured
    asked = replace(quote, measured=(replace(one, law=replace(law, cells=copies)),))
    return np.asarray(kernel.noisy(asked, [many], bits)[0], dtype=np.int64).reshape(copies, -1)


def law_of_choices(law: ExponentialQuantiles, counts: _Counts) -> _Chances:
    """The probability of every tuple of chosen codes, from records of which counts[c] have code c."""
    kept_away = Fraction(ceil(4 * log(law.size) / float(law.reach)), 2)

    @cache
    def chances(part: _Slice, at: tuple[Fraction, ...]) -> _Chances:
        if not at:
            return {(): 1.0}
        middle = len(at) // 2
        q = (at[middle] - part.span[0]) / (part.span[1] - part.span[0])
        weighed = list(_candidates(part, q, len(at) > 1, kept_away))
        least = min(loss for _, _, loss in weighed)
        rate = law.reach / (2 * max(q, 1 - q))
        weights = [exp(-float(rate * (loss - least))) for _, _, loss in weighed]
        total, found = sum(weights), _Chances()
        for (code, below, _), weight in zip(weighed, weights, strict=True):
            lower, upper = _halves(part, code, below, at[middle])
            for one, chance in chances(lower, at[:middle]).items():
                for other, beside in chances(upper, at[middle + 1 :]).items():
                    key = (*one, code, *other)
                    found[key] = found.get(key, 0.0) + weight / total * chance * beside
        return found

    return chances(_Slice(counts, 0, law.size - 1, (Fraction(0), Fraction(1))), law.at)


def _candidates(part: _Slice, q: Fraction, parts: bool, kept_away: Fraction) -> Iterator[tuple[int, int, Fraction]]:  # noqa: FBT001
    """Codes with how many records at them go below, and their loss: how many records they are off the wanted rank."""
    records = sum(part.counts)
    inwards = min(kept_away, Fraction(records, 2))
    target = inwards if q == 0 else records - inwards if q == 1 else q * records
    pieces = _PIECES if parts else 1
    for code in range(part.low, part.high + 1):
        before, at = sum(part.counts[:code]), part.counts[code]
        for piece in range(pieces):
            start, end = before + piece * at // pieces, before + (piece + 1) * at // pieces
            yield code, ((2 * piece + 1) * at + pieces) // (2 * pieces), max(start - target, target - end)


def _halves(part: _Slice, code: int, below: int, q: Fraction) -> tuple[_Slice, _Slice]:
    """The records before the chosen code with this many of the records at it, and the rest."""
    counts = part.counts
    nothing = (0,) * len(counts)
    lower = (*counts[:code], below, *nothing[code + 1 :])
    upper = (*nothing[:code], counts[code] - below, *counts[code + 1 :])
    return _Slice(lower, part.low, code, (part.span[0], q)), _Slice(upper, code, part.high, (q, part.span[1]))
