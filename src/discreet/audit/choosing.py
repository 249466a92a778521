"""Runs of choices of quantiles, one by one and jointly: how well their outputs distinguish two tables.

Many tables are tried with few runs of the kernel, and the tables that they distinguish best are attacked with
all of them. The feature of an output is where its chosen codes lie between the heaps, for all quantiles together that can
see the difference. The likelihood of such places is counted on the half of the runs that chooses, so no law is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.attack import SLOWER, Aim, Found, find_best
from discreet.audit.choices import ChoicePair, law_of_choice, law_of_intervals
from discreet.audit.claims import Claim
from discreet.audit.draws import NOTHING, Kernel, Randomness
from discreet.audit.tables import Table, cubes_of
from discreet.noise.bits import Bits
from discreet.quotes.quote import Measured, Quote

__all__ = ["MOST_ATTACKS", "choice_attack", "most_telling"]

MOST_ATTACKS = 3
_AT_ONCE = 1 << 17
_SCOUTED = 50
"""A table is tried with one run in this many."""
_LEAST_SCOUTED, _LEAST_RUNS = 2000, 100
_SCOUTING_ERROR = 0.05
_MOST_ENDS = 2
"""The ends of at most this many intervals are looked at together: more are seen too seldom to tell anything."""

Integers = NDArray[np.int64]


def most_telling(  # noqa: PLR0917 (one run of the kernel)
    kernel: Kernel, quote: Quote, pairs: Sequence[ChoicePair], claim: Claim, aim: Aim, bits: Bits
) -> list[ChoicePair]:
    """At most `MOST_ATTACKS` pairs: the one that in few runs shows the most beyond the claim, and those with the largest ε.

    Where every run draws a table anew, none is tried and one is taken: what a sample hides by chance no shape shows.
    """
    if pairs and not _is_constant(kernel, quote, pairs[0], bits):
        return list(pairs[:1])
    if len(pairs) <= MOST_ATTACKS:
        return list(pairs)
    small = replace(aim, runs=max(_LEAST_SCOUTED, aim.runs // _SCOUTED), error=_SCOUTING_ERROR)
    claimed = {epsilon: claim.delta_at(epsilon) for epsilon in aim.epsilons}
    shown, beyond = [], []
    for number, pair in enumerate(pairs):
        events = [event for found in choice_attack(kernel, quote, pair, small, bits) for event in found.events]
        shown.append((max(event.epsilon_at(aim.delta) for event in events), number))
        beyond.append((max(event.delta_at(at) - delta for event in events for at, delta in claimed.items()), number))
    order = [max(beyond)[1], *(number for _, number in sorted(shown, reverse=True))]
    return [pairs[number] for number in list(dict.fromkeys(order))[:MOST_ATTACKS]]


def choice_attack(kernel: Kernel, quote: Quote, pair: ChoicePair, aim: Aim, bits: Bits) -> tuple[Found, Found]:
    """Both directions of a pair, by where the chosen codes lie between the heaps, and the ends of intervals around them."""
    asked = replace(quote, measured=(pair.measured, *pair.around))
    sides = [_answers(kernel, asked, pair, table, bits) for table in (pair.first, pair.second)]
    constant = all(same for same, _ in sides)
    runs = aim.runs if constant else max(_LEAST_RUNS, aim.runs // (4 * SLOWER))
    halves = []
    for part in (runs // 2, runs - runs // 2):
        halves.append([np.concatenate(list(_outputs(kernel, asked, pair, answers, part, bits))) for _, answers in sides])
    likelihood = _likelihood(halves[0][0][:, 0], halves[0][1][:, 0])
    names = ["likelihood of the choices", "chosen heap"]
    first, second, first_again, second_again = (
        np.stack([likelihood(outputs[:, 0]), outputs[:, 1].astype(np.float64)]) for half in halves for outputs in half
    )
    forwards = find_best(names, first, second, first_again, second_again, aim)
    return forwards, find_best(names, -second, -first, -second_again, -first_again, aim)


def _is_constant(kernel: Kernel, quote: Quote, pair: ChoicePair, bits: Bits) -> bool:
    """True if every run chooses from the same records."""
    asked = replace(quote, measured=(pair.measured,))
    return all(_answers(kernel, asked, pair, table, bits)[0] for table in (pair.first, pair.second))


def _answers(kernel: Kernel, quote: Quote, pair: ChoicePair, table: Table, bits: Bits) -> tuple[bool, Iterator[Integers]]:
    """A flag, True if every run chooses from the same records; and the records of each run: codes and counts."""
    cubes = cubes_of(quote.plan, pair.columns, table)

    def own(source: Bits) -> Integers:
        values: NDArray[Any] = kernel.exact(quote, cubes, source)[0]
        return np.asarray(values[values[:, 0] == pair.cell], dtype=np.int64)

    try:
        return True, repeat(own(NOTHING))
    except Randomness:
        return False, (own(bits) for _ in repeat(None))


def _outputs(  # noqa: PLR0917 (one run of the kernel)
    kernel: Kernel, quote: Quote, pair: ChoicePair, answers: Iterator[Integers], runs: int, bits: Bits
) -> Iterator[Integers]:
    """For every run the places of the choices of the path, as one number, and the number of choices of the largest heap."""
    one, *around = quote.measured
    law = law_of_choice(one)
    for start in range(0, runs, _AT_ONCE):
        copies = min(_AT_ONCE, runs - start)
        several = [next(answers) for _ in range(copies)]
        many = np.concatenate(several)
        many[:, 0] = np.repeat(np.arange(copies), [len(own) for own in several])
        copied = [replace(other, law=replace(law_of_intervals(other), cells=copies)) for other in around]
        measured = (replace(one, law=replace(law, cells=copies)), *copied)
        chosen, *ends = kernel.noisy(replace(quote, measured=measured), [many] * len(measured), bits)
        codes = np.asarray(chosen, dtype=np.int64).reshape(copies, -1)
        seen = [codes[:, list(pair.path)], *map(_ends_of_path, repeat(pair), around, ends)]
        yield np.column_stack([_places(np.hstack(seen), pair.codes), (codes == pair.heap).sum(axis=1)])


def _ends_of_path(pair: ChoicePair, around: Measured, ends: Integers) -> Integers:
    """For every run the ends of the intervals of the first quantiles of the path, side by side."""
    path = [law_of_choice(pair.measured).at[place] for place in pair.path[:_MOST_ENDS]]
    at = law_of_intervals(around).at
    own = np.asarray(ends, dtype=np.int64).reshape(-1, len(at), 2)[:, [at.index(q) for q in path if q in at]]
    return own.reshape(len(own), -1)


def _places(chosen: Integers, heaps: Integers) -> Integers:
    """For every run one number for the places of its choices: at which heap, or in which gap between them."""
    above = np.searchsorted(heaps, chosen, side="left")
    at = heaps[np.minimum(above, len(heaps) - 1)] == chosen
    digits = 2 * above + at
    return np.asarray(digits @ (2 * len(heaps) + 2) ** np.arange(chosen.shape[1]), dtype=np.int64)


def _likelihood(first: Integers, second: Integers) -> Callable[[Integers], NDArray[np.float64]]:
    """The logarithm of how much more often an output was seen under the first table, less certain where it was rare."""
    seen = np.unique(np.concatenate([first, second]))
    counts = [np.bincount(np.searchsorted(seen, outputs), minlength=len(seen)) for outputs in (first, second)]
    ratios = np.append(np.log((counts[0] + 1.0) / (counts[1] + 1.0)), 0.0)

    def value(outputs: Integers) -> NDArray[np.float64]:
        place = np.searchsorted(seen, outputs)
        known = seen[np.minimum(place, len(seen) - 1)] == outputs
        return np.asarray(ratios[np.where(known, place, len(seen))], dtype=np.float64)

    return value
