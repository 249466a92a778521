"""A coefficient of a regression: is it zero in the population? From the interval of a release that is stated for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import exact
from discreet.releases.derived.operands import Key, label_of
from discreet.releases.derived.reading import outputs_of
from discreet.releases.document import Release
from discreet.releases.hypotheses.crossed import check_labels, check_rows
from discreet.releases.hypotheses.result import Tested, rounded_up

__all__ = ["test_coefficient"]

_METHOD = (
    "0 is outside the interval that the release states for the population, or not; at other levels than that of the "
    "interval the release says nothing"
)


def test_coefficient(release: Release, coefficient: str, *, at: Mapping[str, object] | None = None) -> Tested:
    """Tests whether a coefficient of a regression is zero in the population, from the interval that the release has for it.

    The interval holds at one level, so that the p-value is 0.05 where 0 is outside it, and 1 elsewhere: at other levels the
    release says nothing. It is valid for every number of rows and with the noise (theorem T12 of docs/proofs/tests.md).

    Args:
        release: a regression with interval="population".
        coefficient: its column, such as "regression_wage_age".
        at: the group, where the release has groups.

    Raises:
        ArgumentError: not a coefficient with an interval for the population, more than one group, or rows that are not
            independent.
    """
    check_rows(release)
    check_labels(at, "at")
    line = _line(release, coefficient)
    columns = {one["name"]: one["values"] for one in release.document["columns"]}
    place = _place(release.document, columns, at or {})
    value, low, high = (columns[f"{coefficient}{end}"][place] for end in ("", "_low", "_high"))
    level = 1 - exact(release.document["interval"]["level"], "level")
    y, *others = line["columns"]
    return Tested(
        test="coefficient",
        hypothesis=f"the coefficient {coefficient} is 0 in the population of the rows",
        alternative="two-sided",
        statistic=float(value),
        statistic_words="the published coefficient",
        p_value=rounded_up(1 if low <= 0 <= high else level),
        method=_METHOD,
        assumptions=(
            f"given {', '.join(others)} the values of {y} are independent, within their bounds, with means linear in these",
            "nothing about the variances of errors, and no normal law",
        ),
        source={"dataset": release.document["dataset"], "release": release.name, "digest": release.digest},
        details={"low": low, "high": high},
    )


test_coefficient.__test__ = False  # type: ignore[attr-defined]


def _line(release: Release, coefficient: str) -> Mapping[str, Any]:
    """The statistic of a column of coefficients."""
    known = {
        name: line
        for name, line in outputs_of(release.document).items()
        if line["statistic"] == "regression" and name.removeprefix(f"{line['name']}_") not in line.get("fit", ())
    }
    if not isinstance(coefficient, str) or coefficient not in known:
        hint = did_you_mean(str(coefficient), known) if known else "; it has no regression"
        raise ArgumentError(f"coefficient={printed(coefficient)}: is not a coefficient of the release{hint}")
    if known[coefficient].get("interval") != "population":
        raise ArgumentError(
            f"coefficient={printed(coefficient)}: its interval is for the table and leaves out that rows are drawn from a "
            'population; release the regression with interval="population"'
        )
    return known[coefficient]


def _place(document: Mapping[str, Any], columns: Mapping[str, list[Any]], at: Mapping[str, object]) -> int:
    """The row of the group. Raises ArgumentError where it is not one."""
    keys = [one["name"] for one in document["columns"][: len(document["plan"]["group_by"])]]
    if set(at) != set(keys):
        raise ArgumentError(f"at: must name a label of each group column: {', '.join(keys) or 'the release has none'}")
    wanted = [label_of(at[name]) for name in keys]
    groups: list[Key] = [*zip(*(map(label_of, columns[name]) for name in keys), strict=True)] if keys else [()]
    if tuple(wanted) not in groups:
        raise ArgumentError(f"at: {printed(', '.join(map(str, wanted)))} is not a group of the release")
    return groups.index(tuple(wanted))
