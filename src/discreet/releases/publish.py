"""A quote carried out on its cubes and written down as a release: the last step before the ledger commits it.

Exact answers, noise and intervals are worked out for a chunk of the table after the other. The document of a small release
holds its table, which is one chunk. The chunks of a large one are files, durably written one by one, and its document has
their digests in place of the numbers; `session.folders` says where the files go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.domain.steps import Impute, Resize
from discreet.errors import InternalError
from discreet.exact.canonical import canonical, digest
from discreet.exact.files import sync_folder
from discreet.exact.numbers import text
from discreet.noise.bits import Bits, no_bits
from discreet.plan.layout import drawing_of, draws_rows
from discreet.plan.plan import Plan, plan_json, used_columns
from discreet.plan.recorded import shown_statistic
from discreet.privacy.coordinates import to_json
from discreet.quotes.keys import discovery_json
from discreet.quotes.public_sums import sums_of_counts
from discreet.quotes.quote import LEVEL, Line, Quote
from discreet.releases.assemble import estimate_statistics, frames, group_columns
from discreet.releases.document import Release, make_release
from discreet.releases.evaluate import check_rows, exact_answers, noisy_answers
from discreet.releases.files import TableFile, complete_draft, table_json, write_part
from discreet.releases.frames import column_json, frame_of
from discreet.releases.guarantee import Guarantee, guarantee_json
from discreet.releases.labels import LabelColumn, find_printed
from discreet.releases.measured import measured_json
from discreet.releases.tabled import Numbers, columns_json, frame_json, list_sums, told_of
from discreet.statistics.base import groupings_of, statistic_json

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "COVERS",
    "COVERS_ANYWHERE",
    "COVERS_BOTH",
    "COVERS_BOTH_ANYWHERE",
    "COVERS_ORIGINAL",
    "COVERS_PERSONS",
    "COVERS_RECORDED",
    "COVERS_SAMPLE",
    "PART_ROWS",
    "covers",
    "describe_quote",
    "details_json",
    "guarantee_of",
    "noise_json",
    "publish",
    "write_down",
]

COVERS = "the value of the table that was asked, after clamp, impute and resize; noise only"
"""The target of the intervals of a release where values were imputed or rows sampled."""

COVERS_SAMPLE = "the value of the sampled rows, after clamp and impute; noise only, without the error of the sample"
"""The target of the intervals where the prepared table is a sample of the table's rows."""

COVERS_ORIGINAL = "the value of the original table with its values clamped, for nothing was imputed or sampled; noise only"
"""The target of the intervals where the prepared table is the original table."""

COVERS_PERSONS = "the number that the persons of the table come to, each counted as the bound says; noise only"
"""The target of the intervals of a table of persons: numbers after the bound, which may be smaller than those before it."""

COVERS_RECORDED = "the value of the table as recorded, within the bounds of the schema, nulls left out; noise only"
"""The target of the intervals where the prepared table is not released."""

COVERS_BOTH = (
    "of each statistic the value of the table that it names: prepared, after clamp and impute; or as recorded, before them, "
    "within the bounds of the schema, nulls left out; noise only"
)
"""The target of the intervals where both tables are released."""

COVERS_POPULATION = (
    ", and in columns with “population” in their names the number of the population, approximately, with the error of the "
    "draw as declared"
)
"""What is added where weighted statistics have a design."""

COVERS_ANYWHERE = (
    "the value of the table with any answer of those who gave none, within the bounds of the schema; noise only"
)
"""The target of the intervals where they hold with any answer, and the prepared table is not released."""

COVERS_BOTH_ANYWHERE = (
    "of each statistic the value of the table that it names: prepared, after clamp and impute; or before them with any "
    "answer of those who gave none, within the bounds of the schema; noise only"
)
"""The same where both tables are released."""

_COVERS_OF = {
    ("recorded", False): COVERS_RECORDED,
    ("recorded", True): COVERS_BOTH,
    ("anywhere", False): COVERS_ANYWHERE,
    ("anywhere", True): COVERS_BOTH_ANYWHERE,
}

PART_ROWS = 1 << 19
"""The rows of a file, but the last one's: some MB each, and the memory that writing one needs."""

_CELLS_AT_ONCE = 1 << 20  # of all cubes together: at most some hundred MB

