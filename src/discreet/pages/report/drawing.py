"""Vega-Lite charts as pictures inside a page, drawn by vl-convert (extra `plot`) in a separate process.

A picture is an SVG within an `img`: nothing in it can run, and it follows the light or dark scheme of its reader. Names are
data of a chart, never part of its code.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = [
    "Artist",
    "Chart",
    "begin_drawing",
    "can_draw",
    "histogram_chart",
    "multiples_chart",
    "profile_chart",
    "quantile_chart",
]

Points = Sequence[Mapping[str, Any]]
Chart = dict[str, Any]

_INK, _QUIET, _LINE, _BAR, _WHISKER, _ALERT = "#1b1f24", "#57606a", "#d3d9e0", "#a9cdf0", "#10416f", "#a8480a"
_DARK = MappingProxyType(
    {_INK: "#e4e8ec", _QUIET: "#a3adb8", _LINE: "#39424c", _BAR: "#2c5f92", _WHISKER: "#d6e9fb", _ALERT: "#f0a860"}
)
"""The same colours on dark paper, as on the page."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_CONFIG: Mapping[str, Any] = MappingProxyType(
    {
        "background": None,
        "padding": {"left": 24, "top": 5, "right": 12, "bottom": 5},  # a reader's font may be wider than the measured one
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": _QUIET, "titleColor": _QUIET, "domainColor": _LINE, "tickColor": _LINE, "gridColor": _LINE,
            "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 160, "labelSeparation": 6,
        },
        "header": {"labelColor": _INK, "titleColor": _QUIET, "labelFontSize": 12, "labelLimit": 220},
        "legend": {"labelColor": _INK, "title": None, "labelFontSize": 12, "orient": "top", "labelLimit": 400},
    }
)  # fmt: skip
_PATIENCE = 120  # seconds; a page is drawn in one or two
_ACROSS = 3  # small charts in a row


