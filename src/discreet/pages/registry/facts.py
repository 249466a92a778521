"""Plain sentences from a release document about its guarantee, data, noise and record; and what it cannot say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.domain.declared_words import list_names, step_words, steps_of
from discreet.domain.neighbours import find_relation, is_of_persons, neighbours_of, part_words
from discreet.exact.figures import name, number
from discreet.exact.numbers import decimal_up, exact
from discreet.pages.report.appendix import laws_of, noises_of
from discreet.pages.report.budget import budget_of
from discreet.pages.report.found import delta_words, found_words
from discreet.pages.report.promise import epsilon_words, measure_words
from discreet.pages.report.words import covered_words
from discreet.pages.words import english, words_in
from discreet.releases.guarantee import Guarantee

__all__ = [
    "IMPLEMENTATION",
    "MARK",
    "budget_words",
    "composition_words",
    "domain_words",
    "group_words",
    "known_text",
    "mechanism_lines",
    "parameters_words",
    "population_words",
    "post_processing_words",
    "preparation_lines",
    "public_words",
    "question",
    "slug",
    "unit_words",
]

MARK = "QUESTION FOR THE CUSTODIAN"
"""The beginning of every text that the document cannot answer."""

IMPLEMENTATION = (
    "Noise is drawn exactly from its stated law in integer arithmetic; no floating-point number meets it. Random bits are "
    "the output of AES-256 in counter mode with a key from the operating system, so every guarantee is computational."
)


def question(asked: str) -> str:
    """A question that the document does not answer, marked so that nobody takes it for an answer."""
    return f"{MARK}: {asked}"


def known_text(about: About, key: str) -> str:
    """A text that the custodian has written; empty where there is none."""
    return "\n".join(name(line) for line in str(getattr(about, key)).splitlines())


def slug(document: Mapping[str, Any]) -> str:
    """Data set and release as a stable name in lower-case letters, digits and underscores."""
    words = re.sub(r"[^a-z0-9]+", "_", f"{document['dataset']}_{document['name']}".lower()).strip("_")
    return words[:80].rstrip("_") or "release"


def unit_words(guarantee: Guarantee) -> str:
    """Whose data are protected, and which tables are compared."""
    if is_of_persons(guarantee.relation):
        return (
            "The unit is one person with all rows of this person in the data set, however many. Neighbouring tables have "
            f"{find_relation(guarantee.relation).holds}. How much one person counts for is "
            f"bounded and enforced. {part_words(guarantee.relation)}"
        ).rstrip()
    rows = guarantee.rows_per_person
    most = "one row" if rows == 1 else f"up to {number(rows)} rows"
    change = find_relation(guarantee.relation).change
    beside = ""
    if guarantee.semi_adjacency is not None:
        beside = f" Compared are tables with the same exact totals that differ in at most {guarantee.semi_adjacency} rows."
    return (
        f"The unit is one person with {most} in the data set. Neighbouring tables are those in which the data of one person "
        f"are {change}. The number of rows of a person is declared, not enforced.{beside}"
    )


def parameters_words(guarantee: Guarantee) -> str:
    """The guarantee as it was charged, as (ε, δ), and what it would be advertised as without the exact totals."""
    written = f"{measure_words(guarantee.effective, english())}; {epsilon_words(guarantee, english())}; rounded up."
    if guarantee.ordinary is None:
        return written
    return (
        f"{written} This counts the exact totals. Without counting them the same noise would be advertised as "
        f"{measure_words(guarantee.advertised, english())}."
    )


def population_words(document: Mapping[str, Any]) -> str:
    """The promise of the whole budget to the population of which the file is a secret sample; empty without a draw."""
    return name(document["population"]["words"]) if "population" in document else ""


def domain_words(document: Mapping[str, Any]) -> str:
    """The tables that the guarantee speaks of."""
    columns = list_names([name(column["name"]) for column in document["plan"]["schema"]])
    rows = neighbours_of(document["plan"]["neighbours"]).rows
    size = "The number of rows is private" if rows is None else f"The number of rows, {number(rows)}, is public"
    return (
        f"All tables with the columns {columns}, each with the values or bounds that the plan declares and null. {size}. "
        "Values outside their bounds are moved to the nearest bound; categories that are not declared are null."
    )


def mechanism_lines(document: Mapping[str, Any]) -> list[str]:
    """The noise of every measured query with its sensitivities and exact parameter, and the laws."""
    lines = [
        f"{one.query}: {one.law}, parameter {one.parameter}, for the guarantee {one.guarantee} (sensitivities: "
        f"Δ₁ = {one.l1}, Δ₂² = {one.l2_squared}; share of the spend {one.share})"
        for one in noises_of(document)
    ]
    found = [found_words(document, english())] if _found(document) else []
    return [*found, *lines, *(f"{title}: {sentence}" for title, sentence in laws_of(document))]


def group_words(document: Mapping[str, Any]) -> str:
    """Where the groups come from, and which chance a name of one person alone has of being found."""
    if not _found(document):
        return (
            "Groups come from the plan, never from the data; a group without a row is printed with noise like every other."
        )
    return (
        f"{found_words(document, english())} {delta_words(document, english(), rest=False)} All other groups come from the "
        "plan and are printed with noise, whether they have rows or not."
    )


def public_words(document: Mapping[str, Any]) -> str:
    """What is public besides the numbers."""
    if not _found(document):
        return (
            "Also public: names of columns, bounds, categories, groups, steps and the plan; none of them is read from the "
            "data."
        )
    return (
        "Also public: names of columns, bounds, categories, steps and the plan; none of them is read from the data. The "
        "names of found groups are read from the data, and the guarantee covers them."
    )


def _found(document: Mapping[str, Any]) -> int:
    """How many rounds looked for groups that nobody listed."""
    return len(document["discovery"]["rounds"]) if "discovery" in document else 0


def preparation_lines(document: Mapping[str, Any]) -> list[str]:
    """The steps before the statistics, in their order; all of them are counted in the guarantee."""
    steps = [step_words(step) for step in steps_of(document["plan"])]
    return steps or ["No step changes the rows before they are counted."]


def post_processing_words(document: Mapping[str, Any]) -> str:
    """The post-processing of the noisy integers."""
    return (
        "Means, shares, variances, intervals and all views are functions of the noisy integers and of public values; they "
        f"cost nothing. {covered_words(document['interval'], english())}"
    )


def composition_words(document: Mapping[str, Any]) -> str:
    """The composition of the parts of the release, and of the releases of the data set."""
    queries, joint = len(document["noise"]), exact(document["joint"], "joint")
    less = f", and together they cost {decimal_up(joint, 3)} of the sum by a proof for these queries" if joint < 1 else ""
    rounds = _found(document)
    found = f" The {rounds} rounds in which groups were found are added to them, with their δ." if rounds else ""
    return (
        f"Measured queries of this release: {queries}; their guarantees are added up{less}.{found} All groups of one query "
        "are one vector with its own sensitivity, and no parallel composition is used. A ledger adds up all releases of the "
        "data set in exact arithmetic and refuses what the budget does not allow; "
        f"this release is its entry {name(document['ledger']['sequence'])}."
    )


def budget_words(document: Mapping[str, Any], guarantee: Guarantee) -> str:
    """The budget of the data set, what this release cost, and what was left."""
    use = budget_of(document, guarantee, words_in("en"))
    if use is None:
        return question("what is the budget of the data set, and how much of it is spent?")
    figures = [*use.figures, *([("Charged for other releases until then", use.others)] if use.others else [])]
    return "; ".join(f"{title}: {words}" for title, words in figures) + "."
