"""Derived numbers in the document of a release: computed with it, recorded beside its numbers with where they come from.

What a plan derives is tried before anything is spent, on documents with hardly any noise, so that a wrong name, groups that
do not meet and numbers that cannot be added are refused then. Nothing that happens afterwards takes a release away: a
derivation that cannot be carried out is recorded with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import canonical, seal
from discreet.exact.numbers import text
from discreet.plan.plan import Plan, plan_json, used_columns
from discreet.plan.recorded import shown_statistic
from discreet.plan.sizes import is_large
from discreet.quotes.primitives import Asked, recipes_of
from discreet.quotes.quote import LEVEL
from discreet.releases.assemble import columns_of_plan
from discreet.releases.derived.requests import Derivation, compute
from discreet.releases.derived.result import Derived
from discreet.releases.document import Release, make_release
from discreet.releases.files import TABLE
from discreet.releases.frames import column_json
from discreet.releases.labels import all_rows, find_printed
from discreet.releases.publish import covers
from discreet.statistics.base import Statistic, groupings_of, outputs
from discreet.statistics.counts import Count, told_rows

__all__ = ["check_derivations", "outline", "with_derived"]

_NOT_COMPUTED = "could not be computed"

_HARDLY_ANY = {"noise": "discrete Laplace", "scale": "1/100"}
"""Noise that is 0 but for 1 in 10⁴³ times."""


def with_derived(release: Release, asked: Sequence[Derivation], others: Mapping[str, Release]) -> Release:
    """The release with what is derived from it and from others, by their names, in its document."""
    if not asked:
        return release
    releases = {**others, release.name: release}
    body = {key: value for key, value in release.document.items() if key != "digest"}
    body["derived"] = [_record(one, releases, release.name) for one in asked]
    return Release(seal(body).encode("ascii"))


def _record(asked: Derivation, releases: Mapping[str, Release], own: str) -> dict[str, Any]:
    """What the document says of one derivation."""
    start = {"name": asked.name, "derived": asked.kind}
    try:
        found = {**start, **_facts(compute(asked, releases), own, releases[own].digest)}
        canonical(found)  # what cannot be written is refused here, and not with the whole document
    except ArgumentError as refused:
        return {**start, "columns": [], "failed": str(refused)}
    except Exception:  # noqa: BLE001 (the release is charged and drawn: nothing derived from it may take it away)
        return {**start, "columns": [], "failed": _NOT_COMPUTED}
    return found


def _facts(found: Derived, own: str, digest: str) -> dict[str, Any]:
    """The numbers and where they come from; the document that they stand in has no digest yet."""
    facts = found.facts()
    sources = [
        {key: value for key, value in one.items() if key != "digest" or (one["release"], value) != (own, digest)}
        for one in facts["sources"]
    ]
    kept = {key: facts[key] for key in ("words", "confidence", "missing", "notes")}
    return {**kept, "sources": sources, "columns": found.frame_columns()}


# Before anything is spent -------------------------------------------------------------------------------------------------


def check_derivations(
    asked: Sequence[Derivation], requests: Mapping[str, Plan], own: tuple[str, str], texts: Sequence[About]
) -> None:
    """Checks that a release can have these derivations: their names, columns, groups and kinds of numbers.

    Args:
        asked: the derivations.
        requests: the releases that they may use, by their names.
        own: the data set, and the name of the release that has them.
        texts: its words, which name units.

    Raises:
        ArgumentError: one cannot be carried out, as far as can be known before the release.
    """
    dataset, name_of_own = own
    taken, outlines = set(_names_in(requests[name_of_own])), dict[str, Release]()
    for one in asked:
        names = {f"{name}{end}" for name in one.columns() for end in ("", "_low", "_high")}
        if names & taken:
            again = printed(min(names & taken))
            raise ArgumentError(f"name={printed(one.name)}: {again} is in the release already; choose another name")
        taken |= names
        for name in {operand.release for operand in one.operands if operand.known is None} - outlines.keys():
            outlines[name] = outline((dataset, name), _request(requests, name), texts)
        compute(one, outlines)


def _request(requests: Mapping[str, Plan], name: str) -> Plan:
    if name not in requests:
        raise ArgumentError(f"release={printed(name)}: the plan has no such release before this one")
    request = requests[name]
    if is_large(request):
        raise ArgumentError(
            f"release={printed(name)}: is too large to derive numbers from; derive from one with fewer groups"
        )
    return request


def _names_in(plan: Plan) -> list[str]:
    """The names of tables and columns that a release of the plan has."""
    groups = [name for group in plan.group_by for name in group.names]
    numbers = [f"{name}{end}" for one in plan.answered for name in outputs(one) for end in ("", "_low", "_high")]
    tables = [(one.name, table) for one in plan.answered for table in groupings_of(one)]
    frames = ["_".join([name, *(group.column for group in table)]) for name, table in tables]
    return [TABLE, *groups, *numbers, *frames, *(one.name for one in plan.answered)]


def outline(called: tuple[str, str], plan: Plan, texts: Sequence[About] = ()) -> Release:
    """A made-up release of a plan, with names of data set and release: its groups, and 0 for every number.

    It says that every query has a noise, so that what needs the intervals to hold together is refused here as it would be of
    the release; the noise is so small that the intervals have no width.
    """
    labels = columns_of_plan(plan)
    rows_shown = find_printed(labels, all_rows(labels))
    columns: list[dict[str, Any]] = [column_json(one.name, one.values(all_rows(labels), rows_shown)) for one in labels]
    sums = _perhaps_public([one["values"] for one in columns])
    rows = len(columns[0]["values"]) if columns else 1
    main = [one for one in plan.answered if not groupings_of(one)]
    columns += [
        column_json(f"{output}{end}", [0] * rows) for one in main for output in outputs(one) for end in ("", "_low", "_high")
    ]
    used = used_columns(plan)
    shown: dict[str, Any] = plan_json(plan)
    return make_release(
        {
            "name": called[1],
            "dataset": called[0],
            "guarantee": {"relation": shown["neighbours"]["relation"]},
            "plan": shown,
            "plan_digest": plan.digest,
            "invariants": None,
            "noise": [{"query": words, **_HARDLY_ANY} for words in _queries(plan)],
            "statistics": [_line(plan, one) for one in plan.answered],
            "interval": {"level": text(LEVEL), "hold": plan.intervals, "covers": covers(plan)},
            "columns": columns,
            "known_sums": sums,
            "frames": [],
            "about": [one.of(called[1]).only(used).to_json() for one in texts],
        }
    )


def _queries(plan: Plan) -> list[str]:
    """The words of every query of the plan, in a release without exact totals."""
    recipes = recipes_of(Asked(plan, plan.facts, None), "squares")
    return [query.words() for query in dict.fromkeys(query for one in recipes for query, _ in one.queries)]


def _perhaps_public(keys: Sequence[Sequence[object]]) -> list[dict[str, Any]]:
    """Every sum of counts over some of the group columns as public: exact totals may make it so, which is not known here."""
    found = []
    for some in (one for size in range(len(keys)) for one in combinations(keys, size)):
        labels = [*zip(*some, strict=True)] or [()] * len(keys[0])
        places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
        found.append({"labels": [places[label] for label in labels], "totals": [0] * len(places)})
    return found


def _line(plan: Plan, one: Statistic) -> dict[str, Any]:
    """A statistic as the document of a release describes it; of a count also which rows it is of."""
    counts = {"counts": told_rows(one.column, plan.facts)} if one.kind.word == Count.word else {}
    return {**shown_statistic(plan, one), "view": one.kind.view, **counts}
