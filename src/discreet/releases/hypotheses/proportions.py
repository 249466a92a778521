"""One proportion: is the share of rows with some labels a given number? Of a public or a noisy number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import Amount, decimal_text, exact
from discreet.noise.single.laws import Law
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.operands import Key, label_of, numbers
from discreet.releases.document import Release
from discreet.releases.hypotheses.crossed import ROWS, check_facts, check_labels, check_rows, count_column, read_cells
from discreet.releases.hypotheses.estimated_margins import Part, moved_count, tail_probabilities
from discreet.releases.hypotheses.given_margins import at_least
from discreet.releases.hypotheses.independence import check_alternative
from discreet.releases.hypotheses.masses import MISSING, Spread, Tails, binomial, spread
from discreet.releases.hypotheses.one_margin import one_margin_of
from discreet.releases.hypotheses.result import Tested, rounded_up
from discreet.releases.hypotheses.search import Box, smallest_level

__all__ = ["Share", "single_p_value", "test_proportion"]

_MOST_BOXES = 200
_POINTS = 64
_LEAST_SHARE = Fraction(1, 10**9)  # of rows with the labels, and of the others: doubles tell smaller ones from 0 badly
_MOST_ROWS = 10**7  # the share as a double is exact enough up to here


def test_proportion(
    release: Release,
    share: Amount,
    *,
    of: Mapping[str, object] | None = None,
    rows: int | None = None,
    statistic: str | None = None,
    at: Mapping[str, object] | None = None,
    alternative: str = "two-sided",
) -> Tested:
    """Tests whether each row has some labels with a given probability, from their noisy count.

    Args:
        release: counts by the columns of `of`.
        share: the probability under the hypothesis, from 1e-9 to 1 - 1e-9, such as "0.5".
        of: the labels, by their columns; the share is of all rows in which these columns are known. Left out: the only
            count that `at` leaves, out of `rows`.
        rows: the public number of rows that the share is of; left out: it is read from the noisy counts.
        statistic: a column of counts; left out: the first one.
        at: only the groups with these labels, within which the share is taken.
        alternative: "two-sided"; "greater" or "less" for a share above or below.

    Raises:
        ArgumentError: a share or labels that are none, noise whose law is not known here, or rows that are not independent.
    """
    check_alternative(alternative)
    hypothesis = _check_share(share)
    check_labels(of, "of")
    check_labels(at, "at")
    if both := [name for name in of or {} if name in (at or {})]:
        raise ArgumentError(f"of: {printed(both[0])} is fixed by at= already; name it in one of them")
    counted = _beside_totals(release, of or {}, statistic, at) or _counted(release, of or {}, statistic, at)
    public = _check_number(rows) or counted.rows
    p_value, seen, method = _p_value(counted, hypothesis, public, alternative)
    words = f"{counted.words}: the share in the population is {decimal_text(hypothesis)}"
    return Tested(
        test="proportion",
        hypothesis=words,
        alternative=alternative,
        statistic=seen,
        statistic_words="the noisy count less what the share lets expect",
        p_value=rounded_up(p_value),
        method=method,
        assumptions=(
            ROWS,
            *(["the number of rows is the one that was given"] if rows is not None else []),
            *([_NULLS] if counted.rows is not None else []),
        ),
        source=counted.source,
        details={"rows": "public" if public is not None else "noisy"},
    )


test_proportion.__test__ = False  # type: ignore[attr-defined]

_NULLS = "rows without a value are among the rows of the exact totals, as rows without the labels"
_EXACT = (
    "exact, from the binomial law of the count and the law of its noise; one-sided, no test of this count has more power"
)
_BOUND = "the smallest level at which no number of rows that the noise leaves possible explains the counts"


def _p_value(counted: _Counted, share: Fraction, rows: int | None, alternative: str) -> tuple[float, float, str]:
    """The p-value, the statistic, and how it was found."""
    if rows is not None and len(counted.inside.laws) == 1 and not counted.inside.off:
        seen = counted.inside.published - float(share * rows)
        return single_p_value(counted.inside.published, rows, share, counted.inside.laws[0], alternative), seen, _EXACT
    if counted.outside is None and rows is None:
        raise ArgumentError("rows: is needed to test a count by itself; give the public number of rows that the share is of")
    one = Share(counted.inside, counted.outside, float(share), rows, alternative)
    return smallest_level(one, _MOST_BOXES), one.seen, _BOUND


def single_p_value(published: int, rows: int, share: Fraction, law: Tails, alternative: str) -> float:
    """An upper bound of the probability of a noisy binomial count as far from its expectation, or on its side."""
    count, expected = binomial(rows, float(share)), share * rows
    h = count.values.astype(np.int64)
    apart = abs(published - expected)
    found = 0.0
    if alternative != "less":
        least = published if alternative == "greater" else -(-(expected + apart) // 1)
        found += float(count.masses @ at_least(law, int(least) - h))
    if alternative != "greater":
        most = published if alternative == "less" else (expected - apart) // 1
        found += float(count.masses @ at_least(law, h - int(most)))
    return min(1.0, found * (1 + 1e-9) + MISSING)


# What is counted ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The rows with the labels, the other rows (None where they are not counted), and what they are in words.

    `rows` is how many there are by the exact totals of the release; None where these do not say it.
    """

    inside: Part
    outside: Part | None
    words: str
    source: Mapping[str, Any]
    rows: int | None = None


