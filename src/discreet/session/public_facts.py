"""The public facts of a source: its number of rows under `ReplaceOne`, and its exact totals, which are published once.

Both are compared before anything is charged. They are the same in all neighbours, so that neither a refusal nor its words
reveal anything of one person (H3 of docs/proofs/declaration.md, soundness 4 and 20). Under `AddRemove` nothing is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from discreet.cube.cube import row_count
from discreet.engines.base import Engine, rows_of, snapshot_before, unreadable
from discreet.errors import LedgerError, ReleaseFailed, RowsDiffer, SourceError
from discreet.exact.names import spellings
from discreet.ledger import Identity, Ledger
from discreet.session.totals import ExactRequest, has_totals, publish_totals, totals_of_payload, totals_scan
from discreet.totals.exact_totals import ExactTotals, exact_totals_of
from discreet.totals.published import PublishedTotals

__all__ = ["PublicFacts"]

_Read = TypeVar("_Read")

_FIXED = "An earlier command has fixed `rows` for this data set: give"


class PublicFacts:
    """The public facts of one data set: in its ledger, and in its source.

    A source whose snapshot was found right is not looked at again. One that has no snapshot is looked at before each
    command.

    Args:
        ledger: where exact totals are published.
        identity: the data set.
        rows: the declared number of rows, None where it is private.
        counted: the table of persons whose rows these are; empty for the source. Of several sources only some may have
            snapshots, so that their rows are counted before each command.
        exactly: what is published exactly, None for nothing.
    """

    def __init__(
        self, ledger: Ledger, identity: Identity, rows: int | None, exactly: ExactRequest | None, counted: str = ""
    ) -> None:
        self._ledger, self._identity, self._rows, self.exactly, self._counted = ledger, identity, rows, exactly, counted
        self._right: set[tuple[str, bool]] = set()  # snapshots with the declared rows (False), or also the totals (True)

    @property
    def totals(self) -> PublishedTotals | None:
        """The published totals; None where there are none, or none yet."""
        stored = None if self.exactly is None else self._ledger.published(self._identity)
        if stored is None or self.exactly is None:
            return None
        return totals_of_payload(stored.payload, self.exactly.invariants, self.exactly.schema)

    def exact_totals(self) -> ExactTotals | None:
        """The exact totals as requests see them; None for none."""
        if self.exactly is None or self._rows is None:
            return None
        return exact_totals_of(self.exactly.invariants, self.exactly.schema, self.totals, self._rows)

    def publish(self, engine: Engine, request: ExactRequest) -> PublishedTotals:
        """The totals, published by now: once in the life of the data set.

        Raises:
            RowsDiffer: the source has another number of rows; nothing is fixed.
            LedgerError: the ledger cannot be written.
            ReleaseFailed: the constant failure.
        """
        if self.totals is None:
            snapshot = snapshot_before(engine)
            self._compare_rows(engine, snapshot)
            try:
                if publish_totals(engine, self._ledger, self._identity, request, snapshot):
                    self._right.add((snapshot, True))
            except LedgerError:
                if self.totals is None:  # else another session has published them meanwhile
                    raise
        known = self.totals
        if known is None:
            raise ReleaseFailed(ReleaseFailed.TOTALS)
        return known

    def compare(self, engine: Engine, snapshot: str) -> None:
        """Checks that the source has the declared number of rows and the published totals, as far as these are public.

        This look prevents a charge for a wrong source; no guarantee rests on it. A snapshot cannot show every change (an
        array that a frame shares, a file that is written through memory), so the reading that answers a request counts
        rows and totals again: noise that keeps the totals is right only for rows that have them.

        Raises:
            RowsDiffer: it has another number of rows.
            SourceError: it has other totals, or cannot be read.
        """
        published = self.totals
        if self.exactly is None or published is None:
            self._compare_rows(engine, snapshot)
            return
        if not self._is_right(snapshot, totals=True):
            scan = totals_scan(self.exactly)
            cube = _read(lambda: engine.aggregate(*scan))
            self._require_rows(row_count(cube))
            if not has_totals(cube, self.exactly, published):
                raise SourceError(
                    "source: its totals are not the exact totals that were published for this data set; this command spent "
                    "nothing. Which of them differ is not shown. Give the source that they were published from; other data "
                    "need another data set name"
                )
            self._right |= {(snapshot, False), (snapshot, True)}

    def _compare_rows(self, engine: Engine, snapshot: str) -> None:
        if self._rows is not None and not self._is_right(snapshot, totals=False):
            self._require_rows(_read(lambda: rows_of(engine)))
            self._right.add((snapshot, False))

    def _is_right(self, snapshot: str, *, totals: bool) -> bool:
        return bool(snapshot) and not self._counted and (snapshot, totals) in self._right

    @property
    def _named(self) -> str:
        return f"beside['{self._counted}']" if self._counted else "source"

    def _require_rows(self, found: int) -> None:
        if self._rows is not None and found != self._rows:
            known = spellings(self._identity.dataset, self._ledger.datasets())
            done, what = ("spent and fixed nothing", "Correct `rows`, or give") if not known else ("spent nothing", _FIXED)
            raise RowsDiffer(
                f"{self._named}: does not have the declared number of rows (rows={self._rows}); this command {done}. {what} "
                "the declared source, whole. In a CSV file each line is a row, also where a cell has line breaks in quotes; "
                "rows that a condition drops count too",
                self._rows,
                found,
            )


def _read(reading: Callable[[], _Read]) -> _Read:
    """The value that was read, or the constant error: whatever a driver raises may quote a value."""
    try:
        return reading()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 (a panic of a driver is not an Exception)
        lost = unreadable()
    raise lost  # outside the block, so that it has no context