Noisy = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Some rows of the table: their labels, and their numbers by the names of the columns."""

    rows: slice
    labels: Sequence[LabelColumn]
    numbers: Numbers


def publish(
    quote: Quote,
    cubes: Iterable[Cube],
    draw: Callable[[], Bits],
    *,
    report_delta: Fraction,
    content: Mapping[str, Any],
    draft: Path | None = None,
    rows: int = PART_ROWS,
) -> Release:
    """The release of a quote on its cubes: exact answers, noise, estimates, and everything public about them.

    Its table is in its document or, where there is a draft folder, durably in files there, with the document. Memory then
    holds the exact answers, which the noise overwrites, and the columns of one file.

    Args:
        quote: what is released and with which noise.
        cubes: the engine's answers, one for each part of the plan's layout; taken, and not kept.
        draw: announces that something random is about to happen, and gives where the randomness comes from. It is called
            once, at a moment that the plan alone decides: with every cube read, unless the cubes of a random table are too
            large to be in memory together.
        report_delta: the δ at which ε is stated under ZCDP and GDP.
        content: name, data set and ledger entry.
        draft: an empty folder for the files of a large release; None for a small one.
        rows: the rows of a file; this many cells get their noise at a time.
    """
    if draft is not None and quote.plan.layout.areas is not None:
        return _in_files_by_area(quote, cubes, draw, draft, {**describe_quote(quote, report_delta), **content})
    chunk = None if draft is None else rows
    exact, bits = _answer(quote, cubes, draw)
    noisy = noisy_answers(quote, exact, bits, chunk=chunk)
    if draft is None:
        return write_down(quote, noisy, report_delta, content)
    table = _in_files(draft, _chunks(quote, noisy, chunk))
    release = make_release({**describe_quote(quote, report_delta), **content, **table})
    complete_draft(draft, release.payload)
    return release


def _in_files_by_area(
    quote: Quote, cubes: Iterable[Cube], draw: Callable[[], Bits], draft: Path, content: Mapping[str, Any]
) -> Release:
    """The release of tables of areas that are read, and written, some areas at a time."""
    from discreet.releases.areas.publishing import area_files

    right = check_rows(quote.plan, cubes)
    first = next(right)
    release = make_release({**content, "columns": [], **area_files(quote, chain([first], right), draw(), draft)})
    complete_draft(draft, release.payload)
    return release


def write_down(quote: Quote, noisy: Noisy, report_delta: Fraction, content: Mapping[str, Any]) -> Release:
    """The small release of a quote with these answers: all of it is in its document."""
    return make_release({**describe_quote(quote, report_delta), **content, **_in_document(quote, noisy)})


def _answer(quote: Quote, cubes: Iterable[Cube], draw: Callable[[], Bits]) -> tuple[list[NDArray[Any]], Bits]:
    """The exact answers, and the random bits that their noise comes from: no bit is there before `draw` has announced it."""
    scans = quote.plan.layout.scans
    if not draws_rows(quote.plan, scans):
        return exact_answers(quote, cubes, no_bits()), draw()
    right = check_rows(quote.plan, cubes)
    at_once = len(scans) if sum(scan.domain for scan in scans) <= _CELLS_AT_ONCE else 1
    read = [*islice(right, at_once)]
    bits = draw()
    return exact_answers(quote, chain(read, right), bits), bits


def _chunks(quote: Quote, noisy: Noisy, rows: int | None) -> Iterator[_Chunk]:
    """The table of the release, this many rows at a time or all at once."""
    cells, labels = quote.plan.layout.cells, group_columns(quote)
    size = rows or cells
    for start in range(0, cells, size):
        part = slice(start, min(start + size, cells))
        yield _Chunk(part, labels, [pair for one in estimate_statistics(quote, noisy, part) for pair in one.numbers()])


# In the document ----------------------------------------------------------------------------------------------------------


def _in_document(quote: Quote, noisy: Noisy) -> dict[str, Any]:
    """The whole table and the further frames, each made when it is written, with the public sums of both."""
    (table,) = _chunks(quote, noisy, None)
    groupings = [groups for line in quote.lines for groups in groupings_of(line.statistic)]
    further = (frame_json(quote, frame, groups) for frame, groups in zip(frames(quote, noisy), groupings, strict=True))
    known = list_sums(sums_of_counts(quote.plan, quote.beside), table.labels, quote.plan)
    columns = columns_json(table.labels, table.rows, table.numbers)
    return {**known, "columns": columns, "frames": further, **measured_json(quote, noisy)}


# In files -----------------------------------------------------------------------------------------------------------------


def _in_files(draft: Path, chunks: Iterable[_Chunk]) -> dict[str, Any]:
    """The files of the table, durably in the draft folder, and the kinds of its columns."""
    kinds: list[dict[str, str]] = []
    parts: list[TableFile] = []
    for chunk in chunks:
        kinds = [{"name": one.name, "kind": column_json(one.name, one.labels)["kind"]} for one in chunk.labels]
        kinds += [{"name": name, "kind": _kind(values)} for name, values in chunk.numbers]
        frame = _frame(chunk)
        if frame.height:  # the rows of a chunk may all be hidden
            parts.append(write_part(draft, len(parts), sum(part.rows for part in parts), frame))
    sync_folder(draft)
    return {"table": table_json(parts), "columns": kinds, "frames": []}


def _kind(values: NDArray[Any]) -> str:
    """The document's name for the type of a column. All parts have the same type, as `check_large` has checked."""
    if values.dtype.kind not in "if":
        raise InternalError("a column of a large release has numbers of another type")
    return "integer" if values.dtype.kind == "i" else "real"


