"""What is assumed of a column before anything is spent: shares and means, each a number or a range of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import Amount, decimal_text, exact, text
from discreet.quotes.moved import Moved

__all__ = ["SHARES", "Assumed", "Given", "Range", "assumed_of", "range_words", "read_range"]

Range = tuple[Fraction, Fraction]
"""The least and the greatest value."""

Given = Amount | tuple[Amount, Amount]
"""A number, or the least and the greatest that it may be: the ends of the interval of a release, for example."""

SHARES: Range = (Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is assumed of one column in any one group: ranges, the widest possible where nothing is said.

    Args:
        moved: what the steps do to the column.
        nulls: the share of rows in which it is null.
        above: the share of its known values that are greater than the upper bound of the clamp.
        below: the share of its known values that are less than the lower bound.
        mean_above: the mean of those that are greater.
        mean_below: the mean of those that are less.
        mean: the mean of all known values; None where nothing is said.
        said: the names of what is said.
    """

    moved: Moved
    nulls: Range
    above: Range
    below: Range
    mean_above: Range
    mean_below: Range
    mean: Range | None
    said: tuple[str, ...]

    @property
    def points(self) -> set[tuple[Fraction, Fraction]]:
        """For each vertex of the assumptions what the clamp moves the mean of known values by, and that mean itself.

        Both are linear in each of the assumed numbers, so that a function which is linear in each of the two is largest at
        one of these points (O6 of docs/proofs/original.md).
        """
        free = self._free_points()
        if self.mean is None:
            return free
        means = [mean for _, mean in free]
        ends = max(self.mean[0], min(means)), min(self.mean[1], max(means))
        return {(clip, mean) for clip, _ in free for mean in ends}

    def check(self) -> Assumed:
        """Itself, where it is possible.

        Raises:
            ArgumentError: more than all values are cut off, or the mean contradicts what is said of the tails.
        """
        column = self.moved.column
        if self.above[0] + self.below[0] > 1:
            raise ArgumentError(f"above, below: more than all values of '{column}' would be cut off; give shares up to 1")
        means = [mean for _, mean in self._free_points()]
        if self.mean is not None and (self.mean[1] < min(means) or self.mean[0] > max(means)):
            possible = range_words((min(means), max(means)))
            raise ArgumentError(
                f"mean['{column}']={range_words(self.mean)}: contradicts what is said of the values that are cut off, with "
                f"which it is {possible}; correct one of both"
            )
        return self

    def words(self) -> str:
        """What is assumed, in words."""
        low, high = map(decimal_text, self.moved.kept)
        told = [f"{_percent(self.nulls)} null"]
        if self.above[1] > 0:
            more = f", their mean {range_words(self.mean_above)}"
            told.append(f"{_percent(self.above)} of the known values above {high}{more}")
        if self.below[1] > 0:
            more = f", their mean {range_words(self.mean_below)}"
            told.append(f"{_percent(self.below)} of the known values below {low}{more}")
        if self.mean is not None:
            told.append(f"mean {range_words(self.mean)}")
        return f"assumed of {self.moved.column}: {'; '.join(told)}"

    def to_json(self) -> dict[str, object]:
        """What is assumed, as ranges of exact numbers; what was not said has its widest range."""
        names = ("nulls", "above", "below", "mean_above", "mean_below", "mean")
        ranges = {name: getattr(self, name) for name in names}
        return {"column": self.moved.column} | {
            name: [text(end) for end in ends] for name, ends in ranges.items() if ends is not None
        }

    def _free_points(self) -> set[tuple[Fraction, Fraction]]:
        """The points where nothing is said of the mean: the values inside the clamp have any mean inside it."""
        low, high = self.moved.kept
        found = set()
        for (above, below), top, bottom, inside in product(
            _cut_shares(self.above, self.below), set(self.mean_above), set(self.mean_below), {low, high}
        ):
            clip = below * (low - bottom) - above * (top - high)
            found.add((clip, above * top + below * bottom + (1 - above - below) * inside))
        return found


def _cut_shares(above: Range, below: Range) -> set[tuple[Fraction, Fraction]]:
    """The vertices of the shares that are possible together: both are within their ranges, and their sum is at most 1."""
    found = set()
    for a, b in product(above, below):
        if a + b <= 1:
            found.add((a, b))
        else:
            found |= {(x, y) for x, y in ((a, 1 - a), (1 - b, b)) if x >= above[0] and y >= below[0]}
    return found


def assumed_of(columns: Sequence[Moved], given: Mapping[str, object]) -> dict[str, Assumed]:
    """For each of the columns what is assumed of it.

    Args:
        columns: the columns that statistics read, and what the steps do to them.
        given: by the name of an assumption a number or a range for the only column that it can be about, or for each
            column by its name. `nulls` without names is about every column.

    Raises:
        ArgumentError: an unknown column, a number outside its domain, or assumptions that contradict each other.
    """
    chosen = {name: _by_column(name, value, columns) for name, value in given.items() if value is not None}
    return {one.column: _assume(one, {name: found.get(one.column) for name, found in chosen.items()}) for one in columns}


def read_range(given: object, name: str, possible: Range) -> Range:
    """The least and the greatest value of what was given: a number, or a pair.

    Raises:
        ArgumentError: not a number or a pair of numbers, the greater one first, or outside what is possible.
    """
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2:
        raise ArgumentError(f"{name}={printed(given)}: must be a number, or a pair (least, greatest)")
    low, high = (exact(one, name) for one in pair)
    if low > high:
        raise ArgumentError(f"{name}=({text(low)}, {text(high)}): the least must come first; exchange the two")
    if not possible[0] <= low <= high <= possible[1]:
        raise ArgumentError(f"{name}={range_words((low, high))}: must be from {text(possible[0])} to {text(possible[1])}")
    return low, high


def range_words(ends: Range) -> str:
    """A number, or "0.05 to 0.07"."""
    low, high = map(decimal_text, ends)
    return low if low == high else f"{low} to {high}"


def _percent(share: Range) -> str:
    return f"{range_words((100 * share[0], 100 * share[1]))} %"


def _by_column(name: str, value: object, columns: Sequence[Moved]) -> dict[str, object]:
    """The assumption for each column that it is about."""
    about = [one.column for one in columns if name in one.open]
    if not isinstance(value, Mapping):
        if name != "nulls" and len(about) != 1:
            told = f"is about one of {', '.join(about)}; name it" if about else "is about no column of the request"
            raise ArgumentError(f"{name}={printed(value)}: {told}, as in {name}={{'income': …}}")
        return dict.fromkeys(about, value)
    for column in value:
        if column not in about:
            why = "no clamp moves its values so, or no statistic reads it"
            raise ArgumentError(f"{name}[{printed(column)}]: {why}{did_you_mean(str(column), about)}")
    return dict(value)


def _assume(moved: Moved, given: Mapping[str, object]) -> Assumed:
    """What is assumed of a column; the widest range for what is not given."""
    (least, most), (low, high) = moved.bounds, moved.kept
    ranges: dict[str, Range] = {
        "nulls": SHARES,
        "above": SHARES if most > high else (Fraction(0), Fraction(0)),
        "below": SHARES if low > least else (Fraction(0), Fraction(0)),
        "mean_above": (high, most),
        "mean_below": (least, low),
        "mean": (least, most),
    }
    said = {name: value for name, value in given.items() if value is not None}
    found = {
        name: read_range(said[name], f"{name}['{moved.column}']", possible) if name in said else possible
        for name, possible in ranges.items()
    }
    mean = found.pop("mean")
    return Assumed(moved, **found, mean=mean if "mean" in said else None, said=tuple(said)).check()
