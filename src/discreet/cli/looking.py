"""Other looks at what `discreet release` has written: the report, views, and what can be recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from discreet.cli.exporting import Words
from discreet.cli.output import Answer
from discreet.errors import ArgumentError
from discreet.exact.files import replace_file
from discreet.exact.given_paths import stands
from discreet.pages.report.drawing import Artist
from discreet.releases.document import Release
from discreet.releases.frames import for_csv
from discreet.releases.measured import verify
from discreet.releases.views import consistent, view_deviations
from discreet.releases.whole_files import write_whole

__all__ = ["consistent_folder", "release_folders", "report_folder", "verify_folder"]


def report_folder(folder: Path, artist: Artist, words: Words) -> Answer:
    """Writes report.html next to the release.json in `folder`, or next to each one in its sub-folders.

    Raises:
        ArgumentError: `folder` has no release, or cannot be written.
    """
    from discreet.pages.report import write_report

    places = release_folders(folder, "report")
    chosen = [(place, *words.for_page(Release.load(place))) for place in places]
    written = [
        write_report(release, place / "report.html", artist, language=language) for place, release, language in chosen
    ]
    return _list_files(written)


def consistent_folder(folder: Path, statistic: str | None, formulas: str) -> Answer:
    """Writes consistent.csv and consistent.parquet next to the release.json in `folder`, or next to each in its sub-folders.

    Of a release of areas in files it writes the folder `whole` instead, with all tables.

    Raises:
        ArgumentError: `folder` has no release or cannot be written, or the release does not have such numbers.
    """
    written, lines = [], list[str]()
    for place in release_folders(folder, "consistent"):
        release = Release.load(place)
        if release.in_files:
            moved = write_whole(release, place / "whole")
            written.append(place / "whole")
            lines += [str(place / "whole"), *_tell_deviations(moved.rows())]
            continue
        table = consistent(release, statistic)
        try:
            replace_file(place / "consistent.csv", for_csv(table, formulas).write_csv)
            replace_file(place / "consistent.parquet", table.write_parquet)
        except OSError as wrong:
            raise ArgumentError(f"consistent '{place}': cannot be written ({wrong.strerror}); copy it elsewhere") from None
        written.append(place / "consistent.csv")
        lines.append(str(place / "consistent.csv"))
        if any("levels" in one for one in release.document.get("measured", ())):
            names = [name for name, frame in release.tables.items() if table[:, :-1].equals(frame[:, : table.width - 1])]
            lines += _tell_deviations([row for row in view_deviations(release).rows() if row[0] in names])
    return Answer(lines, {"written": [str(path) for path in written]})


def _tell_deviations(rows: Sequence[tuple[str, str, int, float, float]]) -> list[str]:
    """How far whole numbers are from the counts, by the size of these."""
    return [
        f"  {table}: {cells:,} counts {told}: {mean:+.3f} on average, {size:.3f} in size"
        for table, told, cells, mean, size in rows
    ]


def verify_folder(folder: Path) -> Answer:
    """Recomputes the tables of the release in `folder`, or of each in its sub-folders, from their measured integers.

    Raises:
        ArgumentError: `folder` has no release, or a number of one does not follow from its measured integers.
    """
    found = [(place, verify(Release.load(place))) for place in release_folders(folder, "verify")]
    lines = [f"{place / 'release.json'}: {one}" for place, one in found]
    return Answer(lines, {"verified": [{"folder": str(place), **asdict(one)} for place, one in found]})


def _list_files(paths: Sequence[Path]) -> Answer:
    return Answer([str(path) for path in paths], {"written": [str(path) for path in paths]})


def release_folders(folder: Path, command: str) -> list[Path]:
    """The folder with its release.json, or its sub-folders with one. Raises ArgumentError where there is none."""
    alone = stands(folder / "release.json", command)
    found = [folder] if alone else sorted(path.parent for path in folder.glob("*/release.json"))
    if not found:
        raise ArgumentError(f"{command} '{folder}': no release.json there; give the folder that `discreet release` wrote")
    return found
