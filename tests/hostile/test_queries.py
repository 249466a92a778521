"""Attempts to make a row-wise query see other rows, fail on a value, grow, or reach an engine as text. All are refused."""

from __future__ import annotations

import random
from contextlib import suppress

import polars as pl
import pytest

import discreet as dp
from discreet.domain.rowwise.parsing import MOST_DEPTH, MOST_NODES, parse
from discreet.domain.rowwise.tree import Name
from discreet.engines import open_source
from discreet.errors import PlanError

ITEMS = [
    # other rows
    *("count(*)", "sum(x)", "max(x) + 1", "avg(DISTINCT x)", "row_number() OVER ()", "lag(x) OVER (ORDER BY y)", "rank(x)"),
    *(
        "sum(x) OVER (PARTITION BY y)",
        "abs(x) OVER ()",
        "abs(x) FILTER (WHERE y)",
        "first(x)",
        "list(x)",
        "string_agg(x, ',')",
    ),
    *(
        "length(x) WITHIN GROUP (ORDER BY x)",
        "rowid",
        "ctid",
        "row_number",
        "count",
        "approx_count_distinct(x)",
        "grouping(x)",
    ),
    # subqueries
    *("(SELECT 1)", "(SELECT max(x) FROM source)", "CASE WHEN (SELECT true) THEN 1 END", "x IN (SELECT y FROM source)"),
    *("EXISTS (SELECT 1)", "x = ANY (SELECT y)", "x = ALL (1)", "ARRAY(SELECT x)", "(WITH a AS (SELECT 1) SELECT * FROM a)"),
    *("(VALUES (1))", "(TABLE source)", "(FROM source)", "x IN (VALUES (1))", "coalesce((SELECT x), 1)"),
    # what is not a function of the row
    *("random()", "now()", "current_date", "CURRENT_TIMESTAMP", "uuid()", "gen_random_uuid()", "today()", "nextval('s')"),
    *("current_user", "version()", "getenv('HOME')", "current_setting('threads')", "read_text('/etc/passwd')", "user"),
    *("read_csv('x.csv')", "query('SELECT 1')", "pg_read_file('x')", "pg_sleep(1)", "txid_current()", "age(d)"),
    # more rows than one, or values without a bound
    *("unnest([1, 2])", "generate_series(1, 2)", "range(10)", "explode(x)", "repeat(x, 1000000)", "lpad(x, 1000000, 'a')"),
    *(
        "rpad(x, 9, 'a')",
        "concat(x, x)",
        "format('{}', x)",
        "printf('%d', x)",
        "array_to_string([x], ',')",
        "x * INTERVAL 1 DAY",
    ),
    # structures, lambdas, macros, columns
    *("[x, y]", "x[1]", "{'a': x}", "struct_pack(a := x)", "x.y", "source.x", "main.source.x", "x -> x + 1", "lambda x: x"),
    *("COLUMNS(*)", "COLUMNS('a.*')", "* EXCLUDE (x)", "* REPLACE (x AS y)", "*, *", "source.*", "main.abs(x)", '"abs"(x)'),
    *("system.main.abs(x)", "my_macro(x)", "list_transform(x, y -> y)", "map([x], [y])", "row(x, y)", "(x, y)", "ROW(1)"),
    # failures
    *("TRY(x)", "error('now')", "CAST(x AS DECIMAL(3, 1))", "CAST(x AS INTEGER[])", "x::INTEGER", "CAST(x AS VARCHAR(3))"),
    *("CAST(x AS JSON)", "CAST(x AS nonsense)", "sqrt(x)", "ln(x)", "x ^ 2", "x ** 2", "x !", "x ~ 'a'", "x SIMILAR TO 'a'"),
    *(
        "regexp_matches(x, '(a+)+$')",
        "strptime(x, '%Y')",
        "make_date(1, 2, 3)",
        "chr(x)",
        "factorial(x)",
        "x << 60",
        "x & y",
    ),
    *("x COLLATE nocase", "x ILIKE 'a'", "x LIKE 'a' ESCAPE 'b'", "x GLOB 'a'", "x AT TIME ZONE 'UTC'", "INTERVAL '1' DAY"),
    # comments, other statements, quotation marks, numbers, letters
    *(
        "x -- comment",
        "x /* comment */",
        "x; DROP TABLE source",
        "1; SELECT 2",
        "'a",
        '"a',
        "'a''",
        "''; --",
        "x AS a, y AS A",
    ),
    *(
        "$1",
        "?",
        ":x",
        "@x",
        "#1",
        "`x`",
        "99999999999999999999",
        "1e999",
        "0x10",
        "1_000",
        "1" * 50,
        "e'\\n'",
        "U&'a'",
        "b'1'",
    ),
    *(
        "$$a$$",
        "ｘ",
        "x\u00a0+ 1",
        "x＋1",
        "ѕum(x)",
        "'\u202e'",
        '"\u200b"',
        "'\x00'",
        "x\x00",
        "\ufeffx",
        "é",
        "1 2",
        "'a' 'b'",
    ),
    # no grammar
    *(
        "",
        ",",
        "x,",
        "x y z",
        "AS a",
        "x +",
        "(x",
        "x)",
        "CASE END",
        "CASE WHEN x THEN",
        "CAST(x AS)",
        "x IN ()",
        "x IN (y)",
        "x IN (1, y + 1)",
        "x BETWEEN 1",
    ),
    *(
        "x AND",
        "NOT",
        "x NOT 1",
        "x IS 1",
        "x IS NOT TRUE",
        "x = y = z",
        "x < y < z",
        "CASE x + 1 WHEN 1 THEN 2 END",
        "DATE x",
    ),
    *(
        "DATE '2026-02-30'",
        "DATE '0000-01-01'",
        "DATE '26-1-1'",
        "date_part('epoch', x)",
        "extract(century FROM x)",
        "abs()",
    ),
    *("DISTINCT x", "ALL x", "x AS select", "x AS 1", "x AS ''", 'x AS ""', "negative(x)", "case(x)", "select", "from"),
]
TAILS = [
    *("", "FROM", "FROM source s", "FROM source AS s", "FROM source, source", "FROM source JOIN b ON true", "FROM other"),
    *(
        "FROM source CROSS JOIN b",
        "FROM source LATERAL",
        "FROM source WHERE x = 1",
        "FROM source GROUP BY x",
        "FROM (SELECT 1)",
    ),
    *(
        "FROM source HAVING true",
        "FROM source ORDER BY x",
        "FROM source LIMIT 1",
        "FROM source OFFSET 1",
        "FROM main.source",
    ),
    *("FROM source UNION SELECT 1", "FROM source EXCEPT SELECT 1", "FROM source QUALIFY x", "FROM source TABLESAMPLE 10%"),
    *("FROM source USING SAMPLE 1", "FROM source WINDOW w AS ()", "FROM source;", "FROM source; SELECT 1", "FROM 'a.csv'"),
    *(
        'FROM "source"',
        "FROM source PIVOT (x)",
        "FROM source FETCH FIRST ROW ONLY",
        "FROM source FOR UPDATE",
        "FROM read_csv('a')",
    ),
    *(
        "FROM source -- ",
        "FROM source NATURAL JOIN b",
        "FROM source AT (VERSION => 1)",
        "INTO t FROM source",
        "FROM source()",
    ),
]


