"""Large releases to be interrupted, killed and robbed: sessions on a small table, and what their ledger and folder say."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dp
from discreet.ledger import Ledger
from discreet.plan import sizes as limits
from discreet.plan.plan import Plan
from discreet.releases import files as parts
from discreet.session import folders as large_files

SCHEMA = dp.Schema(g=dp.Category(range(40)), h=dp.Category(range(40)), v=dp.Number(0, 100))
FRAME = pl.DataFrame({"g": [*range(20)] * 5, "h": [*range(25)] * 4, "v": [*range(100)]})
MOMENTS = ("before writing", "between parts", "before the commit", "after the commit", "before release.json")


def lower(set_attribute: Callable[[object, str, object], object]) -> None:
    """Sessions take releases of more than 1,000 cells for large, and write them in parts of 500 rows."""
    import discreet.releases.publish

    for module in (limits, large_files):
        set_attribute(module, "MOST_WHOLE_CELLS", 1000)
    real = discreet.releases.publish.publish
    set_attribute(discreet.releases.publish, "publish", lambda *values, **told: real(*values, **told, rows=500))


def opened(folder: Path) -> dp.Session:
    return dp.Session(
        FRAME, SCHEMA, dataset="d", ledger=folder / "budget.db", budget=dp.PureDP(100), neighbours=dp.AddRemove()
    )


def asked(session: dp.Session) -> Plan:
    return session.table.group_by("g", "h").agg(dp.count(), dp.sum("v", nulls="skip"))


def released(folder: Path, name: str = "r", to: Path | None = None) -> dp.Release:
    with opened(folder) as session:
        return session.release(asked(session), spend="0.1", name=name, to=to or folder / "out")


def states(folder: Path) -> list[str]:
    """The kinds of entries that charge and conclude, in order; what was charged is what they say."""
    if not (folder / "budget.db").exists():
        return []
    with Ledger.open(folder / "budget.db") as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        kinds = [entry.kind for entry in ledger.entries() if entry.kind in {"reserve", "commit", "fail"}]
        assert dict(found.spent).get("d", (0,)) == (Fraction(kinds.count("reserve"), 10),)
        return kinds


def settled(folder: Path, name: str = "r") -> bool:
    """Whether the release is complete under its final names; if it is not, nothing stands there as if it were."""
    place = folder / "out"
    kinds = states(folder)
    if (place / "table").exists():
        assert kinds[-1] == "commit", "numbers under their final name that were not committed"
    if (place / "release.json").exists():
        release = dp.Release.load(place)
        with Ledger.open(folder / "budget.db") as ledger:
            stored = ledger.stored(ledger.identity("d"), name)
        assert stored is not None
        assert stored.payload == release.payload
        assert release.table.height == 41 * 41
        return True
    return False


def recovered(folder: Path) -> dp.Release:
    """What was committed comes back by asking for it again, at no charge, and nothing unfinished is left."""
    before = states(folder).count("reserve")
    release = released(folder)
    assert states(folder).count("reserve") == before
    assert settled(folder)
    assert not parts.drafts_in(folder / "out")
    return release


def dies(folder: Path, moment: str) -> None:
    """A process that is killed at a moment of a release."""
    import discreet.releases.publish

    lower(setattr)  # in a process of its own
    written = itertools.count()

    def kill(*_: Any, **__: Any) -> Any:
        os._exit(9)

    def write(*values: Any, **options: Any) -> Any:
        return kill() if next(written) == 2 else write_part(*values, **options)

    write_part = discreet.releases.publish.write_part
    match moment:
        case "before writing":
            discreet.releases.publish.write_part = kill
        case "between parts":
            discreet.releases.publish.write_part = write
        case "before the commit":
            Ledger.commit = kill  # type: ignore[method-assign]
        case "after the commit":
            large_files.place_draft = kill
        case _:
            large_files.replace_file = kill
    released(folder)


def killed(folder: Path, moment: str) -> None:
    code = "import runpy, sys; from pathlib import Path; runpy.run_path(sys.argv[1])['dies'](Path(sys.argv[2]), sys.argv[3])"
    run = subprocess.run(
        [sys.executable, "-c", code, __file__, str(folder), moment], check=False, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 9, run.stderr


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]
