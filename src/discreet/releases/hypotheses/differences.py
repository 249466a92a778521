"""The difference of two proportions: is the share of rows with a label the same in two groups? By a table of two by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.releases.derived.linear import Linear, constant
from discreet.releases.derived.operands import Key, label_of
from discreet.releases.document import Release
from discreet.releases.hypotheses.crossed import (
    Cells,
    Margins,
    check_facts,
    check_labels,
    independent_laws,
    margins_of,
    read_cells,
)
from discreet.releases.hypotheses.independence import (
    check_alternative,
    test_beside_one,
    test_counts,
    test_independence,
)
from discreet.releases.hypotheses.one_margin import OneMargin, one_margin_of
from discreet.releases.hypotheses.result import Tested

__all__ = ["test_difference"]


def test_difference(
    release: Release,
    of: Mapping[str, object],
    *,
    by: str,
    groups: Sequence[object] | None = None,
    statistic: str | None = None,
    at: Mapping[str, object] | None = None,
    alternative: str = "two-sided",
) -> Tested:
    """Tests whether the share of rows with a label is the same in two groups.

    Args:
        release: counts by both columns.
        of: the label, by its column, such as {"disability": "yes"}.
        by: the column of the groups.
        groups: two of its labels; left out: the only two.
        statistic: a column of counts; left out: the first one.
        at: only the groups with these labels.
        alternative: "two-sided"; "greater" or "less" for a share in the first group above or below the second.

    Raises:
        ArgumentError: other than one label, other than two groups, and as `test_independence`.
    """
    check_alternative(alternative)
    if not isinstance(of, Mapping) or len(of) != 1:
        raise ArgumentError('of: must be one label by its column, such as {"disability": "yes"}')
    check_labels(of, "of")
    ((column, value),) = of.items()
    if not isinstance(by, str) or by == column:
        raise ArgumentError(f"by={printed(by)}: must name one group column other than {column}")
    cells = read_cells(release, statistic, [by, column], at)
    pair = _pair(cells, groups)
    label = label_of(value)
    if label is None or label not in cells.levels[1]:
        known = [one for one in cells.levels[1] if one is not None]
        raise ArgumentError(f"of: {printed(label)} is not a label of {column}{did_you_mean(label, known)}")
    two = _collapsed(cells, pair, label)
    laws = None if two is None else independent_laws(two)
    beside_groups = one_margin_of(release.document, cells)
    if two is not None and laws is not None:
        check_facts(release, *([name, *(at or {})] for name in cells.names))
        found = test_counts(two, Margins(None, None, None, rows_first=True), laws, alternative)
    elif beside_groups is not None and not beside_groups.turned:
        found = _beside_groups(cells, beside_groups, (pair, label), alternative)
    else:
        turned = _check_beside_totals(release, cells, margins_of(release, cells, at), (pair[0], label))
        side = _OTHER[alternative] if turned else alternative
        beside = test_independence(release, statistic, by=cells.names, at=at, alternative=side)
        found = replace(beside, alternative=alternative)
    words = f"the share of {column} = {label} is the same for {by} = {pair[0]} and {by} = {pair[1]} in the population"
    return replace(found, test="difference", hypothesis=words)


test_difference.__test__ = False  # type: ignore[attr-defined]


def _pair(cells: Cells, groups: Sequence[object] | None) -> tuple[str, str]:
    known = [one for one in cells.levels[0] if one is not None]
    if groups is not None and not isinstance(groups, list | tuple):
        raise ArgumentError(f"groups={printed(groups)}: must be a list of two labels of {cells.names[0]}")
    wanted = known if groups is None else [label_of(one) for one in groups]
    if len(wanted) != 2 or wanted[0] == wanted[1] or any(one not in known for one in wanted):
        given = None if groups is None else ", ".join(map(str, wanted))
        raise ArgumentError(
            f"groups={printed(given)}: name two different labels of {cells.names[0]}, such as {', '.join(known[:2])}"
        )
    return str(wanted[0]), str(wanted[1])


def _collapsed(cells: Cells, pair: tuple[str, str], label: str) -> Cells | None:
    """The table of the two groups by the label and all others; None where the law of a sum is not known."""
    found: dict[Key, Linear] = {}
    for group in pair:
        for name, inside in ((label, True), (None, False)):
            parts = [cells.published[group, one] for one in cells.levels[1] if (one == label) is inside]
            if not parts or not all(isinstance(one, Linear) for one in parts):
                return None
            total = constant(Fraction(0))
            for one in parts:
                total = total.plus(Fraction(1), one)
            found[group, name] = total
    return Cells(cells.names, (pair, (label, None)), found, cells.chosen, cells.source)


def _beside_groups(cells: Cells, beside: OneMargin, asked: tuple[tuple[str, str], str], alternative: str) -> Tested:
    """Where the totals of the groups are exact: the label in both, against everything else.

    Raises:
        ArgumentError: a group that is publicly empty.
    """
    pair, label = asked
    places = cells.levels[0].index(pair[0]), cells.levels[0].index(pair[1])
    if any(place not in beside.kept for place in places):
        raise ArgumentError(f"groups: by the exact totals {pair[0]} or {pair[1]} has no rows; name groups that have some")
    column = cells.levels[1].index(label)
    two = replace(beside.of_pair(places), values=beside.of_pair(places).values[:, [column]])
    named = replace(cells, levels=(cells.levels[0], (label,)))
    return test_beside_one(named, two, alternative)


_OTHER = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def _check_beside_totals(release: Release, cells: Cells, margins: Margins, first: tuple[str, str]) -> bool:
    """Whether the cell that is asked for is on the other side of the first one of a table of two by two with exact margins.

    Raises:
        ArgumentError: another table.
    """
    two_by_two = len(cells.levels[0]) == 2 and len(cells.levels[1]) == 2
    if not two_by_two or margins.rows is None or margins.columns is None:
        raise ArgumentError(
            f"release '{release.document['name']}': beside these exact totals there must be two labels of each column, and "
            f"rows without a value in neither; release the counts beside the exact totals of {cells.names[0]} alone "
            "(dp.Totals), or of neither column"
        )
    return (cells.levels[0][0] == first[0]) != (cells.levels[1][0] == first[1])
