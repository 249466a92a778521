"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "CsvForm",
    "FolderArgument",
    "Formulas",
    "KeyOption",
    "Labels",
    "Language",
    "LedgerArgument",
    "PlanArgument",
    "Settings",
    "WithoutSource",
    "Yes",
]

PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan file (TOML).")]
LedgerArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger file.")]
FolderArgument = Annotated[str, typer.Argument(metavar="DIR", help="A folder with results of `release`.")]
Formulas = Annotated[
    str, typer.Option(metavar="escape|keep", help="What to do with labels in CSV files that spreadsheets read as formulas.")
]
Labels = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="Texts and labels (TOML) instead of those of the release.")
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language", metavar="TAG", help="A language in which the release has texts, such as de; a page: en or de too."
    ),
]
KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="FILE", help="Sign with this private key (Ed25519, in the format of OpenSSH).")
]
Yes = Annotated[bool, typer.Option("--yes", help="Sign without asking: you have read what is signed.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter of the plan."),
]
CsvForm = Annotated[
    list[str] | None,
    typer.Option(
        "--csv",
        metavar="KEY=VALUE",
        help="How CSV files are written: separator, decimal, encoding or quote, each if it differs from the usual.",
    ),
]
WithoutSource = Annotated[bool, typer.Option("--without-source", help="Do not open the source.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
