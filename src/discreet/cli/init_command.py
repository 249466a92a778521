"""`discreet init`: its options."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, CsvForm
from discreet.cli.output import write
from discreet.cli.settings import csv_format_of
from discreet.exact.given_paths import require_path

__all__ = ["init"]


def init(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file of Parquet, CSV, SPSS, Stata or SAS, a glob, a folder, FILE::TABLE, or example:NAME.",
        ),
    ],
    out: Annotated[str, typer.Option("--out", metavar="PLAN", help="The plan file to write.")],
    *,
    columns: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="The columns to declare, in this order; the others are left out.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose row each row is, where a person may have many.")
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE:COLUMN", help="A table of these persons, and its column that says whose row is whose."
        ),
    ] = None,
    csv: CsvForm = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: write a template to fill in.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a plan file from your answers. Reads the names and types of the columns, no values; spends nothing.

    Without a terminal to answer, it writes a template, in which you fill in the bounds and the categories.
    """
    from discreet.cli.asking import Terminal, nobody
    from discreet.cli.starting import start_plan
    from discreet.cli.starting_persons import unit_of

    with exits():
        alone = yes or as_json or not (sys.stdin.isatty() and sys.stdout.isatty())
        place, form = require_path(out, "--out"), csv_format_of(csv)
        unit = unit_of(person, beside or ())
        write(start_plan(source, place, nobody if alone else Terminal(), columns, form, unit=unit), as_json=as_json)
