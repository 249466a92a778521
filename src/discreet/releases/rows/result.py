"""The rows of a release, how they compare with its tables, and what its tables do not say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, InternalError, printed
from discreet.exact.cached import cached_property
from discreet.exact.figures import plural
from discreet.releases.labelled import texts_of
from discreet.releases.recomputed import Published
from discreet.releases.rows.approximate import Approximate, about
from discreet.releases.rows.compared import Compared, PublishedTable, percent_within, tables_in
from discreet.releases.rows.files import write_rows
from discreet.releases.rows.fit import sweep_rows
from discreet.releases.rows.frame import frame_of_rows
from discreet.releases.rows.model import Integers, Start
from discreet.releases.rows.scaled import start_scaled
from discreet.releases.rows.simulated import simulated_document
from discreet.releases.rows.start import broken_facts
from discreet.releases.rows.targets import Described, described
from discreet.releases.rows.words import NAME, Words, words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Rows",
    "Tell",
    "check_simulated",
    "document_again",
    "document_of",
    "fit_rows",
    "interval_of",
    "refuse_noise",
    "rows_of",
    "swept",
]

_MOST_ROWS = 10**8
_MOST_EACH = 10**6
_MOST_FILES = 1000

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """How rows were made: from which document, with which levels, which numbers of its main table they have, beside what."""

    document: dict[str, Any]
    found: Described
    start: Start
    own: Mapping[str, float]
    beside: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are fitted to the agreeing tables of a release: nothing else is known of them, and nothing is charged.

    Whoever has the release can recompute them, row by row, on any machine.

    Args:
        frame: the rows, with the columns of the tables and of the exact totals, and with all columns that follow from these.
            Values of numbers and dates lie in the bins that were drawn. Where rows stand for several, the last column says
            for how many.
        name: of the release.
        dataset: of the release.
        digest: of the release.
        published: the number of rows that the release says, exactly or as an estimate.
        made: the number of rows that the frame has, or that its rows stand for. Where it is another number than the
            published one, they have the same shares, and exact totals hold as shares.
        compared: each table beside the rows.
        apart: the pairs of columns that no table counts by together: nothing is known of what hangs together in them.
        kept: the exact facts and the rules that every row keeps, in words.
        left: exact facts about other rows or columns than those of the tables, in words: the rows do not keep them.
        about: the words of the release.
    """

    frame: pl.DataFrame = field(repr=False)
    name: str
    dataset: str
    digest: str
    published: int
    made: int
    compared: tuple[Compared, ...]
    apart: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]
    left: tuple[str, ...]
    about: About = field(repr=False)
    _made: _Made = field(repr=False)

    @cached_property
    def share(self) -> float:
        """The share of all cells whose number of rows lies in their interval."""
        return sum(one.within for one in self.compared) / sum(one.cells for one in self.compared)

    @property
    def noisy(self) -> tuple[str, ...]:
        """The tables in which noise dominates."""
        return tuple(one.named for one in self.compared if one.noisy)

    @property
    def together_with(self) -> str:
        """The digest of the release from which the rows are made that these go together with; empty where there are none."""
        return str(self._made.beside.get("together with", ""))

    def check(self) -> pl.DataFrame:
        """Each table with the share of its cells whose number of rows lies in their interval."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": [one.named for one in self.compared],
                "cells": [one.cells for one in self.compared],
                "within": [one.within / one.cells for one in self.compared],
                "noisy": [one.noisy for one in self.compared],
            }
        )

    def simulated(self, files: int = 20) -> Iterator[pl.DataFrame]:
        """Frames of rows made of these rows, each as if they were the data and their noise had been drawn again.

        How a number differs between them is about how far it may be off. That is approximate: the noise of each table is
        simulated, but what no table says is not. The frames are the same for everybody who has the release, and cost as much
        time as the rows each.

        Args:
            files: how many, from 2 to 1,000.

        Raises:
            ArgumentError: another number, or rows that are not as many as the release says.
        """
        many = check_simulated(self, files)
        return (self._again(place) for place in range(1, many + 1))

    def _again(self, place: int) -> pl.DataFrame:
        document = document_again(self, place)
        found = described(document, self._made.found.targets.each)
        words = words_of(document["digest"])
        _, start = swept(found, found.targets.rows, words, None)
        return frame_of_rows(found, start, document, words)[0]

    def interval(self, number: Callable[[pl.DataFrame], float], *, files: int = 20, level: float = 0.95) -> Approximate:
        """A number that is computed from the rows, with an approximate interval from `simulated` files.

        It answers how far the noise of the release may have moved the number. It does not answer what the tables do not
        say: interactions of columns that no table counts by together, and where in a bin a value lies.

        Args:
            number: computes it from a frame, for example `lambda frame: frame["age"].mean()`.
            files: how many simulated files.
            level: about how often the interval should hold the number of the data.

        Raises:
            ArgumentError: as for `simulated`; a level that is not between 0 and 1; a number that is not finite.
        """
        frames = chain([self.frame], self.simulated(files))
        return interval_of((number(one) for one in frames), level)

    def save(self, path: str | Path, *, formulas: str = "escape") -> tuple[Path, ...]:
        """The rows as a file, complete or not at all, with the labels of the release.

        A Parquet file has them in its metadata under the key "discreet". Next to a CSV file there is one that describes it,
        `NAME.csv-metadata.json` (CSV on the Web). In a CSV file labels that spreadsheets take for formulas get a single
        quote in front, unless `formulas` is "keep".

        Returns:
            The files.

        Raises:
            ArgumentError: another suffix than .parquet and .csv, a path that cannot be written, or another word.
        """
        told = {
            "made": "rows fitted to the published tables of a release; none of them is a person",
            "release": self.name,
            "dataset": self.dataset,
            "digest": self.digest,
            "scheme": NAME,
            **self._made.beside,
        }
        return write_rows(self.frame, self.about, told, Path(path), formulas)

    def __str__(self) -> str:
        rows, tables = (f"{many:,} {plural(of, many)}" for of, many in (("row", self.made), ("table", len(self.compared))))
        told = [f"{rows}, fitted to {tables}; {percent_within(self.compared):.1f} % of their cells fit"]
        if len(self.frame) != self.made:
            told.append(f"{len(self.frame):,} rows stand for them: the last column says for how many each")
        if self.made != self.published:
            told.append(
                f"the release says {self.published:,} rows; these have the same shares, and exact totals hold as shares"
            )
        if self.left:
            named = ", ".join(self.left)
            told.append(f"not kept, because they are about other rows or columns than those of the tables: {named}")
        if self.noisy:
            told.append(f"noise dominates in {_first(self.noisy)}: what rows say of these is hardly more than chance")
        if self.apart:
            told.append(f"no table has {_first([f'{one} × {other}' for one, other in self.apart])}")
        told.append(
            "columns that no table counts by together hang together only as the tables imply; numbers computed from rows "
            "have no interval"
        )
        return "\n".join(told)


def _first(names: Sequence[str]) -> str:
    """The first five names, and how many there are beside them."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def fit_rows(
    release: Published, *, rows: int | None = None, each: int = 1, strict: bool = False, tell: Tell | None = None
) -> Rows:
    """Rows that agree with what a release has published, as far as whole persons can.

    A function of the document alone, and the same on every machine: the draws are keyed with its digest, so that they tell
    nothing that the release does not tell. Exact facts about the rows that the tables count hold to the last row: totals of
    all groups or of some, occupied and impossible cells, ranges, and sums.

    Args:
        release: with one statistic of agreeing tables, or of agreeing areas.
        rows: how many rows; None is the published number of rows, or its estimate. Another number of rows has the same
            shares, and lists of exact totals are divided among it.
        each: how many rows one of the frame may stand for. Above 1 there is a column of these numbers: with `each=20`
            ten million rows are about a million in the frame.
        strict: refuse a release in which noise dominates in a table, before anything is fitted. Otherwise such tables are
            named by what comes back.
        tell: is told how many sweeps are done, and of how many.

    Raises:
        ArgumentError: a release without agreeing tables; a number of rows that is not from 1 to 10^8, or of `each` from 1 to
            10^6; exact facts that cross each other, of which no rows were found; with `strict`, tables in which noise
            dominates.
    """
    document = document_of(release, "release")
    many, alike = _whole(rows, "rows", _MOST_ROWS), _whole(each, "each", _MOST_EACH)
    found, tables = described(document, 1 if alike is None else alike), tuple(tables_in(document))
    if strict:
        refuse_noise(tables)
    words = words_of(document["digest"])
    made = swept(found, found.targets.rows if many is None else many, words, tell)
    return rows_of(document, found, made, words, tables=tables)


