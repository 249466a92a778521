"""`discreet rows --persons`: rows of households and of the persons in them, from two releases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.output import Answer, Spinner
from discreet.errors import ArgumentError
from discreet.exact.given_paths import quote_path, require_path, same_place, stands

if TYPE_CHECKING:
    from discreet.releases.document import Release
    from discreet.releases.rows import Households, Rows

__all__ = ["Wished", "facts_of", "release_in", "rows_of_households"]


@dataclass(frozen=True, slots=True)
class Wished:
    """The files that are wished, as they were typed, and how they are written.

    Args:
        out: of the rows, or of those of households.
        report: the page about them, or None.
        persons_out: of the rows of persons, or None.
        persons_report: the page about them, or None.
        formulas: what is done with labels in CSV files that spreadsheets take for formulas.
        language: of the pages.
    """

    out: str
    report: str | None
    persons_out: str | None
    persons_report: str | None
    formulas: str
    language: str

    def places(self, *options: str) -> dict[str, Path]:
        """The paths of those of these options that were given.

        Raises:
            ArgumentError: rows with another suffix than .parquet and .csv; one file twice.
        """
        from discreet.releases.rows.files import check_suffix, files_of

        given = [self.out, self.report, self.persons_out, self.persons_report]
        named = zip(["--out", "--report", "--persons-out", "--persons-report"], given, strict=True)
        found = {name: require_path(path, name) for name, path in named if path is not None and name in options}
        rows = [name for name in found if name in {"--out", "--persons-out"}]
        for name in rows:
            check_suffix(found[name])
        written = [
            (name, file) for name, path in found.items() for file in (files_of(path) if name in rows else [_page_at(path)])
        ]
        for (name, file), (other, again) in combinations(written, 2):
            if same_place(file, again):
                raise ArgumentError(f"{other}={quote_path(again)}: is the file of {name} too; give another one")
        return found


def _page_at(path: Path) -> Path:
    """Where a page about rows is: in a folder it is called rows.html."""
    return path / "rows.html" if path.is_dir() else path


def release_in(folder: Path) -> Release:
    """The release in a folder.

    Raises:
        ArgumentError: there is none.
    """
    from discreet.releases.document import Release

    if not stands(folder / "release.json", "rows"):
        raise ArgumentError(f"rows '{folder}': no release.json there; give the folder of one release")
    return Release.load(folder)


def rows_of_households(
    folders: tuple[Path, Path], size: str | None, largest: int | None, wished: Wished, *, strict: bool
) -> Answer:
    """Rows of households and of persons are in two files, and what the pages that are wished say of them.

    Args:
        folders: of the release of households, and of the one of persons.
        size: the column of the households that says how many persons live there.
        largest: the most persons of a household, or None.
        wished: the files.
        strict: refuse releases in which noise dominates in a table.

    Raises:
        ArgumentError: what `fit_households` refuses; `size` or the file of persons is missing; a file cannot be written.
    """
    from discreet.pages.rows.page import write_rows_page
    from discreet.releases.rows import fit_households

    for option, given in (("--size COLUMN", size), ("--persons-out FILE", wished.persons_out)):
        if given is None:
            raise ArgumentError(f"--persons: needs {option} too")
    places = wished.places("--out", "--persons-out", "--report", "--persons-report")
    homes, persons = map(release_in, folders)
    with Spinner("fitting households and persons", sys.stderr) as spinner:
        found = fit_households(
            homes,
            persons,
            size=size or "",
            largest=largest,
            strict=strict,
            tell=lambda done, every: spinner.tell(f"{done} of {every} sweeps"),
        )
    files = [*found.save(places["--out"], places["--persons-out"], formulas=wished.formulas)]
    pages = {"--report": found.homes, "--persons-report": found.persons}
    files += [write_rows_page(rows, places[one], wished.language) for one, rows in pages.items() if one in places]
    return _answer(found, files)


def facts_of(found: Rows) -> dict[str, Any]:
    """Rows for programs: how many they are, of which release, which cells of each table fit, and the exact facts."""
    tables = [
        {"table": list(one.columns), "cells": one.cells, "within": one.within, "noisy": one.noisy} for one in found.compared
    ]
    facts = {"kept": [*found.kept], "left": [*found.left]}
    return {"rows": found.made, "digest": found.digest, "tables": tables, **facts}


def _answer(found: Households, files: Sequence[Path]) -> Answer:
    names, both = [str(one) for one in files], {"homes": found.homes, "persons": found.persons}
    told = [f"{named}: {line}" for named, rows in both.items() for line in str(rows).splitlines()]
    facts = {
        "files": names,
        "shared": [*found.shared],
        "estimated": found.estimated,
        **{named: facts_of(rows) for named, rows in both.items()},
    }
    return Answer([*names, *str(found).splitlines(), *told, "Nothing was spent."], facts)
