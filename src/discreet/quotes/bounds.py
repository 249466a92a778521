"""What a bound on groups leaves out, from public or released numbers of how many groups persons are in.

Proof: U9 of docs/proofs/persons.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod, sqrt
from typing import Any, Protocol, runtime_checkable

from discreet.cube.queries import PersonSum
from discreet.cube.weights import Weighting, unit_of, weight
from discreet.domain.bounds import Bound
from discreet.domain.groups import CategoryGroup, group_labels
from discreet.domain.neighbours import person_of
from discreet.domain.steps import step_json
from discreet.domain.words import one_line
from discreet.errors import ArgumentError, InternalError, PlanError, printed
from discreet.exact.figures import number
from discreet.exact.numbers import decimal_text, float_up, text
from discreet.plan.plan import Plan
from discreet.plan.shown import hidden_labels
from discreet.quotes.assumptions import Range, range_words, read_range
from discreet.quotes.whole import Quoted
from discreet.statistics.persons import Persons

__all__ = ["BoundErrors", "GroupsOfPersons", "Released", "bound_errors", "read_groups", "says_left_out"]

_MOST_PERSONS = Fraction(10**15)


@runtime_checkable
class Released(Protocol):
    """A release, whose document says what it counted."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The document."""


@dataclass(frozen=True, slots=True)
class _Bin:
    """Persons in `least` to `most` groups of the request: how many there are, at least and at most."""

    least: int
    most: int
    count: Range


@dataclass(frozen=True, slots=True)
class GroupsOfPersons:
    """In how many groups of a request persons are: ascending bins, each with a range of numbers of persons."""

    bins: tuple[_Bin, ...]

    @property
    def most(self) -> int:
        """The most groups that anybody is in."""
        return max(one.most for one in self.bins)

    def words(self) -> str:
        """The bins in words."""
        shown = [f"{one.least} to {one.most}" if one.most > one.least else f"{one.least}" for one in self.bins]
        each = (f"{range_words(one.count)} in {groups}" for one, groups in zip(self.bins, shown, strict=True))
        return f"assumed of persons, by their number of groups: {', '.join(each)}"


@dataclass(frozen=True, slots=True)
class BoundErrors:
    """The two errors of a number of persons: its noise, and what the bound on groups leaves out.

    Args:
        groups: L, in how many groups a person counts fully.
        printed: the number of groups of the request that are printed.
        noise: the half-width of the noise in each group, which holds with 95 %.
        deviation: the standard deviation of the noise, which is at least how far it is from 0 on average.
        lost: by how much the numbers of all groups together are too small: the least and the most.
        share: which part of all persons in all groups that is: the least and the most.
        assumed: in how many groups persons are.
    """

    groups: int
    printed: int
    noise: float
    deviation: float
    lost: Range
    share: Range
    assumed: GroupsOfPersons

    @property
    def off(self) -> float:
        """By how much a group is too small on average, at most."""
        return float_up(self.lost[1] / self.printed)

    @property
    def whole(self) -> float:
        """At least the mean distance of a released number from that of all persons, over all groups and releases."""
        return self.deviation + self.off

    def __repr__(self) -> str:
        return one_line(
            "BoundErrors:", f"groups={self.groups},", f"persons ±{self.noise:.4g}, {self.off:.4g} lost of a group"
        )

    def __str__(self) -> str:
        """The errors in words."""
        percent = range_words((_rounded(100 * self.share[0]), _rounded(100 * self.share[1])))
        each = range_words((_rounded(self.lost[0] / self.printed), _rounded(self.lost[1] / self.printed)))
        lines = (
            self.assumed.words(),
            f"bound(groups={self.groups}): noise ±{self.noise:.6g} in each group",
            f"  the bound leaves out {percent} % of all persons in groups, {each} of a group on average",
            f"  mean distance from the numbers of all persons, over groups and releases: at most {self.whole:.6g}",
            f"  = noise {self.deviation:.6g} + {self.off:.6g} left out",
        )
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """The errors as JSON values."""
        return {
            "groups": self.groups,
            "printed": self.printed,
            "noise": self.noise,
            "deviation": self.deviation,
            "lost": [text(end) for end in self.lost],
            "share": [text(end) for end in self.share],
            "off": self.off,
            "whole": self.whole,
        }


def says_left_out(quoted: Quoted) -> bool:
    """True if a quote counts persons in groups that are listed."""
    counts = any(isinstance(line.statistic.kind, Persons) for line in quoted.lines)
    return counts and bool(quoted.plan.group_by) and quoted.plan.layout.persons is not None and quoted.plan.keys is None