@pytest.mark.parametrize("item", ITEMS)
def test_nothing_but_expressions_of_one_row_is_a_column(item: str) -> None:
    if item in NAMES:  # to the grammar these are columns
        assert isinstance(parse(f"SELECT {item} AS out FROM source").items[0].expression, Name)
        return
    for query in (f"SELECT {item} AS out FROM source", f"SELECT x, {item} AS out FROM source"):
        with pytest.raises(PlanError, match=r"query: "):
            parse(query)


NAMES = {"row_number", "count"}
"""Words that are functions elsewhere and may be columns of a source."""


@pytest.mark.parametrize("tail", TAILS)
def test_nothing_but_the_source_is_read(tail: str) -> None:
    with pytest.raises(PlanError, match=r"query: "):
        parse(f"SELECT x AS out {tail}")


@pytest.mark.parametrize(
    "query",
    [
        *("", " ", "x", "SELECT", "SELECT FROM source", "SELECT * EXCLUDE (x) FROM source", "SELECT x, * FROM source"),
        *("WITH a AS (SELECT 1) SELECT x FROM source", "FROM source SELECT x", "FROM source", "TABLE source", "VALUES (1)"),
        *("INSERT INTO source VALUES (1)", "COPY source TO 'a'", "ATTACH 'a'", "PRAGMA x", "EXPLAIN SELECT x FROM source"),
        *("SELECT x FROM source UNION ALL SELECT x FROM source", "(SELECT x FROM source)", "SELECT DISTINCT x FROM source"),
        *(
            "SELECT ALL x FROM source",
            "SELECT TOP 5 x FROM source",
            "SELECT DISTINCT ON (x) y FROM source",
            "SELECT 1 + 1 FROM source",
        ),
    ],
)
def test_what_is_not_one_select_is_refused(query: str) -> None:
    with pytest.raises(PlanError, match=r"query: "):
        parse(query)


