"""What a schema can be told of a column, and the columns that it has then: those of hierarchies and lists among them."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.domain.areas import DerivedColumn, Hierarchy, derive
from discreet.domain.columns import Category, Column
from discreet.domain.combinations import Keys
from discreet.errors import SchemaError, did_you_mean, printed

__all__ = ["Declared", "check_read_once", "expand_columns"]

Declared = Column | DerivedColumn | Hierarchy | Keys
"""All that a schema can declare under a name."""


def expand_columns(declared: Mapping[str, Declared]) -> dict[str, Column]:
    """The columns of a schema, those of every hierarchy, list and derived column among them (K1 of docs/proofs/areas.md).

    Raises:
        SchemaError: a derived column of something that is not a category, or of itself; a name that is taken twice; a column
            of the source that is declared, and read by a list of combinations too.
    """
    found: dict[str, Column] = {}
    for name, one in declared.items():
        made: Mapping[str, Column] = one.columns(name) if isinstance(one, Hierarchy | Keys) else {}
        for own, column in made.items():
            if own in found or (own != name and own in declared):
                raise SchemaError(f"column '{own}': is declared twice; it is a level of '{name}' too")
            found[own] = column
        if not isinstance(one, Hierarchy | Keys):
            found[name] = one  # type: ignore[assignment]  # a derived column is made below; what is not a column is refused
    for name, one in declared.items():
        if isinstance(one, DerivedColumn):
            _resolve(name, declared, found, ())
    _check_origins(found)
    check_read_once(found)
    return found


def _resolve(name: str, declared: Mapping[str, Declared], found: dict[str, Column], above: tuple[str, ...]) -> Category:
    """The column of that name, made where it is derived and not made yet."""
    column: object = found.get(name)
    if isinstance(column, DerivedColumn):
        if name in above:
            raise SchemaError(f"column '{name}': is derived from itself")
        source = _resolve(column.of, declared, found, (*above, name))
        made = column.column(source)
        if source.origin is not None and made.origin is not None:
            root = found[source.origin.of]
            own = [-1 if code < 0 else made.origin.codes[code] for code in source.origin.codes]
            made = derive(source.origin.of, root, own, made.values, required=made.required)  # type: ignore[arg-type]
        found[name] = made
        return made
    if isinstance(column, Category):
        return column
    said = did_you_mean(name, found) if column is None else "; a number or a date is grouped by bins"
    raise SchemaError(f"column '{above[-1]}': is derived from {printed(name)}, which must be a category of the schema{said}")


def _check_origins(columns: Mapping[str, Column]) -> None:
    """The root of every derived column is declared, with the categories of its map."""
    for name, column in columns.items():
        origin = getattr(column, "origin", None)
        if origin is None:
            continue
        root = columns.get(origin.of)
        if not isinstance(root, Category) or root.origin is not None or root.values != origin.values:
            raise SchemaError(f"column '{name}': is derived from '{origin.of}', which the schema does not declare as it was")


def check_read_once(columns: Mapping[str, object]) -> None:
    """No column of the source is declared, and read by a list of combinations too, or read by two of them.

    Two columns that say the same of a row would be taken for independent ones where changes of rows are counted, and some
    of these changes are not possible (K6 of docs/proofs/areas.md).

    Raises:
        SchemaError: one is.
    """
    read: dict[str, str] = {}
    for name, column in columns.items():
        for part in () if (parts := getattr(column, "parts", None)) is None else parts.columns:
            other = part if part in columns else read.get(part)
            if other is not None:
                raise SchemaError(
                    f"column '{part}': is read by the list of '{name}', and '{other}' reads it too; leave one of them out: "
                    f"'{name}.{part}' is the column for every row that the list has"
                )
            read[part] = name
