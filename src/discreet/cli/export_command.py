"""`discreet export`: its options."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument, Formulas, Labels, Language
from discreet.cli.output import write
from discreet.exact.given_paths import require_path

__all__ = ["export"]


def export(  # noqa: PLR0917 (options have names)
    folder: FolderArgument,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="csv, xlsx, sdmx, csvw or json-stat.")],
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="The file to write.")],
    frame: Annotated[
        str | None, typer.Option(metavar="NAME", help="A further table of the release; else its first.")
    ] = None,
    labels: Labels = None,
    language: Language = None,
    digits: Annotated[
        str, typer.Option(metavar="noise|raw", help="As many digits as the noise allows, or all of release.json.")
    ] = "noise",
    encoding: Annotated[
        str, typer.Option(metavar="utf-8|utf-8-bom", help="Of CSV files: some spreadsheets need the mark (BOM).")
    ] = "utf-8",
    *,
    formulas: Formulas = "escape",
    as_json: AsJson = False,
) -> None:
    """Write a release as CSV for people, Excel workbook, SDMX-CSV, CSV on the Web or JSON-stat, with labels and flags.

    A function of release.json and labels alone: it needs no ledger and no source, and spends nothing.
    """
    from discreet.cli.exporting import Words, write_export
    from discreet.releases.exports.base import Wishes

    with exits():
        place, path = require_path(folder, "export"), require_path(out, "--out")
        wishes = Wishes(frame, digits, encoding, formulas)
        write(write_export(place, to, path, Words(labels, language), wishes), as_json=as_json)