def bound_errors(quoted: Quoted, groups: GroupsOfPersons) -> BoundErrors:
    """Noise and loss of the numbers of persons of a quote.

    Raises:
        PlanError: it does not count persons by groups.
    """
    line = next((one for one in quoted.lines if isinstance(one.statistic.kind, Persons)), None)
    scan = quoted.plan.layout.persons
    if line is None or scan is None or not says_left_out(quoted):
        raise PlanError("left_out(): is about persons() in groups that are listed; add persons() to the request")
    ((query, _),) = line.recipe.queries
    if not isinstance(query, PersonSum):
        raise InternalError("persons are a total over persons")
    lost = _lost(groups.most, scan.groups, scan.cells, query.weighed.weighting)
    noises = quoted.noises_at(line.level)
    variance = noises.law(query).variance()
    return BoundErrors(
        groups=scan.groups,
        printed=_printed(quoted.plan),
        noise=line.recipe.error(noises, 1),
        deviation=sqrt(variance) / query.unit,
        lost=_range_of_lost(groups.bins, lost),
        share=(_share(groups.bins, lost, -1), _share(groups.bins, lost, 1)),
        assumed=groups,
    )


def _printed(plan: Plan) -> int:
    """The number of groups that are printed, in which alone persons are."""
    return prod(len(group_labels(group, plan.facts)) - len(hidden_labels(plan, group)) for group in plan.group_by)


# What is lost -------------------------------------------------------------------------------------------------------------

Lost = Sequence[Fraction]
"""For each number g of groups, from 0 on, what a person in g of them counts for less in all of them together."""


def _lost(most: int, groups: int, cells: int, weighting: Weighting) -> Lost:
    unit = unit_of(weighting, groups, cells)
    return [g * (1 - Fraction(weight(weighting, g, groups, cells), unit)) if g else Fraction(0) for g in range(most + 1)]


def _range_of_lost(bins: Sequence[_Bin], lost: Lost) -> Range:
    """The least and the greatest loss of all persons."""
    least = sum((one.count[0] * min(lost[one.least : one.most + 1]) for one in bins), Fraction(0))
    return least, sum((one.count[1] * max(lost[one.least : one.most + 1]) for one in bins), Fraction(0))


def _share(bins: Sequence[_Bin], lost: Lost, sign: int) -> Fraction:
    """The greatest (or least, for -1) quotient of the loss of all persons and their number of groups (Dinkelbach)."""
    found = Fraction(0) if sign > 0 else Fraction(1)
    while True:
        loss, every = Fraction(0), Fraction(0)
        for one in bins:
            g = max(range(one.least, one.most + 1), key=lambda g: sign * (lost[g] - found * g))
            count = one.count[sign * (lost[g] - found * g) > 0]
            loss, every = loss + count * lost[g], every + count * g
        if not every or sign * (loss / every - found) <= 0:
            # The worst persons may be no more than break even with what was found, and then nobody is counted.
            return Fraction(0) if not every and found == 1 else found
        found = loss / every


def _rounded(value: Fraction) -> Fraction:
    """Four digits, for words."""
    return Fraction(decimal_text(value, 4))


# Where the numbers come from ----------------------------------------------------------------------------------------------


def read_groups(given: object, plan: Plan) -> GroupsOfPersons:
    """In how many groups of a request persons are, from a release or from public numbers.

    Args:
        given: a release of one histogram, without groups, of `distinct(column, most=…)` on a table with one row of each
            person, whose column is the group of the request; or for each number of groups, or pair (least, most) of such
            numbers, a public number of persons or the least and the most: `{1: 800, (2, 5): (150, 170)}`.
        plan: the request.

    Raises:
        ArgumentError: another form, or a release about other groups or other rows than the request.
    """
    if isinstance(given, Released):
        return _of_release(given.document, plan)
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError(
            f"groups={printed(given)}: must be a release, or persons by their number of groups, as {{1: 800}}"
        )
    bins = []
    for groups, count in given.items():
        least, most = groups if isinstance(groups, tuple | list) and len(groups) == 2 else (groups, groups)
        if type(least) is not int or type(most) is not int or not 1 <= least <= most:
            raise ArgumentError(f"groups[{printed(groups)}]: must be a number of groups, or a pair (least, most) of such")
        bins.append(_Bin(least, most, read_range(count, f"groups[{printed(groups)}]", (Fraction(0), _MOST_PERSONS))))
    return _checked(sorted(bins, key=lambda one: one.least), plan)


