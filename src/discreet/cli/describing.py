"""A plan in plain words, so that its author notices a wrong bound or a wrong number of rows."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.cli.output import align
from discreet.domain.about import About, key_of
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.declared_words import step_words, steps_of
from discreet.domain.groups import BinGroup, printed_labels
from discreet.domain.neighbours import counted_rows
from discreet.domain.steps import NumberFacts
from discreet.domain.words import column_facts, neighbours_text
from discreet.errors import printed, without_secrets
from discreet.exact.figures import plural
from discreet.exact.numbers import decimal_up, text
from discreet.plan.layout import Layout
from discreet.plan.plan import Plan, plan_json
from discreet.plan.recorded import shown_statistic
from discreet.plan.shown import count_shown
from discreet.plan.sizes import is_large, rows_in_files
from discreet.planfile.read import PlanFile
from discreet.privacy import kind_name, to_json
from discreet.privacy.amounts import amount_text, number_text
from discreet.quotes.groups import middle, size_words
from discreet.quotes.quote import Quote
from discreet.releases.possible import possible_of
from discreet.session.orders import promise_to_population
from discreet.statistics.base import groupings_of
from discreet.statistics.recipe import RANKS

__all__ = ["declaration_lines", "derived_facts", "derived_lines", "note_lines", "release_facts", "release_lines"]


def declaration_lines(plan: PlanFile, header: str, remaining: str, above: Sequence[tuple[str, str]] = ()) -> list[str]:
    """The data set, source, neighbouring relation, budget, ledger and columns, as the plan declares them.

    `header` says how far the columns were compared with those of the source; `above` tells further budgets.
    """
    state = "" if plan.ledger.exists() else " (not there yet; the first release creates it)"
    reported = plan.budget.pair is None
    delta = f"; ε is reported at δ = {number_text(plan.budget.reported_at(plan.report_delta))}" if reported else ""
    facts = [
        ("data set", plan.dataset),
        *[("parameter", f"{parameter} = {value}") for parameter, value in plan.parameters.items()],
        ("source", f"{without_secrets(plan.source)} ({header})"),
        *[("beside", f"{name}, {without_secrets(one.shown)} ({header})") for name, one in plan.beside.tables.items()],
        ("neighbours", neighbours_text(plan.neighbours)),
        *_totals(plan),
        ("budget", f"{kind_name(plan.budget)}, {amount_text(plan.budget)}, of which {remaining} remains{delta}"),
        *above,
        *_population(plan),
        ("ledger", f"{plan.ledger}{state}"),
    ]
    lines = [*align(facts), "columns", *align(column_facts(plan.schema))]
    for name, schema in plan.beside.schemas.items():
        lines += [f"columns of {name}", *align(column_facts(schema))]
    return lines


def _population(plan: PlanFile) -> list[tuple[str, str]]:
    """The promise of the budget to the population of which the file is a secret sample."""
    promised = promise_to_population(plan.budget, plan.neighbours)
    return [] if promised is None else [("population", promised.promise(plan.report_delta))]


def _totals(plan: PlanFile) -> list[tuple[str, str]]:
    """The totals that are published exactly, and the tables that the guarantee then compares."""
    if plan.invariants is None or plan.neighbours.rows is None:
        return []
    from discreet.totals.adjacency import semi_adjacency
    from discreet.totals.words import comparison_words, statement_words

    found = semi_adjacency(plan.invariants, plan.schema, None, plan.neighbours.rows)
    parts = [statement_words(part) for part in plan.invariants.parts]
    compared = comparison_words(found, published=False)
    return [("exact", f"{'; '.join(parts)}: published without noise and not protected; {compared}")]


def release_lines(name: str, quote: Quote) -> list[str]:
    """Name and charge, size, statistics and steps of a release."""
    plan = quote.plan
    groups = " by " + ", ".join(name for group in plan.group_by for name in group.names) if plan.group_by else ""
    facts = [
        ("table", f"{', '.join(statistic.name for statistic in plan.answered)}{groups}: {_rows_words(plan)}"),
        ("reading", str(plan.layout)),
        *((str(step["step"]).replace("_", " "), step_words(step)) for step in steps_of(plan_json(plan))),
    ]
    return [f"{name} ({amount_text(quote.spend)})", *align([*facts, ("digest", plan.digest)])]


def _rows_words(plan: Plan) -> str:
    """How many rows the table prints; how many groups are found is not known before."""
    cells = count_shown(plan if plan.keys is None else plan.with_found(()))
    return f"{cells} {plural('row', cells)}{'' if plan.keys is None else ', and one for each group that is found'}"


def derived_lines(plan: PlanFile, name: str) -> list[str]:
    """What is derived from the numbers of a release, or tested, and recorded with them."""
    derived, tested = (
        [f"{one.name} ({one.kind})" if one.name != one.kind else one.name for one in found]
        for found in _recorded(plan, name)
    )
    lines = [("derived", derived), ("tested", tested)]
    return align([(word, f"{', '.join(found)}: from published numbers, at no charge") for word, found in lines if found])


def _recorded(plan: PlanFile, name: str) -> tuple[Sequence[Any], Sequence[Any]]:
    """What is derived from a release, and its tests."""
    orders = [order for order in plan.orders if order.name == name]
    return [one for order in orders for one in order.derive], [one for order in orders for one in order.tests]


def derived_facts(plan: PlanFile, name: str) -> dict[str, Any]:
    """The same for programs; nothing where nothing is derived."""
    derived, tested = ({one.name: one.kind for one in found} for found in _recorded(plan, name))
    return {word: found for word, found in (("derived", derived), ("tested", tested)) if found}


def release_facts(name: str, quote: Quote) -> dict[str, Any]:
    """The facts of `release_lines` for programs; the ledger will hold `plan_digest`."""
    return {
        "name": name,
        "plan_digest": quote.plan.digest,
        "plan": plan_json(quote.plan),
        "cells": quote.plan.layout.cells,
        "reading": reading_facts(quote.plan.layout),
        "spend": to_json(quote.spend),
    }


def reading_facts(layout: Layout) -> dict[str, Any]:
    """The cells of the tables for which the source is read, once for each, and what one joint table would have."""
    return {"cells": [part.domain for part in layout.scans], "joint_cells": layout.joint, "because": layout.because}


def note_left_out(plan: Plan) -> Iterator[str]:
    """For each column with bins, the values that are in no bin. A column that `where` limits is limited on purpose."""
    facts = plan.facts
    groups = [*plan.group_by]
    for statistic in plan.statistics:
        groups += [group for grouping in groupings_of(statistic) for group in grouping]
    for group in dict.fromkeys(group for group in groups if isinstance(group, BinGroup)):
        known = facts[group.column]
        if not isinstance(known, NumberFacts) or group.column in facts.filtered:
            continue
        first, last = group.labels[0].split(",")[0][1:], group.labels[-1].split(",")[1][1:-1]
        outside = []
        if known.low < group.edges[0]:
            outside.append(f"below {first}")
        if known.high >= group.edges[-1]:
            outside.append(f"from {last} on")
        if outside:
            yield f"rows with {group.column} {' or '.join(outside)} are in no bin and do not count at all, not even as null"


def _perhaps_codes(name: str, column: Column) -> Iterator[str]:
    """True if bounds look as if they made room for codes that stand for "not known", where no codes are declared."""
    match column:
        case Number() if not column.missing and column.lower < 0:
            bound, code = f"lower bound is {text(column.lower)}", "-8"
        case Number() if not column.missing and re.fullmatch("99+", text(column.upper)):
            bound, code = f"upper bound is {text(column.upper)}", text(column.upper)
        case Date() if not column.missing and column.last.year == dt.MAXYEAR:
            bound, code = f"last day is {column.last}", str(column.last)
        case _:
            return
    yield (
        f"note: column '{name}': its {bound}, and no codes are declared missing; if the source has a code for "
        f'"not known", such as {code}, write missing = [{code}]'
    )


_MOST_LISTED = 100
_MOST_EPSILON = 10
"""A larger ε bounds a probability by a factor of more than 20,000: nobody would notice such a protection."""


def _weak(plan: PlanFile) -> Iterator[str]:
    """True if the whole budget is worth little: its ε, or the δ at which that is reported."""
    pair = plan.budget.pair
    rows, delta = counted_rows(plan.neighbours), plan.budget.reported_at(plan.report_delta)
    epsilon = plan.budget.epsilon_at(delta) if pair is None else pair[0]
    if epsilon > _MOST_EPSILON:
        at = f" at δ = {number_text(delta)}" if delta else ""
        yield (
            f"note: the budget is worth ε = {decimal_up(epsilon)}{at}, and above {_MOST_EPSILON} a guarantee says little; "
            "usual budgets are below"
        )
    if pair is None and rows is not None and delta * rows > 1:
        share = number_text(Fraction(1, rows))
        yield f"note: report_delta = {number_text(delta)} is more than 1/rows = {share}, which is too weak for most uses"


def _rough(quote: Quote) -> Iterator[str]:
    """The statistics that say little in a typical group, where its size is known: 1/3 is the limit that offices use."""
    if quote.plan.facts.rows is None and not quote.expect:
        return
    size = middle(quote.sizes)
    where, errors, plan = size_words([size]), quote.errors(size), plan_json(quote.plan)
    for line in quote.lines:
        name, error = line.statistic.name, errors[line.statistic.name]
        least, greatest = possible_of(shown_statistic(quote.plan, line.statistic), plan)
        if line.recipe.unit(1) == RANKS:
            if 3 * error > size.rows:
                yield f"{where} the rank of '{name}' is uncertain by ±{error:.4g} rows, more than a third of them"
        elif least == 0 and greatest is None:
            if 3 * error > size.rows:
                yield f"{where} '{name}' is uncertain by ±{error:.4g}, more than a third of these rows"
        elif least is not None and greatest is not None and 3 * error > greatest - least:
            part = decimal_up(min(Fraction(1), Fraction(2 * error) / (greatest - least)) * 100, 2)
            yield f"{where} the interval of '{name}' can be {part} % of all that is possible"


def _same_labels(abouts: About | Sequence[About]) -> Iterator[str]:
    """A note for two categories of one column that readers cannot tell apart."""
    for about in [abouts] if isinstance(abouts, About) else abouts:
        for column, words in about.columns.items():
            first: dict[str, str] = {}
            for category, label in words.categories.items():
                other = first.setdefault(label, category)
                if other != category:
                    yield (
                        f"note: column '{column}': the categories '{other}' and '{category}' have the same label '{label}' "
                        f"in the language '{about.language}'; readers cannot tell them apart"
                    )


def _map_notes(about: About, plan: Plan) -> Iterator[str]:
    """A note for all that the file of shapes lacks, and for all that it has and the map does not show."""
    shapes = about.map
    groups = [group for group in plan.group_by if shapes is not None and shapes.column in group.names]
    if shapes is None or not groups:
        return
    keys = {key_of(one): None for one in printed_labels(groups[0], shapes.column, plan.facts) if one is not None}
    known = {shape.key for shape in shapes.shapes}
    yield from (f"note: map: {one}" for one in shapes.notes)
    without = [key for key in keys if key not in known]
    if without:
        yield f"note: map: the file has no shape for {_list_names(without)} of column '{shapes.column}'"
    others = [shape.key for shape in shapes.shapes if shape.key not in keys]
    if others:
        yield f"note: map: column '{shapes.column}' has no group for the shapes {_list_names(others)}"


def _list_names(names: Sequence[str]) -> str:
    """The names in quotes; of very many the first ones, and how many more."""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(printed, names[:_MOST_LISTED])) + more


def note_lines(plan: PlanFile, quotes: Mapping[str, Quote]) -> list[str]:
    """A note for everything that is allowed but seldom intended."""
    notes = []
    for name, column in plan.schema.columns.items():
        if not isinstance(column, Category) and column.size == 1:
            notes.append(f"note: column '{name}' can have only one value, because its bounds are equal")
        notes += _perhaps_codes(name, column)
    for name, quote in quotes.items():
        notes += [f"note: '{name}': {words}" for words in note_left_out(quote.plan)]
        if is_large(quote.plan):
            notes.append(
                f"note: '{name}' has {rows_in_files(quote.plan)} rows, which are written to files in the folder given by "
                "--out; the ledger keeps their digests, not the numbers"
            )
        notes += [f"note: '{name}': {words}" for words in _rough(quote)]
    notes += dict.fromkeys(one for order in plan.orders for one in _same_labels(order.about))
    texts = [(order, [order.about] if isinstance(order.about, About) else order.about) for order in plan.orders]
    notes += dict.fromkeys(one for order, abouts in texts for about in abouts for one in _map_notes(about, order.request))
    for order in plan.orders:
        if order.error is not None and order.expect is None:
            notes.append(
                f"note: '{order.name}': its errors are those of a group of about 1,000 rows; expect = 150, for example, "
                "makes them hold in groups of 150 rows in which the column is not null, whatever these rows are"
            )
    notes += _weak(plan)
    rows = counted_rows(plan.neighbours)
    if rows is None:
        return notes
    if plan.budget.pair is not None and plan.budget.pair[1] * rows > 1:
        delta, share = number_text(plan.budget.pair[1]), number_text(Fraction(1, rows))
        notes.append(f"note: δ = {delta} is more than 1/rows = {share}, which is too weak for most uses")
    for name, quote in quotes.items():
        cells = quote.plan.layout.cells
        if cells > rows and quote.plan.neighbours.rows is not None:
            notes.append(f"note: '{name}' has {cells} groups for {rows} rows; most of its numbers will be noise")
    return notes
