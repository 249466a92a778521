"""The facts from which a third party computes every noise scale again: start, shares, formulas, laws, the record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.approvals.written import signers_of
from discreet.domain.neighbours import AddRemoveParts, AddRemovePersons, Neighbours, ReplacePersons, neighbours_of
from discreet.exact.figures import name
from discreet.exact.numbers import exact, text
from discreet.mechanisms import NoiseWords, Sensitivity, words_of
from discreet.pages.report.found import delta_words, noise_words
from discreet.pages.report.promise import measure_words, tables_words
from discreet.pages.words import Words
from discreet.privacy.base import NoiseMeasure
from discreet.privacy.coordinates import parameters
from discreet.privacy.measures import find_noise_measure
from discreet.releases.guarantee import Guarantee

__all__ = ["Noise", "OrdinaryNoise", "laws_of", "noises_of", "ordinary_of", "ordinary_words", "record_of", "start_words"]


_PAIR = ("ε", "δ")
"""The symbols of the guarantee that no noise has: it is turned into one that the noise of each query has."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one measured query, and the facts from which its parameter was computed."""

    query: str
    l1: str
    l2_squared: str
    share: str
    guarantee: str
    law: str
    parameter: str
    formula: str


@dataclass(frozen=True, slots=True)
class OrdinaryNoise:
    """The advertised guarantee of the noise of one query: the sensitivities of one row, and the guarantee they give."""

    query: str
    l1: str
    l2_squared: str
    guarantee: str


def noises_of(document: Mapping[str, Any]) -> Iterator[Noise]:
    """The noise of every measured query."""
    for measured in document["noise"]:
        words, guarantee = words_of(measured), _guarantee(measured)
        ((symbol, value),) = parameters(guarantee)
        on = f": {name(measured['lattice'])}" if "lattice" in measured else ""
        yield Noise(
            query=name(measured["query"]),
            l1=name(measured["l1_sensitivity"]),
            l2_squared=name(measured["l2_squared_sensitivity"]),
            share=name(measured["share"]),
            guarantee=f"{symbol} = {_exactly(text(value))}",
            law=f"{name(measured['noise'])}{on}",
            parameter="not known here" if words is None else _parameters_of(measured, words),
            formula="parameter" if words is None else words.formula or guarantee.formulas[words.parameter],
        )


def _parameters_of(measured: Mapping[str, str], words: NoiseWords) -> str:
    shown = [_exactly(measured[key]) for key in (words.parameter, words.further) if key]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _guarantee(measured: Mapping[str, str]) -> NoiseMeasure:
    """The guarantee of the noise of a query, as its release wrote it."""
    written = json.loads(measured["guarantee"])
    return find_noise_measure(written["kind"]).read(written)


