"""A quote carried out on its cubes: exact integers, then noisy integers. Randomness is handed in, nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from discreet.cube.cells import cells_of
from discreet.cube.cube import Cube, row_count
from discreet.cube.person_rows import cube_of_persons
from discreet.cube.persons import part_of
from discreet.cube.queries import PERSON_QUERIES, Query, join_public, scan_of
from discreet.cube.resample import resample
from discreet.cube.scans import Scan
from discreet.domain.steps import facts_of
from discreet.engines.base import CubeRequest, Engine, cubes_of, totals_of_persons
from discreet.errors import InternalError
from discreet.mechanisms import Noise
from discreet.mechanisms.adding import apply_in_place
from discreet.noise.bits import Bits
from discreet.plan.layout import Layout, drawing_of
from discreet.plan.plan import Plan
from discreet.quotes.quote import Quote

__all__ = ["check_rows", "exact_answers", "noisy_answers", "run_scans"]


def run_scans(engine: Engine, layout: Layout, *before: CubeRequest) -> Iterator[Cube]:
    """The cubes of some scans and then of a layout, all of the same rows.

    The first cube is read now and each other one when it is needed, so that few are in memory if the engine allows it.
    """
    if layout.persons is not None:
        return iter([totals_of_persons(engine, layout.persons)])
    if layout.each is not None:
        persons, made = totals_of_persons(engine, layout.each), layout.each.made
        return (cube_of_persons(persons, made, part.axes, part.moments) for part in layout.scans)
    cubes = cubes_of(engine, chain(before, _requests(layout)))
    return chain([next(cubes)], cubes)


def _requests(layout: Layout) -> Iterator[CubeRequest]:
    """What is asked of an engine, one scan after the other; of areas in slices, each is made when it is needed."""
    scans = layout.scans if layout.areas is None else map(layout.areas.scan, layout.areas.slices)
    return ((part.axes, part.moments) for part in scans)


def check_rows(plan: Plan, cubes: Iterable[Cube]) -> Iterator[Cube]:
    """The same cubes, all of them of the declared number of rows.

    Raises:
        InternalError: under ReplaceOne, a source with another number of rows than declared (soundness 4); cubes of
            different numbers of rows.
    """
    rows = facts_of(plan.schema, plan.neighbours).rows
    for cube in cubes:
        rows = row_count(cube) if rows is None else rows
        if row_count(cube) != rows:
            raise InternalError("the source does not have the declared number of rows")
        yield cube


def exact_answers(quote: Quote, cubes: Iterable[Cube], bits: Bits) -> list[NDArray[Any]]:
    """The measured queries on the prepared table: one vector over the cells of the release for each. Private.

    Where codes are chosen, what they are chosen from: `QuantileCodes.answer`. Parts are drawn one by one and yet have the
    law of one joint cube (docs/proofs/cube.md, Q2).

    Args:
        quote: what is measured.
        cubes: the engine's answer for each part of the plan's layout; each is taken when the one before is answered.
        bits: where the randomness comes from.

    Raises:
        InternalError: as `check_rows`.
    """
    plan = quote.plan
    if plan.layout.persons is not None:
        return _answers_of_persons(quote, cubes)
    parts, known = plan.layout.scans, facts_of(plan.schema, plan.neighbours).rows
    places = [scan_of(one.query, parts) for one in quote.measured]
    answers: dict[int, NDArray[Any]] = {}
    for position, (brought, cube) in enumerate(zip(parts, check_rows(plan, cubes), strict=True)):
        asked = resample(cube, brought.axes, brought.moments, drawing=drawing_of(plan), rows=known, bits=bits)
        cells = cells_of(plan, asked, brought)
        for number, one in enumerate(quote.measured):
            if places[number] == position:
                answers[number] = one.query.answer(asked, brought, cells, plan.facts)
    return [answers[number] for number in range(len(quote.measured))]


def _answers_of_persons(quote: Quote, cubes: Iterable[Cube]) -> list[NDArray[Any]]:
    """The totals over persons in the one cube that an engine answers with: each cell of each of its parts once."""
    (cube,), plan = cubes, quote.plan
    brought = Scan((), (), plan.layout.labels, plan.layout.cells)
    found = []
    for one in quote.measured:
        if not isinstance(one.query, PERSON_QUERIES):
            raise InternalError("a query of rows, on a table of persons")
        own = part_of(cube, one.query.part)
        found.append(one.query.answer(own, brought, own.keys[:, 0], plan.facts))
    return found


def noisy_answers(
    quote: Quote, exact: Sequence[NDArray[Any]], bits: Bits, *, chunk: int | None = None
) -> list[NDArray[Any]]:
    """The same vectors with the noise of the quote, and what was chosen from counts of codes. Public from here on.

    With a `chunk`, the noise of this many cells at a time is written over `exact`: the same law, because the noise of cells
    is independent; on a lattice it is one draw. What is chosen around a public answer comes after it.
    """
    public: dict[Query, NDArray[Any]] = {}
    for values, one in zip(exact, quote.measured, strict=True):
        given = join_public(one.query, values, public)
        public[one.asked] = _noisy(given, one.law, bits, chunk or len(given))
    return list(public.values())


def _noisy(values: NDArray[Any], noise: Noise, bits: Bits, chunk: int) -> NDArray[Any]:
    return noise.apply(values, bits) if len(values) <= chunk else apply_in_place(noise, values, bits, chunk=chunk)
