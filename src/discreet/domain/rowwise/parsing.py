"""A query as its tree; whatever is not in the grammar is refused, with its place and the remedy.

The grammar is closed: it has one SELECT, names for its columns, and expressions of the operations in the registry. What
binds more tightly is what does so in SQL. Nothing is guessed, corrected or handed on.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from discreet.domain.rowwise.days import PARTS
from discreet.domain.rowwise.operations import BOOLEAN, DAY, FLOAT, INTEGER, NULL, TEXT
from discreet.domain.rowwise.refused import CLAUSES, refusal
from discreet.domain.rowwise.registry import FUNCTIONS
from discreet.domain.rowwise.tokens import Token, tokens_of, wrong
from discreet.domain.rowwise.tree import Call, Expression, Item, Literal, Name, Select
from discreet.errors import PlanError, did_you_mean, printed

__all__ = ["MOST_DEPTH", "MOST_NODES", "parse"]

MOST_DEPTH, MOST_NODES = 40, 5_000
"""The deepest nesting of expressions, and the most names, values and operations of a query."""

_TYPES = {
    **dict.fromkeys(("BIGINT", "INTEGER", "INT", "INT8"), INTEGER),
    **dict.fromkeys(("DOUBLE", "FLOAT8"), FLOAT),
    **dict.fromkeys(("VARCHAR", "TEXT"), TEXT),
    **dict.fromkeys(("BOOLEAN", "BOOL"), BOOLEAN),
    "DATE": DAY,
}
_COMPARED = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ALSO = {"substring": "substr", "mod": "%", "div": "//", "ceiling": "ceil", "character_length": "length", "btrim": "trim"}
_RESERVED = {
    *("SELECT", "FROM", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE"),
    *("END", "CAST", "TRUE", "FALSE", "DISTINCT", "ALL", *CLAUSES),
}


def parse(query: str | Select) -> Select:
    """The tree of a query "SELECT … FROM source"; a tree is what it is.

    Raises:
        PlanError: the query is not a row-wise SELECT; the message names the place, what stands there, and the remedy.
    """
    if isinstance(query, Select):
        return query
    if not isinstance(query, str):
        raise PlanError(f"query={printed(query)}: must be a text: SELECT, columns, and FROM source")
    return _Reader(tokens_of(query)).select()


class _Reader:
    """One pass over the words of a query."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens, self._next, self._depth = tokens, 0, 0
        self._heights: dict[
            int, tuple[Expression, int]
        ] = {}  # of all nodes, which are kept, so that no number is used twice

    # The words ------------------------------------------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self, *keys: str) -> Token | None:
        """The next word, if it is one of these."""
        token = self._token
        if token.key not in keys or not token.key:
            return None
        self._next += 1
        return token

    def _expect(self, key: str, where: str) -> Token:
        found = self._take(key)
        if found is None:
            raise self._wrong(f"{key} is expected {where}")
        return found

    def _wrong(self, rule: str) -> PlanError:
        token = self._token
        reason = refusal(token.text) if token.kind == "word" else ""
        shown = "the query ends" if token.kind == "end" else f"{printed(token.text)} stands"
        return wrong(token.at, f"{printed(token.text)}: {reason}" if reason else f"{shown} here, and {rule}")

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise wrong(self._token.at, f"expressions are nested more than {MOST_DEPTH} deep; split the query up")
        yield
        self._depth -= 1

    def _count_nodes(self, node: Expression) -> Expression:
        below = node.arguments if isinstance(node, Call) else ()
        height = 1 + max((self._heights[id(one)][1] for one in below), default=0)
        if height > MOST_DEPTH:
            raise wrong(node.at, f"operations are more than {MOST_DEPTH} deep; split the query up")
        self._heights[id(node)] = node, height
        if len(self._heights) > MOST_NODES:
            raise wrong(node.at, f"the query has more than {MOST_NODES} names, values and operations; leave some out")
        return node

    def _call(self, name: str, arguments: Sequence[Expression], at: str) -> Expression:
        return self._count_nodes(Call(name, tuple(arguments), at))

    # The query ------------------------------------------------------------------------------------------------------------

    def select(self) -> Select:
        self._expect("SELECT", "at the beginning")
        if self._token.key in {"DISTINCT", "ALL"}:
            raise wrong(self._token.at, f"{self._token.key}: every row of the source gives one row; leave it out")
        star = self._take("*") is not None
        items: list[Item] = []
        while not star or items or self._token.key == ",":
            if (star or items) and not self._take(","):
                break
            items.append(self._item(items))
        self._end()
        return Select(tuple(items), star)

    def _item(self, before: Sequence[Item]) -> Item:
        at = self._token.at
        if self._token.key == "*":
            raise wrong(at, "a plain * stands once, and before everything else")
        found = self._expression()
        if self._take("AS"):
            name = self._name("as the name of the column")
        elif isinstance(found, Name):
            name = found.name
        else:
            raise self._wrong("AS is expected, with the name of the column, behind an expression")
        if name.casefold() in {item.name.casefold() for item in before}:
            raise wrong(at, f"two columns are called {printed(name)} (case is ignored); give one another name")
        return Item(name, found)

    def _name(self, where: str) -> str:
        token = self._token
        if token.kind == "name" or (token.kind == "word" and token.key not in _RESERVED):
            self._next += 1
            return token.text
        raise self._wrong(f"a name is expected {where}; a name that is a word of SQL stands in quotation marks")

    def _end(self) -> None:
        self._expect("FROM", "behind the columns, followed by source")
        token = self._token
        if token.kind != "word" or token.text.lower() != "source":
            raise self._wrong("'source' is expected: a query reads the source of the plan and nothing else")
        self._next += 1
        token = self._token
        if token.kind == "end":
            return
        reason = CLAUSES.get(token.key, "") or ("a query reads one source" if token.key == "," else "")
        raise wrong(token.at, f"{token.text}: {reason}" if reason else f"{printed(token.text)}: the query ends before this")

    # Expressions, from what binds least ---------------------------------------------------------------------------------

    def _expression(self) -> Expression:
        with self._deeper():
            return self._many("OR", "or", lambda: self._many("AND", "and", self._negation))

    def _many(self, key: str, operation: str, part: Callable[[], Expression]) -> Expression:
        at, parts = self._token.at, [part()]
        while self._take(key):
            parts.append(part())
        return parts[0] if len(parts) == 1 else self._call(operation, parts, at)

    def _negation(self) -> Expression:
        token = self._take("NOT")
        if token is None:
            return self._null_test()
        with self._deeper():
            return self._call("not", [self._negation()], token.at)

    def _null_test(self) -> Expression:
        found = self._comparison()
        while token := self._take("IS"):
            negated = self._take("NOT") is not None
            self._expect("NULL", "behind IS")
            found = self._call("is null", [found], token.at)
            found = self._call("not", [found], token.at) if negated else found
        return found

    def _comparison(self) -> Expression:
        left = self._member()
        token = self._take(*_COMPARED)
        if token is None:
            return left
        right = self._member()
        if self._token.key in _COMPARED:
            raise self._wrong("a comparison has two sides; put parentheses around one of them")
        return self._call(_COMPARED[token.key], [left, right], token.at)

    def _member(self) -> Expression:
        left, at = self._concatenation(), self._token.at
        negated = self._take("NOT")
        found = self._membership(left, at)
        if found is None:
            if negated:
                raise self._wrong("IN, BETWEEN or LIKE is expected behind NOT")
            return left
        return self._call("not", [found], at) if negated else found

    def _membership(self, left: Expression, at: str) -> Expression | None:
        if self._take("LIKE"):
            return self._call("like", [left, self._concatenation()], at)
        if self._take("BETWEEN"):
            low = self._concatenation()
            self._expect("AND", "between the two ends of BETWEEN")
            return self._call("between", [left, low, self._concatenation()], at)
        if self._take("IN"):
            self._expect("(", "behind IN")
            listed = self._list()
            other = next((one for one in listed if not isinstance(one, Literal)), None)
            if other is not None:
                raise wrong(other.at, "IN has a list of values; compare with = and OR")
            return self._call("in", [left, *listed], at)
        return None

    def _list(self) -> list[Expression]:
        """Expressions up to a closing parenthesis."""
        found = [self._expression()]
        while self._take(","):
            found.append(self._expression())
        self._expect(")", "behind a list")
        return found

    def _concatenation(self) -> Expression:
        return self._pairs(("||",), self._sum)

    def _sum(self) -> Expression:
        return self._pairs(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._pairs(("*", "/", "//", "%"), self._signed_operand)

    def _pairs(self, keys: tuple[str, ...], part: Callable[[], Expression]) -> Expression:
        """From left to right: a - b - c is (a - b) - c."""
        left = part()
        while token := self._take(*keys):
            left = self._call(token.text, [left, part()], token.at)
        return left

    def _signed_operand(self) -> Expression:
        token = self._take("-", "+")
        if token is None:
            return self._atom()
        if token.key == "-" and self._token.kind == "number":
            return self._number("-")
        with self._deeper():
            found = self._signed_operand()
        return self._call("negative", [found], token.at) if token.key == "-" else found

    # The smallest parts ---------------------------------------------------------------------------------------------------

    def _atom(self) -> Expression:
        token = self._token
        if token.kind == "number":
            return self._number("")
        if token.kind == "text":
            self._next += 1
            return self._count_nodes(Literal(token.text, TEXT, token.at))
        if token.kind == "name":
            self._next += 1
            if self._token.key == "(":
                raise wrong(token.at, "a function is named without quotation marks")
            return self._count_nodes(Name(token.text, token.at))
        if self._take("("):
            found = self._expression()
            self._expect(")", "behind an expression")
            return found
        return self._word(token)

    def _number(self, sign: str) -> Expression:
        token = self._token
        self._next += 1
        if token.text.isdigit():
            value = int(sign + token.text)
            if not -(2**63) <= value < 2**63:
                raise wrong(token.at, "an integer has at most 64 bits")
            return self._count_nodes(Literal(value, INTEGER, token.at))
        number = float(sign + token.text)
        if not math.isfinite(number):
            raise wrong(token.at, "the number is beyond the doubles")
        return self._count_nodes(Literal(number, FLOAT, token.at))

    def _word(self, token: Token) -> Expression:
        special = {"CASE": self._case, "CAST": self._cast, "TRY_CAST": self._cast, "EXTRACT": self._extract}
        if token.key in special:
            self._next += 1
            return special[token.key](token.at)
        constants = {"NULL": (None, NULL), "TRUE": (True, BOOLEAN), "FALSE": (False, BOOLEAN)}
        if token.key in constants:
            self._next += 1
            return self._count_nodes(Literal(*constants[token.key], token.at))
        follows = self._tokens[self._next + 1] if token.kind == "word" else token
        if follows.key == "(" and token.kind == "word":
            return self._function(token)
        if token.key == "DATE" and follows.kind == "text":
            self._next += 2
            return self._count_nodes(Literal(_day(follows), DAY, token.at))
        if token.kind == "word" and token.key not in _RESERVED and not self._is_moment(token):
            self._next += 1
            return self._count_nodes(Name(token.text, token.at))
        raise self._wrong("a column, a value or a function is expected")

    @staticmethod
    def _is_moment(token: Token) -> bool:
        """True if SQL has a function of this name without parentheses."""
        return token.text.lower() in {
            *("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "current_user"),
            *("session_user", "user", "rowid", "ctid", "current_schema"),
        }

    def _function(self, token: Token) -> Expression:
        name = _ALSO.get(token.text.lower(), token.text.lower())
        if name not in FUNCTIONS and name not in _ALSO.values() and name not in {"date_part", "datepart"}:
            known = sorted({*FUNCTIONS, *_ALSO})
            reason = refusal(name) or f"is not one of the functions of a row-wise query{did_you_mean(name, known)}"
            raise wrong(token.at, f"{token.text}(…): {reason}")
        self._next += 2
        arguments = self._list()
        if self._token.key in {"OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"}:
            raise wrong(self._token.at, f"{self._token.key}: its value would depend on other rows")
        return self._part_of_day(arguments, token.at) if name == "date_part" else self._call(name, arguments, token.at)

    def _part_of_day(self, arguments: Sequence[Expression], at: str) -> Expression:
        if len(arguments) == 2 and isinstance(arguments[0], Literal) and arguments[0].value in PARTS:
            return self._call(str(arguments[0].value), arguments[1:], at)
        raise wrong(at, f"date_part(part, day) has one of the parts {', '.join(repr(part) for part in PARTS)}")

    def _extract(self, at: str) -> Expression:
        self._expect("(", "behind EXTRACT")
        part = self._token
        if part.text.lower() not in PARTS:
            raise wrong(part.at, f"{printed(part.text)}: the parts of a day are {', '.join(PARTS)}")
        self._next += 1
        self._expect("FROM", "behind the part of a day")
        found = self._expression()
        self._expect(")", "behind an expression")
        return self._call(part.text.lower(), [found], at)

    def _cast(self, at: str) -> Expression:
        self._expect("(", "behind CAST")
        found = self._expression()
        self._expect("AS", "behind what is converted")
        type_ = _TYPES.get(self._token.key)
        if type_ is None:
            raise wrong(self._token.at, f"{printed(self._token.text)}: the types are {', '.join(_TYPES)}")
        self._next += 1
        if self._token.key == "(":
            raise wrong(self._token.at, "a type has no size; shorten a text with left(text, count)")
        self._expect(")", "behind a type")
        return self._call(f"cast {type_}", [found], at)

    def _case(self, at: str) -> Expression:
        """Both forms; CASE x WHEN a … is CASE WHEN x = a …. Without ELSE it ends in null."""
        given = None if self._token.key == "WHEN" else self._expression()
        if given is not None and not isinstance(given, Name):
            raise wrong(given.at, "CASE is followed by a column or by WHEN; write CASE WHEN … = … THEN …")
        parts: list[Expression] = []
        while token := self._take("WHEN"):
            when = self._expression()
            parts.append(when if given is None else self._call("=", [given, when], token.at))
            self._expect("THEN", "behind a condition")
            parts.append(self._expression())
        if not parts:
            raise self._wrong("WHEN is expected in a CASE")
        last = self._expression() if self._take("ELSE") else self._count_nodes(Literal(None, NULL, at))
        self._expect("END", "at the end of a CASE")
        return self._call("case", [*parts, last], at)


def _day(token: Token) -> dt.date:
    try:
        if len(token.text) == 10 and token.text.isascii():
            return dt.date.fromisoformat(token.text)
    except ValueError:
        pass
    raise wrong(token.at, f"{printed(token.text)}: a day is written DATE '2026-01-31', in the years 1 to 9999")
