"""The entry of a release for the registry of deployments, as nested values in the order of its schema.

The registry (github.com/opendp/deployments-registry-data) has three tiers; this is the third, the most complete one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import decimal_up
from discreet.pages.registry import facts
from discreet.pages.registry.yaml_text import Yaml
from discreet.pages.report.promise import detection_words
from discreet.pages.report.totals import unprotected_words
from discreet.pages.report.words import people_words, what_words
from discreet.pages.words import MAIN, english, words_in
from discreet.privacy.coordinates import parameters
from discreet.releases.document import Release
from discreet.releases.guarantee import Guarantee

__all__ = ["entry_of", "questions_in"]

_VARIANTS = {"pure-dp": "Pure DP", "approx-dp": "Approximate DP", "zcdp": "Zero-concentrated DP"}
"""The registry's names for measures; others are "Custom", with the guarantee in words."""

_SYMBOLS = {"ε": "epsilon", "δ": "delta", "ρ": "rho"}


def entry_of(release: Release, published: str | None = None) -> dict[str, Yaml]:
    """The entry: what the document knows, and marked questions where it does not.

    Args:
        release: the release.
        published: the day of publication, "2026-11-23"; left out: the day on which the release was made, if the document
            has it.

    Raises:
        ArgumentError: the day is not a date, or is needed because the document has none.
    """
    document, guarantee = release.shown(0), release.guarantee
    return {
        "url_slug": facts.slug(document).replace("_", "-"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(document, release.about, _day(document, published)),
            "dp_variant": _variant(document),
            "privacy_loss": _loss(document, guarantee),
            "deployment_model": _model(document, guarantee),
            "accounting": {
                "post_processing": facts.post_processing_words(document),
                "composition": facts.composition_words(document),
            },
            "implementation": _implementation(document),
            "administrative": {
                "sources": facts.question("where can the data product be found, and which documents describe it?"),
                "notes": f"Made by {document['library']} from release.json, SHA-256 {document['digest']}.",
                "registry_authors": [facts.question("who registers this deployment?")],
            },
        },
    }


def questions_in(value: Yaml, place: str = "") -> Iterator[tuple[str, str]]:
    """Every marked question of an entry, with the path of its field."""
    if isinstance(value, str):
        yield from ((place, part.strip()) for part in value.split(f"{facts.MARK}:")[1:])
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from questions_in(inner, f"{place}.{key}".strip("."))
    elif not isinstance(value, int | float):
        for inner in value:
            yield from questions_in(inner, place)


def _day(document: Mapping[str, Any], published: str | None) -> str:
    given = published if published is not None else str(document.get("time", ""))[:10]
    try:
        day = dt.date.fromisoformat(given)
    except ValueError:
        if published is None:
            raise ArgumentError(
                "register: the release does not say when it was made; give the day of publication, "
                "such as --published 2026-11-23"
            ) from None
        raise ArgumentError(f"published={printed(published)}: must be a day such as 2026-11-23") from None
    return day.isoformat()


def _basic(document: Mapping[str, Any], about: About, day: str) -> dict[str, Yaml]:
    title, publisher, universe = (facts.known_text(about, key) for key in ("title", "publisher", "universe"))
    return {
        "name": title or f"{document['name']} ({document['dataset']})",
        "data_curators": [publisher or facts.question("who publishes the data product?")],
        "intended_use": facts.question("what is the data product to be used for?"),
        "data_product_type": "Summary statistics",
        "data_product_region": _join(
            universe, facts.question("which region do the data describe, and the law of which region applies?")
        ),
        "description": _join(facts.known_text(about, "description"), what_words(document, about, english())),
        "publication_date": day,
    }


def _variant(document: Mapping[str, Any]) -> dict[str, Yaml]:
    return {
        "variant_name": _VARIANTS.get(document["guarantee"]["effective"]["kind"], "Custom"),
        "data_domain": facts.domain_words(document),
        "unprotected_quantities": _join(unprotected_words(document, words_in(MAIN)), facts.public_words(document)),
    }


def _loss(document: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Yaml]:
    known = {_SYMBOLS[symbol]: _round_up(value) for symbol, value in parameters(guarantee.effective) if symbol in _SYMBOLS}
    pair = {"epsilon": _round_up(guarantee.epsilon), "delta": _round_up(guarantee.report_delta)}
    return {
        "privacy_unit": "person",
        "privacy_unit_details": facts.unit_words(guarantee),
        "privacy_parameters": known or pair,
        "privacy_parameters_details": _join(
            facts.parameters_words(guarantee), detection_words(guarantee, english()), facts.population_words(document)
        ),
    }


def _round_up(value: Fraction | float) -> float:
    """A number of at most twelve digits that is not below the value, as readers of YAML show it."""
    return float(decimal_up(value, 12))


def _model(document: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Yaml]:
    return {
        "model_name": "Central",
        "model_name_details": "The custodian reads the rows and publishes noisy statistics only.",
        "actors": _join(
            people_words(document, english()),
            "Readers of the publication, alone or together, are the adversaries; they may know the data of everybody else.",
            facts.question("who can see the rows, the ledger and unpublished results, and why are they trusted?"),
        ),
        "release_type": "One release",
        "release_type_details": _join(
            facts.budget_words(document, guarantee),
            facts.question("will the same data be published again, and when does the budget begin anew?"),
        ),
        "data_source_type_details": facts.question("do new data come in, and how are later states of the source treated?"),
        "access_type": "Non-interactive",
        "access_type_details": "The statistics were chosen in a plan before the release; readers ask nothing of the data.",
    }


def _implementation(document: Mapping[str, Any]) -> dict[str, Yaml]:
    inspected = str(document.get("inspected", ""))
    return {
        "preprocessing_and_hyperparameter_tuning": _join(
            *facts.preparation_lines(document),
            inspected,
            facts.question("were bounds, categories, groups or the spend chosen by looking at these data?"),
        ),
        "mechanisms": _join(*facts.mechanism_lines(document), facts.IMPLEMENTATION, f"Library: {document['library']}."),
        "justification": facts.question("why this guarantee, this unit and these statistics, and who decided it?"),
    }


def _join(*texts: str) -> str:
    """The texts that there are, one below the other, as items of a list if there are several."""
    known = [text for text in texts if text]
    return known[0] if len(known) == 1 else "\n".join(f"- {text}" for text in known)
