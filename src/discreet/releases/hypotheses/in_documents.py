"""Tests in the document of a release: made once, with the release, and adjusted for each other.

A test is a function of what is published, so it costs nothing. What is recorded is made once: draws cannot be repeated until
a p-value is small, and no test is left out because it found nothing. Names and columns are tried before anything is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import canonical, seal
from discreet.plan.plan import Plan
from discreet.plan.sizes import is_large
from discreet.releases.derived.in_documents import outline
from discreet.releases.document import Release
from discreet.releases.hypotheses.requests import Hypothesis
from discreet.releases.hypotheses.result import Tested
from discreet.releases.hypotheses.several import holm

__all__ = ["check_test_names", "check_tests", "with_tests"]

_LONGEST = 200
_NOT_MADE = "could not be made"


def with_tests(release: Release, asked: Sequence[Hypothesis]) -> Release:
    """The release with its tests in its document, adjusted for as many as were made (T11 of docs/proofs/tests.md)."""
    if not asked:
        return release
    found = [_made(one, release) for one in asked]
    together = iter(holm(*made) if (made := [one for one in found if isinstance(one, Tested)]) else ())
    body = {key: value for key, value in release.document.items() if key != "digest"}
    body["tests"] = [
        {"name": one.name, "test": one.kind, **(_facts(next(together)) if isinstance(each, Tested) else {"failed": each})}
        for one, each in zip(asked, found, strict=True)
    ]
    return Release(seal(body).encode("ascii"))


def _made(asked: Hypothesis, release: Release) -> Tested | str:
    """The test, or why it could not be made."""
    try:
        found = asked.tried_on(release)
        canonical(found.facts())  # what cannot be written is refused here, and not with the whole document
    except ArgumentError as refused:
        return str(refused)
    except Exception:  # noqa: BLE001 (the release is charged and drawn: no test of it may take it away)
        return _NOT_MADE
    return found


def _facts(found: Tested) -> dict[str, Any]:
    """What the document says of a test; it has no digest yet."""
    facts = found.facts()
    return {**facts, "source": {key: value for key, value in facts["source"].items() if key != "digest"}}


def check_tests(asked: Sequence[Hypothesis], request: Plan, own: tuple[str, str]) -> None:
    """Checks that a release can have these tests, as far as that can be known before it: their names, columns and labels.

    Args:
        asked: the tests.
        request: of the release.
        own: the data set, and the name of the release.

    Raises:
        ArgumentError: one cannot be made. What exact totals change is not known yet, and found when it is made.
    """
    check_test_names(asked)
    if not asked:
        return
    if is_large(request.layout):
        raise ArgumentError(f"release={printed(own[1])}: is too large to be tested; test one with fewer groups")
    made = outline(own, request)
    for one in asked:
        one.tried_on(made)


def check_test_names(asked: Sequence[Hypothesis]) -> None:
    """Raises ArgumentError for a name that is not printable text, and for two tests of one release with one name."""
    names = [one.name for one in asked]
    for name in names:
        if not name or not name.isprintable() or len(name) > _LONGEST:
            raise ArgumentError(f"name={printed(name)}: must be printable text of 1 to {_LONGEST} characters")
        if names.count(name) > 1:
            raise ArgumentError(f"name={printed(name)}: two tests of one release have the same name; give each its own")
