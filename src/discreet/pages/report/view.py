"""The contents of the page: a `Release` turned into texts, tables and bars. The template only puts them in their places."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.domain.declared_words import column_words, step_words
from discreet.exact.figures import name
from discreet.exact.frozen import dataclass
from discreet.pages.report import appendix, promise, words
from discreet.pages.report.about import about_facts, quality_words
from discreet.pages.report.appendix import Noise, OrdinaryNoise
from discreet.pages.report.budget import BudgetUse, budget_of
from discreet.pages.report.drawing import Artist
from discreet.pages.report.pictures import Picture, illustrations
from discreet.pages.report.tables import MOST_ROWS, NumberTable, tables_of
from discreet.pages.report.totals import Exact, exact_of, unprotected_words
from discreet.releases.document import Release

__all__ = ["Page", "page_of"]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template needs; every field is text for people, not yet escaped. `exact` is None without totals."""

    title: str
    language: str
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
    inspected: str
    profile: Picture | None
    budget: BudgetUse | None
    exact: Exact | None
    covered: str
    pictures: tuple[Picture, ...]
    tables: tuple[NumberTable, ...]
    steps: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    start: str
    noises: tuple[Noise, ...]
    laws: tuple[tuple[str, str], ...]
    advertised: str
    ordinary: tuple[OrdinaryNoise, ...]
    record: tuple[tuple[str, str], ...]
    plan: str


def page_of(release: Release, artist: Artist | None = None) -> Page:
    """The page of a release. `artist` draws its pictures, or a separate process.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError: the document lacks a part, holds
            another type there, or parts that contradict each other.
    """
    document, guarantee, about = release.shown(MOST_ROWS), release.guarantee, release.about
    plan = document["plan"]
    profile, pictures = illustrations(guarantee, document, artist)
    return Page(
        title=about.title or name(document["name"]),
        language=about.language,
        lead=about.description,
        facts=about_facts(about),
        notes=about.notes,
        quality=quality_words(document),
        dataset=name(document["dataset"]),
        what=words.what_words(document, about),
        people=words.people_words(document),
        unprotected=unprotected_words(document),
        comparison=promise.comparison_words(guarantee),
        promise=name(document["guarantee"]["words"]),
        detection=promise.detection_words(guarantee),
        figures=promise.figures_of(guarantee),
        inspected=name(document.get("inspected", "")),
        profile=profile,
        budget=budget_of(document, guarantee),
        exact=exact_of(document, guarantee),
        covered=words.covered_words(document["interval"]),
        pictures=pictures,
        tables=tuple(tables_of(document, about)),
        steps=tuple(step_words(step) for step in plan["steps"]),
        columns=_columns(plan),
        start=appendix.start_words(document, guarantee),
        noises=tuple(appendix.noises_of(document)),
        laws=appendix.laws_of(document),
        advertised=appendix.ordinary_words(document),
        ordinary=appendix.ordinary_of(document),
        record=appendix.record_of(document, guarantee),
        plan=name(json.dumps(plan, ensure_ascii=False, sort_keys=True)),
    )


def _columns(plan: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The columns that the numbers come from, with their declared domains."""
    parts = [*plan["group_by"], *plan["statistics"]]
    parts += [group for part in plan["statistics"] for grouping in part.get("tables", ()) for group in grouping]
    used = {part.get("column") for part in parts} | {step["column"] for step in plan["steps"] if step["step"] == "where"}
    binned = {part["column"] for part in parts if "edges" in part}
    shown = [(column, "; values in no bin do not count" if column["name"] in binned else "") for column in plan["schema"]]
    return tuple((name(c["name"]), column_words(c) + bins) for c, bins in shown if c["name"] in used)
