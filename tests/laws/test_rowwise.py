"""Row-wise queries: every operation is total, and every engine computes its meaning (docs/proofs/rowwise.md)."""

from __future__ import annotations

import datetime as dt
import math
import random
from itertools import product

import duckdb
import pyarrow as pa
import pytest

from discreet.domain.rowwise.operations import TYPES, Operation, strict
from discreet.domain.rowwise.parsing import parse
from discreet.domain.rowwise.registry import OPERATIONS
from discreet.domain.rowwise.tree import Call, Expression, Item, Literal, Name, Select
from discreet.domain.rowwise.typed import Applied, Cell, Constant, Typed, infer_types, value_of
from discreet.engines.duckdb import rowwise as duckdb_rowwise

from .every_operation import (
    EXTREMES,
    LITERALS,
    arrow_of,
    cells_in,
    check_operation,
    computed,
    key_of,
    meant_for,
    rows_for,
    same,
)


@pytest.mark.one_in(42)
@pytest.mark.parametrize("operation", OPERATIONS, ids=key_of)
def test_every_operation_is_total_and_an_engine_computes_its_meaning(operation: Operation) -> None:
    check_operation(operation)


@pytest.mark.parametrize("name", ["//", "%"])
def test_a_literal_divisor_gives_what_a_cell_with_it_gives(name: str) -> None:
    operation = next(one for one in OPERATIONS if one.name == name)
    rows = [{"x0": value} for value in EXTREMES["integer"]]
    for divisor in EXTREMES["integer"]:
        call = Applied(operation, (Cell("x0", "integer"), Constant(divisor, "integer")))
        for row, out in zip(rows, computed(call, rows), strict=True):
            assert same(out, meant_for(call, row)), (name, divisor, row)


def test_a_literal_divisor_with_which_a_dividend_overflows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plainly = {f"{sign}(integer, integer)": lambda given, sign=sign: f"({f' {sign} '.join(given)})" for sign in ("//", "%")}
    monkeypatch.setattr(duckdb_rowwise, "SQL", {**duckdb_rowwise.SQL, **plainly})
    with pytest.raises((AssertionError, duckdb.Error)):
        test_a_literal_divisor_gives_what_a_cell_with_it_gives("//")


@pytest.mark.parametrize("type_", ["integer", "float", "date", "boolean"])
def test_a_text_with_more_than_a_value_is_none(type_: str) -> None:
    """The end of a line is not the end of a text."""
    operation = next(one for one in OPERATIONS if key_of(one) == f"cast {type_}(text)")
    near = {"integer": "7", "float": "7.5", "date": "2026-01-31", "boolean": "true"}[type_]
    texts = [
        before + near + after
        for before in ("", "x", "\n", "x\n")
        for after in ("", "x", "\n", "\nx", "\x00", "\r", "\u2028")
    ]
    texts += [near + near, near + "\n" + near, " " + near + " ", "\t" + near]
    call = Applied(operation, (Cell("x0", "text"),))
    rows = [{"x0": text} for text in texts]
    for row, out in zip(rows, computed(call, rows), strict=True):
        assert same(out, meant_for(call, row)), row


