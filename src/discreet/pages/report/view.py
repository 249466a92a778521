"""The contents of the page: a `Release` turned into texts, tables and bars. The template only puts them in their places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.domain.declared_words import column_words, step_words, steps_of
from discreet.domain.maps import Map
from discreet.exact.figures import name
from discreet.pages.report import appendix, promise
from discreet.pages.report import words as sentences
from discreet.pages.report.about import about_facts, quality_words
from discreet.pages.report.appendix import Noise, OrdinaryNoise
from discreet.pages.report.budget import BudgetUse, budget_of
from discreet.pages.report.choropleth import Choropleth, maps_of
from discreet.pages.report.cross import cut_columns
from discreet.pages.report.derived import failed_words
from discreet.pages.report.drawing import Artist
from discreet.pages.report.found import found_words
from discreet.pages.report.pictures import Picture, illustrations
from discreet.pages.report.sheets import Key, Sheet, key_numbers, sheets_of
from discreet.pages.report.tables import MOST_ROWS, tables_of
from discreet.pages.report.tests import Test, tests_of
from discreet.pages.report.totals import Exact, exact_of, unprotected_words
from discreet.pages.words import Words
from discreet.releases.document import Release

__all__ = ["Page", "page_of"]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template needs; every field is text for people, not yet escaped. `exact` is None without totals."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    notes: Sequence[str]
    quality: str
    dataset: str
    what: str
    people: str
    unprotected: str
    comparison: str
    promise: str
    detection: str
    figures: tuple[tuple[str, str], ...]
    population: str
    inspected: str
    profile: Picture | None
    budget: BudgetUse | None
    exact: Exact | None
    covered: str
    account: str
    pictures: tuple[Picture, ...]
    sheets: tuple[Sheet, ...]
    in_files: str
    failed: tuple[str, ...]
    tests: tuple[Test, ...]
    shapes: Map | None
    maps: Mapping[str, Choropleth]
    keys: tuple[Key, ...]
    steps: tuple[str, ...]
    found: str
    columns: tuple[tuple[str, str], ...]
    start: str
    noises: tuple[Noise, ...]
    laws: tuple[tuple[str, str], ...]
    advertised: str
    ordinary: tuple[OrdinaryNoise, ...]
    record: tuple[tuple[str, str], ...]
    plan: str


def page_of(release: Release, words: Words, artist: Artist | None = None) -> Page:
    """The page of a release in the language of `words`. `artist` draws its pictures, or a separate process.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError: the document lacks a part, holds
            another type there, or parts that contradict each other.
    """
    release = _with_unknown(release, words)
    document, guarantee, about = release.shown(MOST_ROWS), release.guarantee, release.about
    sheets = sheets_of(tables_of(document, about, words), document, about, words)
    shapes, maps = maps_of(sheets, release.document, about, words)
    plan, said = document["plan"], words.said
    profile, pictures = illustrations(guarantee, document, about, artist, words)
    return Page(
        title=about.title or name(document["name"]),
        lead=about.description,
        facts=(*about_facts(about, words), *_tell_day(document, words)),
        notes=about.notes,
        quality=said(quality_words(document)),
        dataset=name(document["dataset"]),
        what=sentences.what_words(document, about, words),
        people=sentences.people_words(document, words),
        unprotected=unprotected_words(document, words),
        comparison=promise.comparison_words(guarantee, words),
        promise=said(name(document["guarantee"]["words"])),
        detection=promise.detection_words(guarantee, words),
        figures=promise.figures_of(guarantee, words),
        population=said(name(document["population"]["words"])) if "population" in document else "",
        inspected=said(name(document.get("inspected", ""))),
        profile=profile,
        budget=budget_of(document, guarantee, words),
        exact=exact_of(document, guarantee, about, words),
        covered=sentences.covered_words(document["interval"], words),
        account=words("report.numbers.represent" if "original" in plan else "report.numbers.account"),
        pictures=pictures,
        sheets=sheets,
        in_files=_tell_files(document, words),
        failed=failed_words(document, words),
        tests=tests_of(document, words),
        shapes=shapes,
        maps=maps,
        keys=key_numbers(document, guarantee, sheets, words),
        steps=tuple(said(step_words(step)) for step in steps_of(plan)),
        found=found_words(document, words),
        columns=_columns(plan, words),
        start=appendix.start_words(document, guarantee, words),
        noises=tuple(_translate_noise(one, words) for one in appendix.noises_of(document)),
        laws=_translate(appendix.laws_of(document), words),
        advertised=appendix.ordinary_words(document, words),
        ordinary=tuple(replace(one, query=said(one.query)) for one in appendix.ordinary_of(document)),
        record=appendix.record_of(document, guarantee, words),
        plan=name(json.dumps(plan, ensure_ascii=False, sort_keys=True)),
    )


def _tell_files(document: Mapping[str, Any], words: Words) -> str:
    """The tables of areas that are in files next to the page; empty where all are in the document."""
    tables = [
        words("report.numbers.file", name=name(one["name"]), n=words.number(one["table"]["rows"]))
        for one in document.get("frames", ())
        if "table" in one
    ]
    return words("report.numbers.in_files", tables=words.enumerate(tables)) if tables else ""


def _with_unknown(release: Release, words: Words) -> Release:
    """The release with the word of the language for what is not known, where it has labels without one."""
    about = release.about
    named = {key: own if own.unknown else replace(own, unknown=words("form.unknown")) for key, own in about.columns.items()}
    return replace(release, texts=replace(about, columns=named)) if named else release


def _tell_day(document: Mapping[str, Any], words: Words) -> tuple[tuple[str, str], ...]:
    """The day on which the release was made, if it says so."""
    return ((words("report.made_on"), words.day(str(document["time"]))),) if "time" in document else ()


def _translate(pairs: Iterable[tuple[str, str]], words: Words) -> tuple[tuple[str, str], ...]:
    return tuple((words.said(one), words.said(other)) for one, other in pairs)


def _translate_noise(noise: Noise, words: Words) -> Noise:
    """The noise as the page shows it: its parameter with the formula."""
    return replace(
        noise,
        query=words.said(noise.query),
        law=words.said(noise.law),
        guarantee=words.figures(appendix.legible(noise.guarantee)),
        parameter=appendix.legible(f"{noise.formula} = {noise.parameter}"),
    )


def _columns(plan: Mapping[str, Any], words: Words) -> tuple[tuple[str, str], ...]:
    """The columns that the numbers come from, with their declared domains."""
    parts = [*plan["group_by"], *plan["statistics"]]
    parts += [group for part in plan["statistics"] for grouping in part.get("tables", ()) for group in grouping]
    used = {part.get("column") for part in parts} | {step["column"] for step in plan["steps"] if step["step"] == "where"}
    cut = cut_columns(plan)
    shown = [(column, "; values in no bin do not count" if column["name"] in cut else "") for column in plan["schema"]]
    return tuple((name(c["name"]), words.said(column_words(c)) + words.said(bins)) for c, bins in shown if c["name"] in used)
