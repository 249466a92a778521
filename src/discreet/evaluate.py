"""A quote carried out on a cube: exact integers, then noisy integers. Randomness is handed in, nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from discreet.cube import Cube, row_count
from discreet.errors import InternalError
from discreet.mechanisms import ExponentialQuantiles, add_noise, add_noise_in_place, select
from discreet.noise.bits import Bits
from discreet.plan import layout, resize_of, table_facts
from discreet.queries import LevelCounts, QuantileCodes, TableCounts, answer, answer_codes, answer_parts, cells_of
from discreet.quotes import Noise, Quote
from discreet.resample import resample
from discreet.steps import facts_of

__all__ = ["exact_answers", "noisy_answers", "noisy_in_place"]


def exact_answers(quote: Quote, cube: Cube, bits: Bits) -> list[NDArray[Any]]:
    """The measured queries on the table that is asked: one vector over the cells of the release for each. Private.

    Where codes are chosen, what they are chosen from: `answer_codes`.

    Raises:
        InternalError: under ReplaceOne, a source with another number of rows than declared (soundness 4).
    """
    plan = quote.plan
    known = facts_of(plan.schema, plan.neighbours).rows
    if known is not None and row_count(cube) != known:
        raise InternalError("the source has another number of rows than declared")
    brought = layout(plan)
    asked = resample(cube, brought.axes, brought.moments, resize=resize_of(plan), rows=known, bits=bits)
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    cells = cells_of(plan, facts, asked, brought)
    answers = []
    for one in quote.measured:
        if isinstance(one.query, TableCounts | LevelCounts):
            answers.append(answer_parts(one.query, asked, brought, cells, facts))
        elif isinstance(one.query, QuantileCodes):
            answers.append(answer_codes(one.query, asked, brought, cells))
        else:
            answers.append(answer(one.query, asked, brought, cells))
    return answers


def noisy_answers(quote: Quote, exact: Sequence[NDArray[Any]], bits: Bits) -> list[NDArray[Any]]:
    """The same vectors with the noise of the quote, and what was chosen from counts of codes. Public from here on."""
    return [_noisy(values, one.law, bits) for values, one in zip(exact, quote.measured, strict=True)]


def noisy_in_place(quote: Quote, exact: Sequence[NDArray[Any]], bits: Bits, *, chunk: int) -> list[NDArray[Any]]:
    """`noisy_answers` of the same law in the memory of `exact`, which is overwritten: so many cells at a time.

    The noise of cells is independent, so that it may be drawn for some cells after others; on a lattice it is drawn at once.
    """
    noisy = []
    for values, one in zip(exact, quote.measured, strict=True):
        if isinstance(one.law, ExponentialQuantiles):
            raise InternalError("chosen quantiles have no additive noise")
        noisy.append(add_noise_in_place(values, one.law, bits, chunk=chunk))
    return noisy


def _noisy(values: NDArray[Any], law: Noise, bits: Bits) -> NDArray[Any]:
    return select(values, law, bits) if isinstance(law, ExponentialQuantiles) else add_noise(values, law, bits)
