"""Every value of a release document is replaced by another, one after the other: the report is made, or refused in words.

The fuzzing of test_fuzz.py reaches such documents by chance. Here none is left out, so a word that a registry does not know
(a measure, a relation, a noise) cannot be taken for a fault of the library, which would end the command with another status.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.pages.report import render
from discreet.pages.report.drawing import Artist

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_targets import inside, release_seeds, with_digest

NO_PICTURES = Artist(None)
FIRST = 2  # members of a list that are replaced; the others are read like them


def changed(value: Any, odd: Any) -> Iterator[Any]:
    """Copies of a document in which one value is `odd`, also inside a text that holds a document of its own."""
    for one, holder, key in list(inside(value)):
        if isinstance(key, int) and key >= FIRST:
            continue
        inner = [json.dumps(other) for other in changed(nested(one), odd)]
        for other in (odd, *inner):
            holder[key] = other
            yield copy.deepcopy(value)
        holder[key] = one


def nested(text: Any) -> Any:
    """The document that a text holds, or an empty one."""
    return json.loads(text) if isinstance(text, str) and text.startswith("{") else {}


@pytest.fixture(scope="module")
def documents() -> list[Any]:
    return [json.loads(seed) for seed in release_seeds()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "odd"),
    [
        pytest.param(1, "", id="totals, empty text"),
        pytest.param(0, {}, id="no totals, empty object", marks=pytest.mark.slow),
    ],
)
def test_a_document_with_any_other_value_is_shown_or_refused(documents: list[Any], kind: int, odd: Any) -> None:
    tried, refused = 0, 0
    for document in changed(documents[kind], odd):
        payload = with_digest(json.dumps(document).encode())
        assert payload is not None
        tried += 1
        try:
            page = render(dp.Release(payload), NO_PICTURES)
        except dp.ArgumentError:
            refused += 1
        else:
            assert page.startswith("<!doctype html>")
    assert tried > 150
    assert 0 < refused < tried
