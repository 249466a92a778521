"""`discreet explain`: the chain from one person's data to the noise of each release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet.cli.output import Answer
from discreet.cli.planning import quote_all, review
from discreet.errors import ArgumentError, did_you_mean
from discreet.pages.explain import explain
from discreet.planfile.read import load_plan
from discreet.privacy.amounts import amount_text

__all__ = ["explain_plan"]


def explain_plan(
    path: Path, release: str | None, given: Mapping[str, str] | None = None, *, without_source: bool = False
) -> Answer:
    """The releases of a plan, or the one that is named, explained.

    Raises:
        ArgumentError: `release` is not the name of a release of the plan.
        DiscreetError: as `discreet quote`.
    """
    plan = load_plan(path, given)
    names = [order.name for order in plan.orders]
    if release is not None and release not in names:
        raise ArgumentError(f"--release={release}: no release of {path.name} has that name{did_you_mean(release, names)}")
    seen = review(plan, without_source=without_source)
    quotes, _ = quote_all(seen)
    lines: list[str] = []
    facts = []
    for name, quote in quotes.items():
        if release in {None, name}:
            told = explain(quote, dataset=plan.dataset, report_delta=plan.report_delta)
            lines += [f"{name} ({amount_text(quote.spend)})", *(f"  {line}" for line in str(told).splitlines()), ""]
            words = [{"title": part.title, "lines": list(part.lines)} for part in told.parts]
            facts.append({"name": name, **told.facts, "parts": words})
    read = (
        "Nothing was read. Nothing was spent."
        if seen.remarks
        else "Nothing was read but the header of the source. Nothing was spent."
    )
    return Answer([*lines, read, *seen.remarks], {"releases": facts, **({"notes": [*seen.remarks]} if seen.remarks else {})})
