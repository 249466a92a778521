"""`discreet rows`: rows that are fitted to the agreeing tables of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument
from discreet.cli.output import Answer, Spinner, write
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path, stands

__all__ = ["rows"]


def rows(
    folder: FolderArgument,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where the rows are written: a .parquet or .csv file.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write made-up rows that agree with the tables of the release in DIR. Spends nothing.

    Anybody who has the release gets the same rows. Exact totals hold to the last row.
    """
    with exits():
        write(_answer(require_path(folder, "rows"), require_path(out, "--out")), as_json=as_json)


def _answer(folder: Path, out: Path) -> Answer:
    from discreet.releases.document import Release
    from discreet.releases.rows import fit_rows
    from discreet.releases.rows.result import check_suffix

    if not stands(folder / "release.json", "rows"):
        raise ArgumentError(f"rows '{folder}': no release.json there; give the folder of one release")
    check_suffix(out)
    with Spinner("fitting rows") as spinner:
        found = fit_rows(Release.load(folder), tell=lambda done, every: spinner.tell(f"{done} of {every} sweeps"))
    found.save(out)
    tables = [
        {"table": list(one.columns), "cells": one.cells, "within": one.within, "noisy": one.noisy} for one in found.compared
    ]
    facts = {"written": str(out), "rows": len(found.frame), "digest": found.digest, "tables": tables}
    return Answer([str(out), *str(found).splitlines(), "Nothing was spent."], facts)
