"""A table of derived numbers with their intervals, in words, as CSV and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.domain.words import one_line
from discreet.errors import ArgumentError
from discreet.exact.canonical import seal
from discreet.exact.files import make_folder, replace_file
from discreet.exact.given_paths import reason, require_path
from discreet.exact.numbers import decimal_text, float_down, float_up, text
from discreet.releases.derived.fieller import Interval
from discreet.releases.derived.operands import Key
from discreet.releases.frames import check_formulas, for_csv, frame_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Derived", "Figure", "figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A derived number with the ends of its interval, rounded outwards; all None where the interval is unbounded."""

    value: float | None
    low: float | None
    high: float | None


def figure(value: Fraction | None, ends: Interval | None) -> Figure:
    """The number as it is published; a number without an interval between two doubles is not printed."""
    if ends is None or value is None:
        return Figure(None, None, None)
    low, high = float_down(ends[0]), float_up(ends[1])
    if not (isfinite(low) and isfinite(high)):
        return Figure(None, None, None)
    return Figure(min(max(float(value), low), high), low, high)


@dataclass(frozen=True, slots=True, repr=False)
class Derived:
    """Derived numbers: post-processing of releases, which cost nothing and touch no rows.

    Args:
        kind: "ratio", "change", "combine" or "before_sampling".
        words: what the numbers are, in a sentence.
        keys: the columns of the groups.
        groups: the labels of each group.
        columns: for each column of numbers its name and a figure for each group.
        confidence: each interval holds the true number with at least this probability.
        sources: where the operands come from, as JSON values.
        missing: for each operand the groups for which the other one has no number.
        notes: what a reader has to know, in sentences.
    """

    kind: str
    words: str
    keys: tuple[str, ...]
    groups: tuple[Key, ...]
    columns: tuple[tuple[str, tuple[Figure, ...]], ...]
    confidence: Fraction
    sources: tuple[Mapping[str, Any], ...]
    missing: tuple[tuple[Key, ...], ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return one_line("Derived:", self.words, f"for {len(self.groups)} groups")

    def __str__(self) -> str:
        """A sentence on what the numbers are, their confidence, what is unbounded and what is missing."""
        level = decimal_text(100 * self.confidence, 4)
        lines = [f"{self.words}; each interval holds with {level} %"]
        for name, figures in self.columns:
            if unbounded := sum(one.low is None for one in figures):
                lines.append(f"{name}: {unbounded} of {len(figures)} intervals are unbounded, so no number is given there")
        for source, groups in zip(self.sources, self.missing, strict=True):
            if groups:
                shown = "; ".join(", ".join("null" if label is None else label for label in group) for group in groups[:10])
                lines.append(f"only in {source['words']}: {shown}{'; …' if len(groups) > 10 else ''}")
        return "\n".join([*lines, *self.notes])

    @property
    def table(self) -> pl.DataFrame:
        """One row for every group: its labels, then each number with the ends of its interval."""
        return frame_of(self.frame_columns())

    def frame_columns(self) -> list[dict[str, Any]]:
        """The columns of `table`, as documents hold columns."""
        labels = [
            {"name": name, "kind": "text", "values": [group[place] for group in self.groups]}
            for place, name in enumerate(self.keys)
        ]
        return [*labels, *self._numbers()]

    def _numbers(self) -> list[dict[str, Any]]:
        ends: Sequence[tuple[str, str]] = (("", "value"), ("_low", "low"), ("_high", "high"))
        return [
            {"name": f"{name}{suffix}", "kind": "real", "values": [getattr(one, part) for one in figures]}
            for name, figures in self.columns
            for suffix, part in ends
        ]

    def to_json(self) -> str:
        """The numbers with everything that is needed to compute them again, as canonical JSON with a digest over itself."""
        return seal(self.facts())

    def facts(self) -> dict[str, Any]:
        """The same as JSON values, without the digest."""
        return {
            "derived": self.kind,
            "words": self.words,
            "confidence": text(self.confidence),
            "keys": list(self.keys),
            "groups": [list(group) for group in self.groups],
            "columns": self._numbers(),
            "sources": [dict(source) for source in self.sources],
            "missing": [[list(group) for group in groups] for groups in self.missing],
            "notes": list(self.notes),
        }

    def save(self, folder: str | Path, name: str | None = None, *, formulas: str = "escape") -> Path:
        """`folder` has NAME.csv, NAME.parquet and NAME.json, each complete or not at all; NAME is the kind if left out.

        Raises:
            ArgumentError: the folder cannot be made or written.
        """
        place, stem, frame = require_path(folder, "save()"), name or self.kind, self.table
        if "/" in stem or "\\" in stem or stem.startswith("."):
            raise ArgumentError(f"name='{stem}': must be the name of a file without a folder")
        check_formulas(formulas)
        try:
            make_folder(place)
            replace_file(place / f"{stem}.json", lambda path: path.write_text(self.to_json(), encoding="utf-8"))
            replace_file(place / f"{stem}.csv", partial(for_csv(frame, formulas).write_csv, quote_style="non_numeric"))
            replace_file(place / f"{stem}.parquet", frame.write_parquet)
        except OSError as wrong:
            raise ArgumentError(f"save('{folder}'): cannot be written ({reason(wrong)}); choose another folder") from None
        return place
