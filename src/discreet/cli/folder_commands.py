"""`discreet register` and `discreet programme`: what is made of the releases in a folder, each a thin function."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument
from discreet.cli.output import Answer, write
from discreet.exact.given_paths import require_path

__all__ = ["programme", "register"]


def register(
    folder: FolderArgument,
    published: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="The day of publication; left out: the day of the release, if it is known."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Write an entry for the OpenDP registry of deployments, and a page that answers the evaluation of NIST SP 800-226.

    Both follow from release.json alone. What it does not know is a marked question, which the custodian answers.
    """
    from discreet.cli.registering import register_folder

    with exits():
        write(register_folder(require_path(folder, "register"), published), as_json=as_json)


def programme(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder with results of `release`, in sub-folders too.")],
    ledger: Annotated[
        list[str] | None,
        typer.Option("--ledger", metavar="FILE", help="A ledger that says what was spent; for several, name each."),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The title of the page.")] = "",
    language: Annotated[str, typer.Option("--language", metavar="TAG", help="The language of the page: en or de.")] = "en",
    *,
    as_json: AsJson = False,
) -> None:
    """Write index.html in DIR: all releases with search, budgets, links, and whether tables agree. Spends nothing.

    Without a ledger the documents say what was spent. Nothing outside DIR is read but the ledgers; links are not followed.
    """
    with exits():
        from discreet.pages.programme import write_programme
        from discreet.session.accounts import accounts_of

        accounts = [one for file in ledger or () for one in accounts_of(require_path(file, "--ledger"))]
        page, shelf = write_programme(require_path(folder, "programme"), accounts=accounts, language=language, title=title)
        left_out = [f"{one.place}: {one.why}" for one in shelf.left_out]
        many = len(shelf.releases)
        lines = [
            f"{page} was written: {many} {'release' if many == 1 else 'releases'}. Nothing was spent.",
            *(f"not shown: {one}" for one in left_out),
        ]
        write(Answer(lines, {"programme": str(page), "releases": many, "left_out": left_out}), as_json=as_json)
