"""Answers in the interview of `discreet init`: asked for, checked, and written as entries of a plan file."""

from __future__ import annotations

import re
from collections.abc import Callable

from discreet.cli.asking import Asker
from discreet.cli.code_lists import read_whole
from discreet.cli.drafting import Entry
from discreet.domain.columns import Date
from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, did_you_mean
from discreet.exact.numbers import exact
from discreet.planfile.write import toml_visible

__all__ = [
    "ask_choice",
    "ask_number",
    "ask_text",
    "check_amount",
    "check_choice",
    "check_count",
    "check_filled",
    "check_number",
    "check_period",
    "write_number",
]


def ask_text(key: str, what: str, default: str | None, ask: Asker, check: Callable[[str], object]) -> Entry:
    """The entry of a text; left to be filled in where there is no answer."""
    answer = ask(f"{key}: {what}", check, default)
    return Entry(key, None if answer is None else toml_visible(answer), what)


def ask_number(key: str, what: str, default: str | None, ask: Asker, check: Callable[[str], object]) -> Entry:
    """The entry of a number; left to be filled in where there is no answer."""
    answer = ask(f"{key}: {what}", check, default)
    return Entry(key, write_number(answer), what)


def ask_choice(key: str, what: str, known: tuple[str, ...], default: str | None, ask: Asker) -> Entry:
    """The entry of one of the `known` words; left to be filled in where there is no answer."""
    answer = ask(f"{key}: {what}", lambda given: check_choice(given, known), default)
    return Entry(key, None if answer is None else toml_visible(answer), what)


def write_number(answer: str | None) -> str | None:
    """A number as TOML: bare where it is a whole number or a plain decimal, else the text of it."""
    if answer is None:
        return None
    return answer if re.fullmatch(r"-?(0|[1-9][0-9]*)([.][0-9]+)?", answer) else toml_visible(answer)


def check_choice(answer: str, known: tuple[str, ...]) -> None:
    """Checks that the answer is one of the known ones."""
    if answer not in known:
        raise ArgumentError(f"'{answer}': is not one of the answers{did_you_mean(answer, known)}")


def check_filled(answer: str) -> None:
    """Checks that there is an answer."""
    if not answer:
        raise ArgumentError("must not be empty")


def check_count(answer: str, what: str) -> None:
    """Checks that the answer is a whole number from 1 on."""
    whole_number(read_whole(answer), what, least=1)


def check_number(answer: str) -> None:
    """Checks that the answer is an exact number."""
    exact(answer, "the number")


def check_amount(answer: str) -> None:
    """Checks that the answer is an exact number above 0."""
    if not exact(answer, "the amount") > 0:
        raise ArgumentError("the amount: must be greater than 0")


def check_period(first: str, last: str) -> None:
    """Checks that both answers are days, in order."""
    Date(first, last)
