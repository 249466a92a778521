"""The coefficients of an exact sum of a number column: its values, for all rows or for those of each group."""

from __future__ import annotations

from itertools import product
from math import lcm

from discreet.domain.categories import Value
from discreet.domain.columns import Number
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, printed
from discreet.totals.cells import domain_size, label_of, levels

__all__ = ["coefficients_of"]

_MOST_VALUES = 10_000
_MOST_CELLS = 1_000_000
_LARGEST = 10**9


def coefficients_of(columns: tuple[str, ...], schema: Schema) -> dict[str, dict[object, int]]:
    """For each group of all columns but the last one a name, and the values of the last one in whole units.

    Raises:
        SchemaError: a column that is not declared.
        ArgumentError: as `Sums`.
    """
    *groups, name = columns
    number = schema[name]
    if not isinstance(number, Number):
        raise ArgumentError(f"Sums: column '{name}' is not a number; only numbers have a sum")
    cells = domain_size(columns, schema)
    if number.size > _MOST_VALUES or cells > _MOST_CELLS:
        raise ArgumentError(
            f"Sums: '{name}' has {number.size} values and {cells} cells by group, at most {_MOST_VALUES} and {_MOST_CELLS}; "
            "declare a coarser step, closer bounds, or fewer groups"
        )
    values = [number.value(code) for code in range(number.size)]
    units = lcm(*(value.denominator for value in values))
    whole = {label_of(number, code): int(value * units) for code, value in enumerate(values) if value}
    if max(map(abs, whole.values()), default=0) > _LARGEST:
        raise ArgumentError(f"Sums: values of '{name}' are above {_LARGEST} in whole units; declare a coarser step")
    if not whole:
        raise ArgumentError(f"Sums: every value of '{name}' is 0; there is no sum to publish")
    unit = "" if units == 1 else f" in units of 1/{units}"
    return {
        f"sum of {name}{unit}{_where(groups, group)}": {(*group, label): value for label, value in whole.items()}
        for group in product(*(levels(schema[one]) for one in groups))
    }


def _where(columns: list[str], group: tuple[Value | None, ...]) -> str:
    """The group in words; nothing where there is one."""
    words = [
        f"without {name}" if label is None else f"{name} {printed(label)}"
        for name, label in zip(columns, group, strict=True)
    ]
    return f", {', '.join(words)}" if words else ""
