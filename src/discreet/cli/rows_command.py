"""`discreet rows`: rows that are fitted to the agreeing tables of a release."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.household_rows import Wished, facts_of, release_in, rows_of_households
from discreet.cli.options import AsJson, FolderArgument, Formulas
from discreet.cli.output import Answer, Spinner, write
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path

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
    persons: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A release of persons: its rows are written too, each in a household of DIR."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --persons: the column of DIR that says how many persons live there."),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="With --persons: the most persons of a household, where sizes end in one as 6+."
        ),
    ] = None,
    persons_out: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --persons: where the rows of persons are written.")
    ] = None,
    persons_report: Annotated[
        str | None, typer.Option(metavar="PAGE", help="With --persons: where the page about these rows is written.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write made-up rows that agree with the tables of the release in DIR. Spends nothing.

    Anybody who has the release gets the same rows. Exact totals hold to the last row. With --persons the rows of DIR are
    households, and rows of persons who live in them are written besides.
    """
    with exits():
        from discreet.pages.words import words_in
        from discreet.releases.frames import check_formulas

        check_formulas(formulas)
        words_in(language, demanded=True)
        wished = Wished(out, report, persons_out, persons_report, formulas, language)
        if persons is None:
            given = {"--size": size, "--largest": largest, "--persons-out": persons_out, "--persons-report": persons_report}
            _refuse_without_persons(given)
            answer = _rows_of_one(require_path(folder, "rows"), wished, many, each, strict=strict)
        elif many is not None or each != 1:
            raise ArgumentError(
                "--persons: not with --rows or --each; households and persons are as many as their releases say"
            )
        else:
            folders = require_path(folder, "rows"), require_path(persons, "--persons")
            answer = rows_of_households(folders, size, largest, wished, strict=strict)
        write(answer, as_json=as_json)


def _refuse_without_persons(given: Mapping[str, object]) -> None:
    wrong = next((option for option, value in given.items() if value is not None), None)
    if wrong is not None:
        raise ArgumentError(f"{wrong}: goes with --persons DIR, a release of the persons who live in the households of DIR")


def _rows_of_one(folder: Path, wished: Wished, many: int | None, each: int, *, strict: bool) -> Answer:
    from discreet.pages.rows.page import write_rows_page
    from discreet.releases.rows import fit_rows

    places = wished.places("--out", "--report")
    release = release_in(folder)
    with Spinner("fitting rows", sys.stderr) as spinner:
        found = fit_rows(
            release,
            rows=many,
            each=each,
            strict=strict,
            tell=lambda done, every: spinner.tell(f"{done} of {every} sweeps"),
        )
    files = [*found.save(places["--out"], formulas=wished.formulas)]
    if "--report" in places:
        files.append(write_rows_page(found, places["--report"], wished.language))
    return _answer(found, files)


def _answer(found: Rows, written: Sequence[Path]) -> Answer:
    names = [str(one) for one in written]
    facts = {"written": names[0], "files": names, **facts_of(found)}
    facts |= {"report": names[-1]} if names[-1].endswith(".html") else {}
    return Answer([*names, *str(found).splitlines(), "Nothing was spent."], facts)
