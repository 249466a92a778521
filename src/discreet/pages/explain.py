"""A quote explained: the chain from one person's data to each noise scale, in words and formulas.

A pure function of the quote, all of it public. It shares its words with the report of a release, so that the explanation
before a release agrees with the report after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.declared_words import step_words, steps_of
from discreet.domain.neighbours import protected_rows
from discreet.domain.row_samples import SampleEach, SampleRows
from discreet.exact.figures import plural
from discreet.exact.numbers import Amount, decimal_text, sqrt_up, text
from discreet.mechanisms import Change, Sensitivity
from discreet.pages.report.appendix import Noise, laws_of, legible, noises_of, ordinary_words, start_words
from discreet.pages.report.found import found_words
from discreet.pages.report.promise import comparison_words, detection_words
from discreet.pages.report.words import people_words
from discreet.pages.words import english
from discreet.plan.plan import plan_json, resize_of
from discreet.privacy import to_json
from discreet.privacy.amounts import amount_text, report_delta_of
from discreet.privacy.amplify import Resampling
from discreet.privacy.measures import Target
from discreet.privacy.subsample import Subsample
from discreet.quotes.allocate import changes_of, resampling_of
from discreet.quotes.keys import discovery_json
from discreet.quotes.quote import Measured, Quote, accuracy_text, population_text, totals_text
from discreet.releases.publish import guarantee_of, noise_json

__all__ = ["Explanation", "Part", "explain"]

_MOST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Part:
    """One link of the chain: its title and sentences."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The chain of one release, in words and as JSON values; all of it is public."""

    parts: tuple[Part, ...]
    facts: dict[str, Any]

    def __str__(self) -> str:
        """The parts below each other, their sentences indented."""
        return "\n".join("\n".join([part.title, *(f"  {line}" for line in part.lines)]) for part in self.parts)


def explain(quote: Quote, *, dataset: str = "", report_delta: Amount = "1e-9") -> Explanation:
    """The compared tables, the effect of each step, the changes of one row, the division of the spend, and the noise.

    Args:
        quote: what `Session.quote` gives.
        dataset: the name of the data set.
        report_delta: the δ at which ε is stated under ZCDP and GDP.

    Raises:
        ArgumentError: `report_delta` is not a valid δ.
    """
    told = _Told(quote, report_delta_of(report_delta), dataset)
    changes = changes_of(quote)
    parts = (
        Part("which tables are compared", tuple(_explain_tables(told))),
        Part("what each step does", tuple(_explain_steps(told))),
        Part("what one row can change", tuple(_explain_changes(told, changes))),
        Part("how the spend is divided", tuple(_explain_division(told))),
        Part("which noise follows", tuple(_explain_noise(told))),
        Part("what is guaranteed", tuple(_explain_guarantee(told))),
        Part("how the source is read", (str(quote.plan.layout),)),
        Part("how exact it will be", tuple(accuracy_text(quote))),
    )
    return Explanation(parts, _facts(told, changes))


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """A quote, and the parts of its future release from which the report takes its words."""

    quote: Quote
    report_delta: Fraction
    dataset: str

    @property
    def document(self) -> dict[str, Any]:
        quote = self.quote
        return {
            "dataset": self.dataset,
            "plan": plan_json(quote.plan),
            "invariants": quote.beside is not None,
            "group": quote.group,
            "joint": text(quote.joint),
            "noise": noise_json(quote),
            **discovery_json(quote.plan, quote.spend),
        }

    @property
    def sampled(self) -> Resampling | Subsample | None:
        return resampling_of(self.quote.plan, self.quote.beside)


def _explain_tables(told: _Told) -> Iterator[str]:
    quote = told.quote
    yield people_words(told.document, english())
    yield comparison_words(guarantee_of(quote, told.report_delta), english())
    yield from population_text(quote)
    if quote.beside is not None:
        yield from totals_text(quote, quote.beside)


def _explain_steps(told: _Told) -> Iterator[str]:
    steps = steps_of(told.document["plan"])
    computed = [column for column in told.document["plan"]["schema"] if "query" in column]
    for column in computed:
        yield f"{column['name']} is computed from the cells of each row: {column['query']}"
        yield f"  {_ROW_WISE['query']}"
    if not steps and not computed:
        yield "None: the statistics describe the table as it is."
    for step in steps:
        yield step_words(step)
        drawn = _DRAWN.get(step["step"])
        yield from drawn(told) if drawn is not None else (f"  {_ROW_WISE[step['step']]}",)
    if told.quote.plan.keys is not None:
        yield found_words(told.document, english())
    if told.quote.plan.layout.persons is not None:
        rows = protected_rows(told.quote.plan.neighbours.word)
        yield f"So the two prepared tables that are compared differ in {rows}, however many."
        return
    group = told.quote.group
    if told.quote.plan.persons is not None:
        yield "So the two tables with one row of each person differ in at most one row, before rows are drawn."
    yield f"So the two prepared tables that are compared differ in at most {group} {plural('row', group)}."


