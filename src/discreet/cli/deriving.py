"""`discreet derive`: ratios, changes, means and totals before a sample, printed, and written where that is wished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from discreet.cli.numbers import MOST_ROWS
from discreet.cli.output import Answer, Grid
from discreet.errors import ArgumentError
from discreet.exact.figures import decimals_for, interval, name, number, plural
from discreet.exact.given_paths import require_path
from discreet.releases.derived.before_sampling import before_sampling
from discreet.releases.derived.change import change
from discreet.releases.derived.combine import combine
from discreet.releases.derived.operands import Numbers, constants, numbers
from discreet.releases.derived.poststratified import poststratified
from discreet.releases.derived.ratio import ratio
from discreet.releases.derived.result import Derived, Figure
from discreet.releases.document import Release

__all__ = [
    "Asked",
    "compute_before",
    "compute_change",
    "compute_mean",
    "compute_poststratified",
    "compute_ratio",
    "labels_of",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """An operand as it was typed: the folder of a release, a column, and which of its groups.

    Args:
        folder: where release.json is.
        statistic: a column of numbers; None for the first one.
        by: group columns with commas between them, "" for none of them; None to keep all.
        at: texts such as "year=2020".
    """

    folder: str
    statistic: str | None
    by: str | None
    at: Sequence[str] | None

    def read(self) -> Numbers:
        """The numbers that are meant.

        Raises:
            ArgumentError: no release there, or no such column, group or label.
        """
        by = None if self.by is None else [one for one in self.by.split(",") if one]
        return numbers(Release.load(require_path(self.folder, "derive")), self.statistic, by=by, at=dict(labels_of(self.at)))


def labels_of(at: Sequence[str] | None, option: str = "--at") -> Iterator[tuple[str, str]]:
    """The columns and labels of texts such as "year=2020".

    Raises:
        ArgumentError: a text without an equals sign.
    """
    for text in at or ():
        column, equals, label = text.partition("=")
        if not equals:
            raise ArgumentError(f"{option}={text}: must be NAME=LABEL, such as {option} year=2020")
        yield column, label


def compute_ratio(
    over: Asked, under: Asked, public: str | None, *, per: str, confidence: str, out: str | None, stem: str | None
) -> Answer:
    """The ratios, over another column of a release or over public denominators.

    Raises:
        ArgumentError: as `ratio`, or a folder that cannot be written.
    """
    bottom = under.read() if public is None else constants(require_path(public, "--public"), under.statistic)
    return _answer(ratio(over.read(), bottom, per=per, confidence=confidence), out, stem)


def compute_change(asked: Sequence[Asked], *, confidence: str, out: str | None, stem: str | None) -> Answer:
    """The changes from the first release to the second.

    Raises:
        ArgumentError: as `change`, or a folder that cannot be written.
    """
    before, after = (one.read() for one in asked)
    return _answer(change(before, after, confidence=confidence), out, stem)


def compute_mean(asked: Sequence[Asked], *, confidence: str, out: str | None, stem: str | None) -> Answer:
    """The means of all releases.

    Raises:
        ArgumentError: as `combine`, or a folder that cannot be written.
    """
    return _answer(combine(*(one.read() for one in asked), confidence=confidence), out, stem)


def compute_before(asked: Asked, over: str | None, *, confidence: str, out: str | None, stem: str | None) -> Answer:
    """The numbers of the table before its rows were sampled; divided by the counts of column `over`, if it is given.

    Raises:
        ArgumentError: as `before_sampling`, or a folder that cannot be written.
    """
    bottom = None if over is None else replace(asked, statistic=over).read()
    return _answer(before_sampling(asked.read(), over=bottom, confidence=confidence), out, stem)


def compute_poststratified(asked: Asked, sizes: str, *, confidence: str, out: str | None, stem: str | None) -> Answer:
    """The total and the mean of all strata, by their sizes in a CSV file.

    Raises:
        ArgumentError: as `poststratified`, or a folder that cannot be written.
    """
    people = constants(require_path(sizes, "--sizes"))
    return _answer(poststratified(asked.read(), people, confidence=confidence), out, stem)


def _answer(derived: Derived, out: str | None, stem: str | None) -> Answer:
    facts = json.loads(derived.to_json())
    lines: list[str | Grid] = [*str(derived).splitlines(), *_grid(derived)]
    if out is not None:
        place = derived.save(require_path(out, "--out"), stem)
        written = str(place / f"{stem or derived.kind}.csv")
        lines, facts = [*lines, f"written: {written}"], {**facts, "written": [written]}
    return Answer([*lines, "Nothing was spent."], facts)


def _grid(derived: Derived) -> list[str | Grid]:
    """The first rows, each number with its interval in one cell."""
    cells = [[_text(one) for one in figures[:MOST_ROWS]] for _, figures in derived.columns]
    labels = [["not known" if label is None else name(label) for label in group] for group in derived.groups[:MOST_ROWS]]
    titles = [column for column, _ in derived.columns]
    rows = [[*label, *shown] for label, *shown in zip(labels, *cells, strict=True)]
    grid = Grid([*map(name, derived.keys), *titles], rows, frozenset(titles))
    more = len(derived.groups) - len(rows)
    return [grid, f"  … and {number(more)} more {plural('row', more)}"] if more else [grid]


def _text(one: Figure) -> str:
    """The number with its interval, rounded outwards, to two digits of its half-width."""
    if one.value is None or one.low is None or one.high is None:
        return "unbounded"
    decimals = decimals_for([(one.high - one.low) / 2])
    return f"{number(one.value, decimals)} ({interval(one.low, one.high, decimals)})"
