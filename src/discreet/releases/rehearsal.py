"""The release of a quote as its document would be if the table had no rows and the noise were 0.

All that a reader learns from the document besides the numbers is as it will be: the laws of the noise, the widths of the
intervals, the exact totals and what adds up to them. So whatever a reader could not do with the release is found before it
is charged.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import empty_cube
from discreet.cube.queries import Query, join_public, scan_of
from discreet.noise.bits import system_bits
from discreet.quotes.quote import LEVEL, Quote
from discreet.releases.document import Release
from discreet.releases.publish import write_down

__all__ = ["rehearse"]


def rehearse(quote: Quote, own: tuple[str, str], report_delta: Fraction) -> Release:
    """The document of a small release of the quote, with 0 for every noisy answer.

    Args:
        quote: of a table of rows that are not drawn; where there are exact totals, they are published.
        own: the data set, and the name of the release.
        report_delta: the δ at which ε is stated.
    """
    answers: dict[Query, NDArray[Any]] = {}
    for one in quote.measured:
        nothing = join_public(one.query, _answer_without_rows(quote, one.query), answers)
        # Codes that are chosen have no 0: any will do, and without rows they are chosen at random.
        chosen = one.law.rank_error(LEVEL) is not None
        answers[one.asked] = one.law.apply(nothing, system_bits()) if chosen else nothing
    content: Mapping[str, Any] = {"name": own[1], "dataset": own[0]}
    return write_down(quote, [*answers.values()], report_delta, content)


def _answer_without_rows(quote: Quote, query: Query) -> NDArray[Any]:
    """The exact answer of a table without rows."""
    parts = quote.plan.layout.scans
    part = parts[scan_of(query, parts)]
    cube = empty_cube(len(part.axes), [moment.path.high - moment.path.low for moment in part.moments])
    return query.answer(cube, part, np.zeros(0, dtype=np.int64), quote.plan.facts)