_ROW_WISE = {
    "query": "Row-wise: every row of the source gives one row, so n stays what it is, and as many rows differ as before.",
    "clamp": "Row-wise: a row's result depends on that row alone, so as many rows differ as before (1-stable).",
    "impute": "Row-wise: draws depend neither on the data nor on each other, so as many rows differ as before (1-stable).",
    "bound": "Person by person: what one person counts for depends on the rows of this person alone.",
    "join": "Person by person: what a row gets depends on the rows of its person alone, in all tables of the data set.",
    "persons": "Person by person: the row of a person depends on the rows of this person alone.",
    "per_person": "Person by person: the row of a person depends on the rows of this person alone.",
    "where": "Row-wise: no row is dropped, n stays what it is, and as many rows differ as before (1-stable).",
}


def _explain_resize(told: _Told) -> Iterator[str]:
    """The stability of the resize, the law of K, and what sampling gains in this measure."""
    sampled, resize = told.sampled, resize_of(told.quote.plan)
    if not isinstance(sampled, Resampling) or resize is None:
        return
    c, s = sampled.copies, sampled.rate
    copies = c * sampled.group * sampled.neighbours.rows_per_person
    factors = f"c = ⌈p⌉ = {c}, rate s = p/c = {text(s)}, with p = {text(resize.proportion)}"
    yield f"  {factors}: c-stable, one row moves at most c rows."
    start = f"  K, how many copies of the rows that differ are sampled, is at most {copies} and"
    rows = sampled.neighbours.rows
    if rows is None:
        yield f"{start} binomial({copies}, {text(s)}) (Theorem R2)."
    else:
        pool = c * rows
        yield f"{start} hypergeometric: {sampled.sampled} of {pool} copies without replacement (Theorem R1)."
    yield f"  {_law_words(sampled)}"
    yield f"  {_explain_amplification(told, sampled, 'resized table')}"


def _explain_sample(told: _Told) -> Iterator[str]:
    """The comparison of two samples, the law of K, and what sampling gains in this measure (W5)."""
    sampled, step = told.sampled, told.quote.plan.facts.drawn
    if not isinstance(sampled, Subsample) or not isinstance(step, SampleEach | SampleRows):
        return
    compared = step.compared(told.quote.plan.neighbours)
    moves = "a row appears" if compared.neighbours.appears else "a row is replaced"
    also = ", or appears: the larger effect counts" if compared.vanishes else ""
    yield f"  Samples of the two tables are compared by one move at a time: {moves}{also}."
    yield f"  K, how many of the rows that differ are sampled: {_law_words(sampled)}"
    if step.rate_of(told.quote.plan.neighbours) is None:
        yield "  The table may have fewer rows than are sampled, and nobody is told: sampling amplifies nothing here."
    yield f"  {_explain_amplification(told, sampled, 'sample')}"


_DRAWN: dict[str, Callable[[_Told], Iterator[str]]] = {"resize": _explain_resize, "sample": _explain_sample}


def _law_words(sampled: Resampling | Subsample) -> str:
    """The law of K, its first numbers."""
    law = [f"P(K = {k}) = {decimal_text(one, 4)}" for k, one in enumerate(sampled.law)]
    return f"{'; '.join(law[:_MOST_SHOWN])}{'; …' if len(law) > _MOST_SHOWN else ''}; k = max K = {sampled.most}."


def _explain_amplification(told: _Told, sampled: Resampling | Subsample, table: str) -> str:
    """The guarantee for the prepared table, and the guarantee for the original table that follows from it."""
    inner, outer = _inner(told.quote), amount_text(told.quote.spend)
    start = f"{amount_text(inner)} for one row of the {table} is {outer} for the original one"
    once = "Everything that reads the sample is added up first and converted once."
    words = f"{inner.resized_words(told.quote.spend, sampled.most)}: {start}."
    return f"{words} {once}" if told.quote.spend.amplified else words


def _inner(quote: Quote) -> Target:
    """The guarantee of all queries together for one row of the prepared table: joint · Σ of their guarantees."""
    parts = zip(*(one.guarantee.coordinates for one in quote.measured), strict=True)
    kind = type(quote.measured[0].guarantee)
    return kind.of_coordinates([quote.joint * sum(part, Fraction(0)) for part in parts], sqrt_up)


def _explain_changes(told: _Told, changes: tuple[Change, ...]) -> Iterator[str]:
    quote, cells = told.quote, told.quote.plan.layout.cells
    appears = quote.plan.neighbours.appears and (told.sampled is None or isinstance(quote.plan.facts.drawn, SampleEach))
    many = "" if quote.plan.keys is not None else f"{cells} "  # how many groups are found is not known before
    groups = "There is one group." if cells == 1 else f"The answers of all {many}groups are one vector."
    moves, always = "A row stays in its group, moves to another one, or does not count.", ""
    if quote.plan.layout.persons is not None:
        moves, always = f"The compared tables have {quote.plan.neighbours.holds}.", "it moves by"
    elif appears:
        moves, always = "A row appears or disappears.", "it appears"
    yield f"{groups} {moves}"
    for one, change in zip(quote.measured, changes, strict=True):
        yield f"{one.query.words()}: {one.query.contribution()}"
        if always:
            yield f"  {always}: {_norms(change.within)}"
        else:
            sizes = (("stays", change.within), ("moves", change.across), ("leaves or enters", change.leaves))
            yield "  " + "; ".join(f"{word}: {_norms(size)}" for word, size in sizes)
        if one.sensitivity != one.ordinary:
            yield f"  one row: at most {_norms(one.ordinary)}; all rows that differ under the same totals, together:"
        yield f"  so {_norms(one.sensitivity, sign='=')}"


