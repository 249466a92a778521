"""The declared columns and the steps in words: one wording for commands, notebooks, explanations and reports.

Text only: the templates of the pages escape it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.domain.bounds import bound_words
from discreet.domain.row_samples import sample_words
from discreet.exact.figures import enumerate_texts, name, number
from discreet.exact.numbers import text

__all__ = ["MOST_LISTED", "column_words", "list_names", "step_words", "steps_of"]

MOST_LISTED = 12


def list_names(names: Sequence[str], last: str = "and") -> str:
    """The names as an enumeration: "a, b and c", or with another word before the last one; a long one ends in a number."""
    if len(names) > MOST_LISTED:
        return f"{', '.join(names[:MOST_LISTED])} {last} {len(names) - MOST_LISTED} more"
    return enumerate_texts(names, last)


def steps_of(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The steps of a plan, as a document has it; with those on rows, where one row of each person is made of these."""
    if "persons" not in plan:
        return [*_joins(plan["schema"]), *plan["steps"]]
    table = plan["persons"]
    made: list[Mapping[str, Any]] = [{"step": "per_person", **one} for one in table["made"]]
    if "table" in table:  # every column is what its rows agree on
        made = [{"step": "persons", "table": table["table"]}]
    return [*_joins(table["schema"]), *table["steps"], *made, *plan["steps"]]


def _joins(schema: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The tables of persons whose columns stand on the rows, each once."""
    tables = dict.fromkeys(column["table"] for column in schema if "table" in column)
    return [{"step": "join", "table": table} for table in tables]


def step_words(step: Mapping[str, Any]) -> str:
    """The step, as `step_json` writes it, in a sentence."""
    if step["step"] == "resize":
        return _resize_words(step)
    if step["step"] == "sample":
        return sample_words(step)
    if step["step"] == "bound":
        return bound_words(step)
    if step["step"] == "per_person":
        return _made_words(step)
    if step["step"] == "join":
        return f"Each row has the values of its person in the table “{name(step['table'])}”, on which all rows there agree."
    if step["step"] == "persons":
        return (
            f"One row of each person in the table “{name(step['table'])}” counts, with the values on which all rows agree."
        )
    column = name(step["column"])
    if step["step"] == "impute":
        return f"{column}: a value that is not known is replaced by {_law_words(step)}, whatever the other data are."
    between = f"from {_group(step['lower'])} to {_group(step['upper'])}" if "lower" in step else None
    kept = None if between else _quote_values(step["categories"])
    if step["step"] == "clamp" and between:
        return f"{column}: values are moved into the range {between}; values that are not known stay so."
    if step["step"] == "clamp":
        return f"{column}: only {kept} are kept; everything else counts as not known."
    if step["step"] == "where":
        return f"Only rows with {column} {between or f'equal to {kept}'} count; all others contribute nothing."
    raise ValueError(step["step"])


def _made_words(step: Mapping[str, Any]) -> str:
    """What is made of all rows of a person."""
    made, column = name(step["name"]), name(step.get("column", ""))
    of = {
        "rows": "the number of rows of each person",
        "total": f"the sum of {column} over all rows of each person",
        "distinct": f"the number of different values of {column} of each person",
        "latest": f"the greatest {column} of each person",
        "earliest": f"the least {column} of each person",
        "only": f"the {column} of each person, where all rows of this person have the same",
    }[step["how"]]
    if "bounds" not in step:
        return f"{made} is {of}."
    low, high = (_group(end) for end in step["bounds"])
    return f"{made} is {of}, moved into the range from {low} to {high}."


def _law_words(step: Mapping[str, Any]) -> str:
    if step["distribution"] == "weights":
        total = sum(Fraction(weight) for _, weight in step["weights"])
        shares = [(value, Fraction(weight) / total) for value, weight in step["weights"]]
        if len(shares) == 1:
            return f"“{name(shares[0][0])}”"
        return "one of " + list_names([f"“{name(value)}” ({number(float(100 * share), 1)} %)" for value, share in shares])
    within = " within the bounds of the column"
    if "lower" in step and "upper" in step:
        low, high = _group(step["lower"]), _group(step["upper"])
        if low == high:
            return f"the number {low}"
        within = f" between {low} and {high}"
    if step["distribution"] == "uniform":
        return f"a uniform random number{within}"
    return f"a normal random number (mean {_group(step['mean'])}, standard deviation {_group(step['sd'])}) moved{within}"


def _resize_words(step: Mapping[str, Any]) -> str:
    rows, proportion = number(step["rows"]), Fraction(step["proportion"])
    copies = ceil(proportion)
    pool = "the records" if copies == 1 else f"{copies} copies of each record"
    taken = f"all of {pool} are" if proportion == copies else f"a random share {text(proportion / copies)} of {pool} is"
    return (
        f"The table is brought to exactly {rows} rows: {taken} taken. If that is more than {rows}, a random selection of "
        "them is kept. If it is less, the rest are made-up rows, drawn like values that are not known."
    )


def column_words(column: Mapping[str, Any]) -> str:
    """The declaration of a column, as `Column.to_json` writes it: "numbers from 0 to 1,500 in steps of 1"."""
    computed = f"; from {name(column['of'])} by a public map" if "of" in column else ""
    if "combinations_of" in column:
        computed = f"; from {enumerate_texts([name(one) for one in column['combinations_of']])} by a public list"
    computed += f"; computed as {name(column['query'])}" if "query" in column else ""
    computed += f"; in the table “{name(column['table'])}”" if "table" in column else ""
    if "missing" not in column:
        return f"{_domain_words(column)}{computed}"
    codes = [_group(code) if column["type"] == "number" else f"“{name(code)}”" for code in column["missing"]]
    return f"{_domain_words(column)}; {list_names(codes)} {'means' if len(codes) == 1 else 'mean'} not known{computed}"


def _domain_words(column: Mapping[str, Any]) -> str:
    if column["type"] == "category":
        size = len(column["categories"])
        return f"{number(size)} {'category' if size == 1 else 'categories'}: {_quote_values(column['categories'])}"
    if column["type"] == "identifier":
        return "marks the rows of one person; its values are in nothing that is released"
    if column["type"] == "text":
        most = number(column["max_length"])
        return f"texts of up to {most} characters that nobody listed; those that many persons have are found"
    if column["type"] == "date":
        return f"dates from {name(column['first'])} to {name(column['last'])}"
    return f"numbers from {_group(column['lower'])} to {_group(column['upper'])} in steps of {_group(column['step'])}"


def _quote_values(values: Sequence[object]) -> str:
    return list_names([f"“{name(value)}”" for value in values])


def _group(written: str) -> str:
    """An exact number with its thousands separated: "−150,000.5"; other exact texts, such as 1/3 or a date, as they are."""
    sign, digits = ("−", written[1:]) if written.startswith("-") else ("", written)
    whole, dot, part = digits.partition(".")
    return f"{sign}{int(whole):,}{dot}{name(part)}" if whole.isdecimal() and "/" not in part else name(written)
