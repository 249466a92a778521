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
from discreet.plan import area_reading, in_files
from discreet.plan import sizes as limits
from discreet.plan.plan import Plan
from discreet.releases import files as parts
from discreet.session import folders as large_files

SCHEMA = dp.Schema(g=dp.Category(range(40)), h=dp.Category(range(40)), v=dp.Number(0, 100))
FRAME = pl.DataFrame({"g": [*range(20)] * 5, "h": [*range(25)] * 4, "v": [*range(100)]})
TREE = {"wide": [str(n % 7) for n in range(90)], "fine": [f"{n % 7}{n:02d}" for n in range(90)]}
AREAS = dp.Schema(area=dp.Hierarchy(TREE, levels=["wide", "fine"]), g=dp.Category(range(14)))
PERSONS = pl.DataFrame({"area": TREE["fine"] * 3, "g": [n % 15 for n in range(270)]})
MOMENTS = ("before writing", "between parts", "before the commit", "after the commit", "before release.json")


def lower(set_attribute: Callable[[object, str, object], object]) -> None:
    """Sessions take releases of more than 1,000 cells for large, and write them in parts of 500 rows.

    Those of areas are read in several slices, and some areas are in memory at once.
    """
    import discreet.releases.publish
    from discreet.releases.areas import measuring, ordered, publishing

    for module in (limits, large_files, in_files, publishing):
        set_attribute(module, "MOST_WHOLE_CELLS", 1000)
    for module, name, most in (
        (area_reading, "_SLICE", 700),
        (ordered, "_AT_ONCE", 400),
        (publishing, "ROWS", 500),
        (measuring, "_IN_A_FILE", 600),
    ):
        set_attribute(module, name, most)
    real = discreet.releases.publish.publish
    set_attribute(discreet.releases.publish, "publish", lambda *values, **told: real(*values, **told, rows=500))


def opened(folder: Path, kind: str = "groups") -> dp.Session:
    frame, schema = {"groups": (FRAME, SCHEMA), "areas": (PERSONS, AREAS)}[kind]
    if kind == "areas":
        return dp.Session(
            frame, schema, dataset="d", ledger=folder / "budget.db", budget=dp.ZCDP(100), neighbours=dp.AddRemove()
        )
    return dp.Session(
        frame, schema, dataset="d", ledger=folder / "budget.db", budget=dp.PureDP(100), neighbours=dp.AddRemove()
    )


def asked(session: dp.Session, kind: str = "groups") -> Plan:
    if kind == "areas":
        return session.table.agg(dp.agreeing_areas("area", by=[[], ["g"]]))
    return session.table.group_by("g", "h").agg(dp.count(), dp.sum("v", nulls="skip"))


def released(folder: Path, name: str = "r", to: Path | None = None, kind: str = "groups") -> dp.Release:
    with opened(folder, kind) as session:
        return session.release(asked(session, kind), spend="0.1", name=name, to=to or folder / "out")


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
        whole(release)
        return True
    return False


def whole(release: dp.Release) -> None:
    """Every row of the release is there, and every number of areas follows from the measured ones."""
    if release.parts:
        assert release.table.height == 41 * 41
    else:
        assert dp.verify(release).cells == 1 + 8 + 91 + 15 + 8 * 15 + 91 * 15


def recovered(folder: Path, kind: str = "groups") -> dp.Release:
    """What was committed comes back by asking for it again, at no charge, and nothing unfinished is left."""
    before = states(folder).count("reserve")
    release = released(folder, kind=kind)
    assert states(folder).count("reserve") == before
    assert settled(folder)
    assert not parts.drafts_in(folder / "out")
    return release


def dies(folder: Path, moment: str, kind: str) -> None:
    """A process that is killed at a moment of a release."""
    import discreet.releases.publish
    from discreet.releases.areas.scratch import Scratch

    lower(setattr)  # in a process of its own
    written = itertools.count()

    def kill(*_: Any, **__: Any) -> Any:
        os._exit(9)

    def write(*values: Any, **options: Any) -> Any:
        return kill() if next(written) == 2 else write_part(*values, **options)

    homes = [discreet.releases.publish, parts]
    write_part = parts.write_part
    match moment:
        case "before writing":
            for home in homes:
                home.write_part = kill
        case "between parts":
            for home in homes:
                home.write_part = write
        case "between the passes":
            Scratch.read = kill  # type: ignore[method-assign]
        case "before the commit":
            Ledger.commit = kill  # type: ignore[method-assign]
        case "after the commit":
            large_files.place_draft = kill
        case _:
            large_files.replace_file = kill
    released(folder, kind=kind)


def killed(folder: Path, moment: str, kind: str = "groups") -> None:
    code = (
        "import runpy, sys; from pathlib import Path; runpy.run_path(sys.argv[1])['dies'](Path(sys.argv[2]), *sys.argv[3:])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, __file__, str(folder), moment, kind],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 9, run.stderr


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]
