"""`discreet ledger` and its commands: one thin function for each, which loads what it needs."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, Formulas, KeyOption, LedgerArgument, Yes
from discreet.cli.output import write
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path

__all__ = ["ledger_app"]

ledger_app = typer.Typer(
    help="Show, verify and export the record of all charges.", no_args_is_help=True, rich_markup_mode="markdown"
)


@ledger_app.command("show", epilog="Example: discreet ledger show budget.db")
def ledger_show(
    file: LedgerArgument,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="Only this data set.")] = None,
    at: Annotated[str | None, typer.Option(metavar="DATE", help="With --population: what was lost by this date.")] = None,
    language: Annotated[str | None, typer.Option(metavar="TAG", help="The language of --population: en or de.")] = None,
    *,
    population: Annotated[
        bool, typer.Option("--population", help="What one person can have lost over data sets and windows, at any date.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the budgets, the charges and what remains."""
    from discreet.cli.ledgers import show_ledger

    with exits():
        if population:
            from discreet.cli.persons_over_time import show_populations

            if dataset is not None:
                raise ArgumentError("--dataset: a population is shown with all its data sets; leave --dataset out")
            write(show_populations(file, at, language), as_json=as_json)
            return
        for option, given in (("--at", at), ("--language", language)):
            if given is not None:
                raise ArgumentError(f"{option}: is about what one person can have lost; add --population")
        write(show_ledger(file, dataset), as_json=as_json)


@ledger_app.command("verify", epilog="Example: discreet ledger verify budget.db --releases results")
def ledger_verify(
    file: LedgerArgument,
    releases: Annotated[
        str | None, typer.Option(metavar="DIR", help="Every release in DIR, at any depth, must be in this ledger.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Read the whole ledger again: chain of digests, totals, stored releases. Exit code 2 if anything is wrong.

    --releases also detects an older copy of the ledger, which lacks a release that was charged later.
    """
    from discreet.cli.ledgers import verify_ledger

    with exits():
        write(verify_ledger(file, None if releases is None else require_path(releases, "--releases")), as_json=as_json)


@ledger_app.command("demand", epilog="Example: discreet ledger demand budget.db --signatures 2 --keys board.pub")
def ledger_demand(
    file: LedgerArgument,
    signatures: Annotated[int, typer.Option(metavar="K", help="How many different keys must sign; 0 for none.")],
    keys: Annotated[str | None, typer.Option(metavar="FILE", help="The public keys, one in each line.")] = None,
    dataset: Annotated[str, typer.Option(metavar="NAME", help="Only for this data set.")] = "",
    key: KeyOption = None,
    *,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Demand that releases are approved. A demand is changed only with the signatures that it demands: sign with --key."""
    from discreet.cli.approving import change_demand

    with exits():
        listed = None if keys is None else require_path(keys, "--keys")
        where = None if key is None else require_path(key, "--key")
        change_demand(file, signatures, listed, dataset, where, yes=yes, as_json=as_json)


@ledger_app.command("export", epilog="Example: discreet ledger export budget.db")
def ledger_export(
    file: LedgerArgument,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of one per line.")] = False,
) -> None:
    """Print all entries, one JSON object per line. Everything in them is public."""
    from discreet.cli.ledgers import export_ledger

    with exits():
        write(export_ledger(file), as_json=as_json)


@ledger_app.command(
    "extract", epilog='Example: discreet ledger extract budget.db --dataset wages --release "by state" --out results'
)
def ledger_extract(
    file: LedgerArgument,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="The data set.")],
    release: Annotated[str, typer.Option("--release", metavar="NAME", help="The release.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder for the results.")],
    *,
    formulas: Formulas = "escape",
    as_json: AsJson = False,
) -> None:
    """Write a stored release again, without its plan and its source, at no charge."""
    from discreet.pages.report.drawing import begin_drawing

    with exits(), begin_drawing() as artist:
        from discreet.cli.releasing import extract_release

        folder = require_path(out, "--out")
        write(
            extract_release(require_path(file, "FILE"), dataset, release, folder, artist, formulas=formulas), as_json=as_json
        )
