"""Columns that are declared to have a value everywhere: whatever is null there becomes a given one, and nothing is drawn."""

from __future__ import annotations

from discreet.domain.columns import Category, Date
from discreet.domain.imputation import Uniform, Weights
from discreet.domain.steps import CategoryFacts, Impute, NumberFacts, TableFacts, impute_step
from discreet.errors import ArgumentError, PlanError, SchemaError, printed
from discreet.exact.numbers import exact

__all__ = ["complete_step"]

_NEXT = "give another value, or change the clamp"


def complete_step(facts: TableFacts, name: str, value: object) -> Impute:
    """The imputation of one column by one value, which draws nothing.

    Raises:
        PlanError: undeclared column, a value that it cannot have, or a column of dates.
    """
    known, told = facts[name], f"complete('{name}')"
    column = known.column
    if isinstance(column, Date):
        raise PlanError(f"{told}: is for categories and numbers; a date is imputed by Uniform()")
    if not known.nullable:
        raise PlanError(f"{told}: the column is never null after the steps before; leave one of them out")
    try:
        if isinstance(column, Category):
            code = column.code(value, told)
            if isinstance(known, CategoryFacts) and code not in known.kept:
                raise PlanError(f"{told}={printed(value)}: an earlier clamp has removed this category; {_NEXT}")
            return impute_step(facts, name, Weights({column.values[code]: 1}))
        number = exact(value, told)  # type: ignore[arg-type]
        if isinstance(known, NumberFacts) and not known.low <= column.code(number, told) <= known.high:
            raise PlanError(f"{told}={printed(value)}: is outside the bounds of an earlier clamp; {_NEXT}")
        return impute_step(facts, name, Uniform(number, number))
    except (ArgumentError, SchemaError) as wrong:
        raise PlanError(str(wrong)) from None
