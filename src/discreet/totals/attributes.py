"""The changes of one attribute alone, or of an area within a larger one: which rows and columns exact totals tie to them.

An *attribute* is all columns that one value of the source decides: a column with those derived from it, and columns that a
row-wise query computes from the same columns of the source. Proofs: docs/proofs/programmes.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.domain.origins import covers, determines, root_of
from discreet.domain.rowwise.tree import names_in
from discreet.domain.schema import Schema
from discreet.totals.adjacency import SemiAdjacency, semi_adjacency
from discreet.totals.components import Component, components_of
from discreet.totals.description import Description
from discreet.totals.statements import ImpossibleStatement, TotalsStatement

__all__ = ["AttributeChange", "attributes_of", "changes_of_attribute"]


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """One row takes another value of an attribute, and others change so that all exact totals stay what they are.

    Args:
        attribute: the columns of the attribute.
        within: the column that keeps its value, such as the county of a move within a county; None where none does.
        moved: all columns whose values differ in any row.
        rows: how many rows differ at most.
    """

    attribute: tuple[str, ...]
    within: str | None
    moved: frozenset[str]
    rows: SemiAdjacency


def attributes_of(schema: Schema) -> tuple[tuple[str, ...], ...]:
    """The columns of each attribute, attributes and columns in the order of the schema; at last each column of texts."""
    groups: list[tuple[set[str], set[str]]] = []
    for name in schema.columns:
        read = _sources(name, schema)
        touched = [group for group in groups if group[1] & read]
        merged = {name}.union(*(names for names, _ in touched)), read.union(*(names for _, names in touched))
        groups = [group for group in groups if group not in touched] + [merged]
    order = [*schema.columns]
    found = [tuple(sorted(names, key=order.index)) for names, _ in groups]
    texts = ((name,) for name in schema.texts)  # nothing is derived or computed from them
    return (*sorted(found, key=lambda names: order.index(names[0])), *texts)


def changes_of_attribute(
    attribute: tuple[str, ...], invariants: Description | None, schema: Schema, rows: int | None
) -> tuple[AttributeChange, ...]:
    """Its changes: first to any other value, then within the value of each of its columns that does not tell all of them.

    Args:
        attribute: columns of the schema, as `attributes_of` gives them.
        invariants: the exact facts; None for none.
        schema: the public columns.
        rows: the public number of rows.

    Raises:
        PlanError: as `semi_adjacency`.
    """
    whole = _change(attribute, None, invariants, schema, rows)
    if attribute[0] in schema.texts:
        return (whole,)
    if len({root_of(name, schema) for name in attribute}) > 1:
        return (whole,)  # computed columns: nothing is known of values that leave one of them alone
    levels = [name for name in attribute if not covers((name,), attribute, schema)]
    return (whole, *(_change(attribute, name, invariants, schema, rows) for name in levels))


def _sources(name: str, schema: Schema) -> set[str]:
    """The columns of the source that decide the value of a column; the name itself where nothing else is computed."""
    root = root_of(name, schema)
    expression = None if schema.query is None else schema.query.expression(root)
    return {root} if expression is None else {one.name for one in names_in(expression)} or {f"={root}"}


def _change(
    attribute: tuple[str, ...], within: str | None, invariants: Description | None, schema: Schema, rows: int | None
) -> AttributeChange:
    moved = frozenset(name for name in attribute if within is None or not determines(within, name, schema))
    if invariants is None:
        one = SemiAdjacency(1, exact=True, reason="nothing is published exactly")
        return AttributeChange(attribute, within, moved, one)
    tied = [one for one in components_of(invariants, schema) if _counts_any(one, moved)]
    if not tied:
        alone = SemiAdjacency(1, exact=True, reason="no exact fact names it")
        return AttributeChange(attribute, within, moved, alone)
    # Rows that change in the columns of these components alone keep the facts of all the others (A3).
    found = [semi_adjacency(Description(one.parts), schema, None, rows) for one in tied]
    most = semi_adjacency(invariants, schema, None, rows)
    a = min(1 + sum(one.a - 1 for one in found), most.a)
    attained = within is None and len(found) == 1 and found[0].exact and set(tied[0].columns) <= set(attribute)
    moved |= _moved_with(attribute, within, tied, schema)
    return AttributeChange(attribute, within, moved, SemiAdjacency(a, exact=attained, reason=found[0].reason))


def _counts_any(component: Component, moved: frozenset[str]) -> bool:
    """True if some fact of the component names one of the columns, and some fact of it is more than an impossible cell."""
    named = any(name in moved for part in component.parts for name in part.columns)
    return named and not all(isinstance(part, ImpossibleStatement) for part in component.parts)


def _moved_with(attribute: tuple[str, ...], within: str | None, tied: list[Component], schema: Schema) -> frozenset[str]:
    """The columns in which further rows change, so that the facts of these components stay what they are.

    For one whole list of totals another row exchanges the columns of the list with the first row. They agree in all of them
    but those of the attribute. So the other one changes in the attribute alone, and it stays within the same area where the
    list tells that area. Otherwise it may change in any column of the components, with all that are derived from them.
    """
    if len(tied) == 1 and len(tied[0].parts) == 1:
        part = tied[0].parts[0]
        own = tuple(name for name in part.columns if name in attribute)
        if isinstance(part, TotalsStatement) and part.only is None:
            return frozenset() if within is None or covers(own, (within,), schema) else frozenset(attribute)
    roots = {root_of(name, schema) for one in tied for name in one.columns}
    columns = (names for names in attributes_of(schema) if names[0] not in schema.texts)
    touched = [names for names in columns if any(root_of(name, schema) in roots for name in names)]
    return frozenset(attribute).union(*touched)
