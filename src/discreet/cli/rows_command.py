"""`discreet rows`: rows that are fitted to the agreeing tables of a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument
from discreet.cli.output import Answer, Spinner, write
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path, stands

if TYPE_CHECKING:
    from discreet.releases.rows import Rows

__all__ = ["rows"]


def rows(
    folder: FolderArgument,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where the rows are written: a .parquet or .csv file.")],
    report: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Where a page is written that compares the rows with every table: an HTML file."),
    ] = None,
    many: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="How many rows; left out: as many as the release says.")
    ] = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a release in which noise dominates in a table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write made-up rows that agree with the tables of the release in DIR. Spends nothing.

    Anybody who has the release gets the same rows. Exact totals hold to the last row.
    """
    with exits():
        from discreet.pages.rows.page import write_rows_page
        from discreet.releases.rows.result import check_suffix

        place = require_path(out, "--out")
        check_suffix(place)
        found = _fitted(require_path(folder, "rows"), many, strict=strict)
        written = [found.save(place)]
        if report is not None:
            written.append(write_rows_page(found, require_path(report, "--report")))
        write(_answer(found, written), as_json=as_json)


def _fitted(folder: Path, many: int | None, *, strict: bool) -> Rows:
    from discreet.releases.document import Release
    from discreet.releases.rows import fit_rows

    if not stands(folder / "release.json", "rows"):
        raise ArgumentError(f"rows '{folder}': no release.json there; give the folder of one release")
    with Spinner("fitting rows") as spinner:
        return fit_rows(
            Release.load(folder),
            rows=many,
            strict=strict,
            tell=lambda done, every: spinner.tell(f"{done} of {every} sweeps"),
        )


def _answer(found: Rows, written: Sequence[Path]) -> Answer:
    tables = [
        {"table": list(one.columns), "cells": one.cells, "within": one.within, "noisy": one.noisy} for one in found.compared
    ]
    names = [str(one) for one in written]
    facts = {"written": names[0], "rows": len(found.frame), "digest": found.digest, "tables": tables}
    facts |= {"report": names[1]} if len(names) > 1 else {}
    return Answer([*names, *str(found).splitlines(), "Nothing was spent."], facts)