def _beside_totals(
    release: Release, of: Mapping[str, object], statistic: str | None, at: Mapping[str, object] | None
) -> _Counted | None:
    """A label of one column beside the exact totals of the other, in all groups or in one; None for another release."""
    check_rows(release)
    document = release.document
    if document["invariants"] is None or len(document["plan"]["group_by"]) != 2:
        return None
    cells = read_cells(release, statistic, None, None, nulls=True)
    beside = one_margin_of(document, cells)
    if beside is None:
        return None
    exact_column, other = cells.names[:: -1 if beside.turned else 1]
    if list(of) != [other] or not set(at or {}) <= {exact_column}:
        return None
    levels = beside.levels(cells)[:: -1 if beside.turned else 1]
    label, groups = label_of(of[other]), [label_of(value) for value in (at or {}).values()] or list(levels[0])
    if label is None or label not in levels[1] or any(one not in levels[0] for one in groups):
        return None  # is named where the counts are read
    places = [levels[0].index(one) for one in groups]
    published = int(beside.values[places, levels[1].index(label)].sum())
    inside = Part(published, (beside.law,) * len(places), beside.off)
    words = f"{other} = {label}"
    return _Counted(inside, None, words, cells.source, int(beside.totals[places].sum()))


def _counted(release: Release, of: Mapping[str, object], statistic: str | None, at: Mapping[str, object] | None) -> _Counted:
    check_rows(release)
    chosen = count_column(release.document, statistic)
    wanted: Key = tuple(label_of(value) for value in of.values())
    whole = {one["name"] for one in release.document["columns"][: len(release.document["plan"]["group_by"])]}
    found = numbers(release, chosen, by=None if whole == {*of, *(at or {})} else list(of), at=at)
    cells = {tuple(key[found.keys.index(name)] for name in of): cell for key, cell in found.cells.items()}
    if wanted not in cells or None in wanted:
        known = [", ".join(map(str, key)) for key in cells if None not in key]
        hint = did_you_mean(", ".join(map(str, wanted)), known)
        raise ArgumentError(f"of={', '.join(map(str, wanted))}: is not a group of the release{hint}")
    inside = _part(release, [cells[wanted]])
    others = [cell for key, cell in cells.items() if key != wanted and None not in key]
    check_facts(release, [*(at or {})])
    named = " and ".join(f"{name} = {label}" for name, label in zip(of, wanted, strict=True)) or f"rows of {chosen}"
    return _Counted(inside, _part(release, others) if others else None, named, found.source)


