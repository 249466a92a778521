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
from discreet.pages.planner.document import Chosen, Limit, Planned, planner_document
from discreet.pages.report.files import template, write_page
from discreet.pages.report.words import title_words
from discreet.pages.words import Words, words_in
from discreet.plan.recorded import shown_statistic
from discreet.privacy import Budget, coordinates, from_coordinates
from discreet.privacy.amounts import amount_text
from discreet.quotes.quote import Quote

__all__ = ["render_planner", "write_planner"]

_FOLDER = Path(__file__).parent
_MOST_OPEN = 3
"""Pages of more releases show the details of each only when somebody opens them."""
_MOST_SHORT = 4
_LARGE = 10
"""From this ε on the page warns: a probability can grow by a factor of 22,000. controls.js has the same number."""


def render_planner(chosen: Chosen, planned: Sequence[Planned], *, language: str = "en") -> str:
    """The page, complete in itself; without scripts it shows the quotes of the plan as it is.

    Args:
        chosen: what the releases share.
        planned: the releases.
        language: of the page.

    Raises:
        DiscreetError: a release has no quote, or there are no words in that language.
    """
    words = words_in(language, demanded=True)
    document = _in_language(planner_document(chosen, planned), words)
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return template(_FOLDER / "planner.html.jinja").render(
        t=words,
        page=_fill_in(chosen, planned, document, words),
        data=_data({**document, "locale": words.language, "words": words.table("planner.js.")}),
        script=script,
        script_digest=digest,
    )


def write_planner(chosen: Chosen, planned: Sequence[Planned], path: str | Path, *, language: str = "en") -> Path:
    """Writes the page to `path`, whole or not at all; in a folder it is called planner.html.

    Raises:
        ArgumentError: the file cannot be written.
    """
    return write_page(render_planner(chosen, planned, language=language), path, named="planner.html")


@cache
def _script() -> str:
    parts = [(_FOLDER / one).read_text(encoding="utf-8") for one in ("formulas.js", "chart.js", "controls.js")]
    return "\n".join(parts)


def _data(document: dict[str, Any]) -> str:
    """JSON in ASCII without <, > and &: no text in it can end the element that holds it."""
    written = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _in_language(document: dict[str, Any], words: Words) -> dict[str, Any]:
    """The document with the sentences of the library in the language."""
    scenes = {on: {key: text and words.said(text) for key, text in one.items()} for on, one in document["scenes"].items()}
    releases = [_release_in(one, words) for one in document["releases"]]
    return {**document, "scenes": scenes, "releases": releases}


def _release_in(release: dict[str, Any], words: Words) -> dict[str, Any]:
    resize = release["resize"]
    told = resize and {**resize, "words": [[words.said(text) for text in row] for row in resize["words"]]}
    curves = [{**one, "refused": words.said(one["refused"])} if "refused" in one else one for one in release["curves"]]
    statistics = [{**one, "unit": words.said(one["unit"])} for one in release["statistics"]]
    return {**release, "resize": told, "curves": curves, "statistics": statistics}


def _fill_in(chosen: Chosen, planned: Sequence[Planned], document: dict[str, Any], words: Words) -> dict[str, Any]:
    """The values that the page shows before its script runs."""
    rows, kind = document["rows"], type(chosen.budget)
    fresh = [coordinates(one.quote.spend) for one in planned if not one.stored]
    asked = tuple(sum(part, Fraction(0)) for part in zip(*fresh, strict=True)) or (Fraction(0),) * len(chosen.remaining)
    total, remaining = from_coordinates(kind, asked), words.figures(amount_text(from_coordinates(kind, chosen.remaining)))
    of = words("planner.js.of_rest" if chosen.frozen else "planner.js.of", budget=remaining)
    return {
        **document,
        "dataset": name(chosen.dataset),
        "people": words("planner.private") if rows is None else words("planner.public", rows=words.number(rows)),
        "cost": words.figures(amount_text(total)),
        "left": f" {of}" if chosen.kind == "toml" else "",
        "epsilon": _epsilon(total, chosen, " · ", words) if fresh else "",
        "large": words("planner.js.large") if fresh and _is_large(total, chosen) else "",
        "part": f"{float(min(asked[0] / chosen.remaining[0], 1)) if chosen.remaining[0] else 1:.4f}",
        "remaining": remaining,
        "limits": [_limit(one, chosen, planned, words) for one in chosen.limits],
        "open": len(fresh),
        "folded": len(planned) > _MOST_OPEN,
        "scene": document["scenes"][document["on"]]["words"],
        "releases": [
            {**_release(one, facts, chosen, words), "whole": whole}
            for one, facts, whole in zip(planned, document["releases"], _wholes(document), strict=True)
        ],
        "written": "".join(piece if isinstance(piece, str) else _as_it_was(piece) for piece in chosen.written),
    }