def _checked(bins: Sequence[_Bin], plan: Plan) -> GroupsOfPersons:
    """The bins, up to the groups that the request has."""
    if any(second.least <= first.most for first, second in pairwise(bins)):
        raise ArgumentError("groups: two bins hold the same number of groups; give each number once")
    cells = _printed(plan)
    beyond = next((one for one in bins if one.least > cells), None)
    if beyond is not None:
        raise ArgumentError(f"groups[{beyond.least}]: the request has {number(cells)} groups")
    return GroupsOfPersons(tuple(replace(one, most=min(one.most, cells)) for one in bins))


def _of_release(document: Mapping[str, Any], plan: Plan) -> GroupsOfPersons:
    """The bins of a released histogram of numbers of groups."""
    shown, made = _histogram(document)
    _check_same_rows(document["plan"], made["column"], plan)
    own = [group.column for group in plan.group_by if isinstance(group, CategoryGroup)]
    if len(plan.group_by) != 1 or own != [made["column"]]:
        raise ArgumentError(
            f"groups: the release counts different values of '{made['column']}', and the request has other groups; give the "
            "numbers of persons by their number of groups"
        )
    (group,), cells = plan.group_by, _printed(plan)
    labels = len(plan.layout.labels[0])
    # Somebody with rows of no value is in the null group as well, if it is printed.
    null = plan.facts[group.column].nullable and labels - 1 not in hidden_labels(plan, group)
    frame = next(one for one in document["frames"] if one["name"] == shown["name"])
    _, _, lows, highs = (one["values"][: len(shown["labels"])] for one in frame["columns"])
    last, bins = int(Fraction(made["bounds"][1])), []
    for (first, end), low, high in zip(pairwise(shown["edges"]), lows, highs, strict=True):
        most = cells if end - 1 == last else end - 1 + null
        if most >= 1 and first <= cells:
            count = Fraction(max(0, low)), Fraction(max(0, high))
            # Who has no value is in the null group alone, and in no group where that is not printed.
            bins.append(_Bin(max(first, int(null)), min(most, cells), count))
    return GroupsOfPersons(tuple(bins))


def _histogram(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The one histogram of a release, and what its column is made of.

    Raises:
        ArgumentError: there is none, or it is not of numbers of different values of persons, all of them.
    """
    found = [one for one in document["statistics"] if one["statistic"] == "histogram"]
    made = {one["name"]: one for one in document["plan"].get("persons", {}).get("made", ())}
    if len(found) != 1 or document["plan"]["group_by"] or made.get(found[0]["column"], {}).get("how") != "distinct":
        raise ArgumentError(
            "groups: must be a release of one histogram without groups, of a column that distinct(…) makes in per_person(…)"
        )
    shown, own = dict(found[0]), dict(made[found[0]["column"]])
    if document["plan"]["steps"]:
        raise ArgumentError("groups: the persons of the release are not all; release the histogram of all of them")
    if shown["edges"][0] > 0 or shown["edges"][-1] <= int(Fraction(own["bounds"][1])):
        raise ArgumentError("groups: the bins of the histogram do not hold all numbers; take edges from 0 to the most")
    return shown, own


def _check_same_rows(released: Mapping[str, Any], column: str, plan: Plan) -> None:
    """Checks that the histogram is of the rows and persons that the request asks, and of the values that are its groups.

    Raises:
        ArgumentError: other clamps or conditions stand before it; the request leaves out rows of weight 0; a column that
            matters was declared in another way, or another identifier says whose row it is.
    """
    own, bound = [step_json(step, plan.schema) for step in plan.steps if not isinstance(step, Bound)], plan.facts.bound
    if released["persons"]["steps"] != own:
        raise ArgumentError(
            "groups: the release is of other rows than the request: release the histogram after the same clamp and where"
        )
    if bound is not None and bound.weight is not None:
        raise ArgumentError(
            f"groups: the release counts rows with 0 in '{bound.weight}' too, which the request leaves out; give the "
            "numbers of persons by their number of groups"
        )
    made, names = released["persons"], {column, *(str(step["column"]) for step in own)}
    declared = (_declared(schema, names) for schema in (made["schema"], plan.schema.to_json()))
    if made["neighbours"]["person"] != person_of(plan.neighbours) or next(declared) != next(declared):
        raise ArgumentError(
            "groups: the release was made with other declarations of its columns than the request has now: release the "
            "histogram again"
        )


def _declared(schema: Iterable[Mapping[str, object]], names: Collection[str]) -> Mapping[str, object]:
    """What a schema says of these columns, by their names."""
    return {str(column["name"]): column for column in schema if column["name"] in names}
