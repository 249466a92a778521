"""The columns in the interview of `discreet init`: as what each is declared, and with which bounds or categories."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import typer

from discreet.cli.answers import check_choice, check_number, check_period, write_number
from discreet.cli.asking import Asker, nobody
from discreet.cli.code_lists import (
    area_table,
    code_list,
    convert_as,
    join_values,
    label_comment,
    label_values,
    missing_entries,
    note_unlisted,
    split_values,
)
from discreet.cli.drafting import Entry, Section, render_list
from discreet.domain.categories import whole_categories
from discreet.domain.columns import Category, Number
from discreet.domain.schema import Schema
from discreet.engines.base import CodeList, ColumnType
from discreet.errors import SchemaError
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import text
from discreet.planfile.write import toml_key, toml_visible

__all__ = ["ask_column", "can_be_declared"]

_KINDS: Mapping[str, tuple[str, ...]] = {
    "text": ("category", "number", "date"),
    "integer": ("number", "category"),
    "decimal": ("number", "category"),
    "float": ("number", "category"),
    "any": ("number", "category", "date"),
    "boolean": ("category",),
    "date": ("date",),
    "timestamp": ("date",),
}
"""The kinds that a column of the source can be declared as; the first is the default."""


def can_be_declared(name: str, kind: ColumnType) -> bool:
    """True if a schema can have a column of this name and type."""
    if kind.kind not in _KINDS:
        return False
    try:
        Schema({name: Category([False, True])})
    except SchemaError:
        return False
    return True


def ask_column(name: str, kind: ColumnType, codes: CodeList, folder: Path, ask: Asker) -> Section | None:
    """The section that declares a column; None where it is skipped, or where its name or type cannot be declared."""
    if not can_be_declared(name, kind):
        return None
    labels = label_values(kind, codes)
    choices = tuple(dict.fromkeys((*_KINDS[kind.usual or kind.kind], *_KINDS[kind.kind])))  # what is usual first
    choices = tuple(sorted(choices, key=lambda choice: choice != "category")) if labels else choices
    question = f"column {shown_name(name)} ({shown_name(kind.shown)[:40]}): {', '.join(choices)} or skip"
    chosen = ask(question, lambda answer: check_choice(answer, (*choices, "skip")), choices[0])
    if chosen == "skip" or chosen is None:
        return None
    others = [choice for choice in choices if choice != chosen]
    unsure = f"or {' or '.join(map(toml_visible, others))}" if ask is nobody and others else ""
    if chosen == "category":
        chosen, entries = _category(shown_name(name), kind, labels, folder, ask)
    else:
        entries = {"number": _numeric, "date": _dates}[chosen](shown_name(name), kind, ask)
    told = (Entry("type", toml_visible(chosen), unsure), *entries, *missing_entries(kind, codes))
    return Section(f"[columns.{toml_key(name)}]", told, note_unlisted(codes))


def _category(
    name: str, kind: ColumnType, labels: Mapping[str, str], folder: Path, ask: Asker
) -> tuple[str, tuple[Entry, ...]]:
    """The type and the categories; those that have a label in the header of the source are proposed."""
    if kind.kind == "boolean":
        return "category", (Entry("categories", "[false, true]"),)
    question = f"  the categories of {name}, separated by commas, or @FILE with one, code;label or nested areas a line"
    whole = kind.kind not in ("text", "any")

    def parsed(answer: str) -> list[str | int]:
        return convert_as(kind, split_values(answer))

    def check(answer: str) -> None:
        if not answer.startswith("@"):
            Category(parsed(answer))
        elif listed := code_list(folder / answer[1:]):
            Category(convert_as(kind, [*listed]))
        elif not area_table(folder / answer[1:], whole=whole):
            Category(whole_categories(folder / answer[1:]) if whole else folder / answer[1:])

    answer = ask(question, check, join_values(labels) if labels else None)
    if answer is None:
        typed = '"FILE" and categories_type = "integer"' if whole else '"FILE"'
        example = "[1, 2]" if whole else '["a", "b"]'
        todo = f"all that are possible, such as {example}; or categories_file = {typed}"
        return "category", (Entry("categories", None, todo),)
    if not answer.startswith("@"):
        named = {code: labels[code] for code in split_values(answer) if code in labels}
        return "category", (Entry("categories", render_list(parsed(answer)), label_comment(named)),)
    if listed := code_list(folder / answer[1:]):
        return "category", (Entry("categories", render_list(convert_as(kind, [*listed])), label_comment(listed)),)
    if areas := area_table(folder / answer[1:], whole=whole):
        return "hierarchy", (Entry("file", toml_visible(answer[1:])), *areas)
    integers = (Entry("categories_type", toml_visible("integer")),) if whole else ()
    return "category", (Entry("categories_file", toml_visible(answer[1:])), *integers)


def _numeric(name: str, kind: ColumnType, ask: Asker) -> tuple[Entry, ...]:
    step = {"integer": "1", "decimal": text(Fraction(1, 10**kind.scale))}.get(kind.kind)
    while True:
        lower = ask(f"  the lowest value of {name} that counts, from public knowledge", check_number, None)
        upper = ask(f"  the highest value of {name} that counts", check_number, None)
        width = ask(
            f"  the step of {name}: values are rounded to a grid", check_number, step or (None if ask is nobody else "1")
        )
        if lower is None or upper is None or width is None:
            return (
                Entry("lower", write_number(lower), "the lowest value that counts, from public knowledge"),
                Entry("upper", write_number(upper), "the highest value that counts, from public knowledge"),
                Entry("step", write_number(width), "" if width else "values are rounded to a grid of this step"),
            )
        try:
            Number(lower, upper, width)
        except SchemaError as wrong:
            typer.echo(f"  {shown_name(str(wrong))}")
        else:
            return tuple(
                Entry(key, write_number(value)) for key, value in (("lower", lower), ("upper", upper), ("step", width))
            )


def _dates(name: str, kind: ColumnType, ask: Asker) -> tuple[Entry, ...]:  # noqa: ARG001
    first = ask(f"  the first day of {name}, such as 2025-01-31", lambda day: check_period(day, day), None)
    last = ask(f"  the last day of {name}", lambda day: check_period(first or day, day), None)
    what = "day, such as 2025-01-31, from public knowledge"
    return Entry("first", first, f"the first {what}"), Entry("last", last, f"the last {what}")
