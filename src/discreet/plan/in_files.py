"""Statistics whose tables have too many numbers for a document: they are written to files, area by area."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.domain.steps import TableFacts
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.base import Statistic, groupings_of
from discreet.statistics.count_tables import cells_of_tables

__all__ = ["MOST_WHOLE_CELLS", "areas_in_files"]

MOST_WHOLE_CELLS = 250_000
"""The document of a release holds a table of at most this many rows. A release with more rows is large: its table is
written to files next to the document. So are the tables of a statistic of areas with more numbers."""


def areas_in_files(statistics: Iterable[Statistic], facts: TableFacts) -> Statistic | None:
    """The first statistic of areas whose tables are written to files; None where there is none."""
    areas = (one for one in statistics if isinstance(one.kind, AgreeingAreas))
    return next((one for one in areas if cells_of_tables(groupings_of(one), facts) > MOST_WHOLE_CELLS), None)
