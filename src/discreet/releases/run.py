"""Releases whose tables are too large for one document: exact answers, noise and intervals part by part, into files.

The table stands in files (`parts`), and the document has their digests in place of the numbers; `large_files` says where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.cube.cube import Cube
from discreet.errors import InternalError
from discreet.exact.files import Draft, synced
from discreet.noise.bits import Bits
from discreet.plan.plan import Plan
from discreet.quotes.quote import Quote
from discreet.releases.assemble import estimated_part
from discreet.releases.document import Release, column_json, make_release
from discreet.releases.evaluate import exact_answers, noisy_in_place
from discreet.releases.files import Part, completed, table_json, write_part
from discreet.releases.frames import frame_of
from discreet.releases.publish import described, publish

__all__ = ["PART_ROWS", "carried_out", "publish_large"]

PART_ROWS = 1 << 19
"""The rows of a file, but the last one's: some MB each, and the memory that writing one needs."""


def carried_out(quote: Quote, cubes: Iterable[Cube], bits: Bits, *, draft: Draft | None, **told: Any) -> Release:
    """The release of a quote on its cubes; its table in its document, or in a draft folder if there is one."""
    if draft is None:
        return publish(quote, cubes, bits, **told)
    release = publish_large(quote, cubes, bits, **told, draft=draft.path)
    completed(draft.path, release.payload)
    return release


def publish_large(
    quote: Quote,
    cubes: Iterable[Cube],
    bits: Bits,
    *,
    report_delta: Fraction,
    content: Mapping[str, Any],
    draft: Path,
    rows: int = PART_ROWS,
) -> Release:
    """The release of a quote on its cubes, its table durably in a draft folder: the same numbers as `publish` has, in law.

    Memory holds the exact answers, which the noise overwrites, and the columns of one part.

    Args:
        quote: what is released and with which noise.
        cubes: the engine's answers, one for each part of the plan's layout; taken, and not kept.
        bits: where the randomness comes from.
        report_delta: the δ at which ε is stated under ZCDP and GDP.
        content: name, data set and ledger entry.
        draft: an empty folder.
        rows: those of a part; so many cells get their noise at a time.
    """
    exact = exact_answers(quote, cubes, bits)
    noisy = noisy_in_place(quote, exact, bits, chunk=rows)
    del exact
    columns = _Columns.of(quote.plan)
    kinds: list[dict[str, str]] = []
    parts: list[Part] = []
    for cells in _ranges(columns.cells, rows):
        numbers = {
            one.name + end: values
            for one in estimated_part(quote, noisy, cells)
            for end, values in (("", one.estimate.value), ("_low", one.estimate.low), ("_high", one.estimate.high))
        }
        kinds = [{"name": name, "kind": _kind(values)} for name, values in numbers.items()]
        parts.append(write_part(draft, len(parts), cells.start, columns.frame(cells, numbers)))
    synced(draft)
    table = {"table": table_json(parts), "columns": [*columns.kinds, *kinds], "frames": []}
    return make_release({**described(quote, report_delta), **content, **table})


def _ranges(cells: int, rows: int) -> Iterator[slice]:
    for start in range(0, cells, rows):
        yield slice(start, min(start + rows, cells))


def _kind(values: np.ndarray[Any, Any]) -> str:
    """How the document calls the numbers of a column; `check_large` has seen to it that all parts have the same."""
    if values.dtype.kind not in "if":
        raise InternalError("a column of a large release has numbers of another type")
    return "integer" if values.dtype.kind == "i" else "real"


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The label columns of a plan: what they are called, which labels there are, and how many rows each is repeated for."""

    cells: int
    kinds: list[dict[str, str]]
    labels: list[Any]
    repeats: list[int]

    @staticmethod
    def of(plan: Plan) -> _Columns:
        brought = plan.layout
        columns = [column_json(group.column, named) for group, named in zip(plan.group_by, brought.labels, strict=True)]
        repeats, repeat = [], brought.cells
        for named in brought.labels:
            repeat //= len(named)
            repeats.append(repeat)
        kinds = [{"name": one["name"], "kind": one["kind"]} for one in columns]
        return _Columns(brought.cells, kinds, [frame_of([one]).to_series() for one in columns], repeats)

    def frame(self, cells: slice, numbers: Mapping[str, np.ndarray[Any, Any]]) -> Any:
        """Some rows of the table: labels, the last group fastest, and numbers."""
        import polars as pl

        place = np.arange(cells.start, cells.stop, dtype=np.int64)
        shown = [
            series.gather((place // repeat % len(series)).astype(np.uint32))
            for series, repeat in zip(self.labels, self.repeats, strict=True)
        ]
        return pl.DataFrame([*shown, *(pl.Series(name, values) for name, values in numbers.items())])
