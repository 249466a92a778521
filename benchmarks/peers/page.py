"""What was measured, as the tables and plots of docs/peers.md. The words around the tables are the page's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

COLOURS = {
    "plain query": "#777777",
    "discreet": "#1b4f72",
    "discreet, session open": "#5d9cc5",
    "opendp": "#c0392b",
    "smartnoise-sql": "#27825a",
    "diffprivlib": "#b7791f",
    "pipeline-dp": "#7d3c98",
    "pipeline-dp, bounds enforced": "#b07cc6",
    "tmlt-analytics": "#0e7c86",
    "tmlt-analytics, as it comes": "#73bac1",
}
OURS = ("plain query", "discreet")
MILLION = 1_000_000
SIZES = tuple(size * MILLION for size in (1, 3, 10, 30, 100))
HEAD = "| | seconds | × discreet | processor s | peak memory | source ready | error of a count | of a sum | of a mean |"
BOUND = 1.25
"""Of the processor time of a release over that of the plain query, whatever the type of the column is."""
SPARK_BOUND = 1.4
"""The same on Spark, from a path and from a DataFrame."""
BUSY = 0.1
"""If others kept so many cores busy during a measurement, or more, the page says so."""

Record = Mapping[str, Any]


def written(docs: Path, results: Record) -> None:
    """The page and its plots hold what was measured."""
    path = docs / "peers.md"
    path.write_text(rendered(path.read_text(encoding="utf-8"), results), encoding="utf-8")
    for name, text in plots(results).items():
        (docs / name).write_text(text, encoding="utf-8")


def rendered(page: str, results: Record) -> str:
    """The page with everything between its pairs of marks renewed.

    Raises:
        ValueError: a pair of marks is missing.
    """
    parts = {"tables": _tables, "growth": _growth, "types": _types, "types_spark": _types_spark}
    for name, part in {**parts, "circumstances": _circumstances}.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"the page needs one pair of marks for {name}")
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{part(results)}\n{end}{rest.split(end)[1]}"
    return page


def plots(results: Record) -> dict[str, str]:
    """The plots by the names of their files."""
    return {"peers-growth.svg": _growth_plot(results), "peers-cost.svg": _cost_plot(results)}


def record(results: Record, library: str, rows: int) -> Record | None:
    """What is known of a library at a size."""
    found: Record | None = results["measurements"].get(f"{library} | {rows}")
    return found


def _done(results: Record, library: str, rows: int) -> Record | None:
    found = record(results, library, rows)
    return None if found is None or "ended" in found else found


def _tables(results: Record) -> str:
    parts = []
    for rows in (MILLION, 10 * MILLION, 100 * MILLION):
        lines = [_line(results, name, rows) for name in COLOURS if record(results, name, rows) is not None]
        if lines:
            parts.append("\n".join([f"**{rows // MILLION} million rows**", "", HEAD, "|---" * 9 + "|", *lines]))
    return "\n\n".join(parts)


def _line(results: Record, library: str, rows: int) -> str:
    found, ours = record(results, library, rows), _done(results, "discreet", rows)
    if found is None or "ended" in found:
        ended = "not measured" if found is None else f"{found['ended']} ({found['stage']})"
        return f"| {library} | {ended} |" + " – |" * 7
    ratio = "–" if ours is None else _short(found["seconds"] / ours["seconds"])
    cells = [_short(found["seconds"]), ratio, _short(found["processor"]), _bytes(found["peak"]), _ready(found["ready"])]
    noise = found["errors"]
    private = library != "plain query"
    cells += [_short(noise[name]) if private else "0" for name in ("count", "sum", "mean")]
    name = f"**{library}**" if library == "discreet" else library
    return f"| {name} | {' | '.join(cells)} |"


def _growth(results: Record) -> str:
    lines = ["| rows | plain query | discreet | ratio | peak memory of discreet |", "|---" * 5 + "|"]
    for rows in SIZES:
        plain, ours = (_done(results, name, rows) for name in OURS)
        if plain is not None and ours is not None:
            ratio = ours["seconds"] / plain["seconds"]
            shown = [f"{plain['seconds']:.3f} s", f"{ours['seconds']:.3f} s", f"{ratio:.2f}", _bytes(ours["peak"])]
            lines.append(f"| {rows // MILLION} million | {' | '.join(shown)} |")
    fits = [_fit_in_words(results, name) for name in OURS]
    return "\n".join([*lines, "", *(words for words in fits if words)])


def _types(results: Record) -> str:
    """A line for each type of column: the plain query, the release and their ratio, without nulls and with them."""
    measured: Record = results["types"]
    found = {(one["name"], one["nulls"]): one for one in measured["columns"]}
    lines = [
        "| column | plain query | release | ratio | with nulls: plain | release | ratio | peak memory |",
        "|---" * 8 + "|",
    ]
    for name in dict.fromkeys(name for name, _ in found):
        cells = [cell for nulls in (False, True) for cell in _type_cells(found[name, nulls])]
        peak = max(found[name, nulls]["peak_mib"] for nulls in (False, True)) * 2**20
        lines.append(f"| {name} | {' | '.join(cells)} | {_bytes(peak)} |")
    worst = max(found.values(), key=lambda one: one["ratio"])
    shown = f"{worst['name']}{', with nulls' * worst['nulls']}"
    within = sum(one["ratio"] <= BOUND for one in found.values())
    words = f"{within} of {len(found)} ratios are at most {BOUND}; the largest is {worst['ratio']:.2f} ({shown})."
    return "\n".join([*lines, "", f"{words} {measured['rows'] // MILLION} million rows, {measured['day']}."])


def _types_spark(results: Record) -> str:
    """A line for each type of column: the plain query on Spark, and the ratios of a release from a path and a DataFrame."""
    measured: Record = results["types_spark"]
    found = {(one["name"], one["nulls"]): one for one in measured["columns"]}
    lines = [
        "| column | plain query | path | DataFrame | with nulls: plain | path | DataFrame |",
        "|---" * 7 + "|",
    ]
    for name in dict.fromkeys(name for name, _ in found):
        cells = [cell for nulls in (False, True) for cell in _spark_cells(found[name, nulls])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    ratios = {
        f"{name}{', with nulls' * nulls}, from a {'path' if side == 'path' else 'DataFrame'}": one[f"{side}_ratio"]
        for (name, nulls), one in found.items()
        for side in ("path", "frame")
    }
    worst = max(ratios, key=lambda name: ratios[name])
    within = sum(ratio <= SPARK_BOUND for ratio in ratios.values())
    words = f"{within} of {len(ratios)} ratios are at most {SPARK_BOUND}; the largest is {ratios[worst]:.2f} ({worst})."
    return "\n".join([*lines, "", f"{words} {measured['rows'] // MILLION} million rows, {measured['day']}."])


def _spark_cells(one: Record) -> list[str]:
    return [f"{one['plain']:.3f} s", f"{one['path_ratio']:.2f}", f"{one['frame_ratio']:.2f}"]


def _type_cells(one: Record) -> list[str]:
    return [f"{one['plain']:.3f} s", f"{one['release']:.3f} s", f"{one['ratio']:.2f}"]


def _fit_in_words(results: Record, library: str) -> str:
    points = _points(results, library)
    if len(points) < 3:
        return ""
    fixed, slope = _fit(points)
    largest = max(abs(seconds / (fixed + slope * rows) - 1) for rows, seconds in points)
    return (
        f"{library.capitalize() if library != 'discreet' else library}: {fixed:.3f} s and {slope * MILLION:.4f} s for each "
        f"million rows; no measurement is further than {100 * largest:.0f} % from that line."
    )


def _fit(points: Iterable[tuple[int, float]]) -> tuple[float, float]:
    """Seconds at no rows, and seconds a row, of the line with the least squares of relative deviations."""
    # Weights 1/seconds²: a deviation of a percent is the same at every size.
    sums = [0.0] * 5
    for rows, seconds in points:
        weight = 1 / seconds**2
        for place, term in enumerate((1, rows, rows * rows, seconds, rows * seconds)):
            sums[place] += weight * term
    one, x, xx, y, xy = sums
    slope = (one * xy - x * y) / (one * xx - x * x)
    return (y - slope * x) / one, slope


def _points(results: Record, library: str) -> list[tuple[int, float]]:
    found = ((rows, _done(results, library, rows)) for rows in SIZES)
    return [(rows, one["seconds"]) for rows, one in found if one is not None]


def _circumstances(results: Record) -> str:
    machine, known = results["machine"], results["measurements"].values()
    versions = {name: text for one in known for name, text in one.get("versions", {}).items()}
    days = sorted({one["day"] for one in known if "day" in one})
    busiest = max((one.get("others", 0) for one in known), default=0)
    load = "Nothing else ran meanwhile."
    if busiest >= BUSY:
        load = f"**Others kept up to {busiest:.1f} cores busy meanwhile, so the figures are preliminary.**"
    listed = ", ".join(f"{name} {text}" for name, text in sorted(versions.items()))
    return "\n".join(
        [
            f"* **Machine**: {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB of memory, {machine['system']},",
            f"  Python {machine['python']}. {load}",
            f"* **Measured** {' to '.join(sorted({days[0], days[-1]}))} with {listed}.",
        ]
    )


def _short(value: float) -> str:
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:.3g}"


def _bytes(value: float) -> str:
    return f"{value / 1e9:.2f} GB"


def _ready(seconds: float) -> str:
    return "–" if seconds < 0.1 else f"{_short(seconds)} s"


def _cost_plot(results: Record) -> str:
    """Time, processor time and memory of every library at a million rows, on logarithmic axes."""
    panels: tuple[tuple[str, str, float], ...] = (
        ("seconds", "seconds", 1.0),
        ("processor seconds", "processor", 1.0),
        ("peak memory, GB", "peak", 1e9),
    )
    shown = [name for name in COLOURS if _done(results, name, MILLION)]
    left, width, gap, step, top = 200, 190, 48, 24, 48
    height = top + step * len(shown) + 36
    body = ['<text x="8" y="18" font-weight="bold">1 million rows, one core</text>']
    for row, name in enumerate(shown):
        body.append(f'<text x="{left - 12}" y="{top + step * row + 16}" text-anchor="end">{escape(name)}</text>')
    for place, (title, key, unit) in enumerate(panels):
        x = left + place * (width + gap)
        values = [_of(results, name, MILLION)[key] / unit for name in shown]
        low, high = _decades(values)
        across = _scale(low, high, x, x + width)
        body.append(f'<text x="{x}" y="{top - 12}">{title}</text>')
        body += _ticks(low, high, across, top - 4, top + step * len(shown))
        for row, (name, value) in enumerate(zip(shown, values, strict=True)):
            y, colour = top + step * row + 6, COLOURS[name]
            body.append(f'<line x1="{x}" x2="{across(value):.1f}" y1="{y + 6}" y2="{y + 6}" stroke="{colour}"/>')
            body.append(f'<circle cx="{across(value):.1f}" cy="{y + 6}" r="5" fill="{colour}"/>')
            body.append(f'<text x="{across(value) + 8:.1f}" y="{y + 10}" font-size="11">{_short(value)}</text>')
    return _svg("Time, processor time and memory at a million rows", left + 3 * width + 2 * gap + 50, height, body)


def _growth_plot(results: Record) -> str:
    """Seconds against rows, both logarithmic, every library; and the straight lines of discreet and of the plain query."""
    left, right, top, bottom, legend = 70, 520, 40, 360, 560
    drawn = {name: points for name in COLOURS if (points := _points(results, name))}
    low, high = _decades([seconds for points in drawn.values() for _, seconds in points])
    across, down = _scale(6, 8, left, right), _scale(low, high, bottom, top)
    body = ['<text x="8" y="18" font-weight="bold">Seconds of a release, one core</text>']
    for decade in range(low, high + 1):
        y = down(10.0**decade)
        body.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ccc"/>')
        body.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g} s</text>')
    for rows in SIZES:
        x = across(rows)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="#eee"/>')
        body.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{rows // MILLION} M</text>')
    body.append(f'<text x="{(left + right) / 2:.0f}" y="{bottom + 36}" text-anchor="middle">rows</text>')
    for place, (name, points) in enumerate(drawn.items()):
        colour = COLOURS[name]
        places = [(across(rows), down(seconds)) for rows, seconds in points]
        for (x1, y1), (x2, y2) in pairwise(places):
            body.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="2"/>'
            )
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
        y = top + 12 + 20 * place
        body.append(f'<circle cx="{legend}" cy="{y}" r="4" fill="{colour}"/>')
        body.append(f'<text x="{legend + 10}" y="{y + 4}">{escape(name)}</text>')
    return _svg("Seconds against rows for every library", 760, bottom + 50, body)


def _of(results: Record, library: str, rows: int) -> Record:
    found = _done(results, library, rows)
    if found is None:
        raise KeyError(library)
    return found


def _decades(values: list[float]) -> tuple[int, int]:
    """The powers of ten around the values, with room below the least."""
    return floor(log10(min(values)) - 0.1), ceil(log10(max(values)))


def _scale(low: int | float, high: int | float, begin: float, end: float) -> Callable[[float], float]:
    """From a value to its place on a logarithmic axis between two powers of ten."""
    return lambda value: begin + (end - begin) * (log10(value) - low) / (high - low)


def _ticks(low: int, high: int, across: Callable[[float], float], top: float, bottom: float) -> list[str]:
    found = []
    for decade in range(low, high + 1):
        x = across(10.0**decade)
        found.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="#ccc"/>')
        found.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" font-size="11">{10.0**decade:g}</text>')
    return found


def _svg(title: str, width: int, height: int, body: list[str]) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    # A ground of its own: legible on light and on dark pages.
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" role="img">\n'
        f'<title>{escape(title)}</title>\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
