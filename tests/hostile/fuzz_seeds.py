"""Inputs that fuzzing starts from, and the pieces that it inserts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CSV_SEEDS = (
    b"age,sex,day,yes,n\n30,F,2020-05-01,true,7\n41.5,M,2020-02-30,no,7.0\n,,,,\n",
    b'\xef\xbb\xbfage,sex\r\n"30","F"\r\n"3,0",F\r\n30,"F"""\r\n30,"F\r\n30,F"\r\nx',
    b"age\n1\n\n \n1e5\n1e999\n+7.\n\n",
    "sex,n,extra\né,7,\ne\u0301,+7,x\n\ufeffF,07,\n".encode() + b"F\xff,7,\xc3\r\xed\xa0\x80,\0,1",
    b"day\n2020-01-01\n0000-00-00\n9999-12-31\n2020-1-1\n" + b"9" * 300 + b"\n",
)

CSV_PIECES = (
    *(b",", b"\n", b"\r", b"\r\n", b'"', b'""', b'","', b"\0", b" ", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"),
    *(b"age", b"sex", b"day", b"yes", b"n", b"F", b"true", b"FALSE", b"1e5", b"-", b"+", b".", b"0x1F", b"1_000", b"NaN"),
    *("é".encode(), "e\u0301".encode(), "１２".encode(), "\u2028".encode(), b"\x0b", b"\x1c", b"\x85", b";", b"\t"),
    *(b"PK\x03\x04", b"\x1f\x8b", b"2020-05-01", b"x" * 200, b"," * 40, b"'; --", b"=1+1"),
)

PLANS = Path(__file__).resolve().parents[1] / "plans"
PLAN_SEEDS = tuple((PLANS / f"fuzzed-{name}.toml").read_bytes() for name in ("types", "inline", "totals", "statements"))

PLAN_PIECES = (
    *(b"=", b"[", b"]", b"[[", b"]]", b"{", b"}", b'"', b"'", b'"""', b"\n", b"\r\n", b"#", b".", b",", b"\\u0000", b"\\"),
    *(
        b" = 1\n",
        b"-",
        b"0",
        b"1e9",
        b"1e-400",
        b"nan",
        b"inf",
        b"true",
        b"2020-01-01",
        b"12:00:00",
        b"99999999999999999999",
    ),
    *(b"\0", b"\x1b[31m", "é".encode(), b"\xff", b'"x"', b'["x"]', b"{ x = 1 }", b"[[]]", b"1/0", b"s.csv", b"c.txt"),
    *(b"[columns.age]\n", b"[[release]]\n", b"[invariants]\n", b"margins", b"occupied", b"linear", b"categories_file"),
    *(b'"count"', b"group_by", b"statistics", b"spend", b"resize", b"where", b"rows", b"proportion", b"impute", b"clamp"),
)

VALUES = (
    *(b"0", b"1", b"-1", b"0.5", b"1e-9", b"nan", b"true", b'""', b'"x"', b'"age"', b'"count"', b'"1/3"', b"2020-02-02"),
    *(
        b"[]",
        b"[0, 1]",
        b'["x", "y"]',
        b'["age"]',
        b"[[]]",
        b"{}",
        b"{ x = 1 }",
        b'{ distribution = "uniform" }',
        b"12:00:00",
    ),
    *(
        b"[true, false]",
        b"[1, 2, 3]",
        b'"category"',
        b'"number"',
        b'"date"',
        b'"zcdp"',
        b'"gdp"',
        b'"pure-dp"',
        b'"add-remove"',
    ),
    *(b'[["a"]]', b'{ columns = ["a"] }', b'{ median = "w" }', b'["a", { bins = "w", edges = [0, 1] }]', b'"c.txt"'),
)

SESSION_SEEDS = (b"x,1\ny,2\n", b'"x",7.5\n,\n', b"x\n\n1,2,3\n\xff,\0\n", b"")

RELEASE_PIECES = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"1e999",
    b"NaN",
    b"\\ud800",
    b"\xff",
    b"0" * 99,
)

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 10**400, 1.5, 1e308, float("nan"), "", "x", "1/0", "1e9", "table", "../x", "\ud800", "\0"),
    *(
        [],
        [None],
        [1, "x"],
        [[]],
        {},
        {"x": 1},
        {"kind": "zcdp", "rho": "1"},
        {"part": "linear", "columns": [], "values": {}},
    ),
)
