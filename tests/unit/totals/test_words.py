from __future__ import annotations

import pytest

import discreet as dp
from discreet.totals.adjacency import SemiAdjacency
from discreet.totals.words import compared_tables, comparison_words, published_words


def test_the_compared_tables_differ_in_at_most_a_rows():
    assert compared_tables(1) == "tables with the same totals that differ in at most a = 1 row"
    assert compared_tables(1200) == "tables with the same totals that differ in at most a = 1,200 rows"


@pytest.mark.parametrize(
    ("exact", "published", "bound"), [(True, True, ""), (True, False, "at most "), (False, True, "at most ")]
)
def test_only_an_attained_number_of_published_totals_is_no_bound(exact, published, bound):
    words = comparison_words(SemiAdjacency(2, exact, "the totals of one partition"), published=published)
    assert words == (
        f"the guarantee compares tables with the same totals that differ in {bound}a = 2 rows (the totals of one partition)"
    )


@pytest.mark.parametrize(
    ("invariants", "words"),
    [
        (dp.Margins(["state"], ["sex"]), "totals of state, sex"),
        (dp.Totals("state") + dp.Totals("state", "sex"), "totals of state, sex"),
        (
            dp.Totals("gender") + dp.Sums("age", dp.Schema(age=dp.Number(0, 9), gender=dp.Category(["f"])), by="gender"),
            "totals of gender and sums of age by gender",
        ),
        (dp.Sums("age", dp.Schema(age=dp.Number(0, 9))), "sums of age"),
        (dp.Totals("a") + dp.Occupied("a", "b"), "totals of a, b"),
        (dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}), "totals of a"),
        (dp.Impossible("a", "b", cells=[("x", "y")]), "totals of a, b"),
    ],
)
def test_sums_are_said_as_sums(invariants, words):
    assert published_words(invariants.parts) == words
