"""A query as words, each with its place. No comment, no second statement and no unprintable character is one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.errors import PlanError, printed

__all__ = ["MOST_QUERY", "Token", "tokens_of", "wrong"]

MOST_QUERY = 100_000
"""The most characters of a query."""
_LONGEST_NUMBER = 40
_KINDS = re.compile(
    r"""
    (?P<blank>[ \t\r\n]+)
  | (?P<number>[0-9]+(?:[.][0-9]*)?(?:[eE][+-]?[0-9]+)?|[.][0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<name>"(?:[^"]|"")*")
  | (?P<text>'(?:[^']|'')*')
  | (?P<sign>\|\||<>|!=|<=|>=|//|[-+*/%=<>(),])
    """,
    re.VERBOSE,
)
_REFUSED = {
    "--": "a comment cannot stand in a query; leave it out",
    "/*": "a comment cannot stand in a query; leave it out",
    "::": "a conversion is written CAST(… AS type)",
    ";": "a query is one SELECT; leave the semicolon out",
    ".": "a column is named without its table, and a function without its schema",
    '"': "the name has no end; a quotation mark in a name is written twice",
    "'": "the text has no end; an apostrophe in a text is written twice",
    "[": "lists and their elements are not values of a row",
    "{": "structures are not values of a row",
    "$": "a query has no parameters",
    "?": "a query has no parameters",
    "^": "write a product",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a query: its kind, what it says, and where; a name or text without its quotation marks."""

    kind: str  # "number", "word", "name", "text", "sign" or "end"
    text: str
    at: str

    @property
    def key(self) -> str:
        """The text that the grammar compares: a keyword or a sign in capitals, empty for anything else."""
        return self.text.upper() if self.kind in {"word", "sign"} else ""


def wrong(at: str, rule: str) -> PlanError:
    """The error for a place of a query."""
    return PlanError(f"query: {at}: {rule}")


def tokens_of(text: str) -> list[Token]:
    """The words of a query, and behind them one of kind "end".

    Raises:
        PlanError: a character that stands for nothing, a comment, a number of more than 40 characters, a text that is too
            long.
    """
    if len(text) > MOST_QUERY:
        raise PlanError(
            f"query: has {len(text)} characters, more than {MOST_QUERY}; take code lists to a file of categories"
        )
    found, start = [], 0
    while start < len(text):
        at = _place(text, start)
        match = None if text.startswith(("--", "/*"), start) else _KINDS.match(text, start)
        if match is None or match.lastgroup is None:
            raise wrong(at, _unknown(text[start : start + 2]))
        start = match.end()
        if match.lastgroup != "blank":
            found.append(_token(match.lastgroup, match[0], at))
    return [*found, Token("end", "", _place(text, len(text)))]


def _token(kind: str, written: str, at: str) -> Token:
    if kind == "number" and len(written) > _LONGEST_NUMBER:
        raise wrong(at, f"a number of more than {_LONGEST_NUMBER} characters; round it")
    if kind not in {"name", "text"}:
        return Token(kind, written, at)
    said = written[1:-1].replace(written[0] * 2, written[0])
    if not said.isprintable():
        raise wrong(at, "names and texts are of printable characters")
    if kind == "name" and not said:
        raise wrong(at, "a name has at least one character")
    return Token(kind, said, at)


def _unknown(start: str) -> str:
    known = _REFUSED.get(start) or _REFUSED.get(start[0])
    return known or f"{printed(start[0])} is not a sign of SQL; names of other letters stand in quotation marks"


def _place(text: str, start: int) -> str:
    line = text.count("\n", 0, start) + 1
    return f"line {line}, column {start - text.rfind(chr(10), 0, start)}"