def refuse_noise(tables: Sequence[PublishedTable]) -> None:
    """Raises ArgumentError if noise dominates in one of these tables."""
    noisy = [one.named for one in tables if one.noisy]
    if noisy:
        raise ArgumentError(
            f"strict=True: noise dominates in {_first(noisy)}; ask for larger groups or a larger spend, or leave strict out"
        )


def document_of(release: object, argument: str) -> dict[str, Any]:
    """The document of a release that was given as `argument`: a copy each time.

    Raises:
        ArgumentError: it is anything else.
    """
    found = getattr(release, "document", None)
    if not isinstance(found, dict):
        raise ArgumentError(f"{argument}={printed(release)}: must be a Release")
    return found


def _whole(given: object, name: str, most: int) -> int | None:
    if given is None or (type(given) is int and 1 <= given <= most):
        return given if isinstance(given, int) else None
    raise ArgumentError(f"{name}={printed(given)}: must be a whole number from 1 to {most:,}")


def swept(found: Described, rows: int, words: Words, tell: Tell | None) -> tuple[int, Start]:
    """So many rows after all sweeps, which keep everything that is exact, and how many they are or stand for.

    Raises:
        ArgumentError: no rows were found that keep everything exact.
    """
    targets, start = start_scaled(found.targets, rows, words)
    made = Start(sweep_rows(targets, start, words, tell or _tell_nobody), start.each)
    broken = broken_facts(targets, made)
    if broken:
        raise InternalError(f"rows without {' and '.join(broken)}")
    return targets.rows, made


