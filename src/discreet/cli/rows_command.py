"""`discreet rows`: rows that are fitted to the agreeing tables of a release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument, Formulas
from discreet.cli.output import Answer, Spinner, write
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path, stands

if TYPE_CHECKING:
    from discreet.releases.rows import Rows

__all__ = ["rows"]


def rows(
    folder: FolderArgument,
    out: Annotated[str, typer.Option(metavar="FILE", help="Where the rows are written: a .parquet or .csv file.")],
    *,
    report: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Where a page is written that compares the rows with every table: an HTML file."),
    ] = None,
    many: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="How many rows; left out: as many as the release says.")
    ] = None,
    each: Annotated[
        int, typer.Option(min=1, metavar="N", help="For how many rows one in the file may stand: a last column says it.")
    ] = 1,
    formulas: Formulas = "escape",
    language: Annotated[str, typer.Option(metavar="TAG", help="The language of the page: en or de.")] = "en",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a release in which noise dominates in a table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write made-up rows that agree with the tables of the release in DIR. Spends nothing.

    Anybody who has the release gets the same rows. Exact totals hold to the last row.
    """
    with exits():
        from discreet.pages.rows.page import write_rows_page
        from discreet.pages.words import words_in
        from discreet.releases.frames import check_formulas
        from discreet.releases.rows.files import check_suffix

        place = require_path(out, "--out")
        check_suffix(place)
        check_formulas(formulas)
        words_in(language, demanded=True)
        found = _fitted(require_path(folder, "rows"), many, each, strict=strict)
        written = [*found.save(place, formulas=formulas)]
        if report is not None:
            written.append(write_rows_page(found, require_path(report, "--report"), language))
        write(_answer(found, written), as_json=as_json)


def _fitted(folder: Path, many: int | None, each: int, *, strict: bool) -> Rows:
    from discreet.releases.document import Release
    from discreet.releases.rows import fit_rows

    if not stands(folder / "release.json", "rows"):
        raise ArgumentError(f"rows '{folder}': no release.json there; give the folder of one release")
    with Spinner("fitting rows", sys.stderr) as spinner:
        return fit_rows(
            Release.load(folder),
            rows=many,
            each=each,
            strict=strict,
            tell=lambda done, every: spinner.tell(f"{done} of {every} sweeps"),
        )


def _answer(found: Rows, written: Sequence[Path]) -> Answer:
    tables = [
        {"table": list(one.columns), "cells": one.cells, "within": one.within, "noisy": one.noisy} for one in found.compared
    ]
    names = [str(one) for one in written]
    facts = {"written": names[0], "files": names, "rows": found.made, "digest": found.digest, "tables": tables}
    facts |= {"report": names[-1]} if names[-1].endswith(".html") else {}
    return Answer([*names, *str(found).splitlines(), "Nothing was spent."], facts)
