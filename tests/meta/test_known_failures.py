"""docs/known-failures.md has every bad input and every known failure, and every test that it names is there to be run."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "known-failures.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
# A row without a test says why none is needed.
WHY = re.compile(r"\b(cannot occur|cannot be noticed|outside the model): \w+.{20,}")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: its number, its name where it has one, and all of its text."""

    number: int
    name: str
    text: str


def rows_of(page: str, heading: str) -> list[Row]:
    """The rows of the table under a heading."""
    (section,) = [part for part in re.split(r"^## ", page, flags=re.MULTILINE) if part.startswith(heading)]
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if re.match(r"\| \d", line)
    ]
    return [Row(int(cells[0]), cells[1], " | ".join(cells)) for cells in lines]


@cache
def collected(path: str) -> dict[str, bool]:
    """The tests of a file that pytest collects, and whether each is run by default, without data beside the checkout."""
    if not (ROOT / path).is_file():
        return {}
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    marks = {node.name: {ast.unparse(one) for one in node.decorator_list} for node in functions}
    return {
        name: not found & {"pytest.mark.slow", "pytest.mark.exhaustive", "pytest.mark.shared"}
        for name, found in marks.items()
    }


def missing(page: str) -> list[str]:
    """What is wrong with the page: tests that are not there, rows without one that is run by default or a reason."""
    named = [f"{path}::{test}" for path, test in NAMED.findall(page) if test not in collected(path)]
    rows = [*rows_of(page, "Bad inputs"), *rows_of(page, "Failures")]
    untried = [row for row in rows if not any(collected(path).get(test) for path, test in NAMED.findall(row.text))]
    return named + [row.text for row in untried if not WHY.search(row.text)]


def test_every_row_names_tests_that_exist_or_says_why_not():
    assert missing(PAGE.read_text(encoding="utf-8")) == []


def test_every_number_is_there_once():
    page = PAGE.read_text(encoding="utf-8")
    assert [row.number for row in rows_of(page, "Bad inputs")] == list(range(1, 41))
    assert [row.number for row in rows_of(page, "Failures")] == list(range(1, 72))


@pytest.mark.shared
def test_the_page_follows_the_lists(shared):
    page = PAGE.read_text(encoding="utf-8")
    inputs = json.loads((shared / "golden" / "bad_inputs.json").read_text(encoding="utf-8"))["rows"]
    failures = json.loads((shared / "golden" / "failures.json").read_text(encoding="utf-8"))["rows"]
    assert [row.number for row in rows_of(page, "Bad inputs")] == [one["n"] for one in inputs]
    assert [row.name for row in rows_of(page, "Failures")] == [one["id"] for one in failures]
    # A word of the list's source stands in the row, so that no row has slipped by one.
    for row, one in zip(rows_of(page, "Failures"), failures, strict=True):
        words = {word.casefold() for word in re.findall(r"[A-Za-z]{4,}", one["source"] + " " + one["failure"])}
        assert words & {word.casefold() for word in re.findall(r"[A-Za-z]{4,}", row.text)}, row.name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"test_malformed_rows_stay_rows", "test_that_is_gone"),
        (r"tests/hostile/test_bad_inputs\.py", "tests/hostile/test_gone.py"),
        (r"(\| 3 \| Byte.*?\| the same cube \|).*", r"\1 — |"),
        (r"outside the model: cells are drawn", "outside the model"),
        (r"`tests/hostile/test_known_failures\.py::test_reading_and_charging\w+`, ", ""),  # and a slow one is left
    ],
)
def test_a_wrong_page_would_be_noticed(old, new):
    page = PAGE.read_text(encoding="utf-8")
    wrong = re.sub(old, new, page)
    assert wrong != page
    assert missing(wrong)
