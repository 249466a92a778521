"""Tests in the document of a release: made once, with the release, and adjusted for each other.

A test is a function of what is published, so it costs nothing. What is recorded is made once: draws cannot be repeated until
a p-value is small, and no test is left out because it found nothing. Names and columns are tried before anything is spent,
and so is everything else that follows from the quote: the laws of its noise, and beside exact totals what these say.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import canonical, seal
from discreet.plan.plan import Plan
from discreet.plan.sizes import is_large
from discreet.releases.derived.in_documents import outline
from discreet.releases.document import Release
from discreet.releases.hypotheses.requests import Hypothesis
from discreet.releases.hypotheses.result import Tested
from discreet.releases.hypotheses.several import holm
from discreet.releases.rehearsal import rehearse

if TYPE_CHECKING:
    from discreet.quotes.quote import Quote

__all__ = ["check_test_names", "check_tests", "check_tests_of_quote", "with_tests"]

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
        ArgumentError: one cannot be made. What exact totals change is not known yet: `check_tests_of_quote` finds it.
    """
    check_test_names(asked)
    if not asked:
        return
    if is_large(request):
        raise ArgumentError(f"release={printed(own[1])}: is too large to be tested; test one with fewer groups")
    made = outline(own, request)
    for one in asked:
        one.tried_on(made)


def check_tests_of_quote(asked: Sequence[Hypothesis], quote: Quote, own: tuple[str, str], report_delta: Fraction) -> None:
    """Checks that a release of a quote can have these tests: with its noise, and beside the totals that are published.

    They are made on a release of 0 everywhere that has all else as the document will have it. Whether a test can be made
    hangs on that, and not on the numbers.

    Args:
        asked: the tests, which `check_tests` has let pass.
        quote: of the release; where there are exact totals, they are published.
        own: the data set, and the name of the release.
        report_delta: the δ at which ε is stated.

    Raises:
        ArgumentError: one cannot be made; it is named.
    """
    if not asked:
        return
    made = rehearse(quote, own, report_delta)
    for one in asked:
        try:
            one.tried_on(made)
        except ArgumentError as refused:
            raise ArgumentError(f"test {printed(one.name)}: {refused}") from None


def check_test_names(asked: Sequence[Hypothesis]) -> None:
    """Raises ArgumentError for a name that is not printable text, and for two tests of one release with one name."""
    names = [one.name for one in asked]
    for name in names:
        if not name or not name.isprintable() or len(name) > _LONGEST:
            raise ArgumentError(f"name={printed(name)}: must be printable text of 1 to {_LONGEST} characters")
        if names.count(name) > 1:
            raise ArgumentError(f"name={printed(name)}: two tests of one release have the same name; give each its own")