def profile_chart(points: Points, stated: Points) -> Chart:
    """δ as a function of ε on a logarithmic scale, one line for each `kind` of guarantee; dots where ε is stated.

    Args:
        points: `epsilon`, `delta` greater than 0, and `kind`.
        stated: the same.
    """
    kinds = list(dict.fromkeys(point["kind"] for point in points))
    colour = {"field": "kind", "type": "nominal", "scale": {"domain": kinds, "range": [_WHISKER, _ALERT][: len(kinds)]}}
    legend = {**colour, "legend": {} if len(kinds) > 1 else None}
    place = {
        "x": {"field": "epsilon", "type": "quantitative", "title": "ε"},
        "y": {"field": "delta", "type": "quantitative", "title": "δ", "scale": {"type": "log"}, "axis": {"format": ".0e"}},
        "color": legend,
    }
    line = {"data": {"values": list(points)}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": place}
    dots = {"data": {"values": list(stated)}, "mark": {"type": "point", "filled": True, "size": 70}, "encoding": place}
    return {"width": 520, "height": 220, "layer": [line, dots]}


def histogram_chart(points: Points, *, title: str, rows: str) -> Chart:
    """A bar for each `bin` with a line over its interval, one small chart for each `group`.

    Args:
        points: `bin`, `value`, `low`, `high` and `group`, in the order of the bins.
        title: of the bins; several small charts have no room for it below their slanted labels.
        rows: the title of their counts.
    """
    several = len({point["group"] for point in points}) > 1
    x = {"field": "bin", "type": "nominal", "sort": None, "title": None if several else title, "axis": {"labelAngle": -45}}
    bars = {
        "mark": {"type": "bar", "color": _BAR},
        "encoding": {"x": x, "y": {"field": "value", "type": "quantitative", "title": rows}},
    }
    ends = {
        "mark": {"type": "rule", "color": _WHISKER, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": {"field": "low", "type": "quantitative", "title": rows}, "y2": {"field": "high"}},
    }
    return _by_group({"width": 200 if several else 520, "height": 160 if several else 220, "layer": [bars, ends]}, points)


def multiples_chart(points: Points) -> Chart:
    """A bar for each `bin` from left to right with a line over its interval, one small chart for each `group`.

    Args:
        points: `bin`, `value`, `low`, `high` and `group`.
    """
    y = {"field": "bin", "type": "nominal", "sort": None, "title": None}
    x = {"type": "quantitative", "title": None, "axis": {"tickCount": 4}}
    bars = {"mark": {"type": "bar", "color": _BAR}, "encoding": {"y": y, "x": {**x, "field": "value"}}}
    ends = {
        "mark": {"type": "rule", "color": _WHISKER, "strokeWidth": 1.5},
        "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    return _by_group({"width": 150, "height": {"step": 18}, "layer": [bars, ends]}, points)


def quantile_chart(points: Points, *, title: str, share: str) -> Chart:
    """The value of each quantile over its share of the rows, with its interval, one small chart for each `group`.

    Args:
        points: `share` in per cent, `value`, `low`, `high` and `group`.
        title: of the values.
        share: the title of their shares.
    """
    several = len({point["group"] for point in points}) > 1
    x = {"field": "share", "type": "quantitative", "title": share, "scale": {"domain": [0, 100]}}
    y = {"field": "value", "type": "quantitative", "title": title, "scale": {"zero": False}}
    line = {"mark": {"type": "line", "point": {"color": _WHISKER}, "color": _WHISKER}, "encoding": {"x": x, "y": y}}
    ends = {
        "mark": {"type": "rule", "color": _BAR, "strokeWidth": 4},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    return _by_group({"width": 200 if several else 520, "height": 160 if several else 220, "layer": [ends, line]}, points)


def _by_group(chart: Chart, points: Points) -> Chart:
    data = {"data": {"values": list(points)}}
    if len({point["group"] for point in points}) == 1:
        return {**chart, **data}
    order = list(dict.fromkeys(point["group"] for point in points))
    facet = {"field": "group", "type": "nominal", "sort": order, "title": None}
    return {**data, "facet": facet, "columns": _ACROSS, "spec": chart}


def can_draw() -> bool:
    """True if vl-convert is installed."""
    return find_spec("vl_convert") is not None


class Artist:
    """A process that draws charts, one picture after the other, for as long as it lives."""

    def __init__(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process

    def sources(self, charts: Sequence[Chart]) -> list[str]:
        """The charts as sources of an `img`, `data:image/svg+xml;base64,…`; none where they cannot be drawn.

        This process goes on whatever happens to the process that draws: releases were already charged and written.
        """
        if not charts or self._process is None:
            return []
        asked = json.dumps([{**chart, "config": {**_CONFIG, **chart.get("config", {})}} for chart in charts]).encode("ascii")
        try:
            drawn = json.loads(_wait_for_answer(self._process, asked))
        except (OSError, RuntimeError, ValueError):  # a RuntimeError where the system has no thread left
            return []
        return [_source(svg) for svg in drawn]


def _wait_for_answer(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """The line that the process answers; empty if it ends, or has to be ended because it takes too long."""
    if process.stdin is None or process.stdout is None:
        return b""
    late = threading.Timer(_PATIENCE, process.kill)
    late.daemon = True
    late.start()
    try:
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    finally:
        late.cancel()


@contextmanager
def begin_drawing() -> Iterator[Artist]:
    """A process that draws. It begins to load its modules, which takes half a second, and has ended afterwards."""
    process = _begin()
    try:
        yield Artist(process)
    finally:
        if process is not None:
            process.kill()
            with suppress(OSError), process:
                pass  # its pipes are closed, and it is waited for


def _begin() -> subprocess.Popen[bytes] | None:
    if not sys.executable or not can_draw():
        return None
    command = [sys.executable, "-P", str(Path(__file__).with_name("_vega.py"))]
    try:
        return subprocess.Popen(  # noqa: S603 (a constant command; names are data on stdin)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _source(drawn: str) -> str:
    start = drawn.index(">") + 1
    svg = f"{drawn[:start]}<style>{_dark_style()}</style>{drawn[start:]}"
    return f"data:image/svg+xml;base64,{b64encode(svg.encode('utf-8')).decode('ascii')}"


def _dark_style() -> str:
    rules = [f'[{part}="{light}"]{{{part}:{dark}}}' for light, dark in _DARK.items() for part in ("fill", "stroke")]
    return f"@media (prefers-color-scheme: dark){{{''.join(rules)}}}"
