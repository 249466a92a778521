"""The answers of the libraries turned into errors, a table and a plot of docs/accuracy.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from pathlib import Path

import numpy as np
from asked import EDGES, QUARTILES, Data, Task, groups, load, tasks
from numpy.typing import NDArray

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
MEASURES = {"epsilon": "ε = 1", "rho": "ρ = 1/2"}
COLOURS = ("#1b4f72", "#c0392b", "#27825a", "#b7791f", "#7d3c98")
TIE = 2.0
"""Two means of errors are said to differ when they do by so many standard errors of their difference."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Errors:
    """Means over the releases, each with its standard error, of the mean and of the largest absolute error of a cell."""

    mean: float
    mean_se: float
    largest: float
    largest_se: float
    releases: int


@dataclass(frozen=True, slots=True)
class Line:
    """A statistic, and for each library its errors or the reason why there are none."""

    title: str
    measure: str
    public_rows: bool
    by_library: dict[str, Errors | str]


def lines(data: Data, build: Path, libraries: Sequence[str]) -> list[Line]:
    answers = {name: _kept(build / f"{data.name}.{name}.answers") for name in libraries}
    found = []
    for task in tasks():
        low, high = truth(task, data)
        for title, part in _parts(task, data, len(low)):
            by_library: dict[str, Errors | str] = {}
            for name, kept in answers.items():
                given = kept.get("skipped", kept.get(task.key, "not run"))
                by_library[name] = (
                    given if isinstance(given, str) else errors(np.array(given)[:, part], low[part], high[part])
                )
            found.append(Line(title, task.measure, task.public_rows, by_library))
    return found


def truth(task: Task, data: Data) -> tuple[Floats, Floats]:
    """The least and the greatest right answer of every cell: they differ only for a quantile between two values."""
    if task.kind == "histogram":
        counts, _ = np.histogram(data.columns[task.column], bins=EDGES)
        return _same(counts)
    if task.kind == "margins":
        return _same([len(one) for pair in data.pairs for one in groups(data, task.column, pair).values()])
    cells = [np.sort(one) for one in groups(data, task.column, [] if task.public_rows else [data.by]).values()]
    if task.kind in ("median", "quartiles"):
        ends = [_quantile(one, q) for one in cells for q in (QUARTILES if task.kind == "quartiles" else (0.5,))]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])
    if task.kind == "together":
        return _same([call(one) for call in (len, np.sum, np.mean) for one in cells])
    call = {"count": len, "sum": np.sum, "mean": np.mean, "variance": np.var}[task.kind]
    return _same([call(one) for one in cells])


def errors(given: Floats, low: Floats, high: Floats) -> Errors:
    """The absolute errors of releases, shape (releases, cells); an answer that is no number counts as 0."""
    distance = np.maximum(np.maximum(low - (given := np.nan_to_num(given, posinf=0, neginf=0)), given - high), 0)
    mean, largest = distance.mean(axis=1), distance.max(axis=1)
    root = np.sqrt(len(given))
    return Errors(mean.mean(), mean.std(ddof=1) / root, largest.mean(), largest.std(ddof=1) / root, len(given))


def written(docs: Path, build: Path, libraries: Sequence[str]) -> None:
    """The page and its plot hold what the kept answers say."""
    parts = []
    for path in sorted(build.glob("*.csv")):
        data = load(path)
        found = lines(data, build, libraries)
        parts += [_table(data, found, libraries, measure, public=public) for public in (False, True) for measure in MEASURES]
        (docs / f"accuracy-{data.name}.svg").write_text(plot(data, found, libraries), encoding="utf-8")
    page = docs / "accuracy.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n" + "\n\n".join(parts) + f"\n{END}{rest.split(END)[1]}", encoding="utf-8")