@pytest.mark.parametrize("given", [None, 7, b"SELECT x FROM source", ["SELECT"]])
def test_what_is_not_a_text_is_refused(given: object) -> None:
    with pytest.raises(PlanError, match="must be a text"):
        parse(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 1000 + "x" + ")" * 1000,
        "-" + " -" * 1000 + "x",
        "NOT " * 1000 + "x",
        "abs(" * 1000 + "x" + ")" * 1000,
        " + ".join(["x"] * 1000),
        " || ".join(["x"] * 1000),
        "CASE WHEN a THEN " * 1000 + "x" + " END" * 1000,
        "x IN (" * 1000 + "1" + ")" * 1000,
        "CAST(" * 1000 + "x" + " AS INTEGER)" * 1000,
        "extract(year FROM " * 1000 + "x" + ")" * 1000,
        "(" * 20 + "x" + (" + x" * 20 + ")") * 20,
        "(" * 38 + "x" + (" + x" * 3 + ")") * 38,
    ],
)
def test_depth_is_bounded_and_refused_in_words(expression: str) -> None:
    with pytest.raises(PlanError, match=f"more than {MOST_DEPTH}"):
        parse(f"SELECT {expression} AS out FROM source")


def test_size_is_bounded() -> None:
    listed = ", ".join(map(str, range(MOST_NODES + 1)))
    with pytest.raises(PlanError, match=f"more than {MOST_NODES}"):
        parse(f"SELECT x IN ({listed}) AS out FROM source")
    with pytest.raises(PlanError, match="characters"):
        parse("SELECT x" + " " * 100_000 + "FROM source")


def test_what_is_as_deep_and_as_long_as_allowed_is_computed() -> None:
    deep = "(" * 30 + "x" + " + 1)" * 30
    joined = " || ".join(["t"] * 38)
    listed = ", ".join(map(str, range(1000)))
    query = (
        f"SELECT {deep} AS a, length({joined}) AS b, x IN ({listed}) AS c, {' OR '.join(['x = 1'] * 500)} AS d FROM source"
    )
    schema = dp.Schema(a=dp.Number(0, 99), b=dp.Number(0, 999), c=dp.Category([True]), d=dp.Category([False])).select(query)
    engine = open_source(pl.DataFrame({"x": [5], "t": ["ab"]}), schema)
    cells = dict(engine.cells(["a", "b", "c", "d"]))  # type: ignore[attr-defined]
    engine.close()
    assert cells == {"a": [(35, 1)], "b": [(76, 1)], "c": [(True, 1)], "d": [(False, 1)]}


def test_literals_are_values_and_never_text_of_a_statement() -> None:
    """A literal or a name that looks like SQL stays what it is."""
    frame = pl.DataFrame({'x" FROM source; --': ["a", "'); DROP TABLE t; --"]})
    name = '"x"" FROM source; --"'
    query = f"SELECT {name} = '''); DROP TABLE t; --' AS a, replace({name}, '''', '\"') AS b FROM source"
    schema = dp.Schema(a=dp.Category([True, False]), b=dp.Category(["a"])).select(query)
    engine = open_source(frame, schema)
    cells = {name: dict(some) for name, some in engine.cells(["a", "b"])}  # type: ignore[attr-defined]
    engine.close()
    assert cells == {"a": {True: 1, False: 1}, "b": {"a": 1, '"); DROP TABLE t; --': 1}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_words_are_refused_or_read_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (it draws test cases)
    words = [*"+-*/%(),=<|", "//", "||", "SELECT", "FROM", "source", "x", "y", "AS", "CASE", "WHEN", "THEN", "ELSE", "END"]
    words += ["AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "1", "2.5", "'a'", "CAST"]
    words += ["BIGINT", "DATE", "'2026-01-31'", '"x"', "abs", "lower", "extract", "year", "--", ";", "[", "é", "\x00"]
    for _ in range(200):
        text = " ".join(["SELECT", *(rng.choice(words) for _ in range(rng.randrange(12))), "AS out FROM source"])
        with suppress(PlanError):
            select = parse(text)
            assert parse(str(select)) == select