def laws_of(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Each law of noise that was used, with its probabilities; a newer version may have used one that is not known here."""
    known = [words for words in map(words_of, document["noise"]) if words is not None]
    return tuple({words.title or words.name: words.sentence for words in known}.items())


def ordinary_of(document: Mapping[str, Any]) -> tuple[OrdinaryNoise, ...]:
    """The advertised guarantees of the noises for one replaced row, where exact totals change the guarantee.

    Empty without totals, and after a resize or sample, where the law of the copies differs and the sensitivities do not.
    """
    if not document["invariants"] or _drawn_table(document):
        return ()
    return tuple(_ordinary(measured) for measured in document["noise"])


def ordinary_words(document: Mapping[str, Any], words: Words) -> str:
    """The derivation of the advertised guarantee; empty without totals."""
    if not document["invariants"]:
        return ""
    if drawn := _drawn_table(document):
        return words(f"report.appendix.advertised_{drawn}")
    together = words("report.appendix.add_up" if _joint(document) == "1" else "report.appendix.at_most")
    return words("report.appendix.advertised", together=together)


def _ordinary(measured: Mapping[str, str]) -> OrdinaryNoise:
    guarantee = _guarantee(measured)
    l1, l2_squared = measured["ordinary_l1_sensitivity"], measured["ordinary_l2_squared_sensitivity"]
    ordinary = Sensitivity(int(l1), int(l2_squared))
    beside = Sensitivity(int(measured["l1_sensitivity"]), int(measured["l2_squared_sensitivity"]))
    ratio = Fraction(guarantee.size(ordinary), guarantee.size(beside))
    ((symbol, value),) = zip(guarantee.coordinate_symbols, guarantee.coordinates, strict=True)
    shown = f"{symbol} = {_exactly(text(value * ratio))}"
    return OrdinaryNoise(name(measured["query"]), name(l1), name(l2_squared), shown)


def start_words(document: Mapping[str, Any], guarantee: Guarantee, words: Words) -> str:
    """The way from the guarantee of the whole publication to the guarantee of each query."""
    kinds = {type(_guarantee(measured)) for measured in document["noise"]}
    turned = guarantee.effective.symbols == _PAIR and not _drawn_table(document)
    steps = [words.said(kind.from_pair) for kind in kinds] if turned else []
    symbols = ", ".join(dict.fromkeys(symbol for kind in kinds for symbol in kind.coordinate_symbols))
    said = [
        delta_words(document, words, rest=bool(steps)),
        *steps,
        _rows_words(document, guarantee.semi_adjacency, words),
        noise_words(document, symbols, words),
        *_share_words(document, guarantee, words),
    ]
    return " ".join(filter(None, said))


def _rows_words(document: Mapping[str, Any], a: int | None, words: Words) -> str:
    """The guarantee for the rows of the prepared table."""
    moved = int(document["group"])
    if drawn := _drawn_table(document):
        who = words("report.appendix.one") if a is None else words("report.appendix.differing", a=words.number(a))
        return words(f"report.appendix.{drawn}", who=who, n=words.number(moved))
    if a is not None:
        return words("report.appendix.effective", tables=tables_words(a, words))
    if moved == 1:
        return words("report.appendix.start")
    exchanged = isinstance(neighbours_of(document["plan"]["neighbours"]), AddRemoveParts)
    return words("report.appendix.exchanged" if exchanged else "report.appendix.group", n=words.number(moved))


def _share_words(document: Mapping[str, Any], guarantee: Guarantee, words: Words) -> Iterator[str]:
    """The division of the guarantee among the queries, and the noise that follows for each."""
    joint, spent = _joint(document), guarantee.effective
    that = spent.coordinate_symbols == spent.symbols or "discovery" in document
    noise = ", ".join(symbol for symbol in spent.coordinate_symbols if symbol != "δ")
    of = words("report.appendix.that") if that else words("report.appendix.of", symbol=noise)
    if joint == "1":
        yield words("report.appendix.share", of=of)
    else:
        yield words("report.appendix.joint", of=of, joint=words.figures(_exactly(joint)))
    alone = guarantee.semi_adjacency is None or _drawn_table(document)
    one = _differing(neighbours_of(document["plan"]["neighbours"]))
    yield words("report.appendix.formula", differ=words(f"report.appendix.{one}" if alone else "report.appendix.tables"))


def _differing(neighbours: Neighbours) -> str:
    """What differs between the tables that sensitivities compare; where each person has one row, it is there or is not."""
    match neighbours:
        case AddRemoveParts(each="rows") | ReplacePersons(each="rows"):
            return "part"
        case AddRemovePersons() | AddRemoveParts():
            return "person"
        case _:
            return "row"


def _joint(document: Mapping[str, Any]) -> str:
    """The cost of all queries together, relative to the sum of their costs; older documents charge the sum."""
    return str(document.get("joint", "1"))


def _drawn_table(document: Mapping[str, Any]) -> str:
    """The word for a table whose rows the steps draw: "resized" or "sampled"; empty where no rows are drawn."""
    words = {"resize": "resized", "sample": "sampled"}
    return next((words[step["step"]] for step in document["plan"]["steps"] if step["step"] in words), "")


def _exactly(written: str) -> str:
    """An exact rational; a long one with an approximation."""
    return name(written) if len(written) <= 12 else f"{name(written)} ≈ {float(exact(written, 'parameter')):.5g}"


def legible(shown: str) -> str:
    """A text with the approximations alone of exact numbers that nobody reads; documents have them in full."""
    return re.sub(r"(= )?[0-9/]{80,} ≈", "≈", shown)


def record_of(document: Mapping[str, Any], guarantee: Guarantee, words: Words) -> tuple[tuple[str, str], ...]:
    """The names and digests of this release, and the version that made it."""
    beside = document["invariants"]
    facts = [
        ("release", name(document["name"])),
        ("dataset", name(document["dataset"])),
        ("charged", measure_words(guarantee.effective, words)),
        ("entry", name(document["ledger"]["sequence"])),
        ("plan_digest", name(document["plan_digest"])),
        *([("totals_digest", name(beside["digest"]))] if beside else []),
        *(("approved", name(str(key))) for key in signers_of(document)),
        ("digest", name(document["digest"])),
        *([("made", name(document["time"]))] if "time" in document else []),
        ("library", name(document["library"])),
        ("format", name(document["format"])),
    ]
    return tuple((words(f"report.record.{key}"), fact) for key, fact in facts)