def _limit(limit: Limit, chosen: Chosen, planned: Sequence[Planned], words: Words) -> dict[str, str]:
    """A further budget: what it is of, and what the releases take of what it has left."""
    charged = [coordinates(planned[place].quote.spend) for place in limit.releases if not planned[place].stored]
    asked = tuple(sum(part, Fraction(0)) for part in zip(*charged, strict=True)) or (Fraction(0),) * len(limit.left)
    total, left = (words.figures(amount_text(from_coordinates(type(chosen.budget), one))) for one in (asked, limit.left))
    shown = f"{total} {words('planner.js.of_rest', budget=left)}"
    return {"words": words(f"planner.limit_{limit.kind}", name=limit.name), "shown": shown}


def _wholes(document: dict[str, Any]) -> list[Any]:
    """For each release the facts of its whole errors, or None."""
    return document.get("whole") or [None] * len(document["releases"])


def _release(planned: Planned, facts: dict[str, Any], chosen: Chosen, words: Words) -> dict[str, Any]:
    quote, size = planned.quote, facts["size"]
    titles = [title_words(shown_statistic(quote.plan, line.statistic)) for line in quote.lines]
    statistics = [
        {
            **one,
            "error": _error(one["errors"][size], words),
            "words": ", ".join(filter(None, [words.said(title), one["unit"]])),
        }
        for one, title in zip(facts["statistics"], titles, strict=True)
    ]
    stated = [
        f"{words.figures(amount_text(spend))}{_epsilon(spend, chosen, '; ', words)}"
        for spend in (quote.spend, quote.advertised)
    ]
    rows = [words.number(one.rows) for one in quote.sizes]
    units = [f" ({one['unit']})" if one["unit"] else "" for one in statistics]
    shown = [f"{one['name']} {one['error']}{unit}" for one, unit in zip(statistics, units, strict=True)]
    short = " · ".join(shown[:_MOST_SHORT])
    return {
        **facts,
        "statistics": statistics,
        "more": words.many("planner.more", len(statistics) - _MOST_SHORT) if len(statistics) > _MOST_SHORT else "",
        "what": _what(quote, facts, words),
        "rows": rows,
        "short": words("planner.js.short", errors=short, rows=rows[size]),
        "together": words("planner.together") if quote.plan.intervals == "simultaneous" else "",
        "effective": stated[0],
        "advertised": stated[1],
    }


def _what(quote: Quote, facts: dict[str, Any], words: Words) -> str:
    """The groups that are planned, their number, and how many rows a typical one has, if that is public."""
    groups = facts["groups"]
    by = " × ".join(facts["by"])
    some = words("planner.found", by=by) if quote.plan.keys is not None else words.many("planner.groups", groups, by=by)
    of = some if facts["by"] else words("planner.whole")
    if facts["expected"]:
        return f"{of} {words('planner.expected')}"
    if len(quote.sizes) > 1:
        return f"{of} {words('planner.unknown')}"
    return f"{of} {words.many('planner.typical', quote.sizes[0].rows)}" if facts["by"] else of


def _error(error: float | None, words: Words) -> str:
    if error is None:
        return "± ∞"
    written = exact(error, "error")  # the shortest decimal, which rounding up cannot move by its last bit
    shown = f"± {Decimal(decimal_up(written, 6 if written.denominator == 1 else 4)):,f}"
    return words.figures(shown) if error else words("planner.js.exact")


def _epsilon(spend: Budget, chosen: Chosen, start: str, words: Words) -> str:
    """ε at the reported δ, rounded up, where the measure is not stated in ε and δ."""
    if spend.pair is not None:
        return ""
    at = spend.reported_at(chosen.report_delta)
    epsilon, delta = decimal_up(spend.epsilon_at(at), 4), decimal_up(at)
    return start + words("planner.js.at_delta", epsilon=words.figures(epsilon), delta=words.figures(delta))


def _is_large(spend: Budget, chosen: Chosen) -> bool:
    """True if the guarantee says little by itself."""
    at = spend.reported_at(chosen.report_delta)
    return (spend.epsilon_at(at) if spend.pair is None else float(spend.pair[0])) > _LARGE


def _as_it_was(slot: dict[str, Any]) -> str:
    if slot["slot"] != "invariants":
        return str(slot["was"])
    lists: dict[str, list[str]] = {}
    for word, value, _ in slot["entries"]:
        lists.setdefault(word, []).append(value)
    lines = [f"{word} = [{', '.join(values)}]\n" for word, values in lists.items()]
    return f"\n[invariants]\n{''.join(lines)}"
