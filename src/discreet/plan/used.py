"""The part of a plan that its release depends on: the columns that it uses and the steps on them.

A data set's schema grows while its releases stay what they are. So a stored release is recognised by this part alone
(soundness 17; H1 of docs/proofs/declaration.md): a column that the request does not use may come, go or change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import itemgetter
from typing import Any

__all__ = ["cut_persons", "cut_to_used"]

_OF_VALUES = ("clamp", "impute")


def cut_to_used(plan: Mapping[str, Any], used: Collection[str]) -> dict[str, Any]:
    """The canonical JSON of a plan without the columns that are not `used` and without the steps on their values.

    Columns stand in the order of their names. So do steps on the values of different columns, which commute; conditions and
    a resize follow in their own order. No step on values comes after a resize, or after a condition on its column. How text
    is read belongs to every column; a request that uses none, such as a count of all rows, still depends on it.
    """
    steps = [step for step in plan["steps"] if step["step"] not in _OF_VALUES or step["column"] in used]
    of_values = sorted((step for step in steps if step["step"] in _OF_VALUES), key=itemgetter("column"))
    others = [step for step in steps if step["step"] not in _OF_VALUES]
    columns = sorted((column for column in plan["schema"] if column["name"] in used), key=itemgetter("name"))
    own = [column for column in plan["schema"] if "table" not in column]
    how = next((column["csv"] for column in own if "csv" in column and not columns), None)
    return {**plan, "schema": columns, "steps": [*of_values, *others]} | ({} if how is None else {"csv": how})


def cut_persons(table: Mapping[str, Any], used: Collection[str]) -> dict[str, Any]:
    """The canonical JSON of what a table of persons is made of, without what its columns that are not `used` are made of.

    The columns are named and in order in the plan; so their order here is that of their names.
    """
    made = sorted((one for one in table["made"] if one["name"] in used), key=itemgetter("name"))
    read = {one["column"] for one in made if "column" in one}
    read |= {step["column"] for step in table["steps"] if step["step"] not in _OF_VALUES}
    relation = table["neighbours"]
    person = relation["beside"][table["table"]] if "table" in table else relation["person"]
    return cut_to_used(table, [*read, person]) | {"made": made}
