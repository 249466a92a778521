"""The answers to the evaluation of NIST SP 800-226: from the guarantee down to the collection, and the hazards.

The publication asks first what is promised (parameters, unit), then by which algorithms and at which accuracy and bias, then
in which surroundings (trust, implementation, access, collection); and it warns of hazards, ways in which a true theorem
protects nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.domain.about import About
from discreet.domain.neighbours import is_of_persons, neighbours_of
from discreet.exact.figures import name, number
from discreet.exact.numbers import decimal_up, exact
from discreet.pages.registry import facts
from discreet.pages.report.promise import comparison_words, detection_words
from discreet.pages.report.totals import unprotected_words
from discreet.pages.report.words import covered_words, people_words, what_words
from discreet.pages.words import MAIN, english, words_in
from discreet.releases.document import Release
from discreet.releases.guarantee import Guarantee

__all__ = ["Evaluation", "Item", "Section", "evaluation_of"]

_LARGE = 10
"""From this ε on a guarantee says little by itself."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question of the evaluation with what the document answers, and what it leaves to the custodian.

    Args:
        title: what is evaluated.
        answers: sentences from the document.
        questions: what it does not know.
        status: "answered", "warning" or "open".
    """

    title: str
    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()
    warning: bool = False

    @property
    def status(self) -> str:
        """True if the document answers all of it."""
        if self.warning:
            return "warning"
        return "open" if self.questions else "answered"


@dataclass(frozen=True, slots=True)
class Section:
    """A layer of the pyramid, or the hazards."""

    anchor: str
    title: str
    lead: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The page: what is evaluated, and the sections from the top of the pyramid to the hazards."""

    title: str
    dataset: str
    digest: str
    library: str
    sections: tuple[Section, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        """Everything that is left to the custodian, each once."""
        return tuple(dict.fromkeys(one for section in self.sections for item in section.items for one in item.questions))


def evaluation_of(release: Release) -> Evaluation:
    """The evaluation of a release, from its document alone."""
    document, guarantee = release.shown(0), release.guarantee
    sections = (
        Section("guarantee", "The guarantee", "What is promised, and to whom.", _guarantee(document, guarantee)),
        Section(
            "algorithms",
            "The algorithms",
            "How it is kept, and what it costs in accuracy.",
            _algorithms(document, release.about),
        ),
        Section("deployment", "The deployment", "What the guarantee rests on outside of it.", _deployment(document)),
        Section("hazards", "Hazards", "Ways in which a true theorem protects nobody.", _hazards(document, guarantee)),
    )
    return Evaluation(
        name(document["name"]), name(document["dataset"]), name(document["digest"]), name(document["library"]), sections
    )


def _guarantee(document: Mapping[str, Any], guarantee: Guarantee) -> tuple[Item, ...]:
    return (
        Item("Privacy parameters", (facts.parameters_words(guarantee), detection_words(guarantee, english()))),
        *_population(document),
        Item("Unit of privacy", (facts.unit_words(guarantee), comparison_words(guarantee, english())), (_more(guarantee),)),
        Item("What is not protected", (unprotected_words(document, words_in(MAIN)),)),
        Item("Budget over all releases", (_budget(document, guarantee),), (_ELSEWHERE,)),
    )


def _more(guarantee: Guarantee) -> str:
    """The question whether the declared unit is a person."""
    return _MORE_IDS if is_of_persons(guarantee.relation) else _MORE_ROWS


_CENTRAL = "Central model: the custodian reads the rows; readers see noisy statistics only."

_MORE_ROWS = "Can a person have more rows in the source than declared, or be in it under several identities?"
_MORE_IDS = "Can a person be in the source under several values of the identifier?"
_ELSEWHERE = "Have the same persons' data been published elsewhere, outside this ledger?"
_CHOSEN = "Were bounds, categories, groups, the statistics or the spend chosen by looking at these data?"


def _population(document: Mapping[str, Any]) -> tuple[Item, ...]:
    """The guarantee for the population of which the file is a secret sample; nothing without a draw."""
    words = facts.population_words(document)
    return (Item("Guarantee for the population", (words,), (_DRAWN,)),) if words else ()


_DRAWN = "Does anybody besides the sampler know who was drawn, or who was drawn and did not answer?"


def _budget(document: Mapping[str, Any], guarantee: Guarantee) -> str:
    return facts.budget_words(document, guarantee).removeprefix(f"{facts.MARK}: ")


def _algorithms(document: Mapping[str, Any], about: About) -> tuple[Item, ...]:
    return (
        Item("Queries and mechanisms", (what_words(document, about, english()), *facts.mechanism_lines(document))),
        Item("Composition and post-processing", (facts.composition_words(document), facts.post_processing_words(document))),
        Item("Accuracy", (covered_words(document["interval"], english()), *_widths(document))),
        Item(
            "Bias",
            (*facts.preparation_lines(document), _BIAS),
            ("Whom does the noise, or a bound, serve worse: small groups, extreme values, persons not in the source?",),
        ),
    )


_BIAS = (
    "Noise has mean 0, and counts and sums are unbiased; they may be negative. Values moved to a bound, imputed values, and "
    "means or shares cut to their range are biased. Small groups have the same noise as large ones."
)


def _widths(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The widest interval of each number of the table, where the document holds it."""
    columns = {column["name"]: column["values"] for column in document["columns"]}
    lines = []
    for title, values in columns.items():
        low, high = columns.get(f"{title}_low"), columns.get(f"{title}_high")
        if values and low and high:
            widest = max(end - start for start, end in zip(low, high, strict=True))
            lines.append(f"{name(title)}: the widest interval is ±{decimal_up(widest / 2, 3)}.")
    return tuple(lines)


def _deployment(document: Mapping[str, Any]) -> tuple[Item, ...]:
    return (
        Item(
            "Trust model",
            (
                people_words(document, english()),
                _CENTRAL,
            ),
            ("Who can see the rows, the ledger and unpublished results, and why are they trusted?",),
        ),
        Item("Implementation", (facts.IMPLEMENTATION, f"Made with {name(document['library'])}.")),
        Item(
            "Side channels",
            (
                "Failures after the spend have one constant text, and nothing about rows is logged.",
                "The time of counting depends on the rows and is not padded.",
            ),
            ("Could anybody outside measure how long the release took, or how much memory it used?",),
        ),
        Item(
            "Security and access control",
            (f"Entry {name(document['ledger']['sequence'])} of the ledger; the document has a digest over itself.",),
            ("Where are the rows and the ledger kept, who may read or change them, and what is logged?",),
        ),
        Item(
            "Collection of the data",
            ("Differential privacy protects what is published, not what was collected.",),
            (
                "On which basis were the data collected, do they have to be kept, and when are they deleted?",
                "What were the persons told?",
            ),
        ),
    )


def _hazards(document: Mapping[str, Any], guarantee: Guarantee) -> tuple[Item, ...]:
    return (
        _weak(guarantee),
        _failure(document),
        Item("A unit smaller than a person", (facts.unit_words(guarantee),), (_more(guarantee),)),
        _exact_numbers(document, guarantee),
        Item("Groups that exist because of one person", (facts.group_words(document),)),
        Item("Bounds and choices taken from the data", (_inspect(document),), (_CHOSEN,), warning="inspected" in document),
        Item("Releases that add up", (facts.composition_words(document), _budget(document, guarantee)), (_ELSEWHERE,)),
        Item("Rounding and randomness", (facts.IMPLEMENTATION,)),
        Item(
            "Numbers that look exact",
            (covered_words(document["interval"], english()),),
            ("Do readers see the intervals with the numbers?",),
        ),
    )


def _weak(guarantee: Guarantee) -> Item:
    shown = f"ε ≤ {decimal_up(guarantee.epsilon, 4)} at δ = {decimal_up(guarantee.report_delta)}."
    weak = guarantee.epsilon > _LARGE
    said = f" Above {_LARGE}, ε bounds a probability by a factor of more than 20,000." if weak else ""
    asked = ("Why is so large an ε thought to protect, and which attacks were tried?",) if weak else ()
    return Item("A large ε", (f"{shown}{said}", detection_words(guarantee, english())), asked, warning=weak)


def _failure(document: Mapping[str, Any]) -> Item:
    rows, delta = (
        neighbours_of(document["plan"]["neighbours"]).rows,
        exact(document["guarantee"]["report_delta"], "report_delta"),
    )
    if not delta:
        return Item("A large δ", ("There is no δ: the guarantee holds without exception.",))
    if rows is None:
        return Item(
            "A large δ", (f"δ = {decimal_up(delta)}. The number of rows is private.",), ("Is δ far below 1 over it?",)
        )
    weak = delta * rows > 1
    compared = "more" if weak else "not more"
    told = f"δ = {decimal_up(delta)}, which is {compared} than 1 over the {number(rows)} rows."
    return Item("A large δ", (told,), warning=weak)


def _exact_numbers(document: Mapping[str, Any], guarantee: Guarantee) -> Item:
    title, exactly = "Exact numbers next to noisy ones", unprotected_words(document, words_in(MAIN))
    if guarantee.ordinary is None:
        return Item(title, (exactly,))
    told = tuple(name(str(one)) for one in document["invariants"].get("disclosures", ()))
    return Item(title, (exactly, facts.parameters_words(guarantee), *told))


def _inspect(document: Mapping[str, Any]) -> str:
    return (
        name(str(document["inspected"]))
        if "inspected" in document
        else "The document records no look at how the rows are read."
    )
