"""Releases whose tables are too large for one document: written part by part, and put in their place after the commit.

The table stands in files (`parts`), and the document has their digests in place of the numbers. The order of things makes a
crash harmless at any moment: the files are complete and durable in a draft folder before the ledger commits the document
that describes them, and take their final name after it. So what has its final name was charged and committed, and what was
committed can be found and put in its place by asking for it again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.assemble import estimated_part
from discreet.cube import Cube
from discreet.errors import ArgumentError, InternalError, LedgerError, PlanError, ReleaseFailed, printed
from discreet.evaluate import exact_answers, noisy_in_place
from discreet.noise.bits import Bits
from discreet.parts import (
    TABLE,
    Part,
    discarded,
    draft_folder,
    drafts_in,
    placed,
    problem_of,
    synced,
    table_json,
    write_part,
)
from discreet.plan import MOST_WHOLE_CELLS, Plan, is_large, layout
from discreet.publish import described
from discreet.quotes import Quote, expected_error
from discreet.release import Release, column_json, make_release
from discreet.result_frames import frame_of, replaced
from discreet.spend import Order
from discreet.statistics import Count

__all__ = [
    "PART_ROWS",
    "check_folders",
    "check_large",
    "drafts_for",
    "given_back",
    "publish_large",
    "put_in_place",
]

PART_ROWS = 1 << 19
"""The rows of a file, but the last one's: some MB each, and the memory that writing one needs."""

_DOCUMENT = "release.json"


# Carried out on a cube ----------------------------------------------------------------------------------------------------


def publish_large(
    quote: Quote,
    cube: Cube,
    bits: Bits,
    *,
    report_delta: Fraction,
    content: Mapping[str, Any],
    draft: Path,
    rows: int = PART_ROWS,
) -> Release:
    """The release of a quote on a cube, its table durably in a draft folder: the same numbers as `publish` has, in law.

    Memory holds the exact answers, which the noise overwrites, and the columns of one part. A caller keeps no name for the
    cube, which is needed no more once it is answered.

    Args:
        quote: what is released and with which noise.
        cube: the engine's answer for the layout of the plan.
        bits: where the randomness comes from.
        report_delta: the δ at which ε is stated under ZCDP and GDP.
        content: name, data set and ledger entry.
        draft: an empty folder.
        rows: those of a part; so many cells get their noise at a time.
    """
    exact = exact_answers(quote, cube, bits)
    del cube
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
        brought = layout(plan)
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


# Before anything is spent -----------------------------------------------------------------------------------------------


def check_large(quote: Quote) -> Quote:
    """The quote itself, when it can be released.

    Raises:
        PlanError: it is large, and so noisy that its counts are no 64-bit integers.
    """
    if is_large(quote.plan):
        for line in quote.lines:
            if isinstance(line.statistic.kind, Count) and expected_error(quote, line, rows=1) >= 2**53:
                raise PlanError(
                    f"spend: leaves '{line.statistic.name}' an interval beyond 2**53; a release of more than "
                    f"{MOST_WHOLE_CELLS} rows has counts in 64-bit integers: spend more"
                )
    return quote


def check_folders(orders: Sequence[Order]) -> None:
    """Every large release has a folder that can take it, one of its own; no other release has any.

    Raises:
        ArgumentError: a folder is missing, or given for nothing, cannot be written, holds a release, or has too little room.
    """
    taken: list[Path] = []
    for order in orders:
        folder = _folder_of(order)
        if folder is None:
            continue
        if folder.absolute() in taken:
            raise ArgumentError(f"to='{folder}': two releases of one command have the same folder; give each its own")
        taken.append(folder.absolute())
        _check_folder(order, folder)