def _norms(size: Sensitivity, *, sign: str = "≤") -> str:
    if not size.l1:
        return "nothing"
    return f"Δ₁ {sign} {size.l1}, Δ₂² {sign} {size.l2_squared}"


def _explain_division(told: _Told) -> Iterator[str]:
    quote = told.quote
    yield f"The spend is {amount_text(quote.spend)}."
    yield start_words(told.document, guarantee_of(quote, told.report_delta), english())
    if quote.joint < 1:
        norms = _inner(quote).norm
        yield (
            f"{text(quote.joint)} is the largest, over the three moves of a row, of the sum over the queries of "
            f"share · ({norms} of the move) / {norms}."
        )
    if quote.joint < 1 and quote.plan.target is not None:
        yield (
            "Where the row stays, the queries of each set of columns count once with these columns known before and after, "
            "once with one of them null on one side, and the larger sum is taken."
        )
    for one in quote.measured:
        alone = f"which is {amount_text(one.guarantee)} for this query alone"
        yield f"{one.query.words()}: a share of {text(one.share)}, {alone}"


def _explain_noise(told: _Told) -> Iterator[str]:
    for one, noise in zip(told.quote.measured, noises_of(told.document), strict=True):
        yield f"{noise.query}: {noise.law}, {_scale(noise)}"
        others = [f"{other.mechanism} {other.deviation:.4g}" for other in one.alternatives[1:]]
        if others:
            yield f"  the others would be noisier (standard deviation in a cell): {'; '.join(others)}"
    for law, meaning in laws_of(told.document):
        yield f"{law}: {meaning}"


def _scale(noise: Noise) -> str:
    """The parameter of the law: its formula, then the exact number."""
    symbols = f"with Δ₁ = {noise.l1}, Δ₂² = {noise.l2_squared}, {noise.guarantee}"
    shown = f"{noise.formula} = {noise.parameter}"
    return legible(noise.guarantee if shown == noise.guarantee else f"{shown} {symbols}")


def _explain_guarantee(told: _Told) -> Iterator[str]:
    quote = told.quote
    guarantee = guarantee_of(quote, told.report_delta)
    yield str(guarantee)
    yield detection_words(guarantee, english())
    if quote.beside is not None:
        advertised, effective = amount_text(quote.advertised), amount_text(quote.spend)
        yield f"Advertised, if nobody counted the totals: {advertised}; effective: {effective}."
        yield ordinary_words(told.document, english())


def _facts(told: _Told, changes: tuple[Change, ...]) -> dict[str, Any]:
    """The numbers of the chain for programs; exact amounts as text."""
    quote, sampled = told.quote, told.sampled
    return {
        "neighbours": quote.plan.neighbours.to_json(),
        "semi_adjacency": None if quote.beside is None else quote.beside.adjacency.a,
        "resize": _resize_facts(quote, sampled) if isinstance(sampled, Resampling) else None,
        **(_sample_facts(quote, sampled) if isinstance(sampled, Subsample) else {}),
        "group": quote.group,
        "joint": text(quote.joint),
        "queries": [_query_facts(*each) for each in zip(quote.measured, changes, noises_of(told.document), strict=True)],
        "spend": to_json(quote.spend),
        "advertised": to_json(quote.advertised),
        "expected_error": dict(quote.expected),
    }


def _resize_facts(quote: Quote, sampled: Resampling) -> dict[str, Any]:
    return {
        "copies": sampled.copies,
        "rate": text(sampled.rate),
        "law": [float(one) for one in sampled.law[:_MOST_SHOWN]],
        "most": sampled.most,
        "guarantee_of_the_resized_table": to_json(_inner(quote)),
    }


def _sample_facts(quote: Quote, sampled: Subsample) -> dict[str, Any]:
    law = [float(one) for one in sampled.law[:_MOST_SHOWN]]
    return {"sample": {"law": law, "most": sampled.most, "guarantee_of_the_sample": to_json(_inner(quote))}}


def _query_facts(one: Measured, change: Change, noise: Noise) -> dict[str, Any]:
    return {
        "query": one.query.words(),
        "within": _pair(change.within),
        "across": _pair(change.across),
        "leaves": _pair(change.leaves),
        "ordinary": _pair(one.ordinary),
        "sensitivity": _pair(one.sensitivity),
        "share": text(one.share),
        "guarantee": to_json(one.guarantee),
        "formula": noise.formula,
        "law": one.law.to_json(),
    }


def _pair(size: Sensitivity) -> dict[str, int]:
    return {"l1": size.l1, "l2_squared": size.l2_squared}