def _kept(path: Path) -> dict[str, object]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _same(values: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    exact = np.array(values, dtype=float)
    return exact, exact


def _quantile(ordered: NDArray[np.int64], q: float) -> tuple[float, float]:
    rank = q * len(ordered)
    return float(ordered[max(ceil(rank), 1) - 1]), float(ordered[min(floor(rank), len(ordered) - 1)])


def _parts(task: Task, data: Data, cells: int) -> list[tuple[str, slice]]:
    """The lines of a task: the three statistics that are asked together have one each."""
    titles = {"count": "count by group", "histogram": "histogram of age", "margins": f"{len(data.pairs)} two-way margins"}
    if task.kind == "together":
        width = cells // 3
        names = ("count", "sum of income", "mean of income")
        return [(f"together: {name}", slice(place * width, (place + 1) * width)) for place, name in enumerate(names)]
    return [(titles.get(task.kind, f"{task.kind} of {task.column}"), slice(None))]


def _best(line: Line) -> set[str]:
    """The libraries with the least mean error, and those that cannot be told from it."""
    known = {name: one for name, one in line.by_library.items() if isinstance(one, Errors)}
    if not known:
        return set()
    least = min(known.values(), key=lambda one: one.mean)
    return {name for name, one in known.items() if one.mean - least.mean <= TIE * np.hypot(one.mean_se, least.mean_se)}


def _table(data: Data, found: Sequence[Line], libraries: Sequence[str], measure: str, *, public: bool) -> str:
    chosen = [line for line in found if line.measure == measure and line.public_rows == public]
    shown = [name for name in libraries if any(isinstance(line.by_library[name], Errors) for line in chosen)]
    relation = (
        "one row replaced, number of rows public, whole table" if public else f"one row added or removed, by {data.by}"
    )
    rows = [
        f"**{data.name}, {MEASURES[measure]}, {relation}**",
        "",
        f"| | {' | '.join(shown)} |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for line in chosen:
        best = _best(line)
        unit, named = (1e6, ", in millions") if _size(line) >= 1e6 else (1.0, "")
        cells = (_cell(line.by_library[name], unit, bold=name in best) for name in shown)
        rows.append(f"| {line.title}{named} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _size(line: Line) -> float:
    return max((one.mean for one in line.by_library.values() if isinstance(one, Errors)), default=0)


def _cell(one: Errors | str, unit: float, *, bold: bool) -> str:
    if isinstance(one, str):
        return f"– ({one})"
    mean = f"{_short(one.mean / unit, 3)} ± {_short(one.mean_se / unit, 1)}"
    return f"{f'**{mean}**' if bold else mean}; {_short(one.largest / unit, 3)} ± {_short(one.largest_se / unit, 1)}"


def _short(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def plot(data: Data, found: Sequence[Line], libraries: Sequence[str]) -> str:
    """An SVG: the mean error of each peer over that of discreet, on a logarithmic axis, with two standard errors."""
    chosen = [line for line in found if isinstance(line.by_library["discreet"], Errors)]
    peers = [name for name in libraries if name != "discreet"]
    left, width, step, top = 250, 460, 20, 56
    height = top + step * len(chosen) + 40

    def across(ratio: float) -> float:
        return left + width * (log10(min(max(ratio, 0.05), 20)) - log10(0.05)) / log10(400)

    body = [
        f'<text x="{left}" y="16" font-weight="bold">{escape(data.name)}: mean absolute error over that of discreet</text>'
    ]
    for place, name in enumerate(peers):
        x = left + 115 * place
        body.append(f'<circle cx="{x + 5}" cy="32" r="4" fill="{COLOURS[place]}"/><text x="{x + 14}" y="36">{name}</text>')
    for ratio in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        x = across(ratio)
        body.append(
            f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{top - 8}" y2="{height - 32}" stroke="#{"333" if ratio == 1 else "ccc"}"/>'
        )
        body.append(f'<text x="{x:.0f}" y="{height - 16}" text-anchor="middle">{ratio:g}</text>')
    for row, line in enumerate(chosen):
        y = top + step * row + step / 2
        note = ", n public" if line.public_rows else ""
        body.append(f'<text x="8" y="{y + 4:.0f}">{escape(line.title)}, {MEASURES[line.measure]}{note}</text>')
        own = line.by_library["discreet"]
        for place, name in enumerate(peers):
            one = line.by_library[name]
            if isinstance(one, Errors) and isinstance(own, Errors) and own.mean > 0:
                ratio, wide = one.mean / own.mean, 2 * np.hypot(one.mean_se, one.mean / own.mean * own.mean_se) / own.mean
                low, high, colour = across(ratio - wide), across(ratio + wide), COLOURS[place]
                body.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.0f}" y2="{y:.0f}" stroke="{colour}"/>')
                body.append(f'<circle cx="{across(ratio):.1f}" cy="{y:.0f}" r="4" fill="{colour}"/>')
    size = f'viewBox="0 0 {left + width + 30} {height}" width="{left + width + 30}" height="{height}"'
    style = 'font-family="sans-serif" font-size="12"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )
