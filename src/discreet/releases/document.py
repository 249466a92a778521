"""The result: numbers with error bars, the guarantee, and all that a third party needs to check both.

A release is one canonical JSON document with a digest over itself; everything in it is public. The table, the guarantee
and the files are views of that document. The table of a *large* release is in separate files, whose digests it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._version import __version__
from discreet.domain.about import About
from discreet.domain.words import one_line, release_card
from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import digest_of_members, seal_bytes
from discreet.exact.files import make_folder, replace_file
from discreet.exact.given_paths import content_of, quote_path, reason, require_path
from discreet.releases.described import files_in, frames_in_files, parts_in, refuse_made_up
from discreet.releases.files import TABLE, TableFile, collect_rows, copy_table, paths_of, problem_of
from discreet.releases.frames import all_frames, check_formulas, for_csv, frame_of, name_files
from discreet.releases.guarantee import Guarantee, guarantee_of_json
from discreet.releases.labelled import abouts_in, apply_labels, list_known, texts_of
from discreet.releases.payload import parse_document, require_text_names, written
from discreet.releases.quality import quality_frame
from discreet.releases.worded import in_words

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import polars as pl

    from discreet.releases.rows.result import Rows

__all__ = ["FORMAT", "Release", "RowEstimate", "make_release"]

FORMAT = 3
"""The newest version of the release file: 1 holds its table, 2 describes the files that do, 3 also those of further frames
and of measured numbers. Readers refuse what is newer."""

_PARTS = ("name", "dataset", "guarantee", "columns")


@dataclass(frozen=True, slots=True)
class Release:
    """A published release. Equal releases have equal bytes.

    Args:
        payload: the document.
        folder: where the files of a large release are; None for others, and where that is not known.
        texts: the words that `apply_labels` has applied; None where the words of the document hold.

    Raises:
        ArgumentError: bytes that are not a release, were changed or cut, or come from a newer version; from the properties
            too, where a document with a digest that fits lacks what every release has.
    """

    payload: bytes
    folder: Path | None = field(default=None, compare=False)
    texts: About | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        document = parse_document(self.payload)
        found = document.get("format")
        if type(found) is not int or found > FORMAT:
            raise ArgumentError(
                f"release: its format is {printed(found)}, but this version reads formats up to {FORMAT}; update discreet"
            )
        body = {key: value for key, value in document.items() if key != "digest"}
        if document.get("digest") != written(digest_of_members, body):
            raise ArgumentError("release: its digest does not match its content; it was changed after it was written")
        _check_parts(document)

    def __reduce__(self) -> tuple[type[Release], tuple[bytes, Path | None, About | None]]:
        return Release, (self.payload, self.folder, self.texts)  # so that a pickle is checked like a file

    def __repr__(self) -> str:
        return one_line("Release", f"'{self.name}' of", f"'{self.dataset}',", f"digest {self.digest[:12]}")

    def _repr_html_(self) -> str:
        document = self.shown(20)
        with refuse_made_up("numbers"):
            return release_card(document)

    def plot(self, statistic: str | None = None) -> alt.LayerChart:
        """Bars with their intervals, one for each group, as an Altair chart (extra `plot`).

        Args:
            statistic: a column of `table` such as "mean_wage", or the name of a further frame (a histogram's);
                left out: the first number there is.

        Raises:
            ArgumentError: no such number, more than 1,000 groups, or Altair is not installed.
        """
        from discreet.releases.plot import bars_of

        if self.parts:
            raise ArgumentError("plot(): the release has too many groups for bars; filter release.scan() and plot that")
        return bars_of(self.shown(0), statistic, self.about)

    def rows(self, rows: int | None = None, *, each: int = 1, strict: bool = False) -> Rows:
        """Made-up rows that agree with the published tables: what `fit_rows` makes of this release, with its errors."""
        from discreet.releases.rows.result import fit_rows

        return fit_rows(self, rows=rows, each=each, strict=strict)

    @property
    def document(self) -> dict[str, Any]:
        """The whole public document, a fresh copy."""
        return parse_document(self.payload)

    @property
    def name(self) -> str:
        """The name of the release, unique in its data set."""
        return str(self.document["name"])

    @property
    def dataset(self) -> str:
        """The declared name of the data set."""
        return str(self.document["dataset"])

    @property
    def digest(self) -> str:
        """SHA-256 over all of the document but itself."""
        return str(self.document["digest"])

    @property
    def guarantee(self) -> Guarantee:
        """The promise of the release."""
        with refuse_made_up("guarantee"):
            return guarantee_of_json(self.document["guarantee"])

    @property
    def time(self) -> str:
        """The date and time in UTC at which it was begun; empty for a release of 0.1.0, which has none."""
        return str(self.document.get("time", ""))

    @property
    def about(self) -> About:
        """The texts and labels of the release: as `apply_labels` gives them, or the document's in its main language."""
        return texts_of(self.document) if self.texts is None else self.texts

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which the document has texts, the main one first."""
        return tuple(one.language for one in abouts_in(self.document))

    def labelled(self, texts: About | str) -> Release:
        """The same release with other words: everything that shows it uses them, and nothing else changes.

        Args:
            texts: a language that the document has texts in, or an `About`; what it leaves out is as the document has it.

        Raises:
            ArgumentError: no texts in that language, or words for something that the release does not have.
        """
        document = self.document
        if not isinstance(texts, About):
            return replace(self, texts=texts_of(document, texts))
        with refuse_made_up("plan"):
            known = list_known(document)
        return replace(self, texts=apply_labels(document, texts, known))

    @property
    def quality(self) -> pl.DataFrame:
        """The class of each number of `table`: "a" good, "b" to use with caution, "c" not publishable; and its groups.

        The rule is the rule of the document, or the usual one: a coefficient of variation up to 16.6 % and 33.3 %.
        """
        document, table = self.document, self.table
        with refuse_made_up("quality"):
            return quality_frame(document, table)

    @property
    def parts(self) -> tuple[TableFile, ...]:
        """The files that hold the table of a large release; none where the document holds it."""
        return parts_in(self.document)

    @property
    def files(self) -> tuple[TableFile, ...]:
        """All files of a large release: those of its table, of further frames and of measured numbers."""
        return files_in(self.document)

    @property
    def table(self) -> pl.DataFrame:
        """One row for every cell of the public domain: group columns, then each statistic with its bounds.

        The table of a large release is read into memory whole; `scan` reads only the requested part.
        """
        document = self.document
        if parts_in(document):
            return collect_rows(self.scan())
        with refuse_made_up("columns"):  # no lazy frame: collecting one needs threads, which a forked process has not
            return frame_of(document["columns"])

    def scan(self, frame: str = "table") -> pl.LazyFrame:
        """A frame, read when it is collected and only as far as that needs: of a large release from its files.

        Args:
            frame: "table", or the name of a further one: those of `tables`, and those that are in files alone.

        Raises:
            ArgumentError: there is no such frame, or it is not known where the files are.
        """
        document = self.document
        found = parts_in(document) if frame == "table" else frames_in_files(document).get(frame, ())
        if found:
            import polars as pl

            return pl.scan_parquet(paths_of(found, self._place()))
        tables = self.tables if frame != "table" else {"table": self.table}
        if not isinstance(frame, str) or frame not in tables:
            known = ", ".join([*self.tables, *frames_in_files(document)])
            raise ArgumentError(f"scan({printed(frame)}): the release has no such frame; it has {known}")
        return tables[frame].lazy()

    @property
    def in_files(self) -> dict[str, int]:
        """The further frames that are in files alone, which `scan` reads, each with the number of its rows."""
        return {name: sum(part.rows for part in parts) for name, parts in frames_in_files(self.document).items()}

    def shown(self, rows: int) -> dict[str, Any]:
        """The document with the numbers that views show; of a large release, at most those of the first `rows` rows.

        Intervals are cut to what is possible, and a value whose interval is everything that is possible is None.
        """
        from discreet.releases.possible import show_bounds

        document = self.document
        if parts_in(document):
            head = None if self.folder is None else collect_rows(self.scan().head(rows))
            with refuse_made_up("columns"):
                columns = [(one, [] if head is None else head[one["name"]].to_list()) for one in document["columns"]]
                document["columns"] = [{**one, "values": values} for one, values in columns]
        with refuse_made_up("numbers"):
            return in_words(show_bounds(document), document, self.about)

    def _place(self) -> Path:
        if self.folder is None:
            raise ArgumentError("release: its table is in files; read it with Release.load(folder) from where they are")
        return self.folder

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All frames of the release by name: "table" is the main one; exact totals are named after their columns.

        A frame of totals has the columns of its cells and their exact numbers; cells that are not there hold 0 rows.
        """
        table, document = self.table, self.document
        with refuse_made_up("tables"):
            return all_frames(document, table)

    def to_pandas(self) -> pd.DataFrame:
        """`table` as a pandas frame (extra `pandas`).

        Raises:
            ArgumentError: the release is large, or pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ArgumentError(
                "to_pandas(): needs the extra: pip install 'discreet[pandas]'; or use release.table"
            ) from None
        if self.parts:
            raise ArgumentError("to_pandas(): the table is too large; take what you need from release.scan()")
        table = self.table
        return pd.DataFrame({name: table[name].to_list() for name in table.columns})

    def save(self, folder: str | Path, *, formulas: str = "escape") -> Path:
        """`folder` has release.json, and a CSV and a Parquet file of each frame of `tables`, each complete or not at all.

        All files have the numbers of the document as they are.

        A large release has its Parquet files instead of the two files of its table. In CSV files only, labels that
        spreadsheets take for formulas get a single quote in front, unless `formulas` is "keep".

        Raises:
            ArgumentError: the folder cannot be made or written, or holds another table; or a release file was changed.
        """
        place, parts, _ = require_path(folder, "save()"), self.parts, check_formulas(formulas)
        frames = all_frames(self.document, collect_rows(self.scan().head(0))) if parts else self.tables
        files = name_files({name: frame for name, frame in frames.items() if name != TABLE or not parts})
        try:
            make_folder(place)
            if self.files and problem_of(self.files, place / TABLE):
                copy_table(self.files, self._place() / TABLE, place)
            replace_file(place / "release.json", lambda path: path.write_bytes(self.payload))
            for name, frame in files.items():
                replace_file(place / f"{name}.csv", partial(for_csv(frame, formulas).write_csv, quote_style="non_numeric"))
                replace_file(place / f"{name}.parquet", frame.write_parquet)
        except OSError as wrong:
            raise ArgumentError(f"save('{folder}'): cannot be written ({reason(wrong)}); choose another folder") from None
        except ValueError as wrong:
            raise ArgumentError(f"save('{folder}'): {wrong}; restore the release from a copy") from None
        return place

    def export(
        self,
        to: str,
        path: str | Path,
        *,
        frame: str | None = None,
        digits: str = "noise",
        encoding: str = "utf-8",
        formulas: str = "escape",
    ) -> tuple[Path, ...]:
        """The release stands in a file of another format, with its labels, classes of quality and ends of bins.

        Args:
            to: "csv", "xlsx" (extra `xlsx`), "sdmx", "csvw" or "json-stat".
            path: the file; a second one next to it begins with its name.
            frame: a name of `tables`; left out: the first that has numbers. A workbook has all.
            digits: "noise" rounds to two digits of each half-width, ends outwards; "raw" writes what the document has.
            encoding: of a CSV file, "utf-8" or, for spreadsheets that need a mark, "utf-8-bom".
            formulas: as for `save`.

        Returns:
            The files.

        Raises:
            ArgumentError: one of these does not exist, the release is large, or the file cannot be written.
        """
        from discreet.releases.exports.base import Wishes
        from discreet.releases.exports.registry import export

        wishes, place = Wishes(frame, digits, encoding, formulas), require_path(path, "export()")
        return export(self.document, self.about, to, place, wishes)

    @staticmethod
    def load(folder: str | Path) -> Release:
        """The release in a folder made by `save`, or in a release.json file.

        Raises:
            ArgumentError: no release there, or one that was changed, cut, or written by a newer version; of a large
                release its files too.
        """
        try:
            place = Path(folder)
            file = place / "release.json" if place.is_dir() else place
            payload = content_of(file)
        except (OSError, ValueError, TypeError):
            shown = quote_path(folder) if isinstance(folder, str | Path) else printed(folder)
            raise ArgumentError(f"load({shown}): no release.json there; name the folder of a saved release") from None
        parts = Release(payload).files
        problem = problem_of(parts, file.parent / TABLE) if parts else ""
        if problem:
            raise ArgumentError(f"load('{folder}'): {TABLE}: {problem}; restore the folder from a copy")
        return Release(payload, file.parent if parts else None)


@dataclass(frozen=True, slots=True)
class RowEstimate:
    """A noisy number of rows with its 95 % interval. `rows` is at least 1 and may be the n of a resize."""

    rows: int
    low: int
    high: int
    release: Release

    def __index__(self) -> int:
        return self.rows


def make_release(content: Mapping[str, Any]) -> Release:
    """The release of a complete public document without format, version and digest, which are added.

    A member may be an iterator of what its list is to hold.
    """
    body = {
        "format": 3 if "files" in content else 2 if "table" in content else 1,
        "library": f"discreet {__version__}",
        **content,
    }
    _check_parts(body)
    require_text_names(body)
    given = {name: map(require_text_names, one) for name, one in body.items() if isinstance(one, Iterator)}
    return _sealed(written(seal_bytes, {**body, **given}))


def _sealed(payload: bytes) -> Release:
    """The release of a document that was sealed just now: reading it, only to find its digest right, takes as long again."""
    release = object.__new__(Release)
    for name, value in (("payload", payload), ("folder", None), ("texts", None)):
        object.__setattr__(release, name, value)
    return release


def _check_parts(document: Mapping[str, Any]) -> None:
    missing = [key for key in _PARTS if key not in document]
    if missing:
        raise ArgumentError(f"release: has no '{missing[0]}'; it is not a document that discreet wrote")
