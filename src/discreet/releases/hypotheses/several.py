"""Several tests together: p-values adjusted so that any of them is wrong with at most the level (Holm 1979)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.errors import ArgumentError, printed
from discreet.releases.hypotheses.result import Tested

__all__ = ["holm"]


def holm(*tests: Tested) -> tuple[Tested, ...]:
    """The same tests, each of which knows how many there are, with p-values that are adjusted for all of them.

    If any hypothesis that is true is rejected where its adjusted p-value is at most α, that has probability at most α,
    however the tests depend on each other (theorem T11 of docs/proofs/tests.md; Holm 1979). The p-values themselves stay.

    Args:
        tests: all tests that were made, those without a finding among them; each as it was made.

    Raises:
        ArgumentError: none, or something that is not a test.
    """
    for one in tests:
        if not isinstance(one, Tested):
            raise ArgumentError(f"holm({printed(one)}): must be results of tests, such as dp.test_independence(release)")
    if not tests:
        raise ArgumentError("holm(): needs all tests that were made, one or more")
    found: dict[int, Fraction] = {}
    least = Fraction(0)
    for rank, place in enumerate(sorted(range(len(tests)), key=lambda one: tests[one].p_value)):
        least = max(least, min(Fraction(1), (len(tests) - rank) * tests[place].p_value))
        found[place] = least
    return tuple(replace(one, tests=len(tests), adjusted=found[place]) for place, one in enumerate(tests))