def rows_of(
    document: dict[str, Any],
    found: Described,
    made: tuple[int, Start],
    words: Words,
    *,
    tables: Sequence[PublishedTable],
    codes: Mapping[str, Integers] = MappingProxyType({}),
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> Rows:
    """The rows of a document after all sweeps, beside its tables.

    Args:
        document: of the release.
        found: what it says.
        made: how many rows, and their levels.
        words: the generator.
        tables: of the document.
        codes: of columns of numbers that are known already.
        beside: what a file of the rows says besides.
    """
    many, start = made
    frame, own = frame_of_rows(found, start, document, words, codes)
    published = found.targets.rows
    return Rows(
        frame=frame,
        name=document["name"],
        dataset=document["dataset"],
        digest=document["digest"],
        published=published,
        made=many,
        compared=tuple(one.beside(start.rows, start.each, published) for one in tables),
        apart=found.apart,
        kept=found.kept,
        left=found.left,
        about=texts_of(document).of(document["name"]),
        _made=_Made(document, found, start, own, beside),
    )


def document_again(rows: Rows, place: int) -> dict[str, Any]:
    """The document of rows as if they were the data and their noise had been drawn again."""
    made = rows._made  # noqa: SLF001
    return simulated_document(made.document, made.start, made.own, place)


def check_simulated(rows: Rows, files: object) -> int:
    """How many simulated files of rows are asked for.

    Raises:
        ArgumentError: another number than from 2 to 1,000, or rows that are not as many as the release says.
    """
    if not (isinstance(files, int) and type(files) is int and 2 <= files <= _MOST_FILES):
        raise ArgumentError(f"files={printed(files)}: must be a whole number from 2 to {_MOST_FILES:,}")
    if rows.made != rows.published:
        raise ArgumentError("simulated(): needs as many rows as the release says; leave rows= out")
    return files


def interval_of(numbers: Iterable[object], level: object) -> Approximate:
    """The interval around the first of some numbers, from those of simulated rows after it.

    Raises:
        ArgumentError: a level that is not between 0 and 1; a number that is not finite.
    """
    if not (isinstance(level, float) and 0 < level < 1):
        raise ArgumentError(f"level={printed(level)}: must lie between 0 and 1, such as 0.95")
    own, *others = map(_finite, numbers)
    return about(own, others, level)


def _finite(value: object) -> float:
    if isinstance(value, int | float) and isfinite(value):
        return float(value)
    raise ArgumentError(f"interval(): the number of the rows is {printed(value)}; it must be a finite number")


def _tell_nobody(_done: int, _every: int) -> None:
    pass
