"""The planner as one HTML file: no network, one script of a known digest, everything from the plan escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from discreet.exact.figures import name
from discreet.exact.numbers import decimal_up, exact
from discreet.pages.planner.document import Chosen, Planned, planner_document
from discreet.pages.report.files import template, write_page
from discreet.pages.report.words import title_words
from discreet.privacy import Budget, coordinates, from_coordinates
from discreet.privacy.amounts import amount_text
from discreet.quotes.quote import joint_text
from discreet.statistics.base import statistic_json

__all__ = ["render_planner", "write_planner"]

_FOLDER = Path(__file__).parent


def render_planner(chosen: Chosen, planned: Sequence[Planned]) -> str:
    """The page, complete in itself; without scripts it shows the quotes of the plan as it is.

    Raises:
        DiscreetError: a release has no quote.
    """
    document = planner_document(chosen, planned)
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return template(_FOLDER / "planner.html.jinja").render(
        page=_shown(chosen, planned, document),
        data=_data(document),
        script=script,
        script_digest=digest,
    )


def write_planner(chosen: Chosen, planned: Sequence[Planned], path: str | Path) -> Path:
    """Writes the page to `path`, whole or not at all; in a folder it is called planner.html.

    Raises:
        ArgumentError: the file cannot be written.
    """
    return write_page(render_planner(chosen, planned), path, named="planner.html")


@cache
def _script() -> str:
    parts = [(_FOLDER / one).read_text(encoding="utf-8") for one in ("formulas.js", "controls.js")]
    return "\n".join(parts)


def _data(document: dict[str, Any]) -> str:
    """JSON in ASCII without <, > and &: no text in it can end the element that holds it."""
    written = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(chosen: Chosen, planned: Sequence[Planned], document: dict[str, Any]) -> dict[str, Any]:
    """The values that the page shows before its script runs."""
    rows, kind = document["rows"], type(chosen.budget)
    fresh = [coordinates(one.quote.spend) for one in planned if not one.stored]
    asked = tuple(sum(part, Fraction(0)) for part in zip(*fresh, strict=True)) or (Fraction(0),) * len(chosen.remaining)
    remaining = amount_text(from_coordinates(kind, chosen.remaining))
    return {
        **document,
        "dataset": name(chosen.dataset),
        "people": "The number of rows is private." if rows is None else f"The number of rows, {rows:,}, is public.",
        "cost": amount_text(from_coordinates(kind, asked)),
        "left": f" of {remaining}{' that remains' if chosen.frozen else ''}" if chosen.kind == "toml" else "",
        "epsilon": _epsilon(from_coordinates(kind, asked), chosen, " · ") if fresh else "",
        "part": f"{float(min(asked[0] / chosen.remaining[0], 1)) if chosen.remaining[0] else 1:.4f}",
        "remaining": remaining,
        "scene": document["scenes"][document["on"]]["words"],
        "releases": [_release(one, facts, chosen) for one, facts in zip(planned, document["releases"], strict=True)],
        "written": "".join(piece if isinstance(piece, str) else _as_it_was(piece) for piece in chosen.written),
    }


def _release(planned: Planned, facts: dict[str, Any], chosen: Chosen) -> dict[str, Any]:
    quote = planned.quote
    titles = [title_words(statistic_json(line.statistic)) for line in quote.lines]
    statistics = [
        {**one, "error": _error(one["error"]), "words": f"{title}{one['unit'] and ', '}{one['unit']}"}
        for one, title in zip(facts["statistics"], titles, strict=True)
    ]
    stated = [f"{amount_text(spend)}{_epsilon(spend, chosen, '; ')}" for spend in (quote.spend, quote.advertised)]
    return {
        **facts,
        "statistics": statistics,
        "together": joint_text(quote),
        "effective": stated[0],
        "advertised": stated[1],
    }


def _error(error: float | None) -> str:
    if error is None:
        return "± ∞"
    written = exact(error, "error")  # the shortest decimal, which rounding up cannot move by its last bit
    return f"± {Decimal(decimal_up(written, 6 if written.denominator == 1 else 4)):,f}" if error else "exact"


def _epsilon(spend: Budget, chosen: Chosen, start: str = "") -> str:
    """ε at the reported δ, rounded up, where the measure is not stated in ε and δ."""
    if spend.pair is not None:
        return ""
    return f"{start}ε ≤ {decimal_up(spend.epsilon_at(chosen.report_delta), 4)} at δ = {decimal_up(chosen.report_delta)}"


def _as_it_was(slot: dict[str, Any]) -> str:
    if slot["slot"] != "invariants":
        return str(slot["was"])
    lists: dict[str, list[str]] = {}
    for word, value, _ in slot["entries"]:
        lists.setdefault(word, []).append(value)
    lines = [f"{word} = [{', '.join(values)}]\n" for word, values in lists.items()]
    return f"\n[invariants]\n{''.join(lines)}"