def _frame(chunk: _Chunk) -> pl.DataFrame:
    """The rows of a file: the rows of the chunk that are printed."""
    import polars as pl

    shown = find_printed(chunk.labels, chunk.rows)
    labels = (
        frame_of([column_json(one.name, one.labels)]).to_series().gather(one.places(chunk.rows)[shown].astype(np.uint32))
        for one in chunk.labels
    )
    return pl.DataFrame([*labels, *(pl.Series(name, values[shown]) for name, values in chunk.numbers)])


# What is said of a quote --------------------------------------------------------------------------------------------------


def describe_quote(quote: Quote, report_delta: Fraction) -> dict[str, Any]:
    """The part of a document that describes the quote: everything but the numbers."""
    return {
        "plan": plan_json(quote.plan),
        "plan_digest": quote.plan.digest,
        **discovery_json(quote.plan, quote.spend),
        "guarantee": guarantee_json(guarantee_of(quote, report_delta)),
        "invariants": _totals_json(quote),
        "group": quote.group,
        "joint": text(quote.joint),
        "noise": noise_json(quote),
        "statistics": [_statistic_line(quote, line) for line in quote.lines],
        "interval": {"level": text(LEVEL), "hold": quote.plan.intervals, "covers": covers(quote.plan)},
    }


def covers(plan: Plan) -> str:
    """The target of the intervals: a table, and beside it the population where a design is declared."""
    drawn = any("design" in statistic_json(one) for one in plan.statistics)
    return f"{_table_covered(plan)}{COVERS_POPULATION}" if drawn else _table_covered(plan)


def _table_covered(plan: Plan) -> str:
    """The table that the intervals are about: also the original one where its rows are all there and no null was filled."""
    if plan.layout.persons is not None:
        return COVERS_PERSONS
    if plan.target is not None:
        return _COVERS_OF[plan.target.nulls, plan.target.prepared]
    used = used_columns(plan)
    drawing = drawing_of(plan)
    if drawing is not None and not isinstance(drawing, Resize):
        return COVERS_SAMPLE
    changed = any(isinstance(step, Resize) or (isinstance(step, Impute) and step.column in used) for step in plan.steps)
    return COVERS if changed else COVERS_ORIGINAL


def noise_json(quote: Quote) -> list[dict[str, str]]:
    """Query, sensitivities and exact noise scale of every primitive: enough to recompute each scale."""
    return [
        {
            "query": one.query.words(),
            "l1_sensitivity": str(one.sensitivity.l1),
            "l2_squared_sensitivity": str(one.sensitivity.l2_squared),
            "ordinary_l1_sensitivity": str(one.ordinary.l1),
            "ordinary_l2_squared_sensitivity": str(one.ordinary.l2_squared),
            "share": text(one.share),
            "guarantee": canonical(to_json(one.guarantee)),
            **one.law.to_json(),
        }
        for one in quote.measured
    ]


def details_json(quote: Quote) -> str:
    """The entry that the ledger writes with the charge of a quote."""
    return canonical(
        {
            "relation": quote.plan.neighbours.to_json(),
            "group": quote.group,
            "noise": noise_json(quote),
            "totals": totals_digest(quote),
            **discovery_json(quote.plan, quote.spend),
        }
    )


def totals_digest(quote: Quote) -> str:
    """The digest of the published totals of a quote, empty without totals. The ledger writes it with the charge."""
    if quote.beside is None or quote.beside.totals is None:
        return ""
    return digest(quote.beside.totals.to_json(quote.plan.schema))


def _totals_json(quote: Quote) -> dict[str, Any] | None:
    """The exact totals of the data set, what they protect and what they give away; None without totals.

    Raises:
        InternalError: the totals are not published.
    """
    exact_totals = quote.beside
    if exact_totals is None:
        return None
    from discreet.totals.adjacency import disclosures  # releases without exact totals begin without it

    if exact_totals.totals is None:
        raise InternalError("the totals are not published")
    schema, adjacency = quote.plan.schema, exact_totals.adjacency
    return {
        "unprotected": True,
        "totals": exact_totals.totals.to_json(schema),
        "digest": totals_digest(quote),
        "semi_adjacency": {"a": adjacency.a, "exact": adjacency.exact, "reason": adjacency.reason},
        "disclosures": list(disclosures(exact_totals.invariants, schema, exact_totals.totals)),
    }


def guarantee_of(quote: Quote, report_delta: Fraction) -> Guarantee:
    """The promise of a release of the quote to each person; ε is stated at `report_delta` under ZCDP and GDP."""
    spend, neighbours = quote.spend, quote.plan.neighbours
    delta = spend.reported_at(report_delta)
    relation = str(neighbours.to_json()["relation"])
    a = None if quote.beside is None else quote.beside.adjacency.a
    advertised = None if quote.beside is None else quote.advertised
    return Guarantee(spend, relation, neighbours.rows_per_person, delta, spend.epsilon_at(delta), advertised, a)


def _statistic_line(quote: Quote, line: Line) -> dict[str, Any]:
    """The statistic and the kind of its numbers; with exact totals, also whether its counts add up to them."""
    told = told_of(line.recipe.told(quote.noises(line), totals=quote.beside is not None), quote)
    return {**shown_statistic(quote.plan, line.statistic), "view": line.statistic.kind.view, **told}
