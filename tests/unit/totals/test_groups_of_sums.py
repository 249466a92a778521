"""Which exact sums of a magnitude the closed form A10 is for: one sum in one group, and what other groups add to it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.mutants import Mutant

from discreet.errors import PlanError
from discreet.totals import magnitudes
from discreet.totals.components import Split
from discreet.totals.magnitudes import Magnitude, sums_within_groups

ROWS = np.array([4, 3])
GROUPS = Split(np.array([0, 0, 0, 1, 1, 1]), 2, ROWS)
"""Two groups of three cells each, of 4 and 3 rows."""


def summed(*weights: int, value: int) -> Split:
    """A sum with these coefficients of the six cells."""
    kinds = sorted(set(weights))
    return Split(np.array([kinds.index(weight) for weight in weights]), len(kinds), None, tuple(kinds), value)


WITHIN = summed(0, 1, 2, 7, 7, 7, value=24)
"""The values 0, 1, 2 in the first group; each row of the second adds 7, so that 24 - 3·7 = 3 are left for the first."""

IN_BOTH = summed(0, 1, 2, 0, 1, 2, value=5)
AGAIN = summed(0, 0, 1, 3, 3, 3, value=10)
"""The first group once more, where one sum says less than both."""


def test_what_the_rows_of_other_groups_add_is_taken_off_a_sum() -> None:
    assert sums_within_groups([GROUPS, WITHIN], 6, 7) == (
        Magnitude(span=2, full=True, rows=4, total=3),
        Magnitude(span=0, full=True, rows=3, total=0),
    )


def test_a_sum_over_two_groups_has_no_closed_form() -> None:
    assert sums_within_groups([GROUPS, IN_BOTH], 6, 7) is None


@pytest.mark.parametrize("sums", [(WITHIN, AGAIN), (AGAIN, WITHIN)])
def test_two_sums_over_one_group_have_no_closed_form(sums: tuple[Split, Split]) -> None:
    assert sums_within_groups([GROUPS, *sums], 6, 7) is None


PLANTED = {
    "what other groups add": (
        Mutant(magnitudes, "_magnitude", "if number != group)", "if False)"),
        test_what_the_rows_of_other_groups_add_is_taken_off_a_sum,
    ),
    "several groups": (
        Mutant(magnitudes, "sums_within_groups", "if len(varying) != 1 or", "if not varying or"),
        test_a_sum_over_two_groups_has_no_closed_form,
    ),
    "several sums": (
        Mutant(
            magnitudes, "sums_within_groups", "if len(varying) != 1 or of_group[varying[0]] >= 0:", "if len(varying) != 1:"
        ),
        lambda: test_two_sums_over_one_group_have_no_closed_form((WITHIN, AGAIN)),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    error, check = PLANTED[name]
    error.plant(monkeypatch)
    monkeypatch.setitem(globals(), "sums_within_groups", magnitudes.sums_within_groups)
    with pytest.raises((AssertionError, PlanError)):
        check()