def _folder_of(order: Order) -> Path | None:
    """Where a large release goes; None for another one."""
    cells = layout(order.request).cells
    if not is_large(order.request):
        if order.to is not None:
            raise ArgumentError(
                f"to={printed(order.to)}: release '{order.name}' has {cells} rows, which its document holds; leave `to` out "
                "and write it with save(folder)"
            )
        return None
    if order.to is None:
        raise ArgumentError(
            f"release '{order.name}': has {cells} rows, more than {MOST_WHOLE_CELLS}, and is written to files; say where with "
            "to=folder"
        )
    if not isinstance(order.to, str | Path) or "\0" in str(order.to):
        raise ArgumentError(f"to={printed(order.to)}: must be the path of a folder")
    return Path(order.to)


def _check_folder(order: Order, folder: Path) -> None:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists() or path.is_symlink())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ArgumentError(
            f"to='{folder}': cannot be written, because '{existing}' is no folder that can be; choose another"
        )
    if (folder / _DOCUMENT).exists() or (folder / TABLE).exists():
        raise ArgumentError(f"to='{folder}': holds another release, which is not overwritten; choose another folder")
    plan = order.request
    most = layout(plan).cells * (24 * len(plan.statistics) + 4 * len(plan.group_by))
    free = shutil.disk_usage(existing).free
    if free < most:
        raise ArgumentError(
            f"to='{folder}': has room for {free // 10**6} MB, and the table may need {most // 10**6} MB; free some, or choose "
            "another folder"
        )


def drafts_for(orders: Sequence[Order]) -> list[Path | None]:
    """A draft folder for each large release, so that a folder that cannot be written is known before anything is spent.

    Raises:
        ArgumentError: one cannot be made.
    """
    drafts: list[Path | None] = []
    for order in orders:
        folder = _folder_of(order)
        try:
            drafts.append(None if folder is None else draft_folder(folder))
        except OSError as wrong:
            for draft in filter(None, drafts):
                discarded(draft)
            raise ArgumentError(
                f"to='{folder}': cannot be written ({wrong.strerror}); choose another folder, nothing was spent"
            ) from None
    return drafts


# After the commit ---------------------------------------------------------------------------------------------------------


def put_in_place(release: Release, draft: Path, folder: str | Path) -> Release | ReleaseFailed:
    """The committed release, its files in the folder; or the failure that says how to get it there at no charge."""
    try:
        placed(draft, Path(folder))
        _write_document(release, Path(folder))
    except Exception:  # noqa: BLE001 (whatever it is: all is public and stored by now, and can be put in its place later)
        done = False
    else:
        done = True
    return Release(release.payload, Path(folder)) if done else ReleaseFailed(ReleaseFailed.UNPLACED)


def given_back(release: Release, order: Order) -> Release:
    """A release of the ledger: a large one with its files, as they were written, in the folder of the order.

    What a crash has left in a draft folder is put in its place.

    Raises:
        ArgumentError: no folder is given, or one that cannot be written or holds another release.
        LedgerError: the files are not there, or not as they were written.
    """
    folder, parts = _folder_of(order), release.parts
    if folder is None or not parts:
        return release
    if (folder / _DOCUMENT).exists() and (folder / _DOCUMENT).read_bytes() != release.payload:
        raise ArgumentError(f"to='{folder}': holds another release than '{order.name}'; give the folder it was written to")
    problem = problem_of(parts, folder / TABLE)
    try:
        if problem:
            _recovered(release, folder, problem, order.name)
        _write_document(release, folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({wrong.strerror}); allow it, or copy the folder") from None
    return Release(release.payload, folder)


def _recovered(release: Release, folder: Path, problem: str, name: str) -> None:
    """A draft with the files of the release takes its place."""
    draft = next((one for one in drafts_in(folder) if not problem_of(release.parts, one)), None)
    if draft is None:
        raise LedgerError(
            f"release '{name}': is committed and its charge stands, but its table is not in '{folder}' as it was written "
            f"({problem}). The ledger does not keep large tables: give the folder it was written to, restore that from a "
            "copy, or release under another name (which needs its own charge)"
        )
    placed(draft, folder)


def _write_document(release: Release, folder: Path) -> None:
    place = folder / _DOCUMENT
    if not place.exists():
        replaced(place, lambda path: path.write_bytes(release.payload))
