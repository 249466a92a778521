"""What recipes of tables that agree have in common: public effects, cells as they are printed, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from discreet.mechanisms.effects import Axes
from discreet.statistics.conditioned_cells import Agreed
from discreet.statistics.effects import MeasuredEffect
from discreet.statistics.estimate import Estimate
from discreet.statistics.printed_cells import ends_of_parts
from discreet.statistics.recipe import Answers, CountTable
from discreet.statistics.table_axes import Domain
from discreet.statistics.table_demands import TableDemand

__all__ = ["agreement_words", "known_effects", "printed_tables", "told_of"]


def known_effects(domain: Domain, answers: Answers) -> dict[Axes, MeasuredEffect]:
    """The effects that follow from what is public."""
    found = {}
    for part, counted in domain.known.items():
        query = domain.parts[part]
        counts, _ = counted.counts(Answers(answers.noises, answers.values, slice(0, prod(query.sizes))))
        found[part] = MeasuredEffect(query.of_counts(np.asarray(counts).reshape(query.sizes)), 1, None)
    return found


def printed_tables(
    domain: Domain, words: Sequence[Mapping[str, str]], agreed: Agreed, decimals: Sequence[int | None]
) -> tuple[CountTable, ...]:
    """The tables as they are printed, from the cells of all levels and their half-widths."""
    found = []
    each = zip(domain.tables, words, agreed.cells, agreed.halves, decimals, strict=True)
    for table, told, cells, halves, places in each:
        numbers = Estimate(*(domain.printed(table, one) for one in ends_of_parts(*cells, halves, places)))
        found.append(CountTable(domain.groups(table), numbers, told))
    return tuple(found)


def told_of(domain: Domain) -> Mapping[str, str]:
    """The words of a document for tables that agree."""
    words = domain.filled_words
    return {"imputed": words} if words else {}


def agreement_words(domain: Domain, demand: TableDemand) -> str:
    """The words after the error in a quote."""
    filled = f"; {domain.filled_words}" if domain.filled_words else ""
    if demand.alike:
        return f" {demand.unit}, at most; all tables agree{filled}"
    if demand.mixed:
        return f" in the widest of the tables that are weighed, and all errors are met; all tables agree{filled}"
    return (" in the table with the widest intervals; all tables agree" if len(domain.tables) > 1 else "") + filled
