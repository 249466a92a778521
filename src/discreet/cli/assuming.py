"""`discreet quote --assuming`: the whole error of each release against the table as recorded, if something is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from discreet.cli.output import Answer
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.given_paths import require_path
from discreet.quotes.bounds import BoundErrors, says_left_out
from discreet.quotes.quote import Quote

__all__ = ["Assumptions", "assumptions_of", "with_whole_errors"]

Assumptions = Mapping[tuple[str, str], Any]
"""By column and name what is assumed; the column is empty where none was named."""

_NAMES = ("nulls", "above", "below", "mean", "mean_above", "mean_below", "rows", "groups")
_ALONE = ("rows", "groups")
_GROUPS = ("", "groups")
_RULE = "must be a column, a colon, and names with values, as in 'income: nulls=0.1, above=0.05..0.07'"


def assumptions_of(written: Sequence[str] | None) -> Assumptions:
    """The assumptions by column and name: numbers as they were typed, or pairs of them.

    Raises:
        ArgumentError: another form, an unknown name, or one that is given twice.
    """
    found: dict[tuple[str, str], Any] = {}
    for one in written or ():
        column = one.partition("=")[0].rpartition(":")[0].strip()
        for part in one[one.partition("=")[0].rfind(":") + 1 :].split(","):
            name, equals, value = (text.strip() for text in part.partition("="))
            if not equals or not value:
                raise ArgumentError(f"--assuming={printed(one)}: {_RULE}")
            if name not in _NAMES or (name in _ALONE and column):
                raise ArgumentError(f"--assuming={printed(one)}: {printed(name)} is not one of {', '.join(_NAMES)}")
            if (column, name) in found:
                raise ArgumentError(f"--assuming={printed(one)}: {printed(name)} is given twice; give it once")
            low, between, high = ("", "", "") if name == "groups" else value.partition("..")
            found[column, name] = (low, high) if between else value
    return found


def with_whole_errors(answer: Answer, quotes: Mapping[str, Quote], given: Assumptions) -> Answer:
    """The answer, with the whole errors of all releases that the assumptions are about; as it is without assumptions.

    Raises:
        ArgumentError: an assumption that is about no release, or outside its domain.
    """
    if not given:
        return answer
    told: list[str] = []
    facts: dict[str, Any] = {}
    used: set[tuple[str, str]] = set()
    if _GROUPS in given:
        left_out = _left_out(quotes, given[_GROUPS])
        told += [line for name, errors in left_out.items() for line in (f"{name}:", *_indented(errors))]
        facts |= {name: errors.to_json() for name, errors in left_out.items()}
        given = {key: value for key, value in given.items() if key != _GROUPS}
    for name, quote in quotes.items():
        about = dict(_about(quote, given))
        used |= about.keys()
        if not about:
            continue
        try:
            errors = quote.assuming(**_by_name(about))
        except PlanError as refused:
            told += [f"{name}: {refused}"]
            continue
        told += [f"{name}, against the table as recorded", *_indented(errors)]
        facts[name] = errors.to_json()
    unused = [key for key in given if key not in used]
    if unused:
        column, name = unused[0]
        where = f" of '{column}'" if column else ""
        raise ArgumentError(f"--assuming: {name}{where} is about no release: no statistic reads what it is about")
    return Answer([*answer.lines, "", *told], {**answer.facts, "assuming": facts})


def _left_out(quotes: Mapping[str, Quote], folder: str) -> dict[str, BoundErrors]:
    """What the bounds of the releases leave out that count persons in groups, from numbers of groups in a folder.

    Raises:
        ArgumentError: the numbers are about other groups or rows, or there is no such release.
    """
    from discreet.releases.document import Release

    groups = Release.load(require_path(folder, "--assuming=groups"))
    found = {name: quote.left_out(groups) for name, quote in quotes.items() if says_left_out(quote)}
    if not found:
        raise ArgumentError("--assuming: groups is about no release: none has persons() in groups that are listed")
    return found


def _indented(errors: object) -> list[str]:
    return [f"  {line}" for line in str(errors).splitlines()]


def _about(quote: Quote, given: Assumptions) -> Iterator[tuple[tuple[str, str], Any]]:
    """The assumptions that are about a release."""
    from discreet.quotes.whole import can_be_assumed

    possible = can_be_assumed(quote.plan)
    names = {name for found in possible.values() for name in found}
    for (column, name), value in given.items():
        if name == "rows" or name in (possible.get(column, ()) if column else names):
            yield (column, name), value


def _by_name(about: Assumptions) -> dict[str, Any]:
    """The assumptions as `Quote.assuming` takes them."""
    found: dict[str, Any] = {}
    for (column, name), value in about.items():
        if not column:
            found[name] = value
        elif isinstance(found.setdefault(name, {}), dict):
            found[name][column] = value
        else:
            raise ArgumentError(f"--assuming: {name} is given with a column and without one; give one of both")
    return found
