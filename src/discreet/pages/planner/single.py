"""The planner for one quote of a program, which has no plan file: it writes the changed calls instead."""

from __future__ import annotations

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, text
from discreet.pages.planner.document import Chosen, Planned, Scene, Written
from discreet.pages.planner.page import render_planner
from discreet.plan.plan import resize_of
from discreet.privacy import coordinates
from discreet.privacy.amounts import report_delta_of
from discreet.privacy.coordinates import parameters
from discreet.quotes.quote import Quote

__all__ = ["quote_html"]


def quote_html(
    quote: Quote, *, dataset: str = "", name: str = "release", report_delta: Amount = "1e-9", language: str = "en"
) -> str:
    """The planner of one quote as an HTML page, complete in itself. The spend is not compared with a budget.

    Args:
        quote: what `Session.quote` gives.
        dataset: the name of the data set.
        name: the name of the release.
        report_delta: the δ at which ε is stated under ZCDP and GDP.
        language: of the page.

    Raises:
        ArgumentError: `quote` is not a quote, `report_delta` is not a valid δ, or there are no words in the language.
    """
    if not isinstance(quote, Quote):
        raise ArgumentError(f"quote={type(quote).__name__}: must be a Quote; make one with session.quote(…)")
    columns = () if quote.beside is None else (", ".join(quote.beside.invariants.columns),)
    scenes = [Scene("1" * len(columns), quote.beside)]
    if columns and quote.beside is not None and quote.beside.totals is None:
        scenes.append(Scene("0", None))
    chosen = Chosen(
        dataset=dataset,
        neighbours=quote.plan.neighbours,
        budget=quote.spend,
        remaining=coordinates(quote.spend),
        frozen=len(scenes) == 1 and bool(columns),
        report_delta=report_delta_of(report_delta),
        totals=columns,
        scenes=tuple(scenes),
        kind="python",
        written=_calls(quote),
    )
    return render_planner(chosen, [Planned(name, quote)], language=language)


def _calls(quote: Quote) -> tuple[Written, ...]:
    """The calls to write in the program: the spend, and the resize where there is one."""
    resize, resized = resize_of(quote.plan), list[Written]()
    if resize is not None:
        now = f'{resize.rows}, proportion="{text(resize.proportion)}"'
        resized = ["table = table.resize(", {"slot": "resize", "release": 0, "was": now}, ")\n"]
    spend = [f'"{text(amount)}"' for _, amount in parameters(quote.spend)]
    amounts = ", ".join(spend)
    now = f"spend={amounts if len(spend) == 1 else f'({amounts})'}"
    return (*resized, "session.release(request, ", {"slot": "spend", "release": 0, "was": now}, ", name=…)\n")