def _part(release: Release, cells: Sequence[object]) -> Part:
    """The sum of published counts with independent noise."""
    laws: list[Law] = []
    total = Fraction(0)
    for one in cells:
        if not isinstance(one, Linear) or any(cell.tied or factor != 1 for factor, cell in one.terms):
            raise ArgumentError(
                f"release '{release.document['name']}': the joint law of the noise of these counts is not known to a test; "
                "release counts by these columns alone, without exact totals or beside those of one other column"
            )
        laws += [cell.law for _, cell in one.terms]  # type: ignore[misc]
        total += one.value
    return Part(int(total), tuple(laws))


def _check_share(share: Amount) -> Fraction:
    value = exact(share, "share")
    if not _LEAST_SHARE <= value <= 1 - _LEAST_SHARE:
        raise ArgumentError(f"share={printed(share)}: must be at least 1e-9 and at most 1 - 1e-9, such as 0.5")
    return value


def _check_number(rows: int | None) -> int | None:
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 0 < rows <= _MOST_ROWS):
        raise ArgumentError(f"rows={printed(rows)}: must be an integer from 1 to {_MOST_ROWS}")
    return rows


# A noisy number of rows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Share:
    """S = (1 - π)·inside - π·outside, or inside - π·rows: a centred binomial count and noise with known factors.

    Args:
        inside: the rows with the labels.
        outside: the others; None where only the public number of rows is known.
        share: π.
        rows: the public number of rows; None where it is in the noisy counts alone.
        alternative: "two-sided", "greater" or "less".
    """

    inside: Part
    outside: Part | None
    share: float
    rows: int | None
    alternative: str

    @property
    def seen(self) -> float:
        """The statistic."""
        if self.rows is not None or self.outside is None:
            return self.inside.published - self.share * (self.rows or 0)
        return (1 - self.share) * self.inside.published - self.share * self.outside.published

    def box(self, failing: float) -> Box | None:
        """The numbers of rows that the noise leaves possible."""
        if self.rows is not None or self.outside is None:
            return Box((self.rows or 0,), (self.rows or 0,))
        whole = Part(self.inside.published + self.outside.published, self.inside.laws + self.outside.laws)
        width = whole.half_width(failing)
        return Box((max(0, whole.published - width),), (whole.published + width,)) if whole.published + width >= 0 else None

    def at(self, parameters: tuple[int, ...]) -> float:
        """The p-value for a number of rows, but for rounding."""
        return self._tail(parameters[0], self._law(), self._signed) * 0.99

    def above(self, box: Box, apart: float, needed: float) -> float:  # noqa: ARG002 (the protocol has it)
        """No p-value of the box is above this number by more than `apart`."""
        (low,), (high,) = box.lows, box.highs
        stride = (high - low) // _POINTS + 1
        moved = moved_count(stride // 2, (self.share, self.share), apart)
        law = self._law()
        points = {min(point + stride // 2, high) for point in range(low, high + 1, stride)}
        return max(self._tail(point, law, self._signed - moved) for point in points)

    @property
    def _signed(self) -> float:
        seen = {"two-sided": abs(self.seen), "greater": self.seen, "less": -self.seen}[self.alternative]
        return seen - 1e-9 * (abs(self.inside.published) + 1)

    def _law(self) -> Spread:
        inside = 1.0 if self.rows is not None or self.outside is None else 1 - self.share
        terms = self.inside.terms(inside)
        if self.rows is None and self.outside is not None:
            terms += self.outside.terms(self.share)
        return spread(terms)

    def _tail(self, rows: int, law: Spread, edge: float) -> float:
        count = binomial(rows, self.share)
        centred = (count.values - rows * self.share)[None]
        return float(tail_probabilities(centred, count.masses[None], law, np.array([edge]), self.alternative)[0])