MUTANTS = {
    "+(integer, integer)": lambda given: f"({given[0]} + {given[1]})",
    "*(integer, integer)": lambda given: f"CAST(CAST({given[0]} AS HUGEINT) * {given[1]} AS BIGINT)",
    "//(integer, integer)": lambda given: f"TRY_CAST(CAST({given[0]} AS HUGEINT) // {given[1]} AS BIGINT)",
    "%(integer, integer)": lambda given: f"({given[0]} % nullif({given[1]}, 0))",
    "+(float, float)": lambda given: f"({given[0]} + {given[1]})",
    "/(float, float)": lambda given: f"({given[0]} / {given[1]})",
    "negative(integer)": lambda given: f"(-{given[0]})",
    "abs(integer)": lambda given: f"abs({given[0]})",
    "round(float)": lambda given: f"round_even({given[0]}, 0)",
    "lower(text)": lambda given: f"lower({given[0]})",
    "upper(text)": lambda given: f"upper({given[0]})",
    "trim(text)": lambda given: f"trim({given[0]}, ' \n')",
    "length(text)": lambda given: f"strlen({given[0]})",
    "right(text, integer)": lambda given: f"right_grapheme({given[0]}, {given[1]})",
    "||(text, text)": lambda given: f"({given[0]} || {given[1]})",
    "like(text, text)": lambda given: f"({given[0]} ILIKE {given[1]})",
    "and(boolean, boolean)": lambda given: f"coalesce({' AND '.join(given)}, false)",
    "in(text, text)": lambda given: f"({given[0]} IN ({', '.join(given[1:])}) OR {given[0]} IS NULL)",
    "nullif(text, text)": lambda given: f"CASE WHEN {given[0]} <> {given[1]} THEN {given[0]} END",
    "cast integer(text)": lambda given: f"CAST({given[0]} AS BIGINT)",
    "cast float(text)": lambda given: f"TRY_CAST({given[0]} AS DOUBLE)",
    "cast date(text)": lambda given: f"TRY_CAST({given[0]} AS DATE)",
    "cast integer(float)": lambda given: f"TRY_CAST(trunc({given[0]}) AS BIGINT)",
    "+(date, integer)": lambda given: f"({given[0]} + CAST({given[1]} AS INTEGER))",
    "isodow(date)": lambda given: f"dayofweek({given[0]})",
    "date_trunc(text, date)": lambda given: f"CAST(date_trunc('year', {given[1]}) AS DATE)",
}
"""Expressions that fail on a value, or give another one than is meant."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("key", MUTANTS)
def test_an_expression_that_is_not_total_or_means_something_else_is_noticed(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_rowwise, "SQL", {**duckdb_rowwise.SQL, key: MUTANTS[key]})
    with pytest.raises((AssertionError, duckdb.Error)):
        check_operation(next(one for one in OPERATIONS if key_of(one) == key))


@pytest.mark.parametrize("key", ["lower(text)", "upper(text)", "trim(text)", "ltrim(text)", "rtrim(text)", "is null(text)"])
def test_texts_that_are_not_utf8_are_noticed_where_an_expression_gets_them(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_rowwise, "cell_sql", lambda _kind, column: column)
    with pytest.raises((AssertionError, duckdb.Error)):
        check_operation(next(one for one in OPERATIONS if key_of(one) == key))


ADDED = {
    "rpad": (Operation("rpad", ("text",), "text", strict(lambda a: a[:99].ljust(99, "x"))), "rpad({}, 99, 'x')"),
    "sqrt": (Operation("sqrt", ("float",), "float", strict(lambda a: a**0.5 if a >= 0 else None)), "sqrt({})"),
    "chr": (Operation("chr", ("integer",), "text", strict(lambda a: chr(a) if 0 <= a < 0x110000 else None)), "chr({})"),
    "factorial": (Operation("factorial", ("integer",), "integer", strict(lambda a: a)), "factorial({})"),
    "strptime": (Operation("parse", ("text",), "date", strict(lambda _: None)), "CAST({} AS DATE)"),
    "random": (Operation("random", ("float",), "float", strict(lambda a: a)), "({} + random())"),
    "rank": (Operation("rank", ("integer",), "integer", strict(lambda a: a)), "rank() OVER (ORDER BY {})"),
    "meaning": (Operation("meaning", ("integer",), "float", strict(lambda a: 1 / a)), "(1 / {})"),
}
"""Operations that somebody might add, which are not total, not bounded, not of one row, or raise in Python."""


@pytest.mark.parametrize("name", ADDED)
def test_an_operation_that_must_not_be_registered_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, text = ADDED[name]
    written = {**duckdb_rowwise.SQL, key_of(operation): lambda given: text.format(*given)}
    monkeypatch.setattr(duckdb_rowwise, "SQL", written)
    with pytest.raises((AssertionError, duckdb.Error, ZeroDivisionError)):
        check_operation(operation)


# Whole expressions --------------------------------------------------------------------------------------------------------


def random_call(rng: random.Random, type_: str, height: int) -> Typed:
    """An expression of this type, whose operations are drawn from the registry."""
    if height == 0 or rng.random() < 0.1:
        if rng.random() < 0.3:
            return Constant(rng.choice(EXTREMES[type_]), type_)
        return Cell(f"{type_}{rng.randrange(2)}", type_)
    operation = rng.choice([one for one in OPERATIONS if one.gives == type_])
    takes = operation.takes_for(len(operation.takes) + rng.choice([0, operation.repeats])) or ()
    literals = iter(rng.choice(LITERALS[key_of(operation)]) if operation.literals else ())
    return Applied(
        operation,
        tuple(
            Constant(next(literals), one) if place in operation.literals else random_call(rng, one, height - 1)
            for place, one in enumerate(takes)
        ),
    )


@pytest.mark.one_in(7)
@pytest.mark.parametrize("seed", range(40))
def test_whole_expressions_have_their_meaning(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (it draws test cases)
    call = random_call(rng, rng.choice(TYPES), rng.randrange(1, 6))
    rows = rows_for(call, rng, 300)
    for row, out in zip(rows, computed(call, rows), strict=True):
        assert same(out, meant_for(call, row)), (seed, row)


def untyped(call: Typed) -> Expression:
    """The tree of an expression, as if it had been read."""
    if isinstance(call, Constant):
        return Literal(call.value, "null" if call.value is None else call.type)
    if isinstance(call, Cell):
        return Name(call.name)
    return Call(call.operation.name, tuple(map(untyped, call.arguments)))


def is_writable(call: Expression) -> bool:
    """Whether a query can have these literals: printable texts, and lists of values."""
    if isinstance(call, Literal):
        return not isinstance(call.value, str) or call.value.isprintable()
    if isinstance(call, Call) and call.operation == "in" and not all(isinstance(one, Literal) for one in call.arguments[1:]):
        return False
    return isinstance(call, Name) or all(map(is_writable, call.arguments))


@pytest.mark.parametrize("seed", range(200))
def test_the_canonical_text_reads_back_as_the_same_tree(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (it draws test cases)
    tree = untyped(random_call(rng, rng.choice(TYPES), rng.randrange(1, 6)))
    if is_writable(tree):
        select = Select((Item("out", tree),))
        again = parse(str(select))
        assert str(again) == str(select)
        assert again == select


PLAIN = {
    "integer": [None, 0, 1, 2, 7, -3, 25],
    "float": [None, 0.0, 1.5, -2.25, 10.0],
    "text": [None, "", "a", "Ab", " b ", "12", "é"],
    "boolean": [None, True, False],
    "date": [None, dt.date(2024, 2, 29), dt.date(2026, 11, 23)],
}
QUERIES = [
    *(
        "integer0 + integer1 * 2 - 3",
        "integer0 - integer1 - 1",
        "-integer0 * 2",
        "- integer0 - -3",
        "2 * (integer0 + 1) * 3",
    ),
    *("integer0 // 2 * 2", "integer0 % 3 + 1", "integer0 / 2", "float0 / 4 / 2", "float0 - float1 + 1", "-(3) + integer0"),
    *(
        "integer0 = 1 OR integer1 = 2 AND boolean0",
        "NOT boolean0 AND boolean1",
        "NOT integer0 = 1",
        "boolean0 OR NOT boolean1",
    ),
    *(
        "integer0 IS NULL",
        "integer0 + 1 IS NOT NULL",
        "NOT integer0 IS NULL",
        "integer0 = 1 IS NULL",
        "NOT boolean0 IS NULL",
    ),
    *(
        "integer0 IN (1, 2, NULL)",
        "integer0 NOT IN (1, 2)",
        "integer0 + 1 IN (1, 2)",
        "integer0 BETWEEN 1 AND 7 AND boolean0",
    ),
    *(
        "integer0 NOT BETWEEN 0 AND 1 + 1",
        "text0 LIKE 'a%'",
        "text0 NOT LIKE '_'",
        "text0 || 'x' LIKE '%x'",
        "text0 || text1",
    ),
    *(
        "text0 || text1 = 'ab'",
        "text0 < text1",
        "integer0 + 1 = 2 * 1",
        "1 + 1 <= integer0",
        "integer0 <> 1",
        "integer0 != 1",
    ),
    *(
        "CASE WHEN integer0 > 1 THEN 'a' WHEN boolean0 THEN 'b' ELSE text0 END",
        "CASE integer0 WHEN 1 THEN 2 WHEN 2 THEN 3 END",
    ),
    *(
        "CASE WHEN boolean0 THEN 1 END + 1",
        "coalesce(text0, text1, 'z')",
        "nullif(integer0, 1)",
        "coalesce(integer0, 0) > 1",
    ),
    *(
        "trim(text0)",
        "length(text0) + 1",
        "substr(text0, 2, 1)",
        "left(text0, 1) || right(text0, 1)",
        "replace(text0, 'a', 'b')",
    ),
    *(
        "extract(year FROM date0)",
        "year(date0) * 100 + month(date0)",
        "date0 - date1",
        "date0 - DATE '2026-01-01'",
        "date0 + 1",
    ),
    *("date_part('quarter', date0)", "CAST(integer0 AS VARCHAR)", "CAST(CAST(text0 AS VARCHAR) || 'x' AS VARCHAR)"),
    *(
        "integer0 > 1 AND integer1 > 1 OR boolean0",
        "(integer0 > 1 OR boolean0) AND boolean1",
        "integer0 BETWEEN 1 AND 2 = boolean0",
    ),
    *(
        "abs(integer0)",
        "round(float0)",
        "floor(float0)",
        "ceil(float0)",
        "CAST(date0 AS VARCHAR)",
        "isodow(date0)",
        "+integer0",
    ),
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_means_what_sql_means(query: str) -> None:
    """On values at which nothing fails, DuckDB gives the same for the user's own text as for the tree."""
    tree = parse(f"SELECT {query} AS out FROM source").items[0].expression
    call = infer_types(tree, {f"{type_}{place}": type_ for type_ in TYPES for place in (0, 1)})
    cells = cells_in(call)
    rows = [dict(zip([c.name for c in cells], vs, strict=True)) for vs in product(*(PLAIN[cell.type] for cell in cells))]
    frame = pa.table(
        {"row": pa.array(range(len(rows)))} | {c.name: arrow_of(c.type, [r[c.name] for r in rows]) for c in cells}
    )
    with duckdb.connect() as connection:
        connection.register("source", frame)
        plainly = connection.execute(f"SELECT row, {query} AS out FROM source ORDER BY row").fetchall()
    for row, (_, out) in zip(rows, plainly, strict=True):
        meant = value_of(call, row)
        if meant is None and "/" in query.replace("//", ""):
            assert out is None or not math.isfinite(out)
        else:
            assert out == meant or same(out, meant), (row, out, meant)
