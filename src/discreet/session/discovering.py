"""A release whose groups nobody listed: the source is kept, its groups are found, and the request is answered for them.

The source is read once, before the first random bit. What was found, and nothing else of the texts, leaves the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from discreet.errors import InternalError
from discreet.noise.bits import Bits

if TYPE_CHECKING:
    from discreet.cube.cube import Cube
    from discreet.engines.base import Engine
    from discreet.quotes.quote import Quote

__all__ = ["Answered", "answer_found"]

Answered = tuple["Quote", Iterator["Cube"], Callable[[], Bits]]
"""The quote of the request with its groups, their cube, and what gives random bits, which are announced already."""


def answer_found(engine: Engine, quoted: Quote, draw: Callable[[], Bits]) -> Answered:
    """The request with the groups that were found, within the stages of its quote.

    Args:
        engine: the source.
        quoted: what was reserved.
        draw: announces that something random is about to happen; it is called once, when the source was read.

    Raises:
        InternalError: the request looks for no groups.
    """
    from discreet.engines.texts import keys_kept
    from discreet.quotes.allocate import quote
    from discreet.quotes.keys import stages_of_plan
    from discreet.releases.keys import find_keys, places_of

    plan, stages = quoted.plan.asked(), stages_of_plan(quoted.plan, quoted.spend)
    if plan.keys is None or plan.layout.keys is None or stages is None:
        raise InternalError("no groups are looked for")
    with keys_kept(engine, plan.layout.keys) as table:
        bits = draw()
        whole = plan.with_found(find_keys(table, plan.keys, stages.rounds, bits, plan.most_found))
        if whole.layout.persons is None:
            raise InternalError("persons are not added up")
        cube = table.totals(places_of(whole), whole.layout.persons)
    return quote(whole, quoted.spend, expect=quoted.expect), iter([cube]), lambda: bits
