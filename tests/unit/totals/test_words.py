from __future__ import annotations

import pytest

from discreet.totals.adjacency import SemiAdjacency
from discreet.totals.words import compared_tables, comparison_words


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
