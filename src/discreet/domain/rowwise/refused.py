"""The words of SQL that are not part of a row-wise query, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CLAUSES", "refusal"]

_ROWS = "its value would depend on other rows"

CLAUSES: Mapping[str, str] = {
    "WHERE": "filters are not part of a query; write them as `where` of a release, which keeps the number of rows",
    "QUALIFY": "filters are not part of a query; write them as `where` of a release, which keeps the number of rows",
    "GROUP": "groups are not part of a query; write them as `group_by` of a release",
    "HAVING": "groups are not part of a query; write them as `group_by` of a release",
    **dict.fromkeys(("ORDER", "LIMIT", "OFFSET", "FETCH", "TABLESAMPLE", "USING"), "every row of the source gives one row"),
    **dict.fromkeys(("UNION", "INTERSECT", "EXCEPT", "MINUS"), "a query reads one source, each of its rows once"),
    **dict.fromkeys(
        ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "LATERAL", "ASOF", "POSITIONAL", "SEMI", "ANTI"),
        "a join would let one row of the source change several; a query reads one source",
    ),
    **dict.fromkeys(("WINDOW", "PIVOT", "UNPIVOT"), _ROWS),
    "AS": "the source has no other name in a query",
}
"""The words that may follow FROM source in other SQL."""

_KINDS: Mapping[str, tuple[str, ...]] = {
    f"{_ROWS}; ask for it as a statistic of a release": (
        *("count", "sum", "avg", "mean", "min", "max", "median", "mode", "stddev", "variance", "quantile", "string_agg"),
        *("first", "last", "any_value", "array_agg", "list", "histogram", "approx_count_distinct", "grouping", "bool_and"),
        *("bool_or", "every", "stddev_samp", "stddev_pop", "var_samp", "var_pop", "corr", "covar_pop", "covar_samp"),
    ),
    _ROWS: (
        *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value"),
        *("last_value", "nth_value", "over", "rowid", "ctid", "nextval", "currval"),
    ),
    "its value would differ from one reading to the next; write the day as DATE '2026-01-31'": (
        *("random", "setseed", "uuid", "gen_random_uuid", "uuidv4", "uuidv7", "now", "today", "current_date", "age"),
        *("current_timestamp", "current_time", "localtime", "localtimestamp", "get_current_time", "clock_timestamp"),
        *("get_current_timestamp", "transaction_timestamp", "statement_timestamp", "current_localtimestamp"),
    ),
    "its length has no bound; join texts with a || b": (
        *("repeat", "lpad", "rpad", "concat", "concat_ws", "format", "printf", "array_to_string", "space", "bar"),
    ),
    "it reads something else than the row": (
        *("read_csv", "read_csv_auto", "read_parquet", "read_json", "read_text", "read_blob", "parquet_scan", "sqlite_scan"),
        *("glob", "getenv", "current_setting", "pg_read_file", "query", "query_table", "postgres_scan", "current_user"),
        *("version", "pg_sleep", "dblink", "lo_import", "current_database", "current_schema", "session_user", "user"),
    ),
    "every row of the source gives one row": ("unnest", "generate_series", "range", "explode", "generate_subscripts"),
    "it may fail on a value, and what fails here is null already; leave it out": ("try", "error"),
    "its last digit differs between systems; declare the bounds and bins that you need": (
        *("sqrt", "ln", "log", "log10", "log2", "exp", "power", "pow", "sin", "cos", "tan", "cbrt", "atan", "atan2"),
    ),
    "write CASE WHEN … THEN … ELSE … END": ("if", "iif", "ifnull", "decode", "nvl", "greatest", "least"),
    "columns are named one by one, or by a plain *": ("columns", "exclude", "rename"),
    "a query has no subqueries": ("select", "exists", "with", "array", "any", "all", "some", "values", "table"),
}

_WORDS = {word: reason for reason, words in _KINDS.items() for word in words}


def refusal(word: str) -> str:
    """Why a word of SQL is not in a row-wise query; empty for a word that is not known."""
    return _WORDS.get(word.lower(), "")
