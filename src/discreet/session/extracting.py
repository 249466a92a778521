"""A stored release, returned by its ledger alone: no source, plan or session is needed."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import ArgumentError, LedgerError, did_you_mean
from discreet.exact.given_paths import require_path, stands
from discreet.ledger import Ledger
from discreet.releases.document import Release
from discreet.session.folders import restore

__all__ = ["extract"]


def extract(ledger: str | Path, *, dataset: str, name: str, to: str | Path | None = None) -> Release:
    """The stored release of that name, as it was committed, at no charge. `save` writes its files.

    The source may have changed, be elsewhere, or be deleted: nothing but the ledger is read, and nothing is written to it.

    Args:
        ledger: the path of the ledger file.
        dataset: the name of the data set.
        name: the name of the release.
        to: the folder that a large release was written to, which has its table; None for other releases.

    Raises:
        LedgerError: no such ledger, data set or release; the release was never committed; the ledger is damaged; or the
            table of a large release is not in the folder as it was written.
        ArgumentError: an unusable path, or a large release without its folder.
    """
    place = require_path(ledger, "ledger")
    if not stands(place, "ledger"):
        raise LedgerError(f"ledger '{place}': there is no such file; check the path")
    with Ledger.open(place) as opened:
        found = opened.stored(opened.identity(dataset), name)
        known = [one.name for one in opened.standings(dataset) if one.state == "committed" and one.kind == "reserve"]
    if found is None:
        raise LedgerError(f"ledger '{place}': data set '{dataset}' has no release '{name}'{did_you_mean(name, known)}")
    if found.state != "committed":
        why = f": {found.lost}" if found.lost else ", and `discreet release` with its plan finishes it"
        raise LedgerError(f"release '{name}': is {found.state}, not committed{why}; there is nothing to extract")
    release = Release(found.payload)
    if release.files and to is None:
        raise ArgumentError(f"release '{name}': is large, and its ledger does not keep the table; name the folder with to=…")
    return restore(release, require_path(to, "to")) if release.files else release
