"""The `[about]` and `[quality]` sections of a plan file, and files of labels in further languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.domain.about import TEXTS, About, Labels
from discreet.domain.geojson import read_map
from discreet.domain.maps import Map
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.plan.layout import named_columns
from discreet.plan.plan import Plan
from discreet.plan.worded import check_texts
from discreet.planfile.columns import labels_of
from discreet.planfile.derived import Derivations
from discreet.planfile.tree import Node, read_toml
from discreet.releases.quality import Quality
from discreet.session.orders import Order

__all__ = ["about_file", "add_words"]

_ALL = ("language", *TEXTS, "notes", "columns", "statistics", "releases", "map")
_LABELS = ("label", "unit", "categories", "unknown")


def _quality_of(node: Node) -> Quality:
    """The rule of the section: what tells good numbers from others, and whether others are printed."""
    parts = node.table((), ("good", "caution", "suppress"))
    given = {key: parts[key].number() for key in ("good", "caution") if key in parts}
    word = parts["suppress"].string() if "suppress" in parts else None
    with node.locate_errors():
        return Quality(**given, suppress=word)


def _abouts_of(node: Node, folder: Path) -> tuple[About, ...]:
    """The texts of the section, and of the files of its translations; the first language is the language of the section."""
    parts = node.table((), (*_ALL, "translations"))
    found = [_about(node, parts)]
    for one in parts["translations"].items() if "translations" in parts else ():
        found.append(about_file(folder / one.string()))
        if found[-1].language in {other.language for other in found[:-1]}:
            raise one.wrong(f"is in the language '{found[-1].language}', which there is already")
    return tuple(found)


def about_file(path: Path) -> About:
    """The texts of a file of labels, which has at its top level what the section `[about]` has.

    Raises:
        PlanError: the file cannot be read, is not valid TOML, or has something else; `place` names file, line and key.
    """
    root = read_toml(path, "the file of labels")
    return _about(root, root.table(("language",), _ALL[1:]))


def _about(node: Node, parts: Mapping[str, Node]) -> About:
    given: dict[str, Any] = {key: parts[key].string() for key in ("language", *TEXTS) if key in parts}
    if "notes" in parts:
        given["notes"] = [note.string() for note in parts["notes"].items()]
    for key in ("columns", "statistics"):
        if key in parts:
            given[key] = {name: _labels(words) for name, words in parts[key].mapping().items()}
    if "releases" in parts:
        language = {"language": given["language"]} if "language" in given else {}
        given["releases"] = {name: _of_release(one, language) for name, one in parts["releases"].mapping().items()}
    if "map" in parts:
        given["map"] = _map(parts["map"])
    with node.locate_errors():
        return About(**given)


def _map(node: Node) -> Map:
    """The map of a GeoJSON file, whose path is relative to the file that names it."""
    parts = node.table(("file", "key", "column"))
    file, key, column = (parts[one].string() for one in ("file", "key", "column"))
    with node.locate_errors():
        return read_map(node.file.parent / file, key=key, column=column)


def _of_release(node: Node, language: Mapping[str, str]) -> About:
    parts = node.table((), tuple(key for key in _ALL if key not in {"language", "releases"}))
    about = _about(node, parts)
    with node.locate_errors():
        return About(
            **{**{key: getattr(about, key) for key in (*TEXTS, "notes", "columns", "statistics", "map")}, **language}
        )


def _labels(node: Node) -> Labels:
    parts = node.table((), _LABELS)
    given: dict[str, Any] = {key: parts[key].string() for key in ("label", "unit", "unknown") if key in parts}
    if "categories" in parts:
        given["categories"] = {code: text.string() for code, text in parts["categories"].mapping().items()}
    with node.locate_errors():
        return Labels(**given)


# Against the plan ---------------------------------------------------------------------------------------------------------


def add_words(
    orders: tuple[Order, ...], parts: Mapping[str, Node], schema: Schema, derived: Derivations
) -> tuple[Order, ...]:
    """The orders with what the sections `[about]` and `[quality]` say, which no digest of a plan has.

    Raises:
        PlanError: words for something that the plan has not; `place` names it.
    """
    rule = _quality_of(parts["quality"]) if "quality" in parts else None
    folder = parts["columns"].file.parent
    abouts = _abouts_of(parts["about"], folder) if "about" in parts else ()
    if abouts:
        _check_abouts(abouts, parts["about"], schema, ({order.name: order.request for order in orders}, derived))
    looked_up = {"": labels_of(parts["columns"], folder)}
    for table, node in parts["beside"].mapping().items() if "beside" in parts else ():
        looked_up[table] = labels_of(node.child("columns"), folder)
    return tuple(replace(order, about=_with_labels(order, abouts, looked_up), quality=rule) for order in orders)


def _with_labels(order: Order, abouts: Iterable[About], looked_up: Mapping[str, Mapping[str, Labels]]) -> list[About]:
    """The texts of a release, with the labels that look-up files have for its columns, where these are not too many.

    Labels are given by the tables of persons that have the columns; "" is the table of rows.
    """
    used = named_columns(order.request)
    there = [(name, own) for table in _tables_of(order.request) for name, own in looked_up[table].items()]
    labels = {name: own for name, own in there if name in used and _length(own) <= _MOST_LABELS}
    found = [one.of(order.name) for one in abouts] or ([About()] if labels else [])
    return [one.over(replace(_NO_WORDS, columns=labels)) for one in found]


def _tables_of(request: Plan) -> Sequence[str]:
    """The tables whose columns a request can name."""
    if request.persons is not None and request.persons.table:
        return [request.persons.table]
    return ["", *(request.schema if request.persons is None else request.persons.schema).joined]


def _length(labels: Labels) -> int:
    return sum(len(code) + len(label) for code, label in labels.categories.items())


_NO_WORDS = About()
_MOST_LABELS = 500_000
"""The characters of the labels of a column that a document holds."""


def _check_abouts(
    abouts: Iterable[About], node: Node, schema: Schema, asked: tuple[Mapping[str, Plan], Derivations]
) -> None:
    """Checks that everything that has words is in the plan: columns, categories, bins, statistics and releases.

    Raises:
        PlanError: a name that is not there, with the nearest that is.
    """
    requests, derived = asked
    names = [name for names in derived.names().values() for name in names]
    for about in abouts:
        with node.locate_errors():
            check_texts(about, schema, requests.values(), names)
            _check_map(about, requests.values())
        for release in about.releases:
            if release not in requests:
                near = did_you_mean(release, requests)
                raise node.wrong(f"releases: the plan has no release '{release}'{near}")


def _check_map(about: About, requests: Iterable[Plan]) -> None:
    """Checks that a release is grouped by the column of the map."""
    grouped = {name for request in requests for group in request.group_by for name in group.names}
    for one in (about, *about.releases.values()):
        if one.map is not None and one.map.column not in grouped:
            near = did_you_mean(one.map.column, grouped)
            raise ArgumentError(f"map: no release is grouped by {printed(one.map.column)}{near}")
