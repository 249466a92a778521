"""Maps from GeoJSON (RFC 7946): polygons in degrees, turned into outlines on a small grid.

The projection is equirectangular with true distances at the middle latitude. Every point moves to the nearest point of the
grid, so that neighbouring areas keep a common border; the grid becomes coarser until the outlines are short enough. What is
valid and cannot be drawn is left out with a note. What is not valid is refused.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import cos, radians
from pathlib import Path
from typing import Any

from discreet.domain.about import key_of
from discreet.domain.maps import MOST_OUTLINES, MOST_SHAPES, Map, Shape
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.given_paths import content_of, quote_path, reason, require_path

__all__ = ["read_map"]

_MOST_BYTES = 20_000_000
_MOST_POINTS = 300_000
_SIDE = 1_000
_COARSEST = 100
_MARGIN = 3  # around everything, for areas that are smaller than the grid
_MOST_KEY = 100
_FINEST_COSINE = 0.02  # at the poles

Point = tuple[float, float]
Spot = tuple[int, int]


def read_map(file: str | Path, *, key: str, column: str) -> Map:
    """The map of a GeoJSON file, with simplified outlines.

    Args:
        file: a FeatureCollection with longitudes and latitudes in degrees; of at most 20 MB and 300,000 points.
        key: the property of the features that names their category; "id" may also be their identifier.
        column: the column of the data that has these categories.

    Raises:
        ArgumentError: the file cannot be read, is not such a file, has no shape with the key, or has too many shapes.
    """
    path = require_path(file, "file")
    features = _features(_parse(path), path)
    _check_points(features, path)
    found, notes = _by_key(features, key, path)
    return _draw(found, column, notes, path)


def _parse(path: Path) -> Any:
    try:
        content = content_of(path, _MOST_BYTES + 1)
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"file={quote_path(path)}: cannot be read ({reason(wrong)}); check the path") from None
    if len(content) > _MOST_BYTES:
        raise _wrong(path, f"has more than {_MOST_BYTES // 10**6} MB; simplify its shapes first")
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _wrong(path, "is not valid JSON in UTF-8") from None


def _refuse_constant(_: str) -> float:
    raise ValueError  # NaN and Infinity, which JSON does not have


def _wrong(path: Path, rule: str) -> ArgumentError:
    return ArgumentError(f"file={quote_path(path)}: {rule}")


def _features(tree: Any, path: Path) -> list[Mapping[str, Any]]:
    features = tree.get("features") if isinstance(tree, dict) and tree.get("type") == "FeatureCollection" else None
    if not isinstance(features, list) or not all(isinstance(one, dict) for one in features):
        raise _wrong(path, "is not GeoJSON with a FeatureCollection; export the shapes as GeoJSON (RFC 7946)")
    if len(features) > MOST_SHAPES:
        raise _wrong(path, f"has {len(features)} features; a map may have {MOST_SHAPES}")
    return features


def _check_points(features: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Refuses a file of very many points before any of them is read."""
    points = sum(map(_count_points, features))
    if points > _MOST_POINTS:
        raise _wrong(path, f"has {points:,} points; a map may have {_MOST_POINTS:,}; simplify its shapes first")


def _count_points(feature: Mapping[str, Any]) -> int:
    """The lists of numbers in the coordinates, however deep they are; 0 for what is not a polygon."""
    geometry = feature.get("geometry")
    todo, points = [geometry.get("coordinates") if isinstance(geometry, dict) else None], 0
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            lists = [inner for inner in one if isinstance(inner, list)]
            points += not lists
            todo += lists
    return points


# Features -----------------------------------------------------------------------------------------------------------------


def _by_key(features: Sequence[Mapping[str, Any]], key: str, path: Path) -> tuple[dict[str, list[list[Point]]], list[str]]:
    """The rings of each key, and a note for every kind of feature that is left out or joined."""
    found: dict[str, list[list[Point]]] = {}
    reasons: dict[str, int] = {}
    properties: set[str] = set()
    for place, feature in enumerate(features):
        own = feature.get("properties")
        properties |= {one for one in own if one.isprintable()} if isinstance(own, dict) else set()
        name, rings = _key(feature, key), list(_rings(feature.get("geometry"), place, path))
        why = "have no usable key" if name is None else "have no Polygon or MultiPolygon" if not rings else ""
        if name in found and rings:
            why = "have the key of an earlier feature, and are joined with it"
        if why:
            reasons[why] = reasons.get(why, 0) + 1
        if name is not None and rings:
            found.setdefault(name, []).extend(rings)
    if not found:
        near = did_you_mean(key, properties) if key not in properties else ""
        raise ArgumentError(f"key={printed(key)}: no feature of {quote_path(path)} has this key and a polygon{near}")
    return found, [f"{number} of {len(features)} features {why}" for why, number in reasons.items()]


def _key(feature: Mapping[str, Any], key: str) -> str | None:
    """The key as a plan file writes it; None where there is none, or one that is not a short line of text."""
    properties = feature.get("properties")
    value = properties.get(key) if isinstance(properties, dict) else None
    value = feature.get("id") if value is None and key == "id" else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) >= 2**63):
        return None
    text = key_of(value)
    hidden = any(unicodedata.category(char) in {"Cc", "Cs"} for char in text)
    return None if hidden or not text or len(text) > _MOST_KEY else text


def _rings(geometry: Any, place: int, path: Path) -> Iterator[list[Point]]:
    """The rings of a polygon or of several; none of any other geometry, or where they are empty."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        return
    polygons = geometry.get("coordinates")
    for polygon in _require_list(polygons if kind == "MultiPolygon" else [polygons], place, path):
        for ring in _require_list(polygon, place, path):
            points = [_point(one, place, path) for one in _require_list(ring, place, path)]
            if points:
                yield points


def _require_list(value: Any, place: int, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(path, f"the coordinates of feature {place + 1} do not make a polygon")
    return value


def _point(value: Any, place: int, path: Path) -> Point:
    if isinstance(value, list) and len(value) >= 2:
        x, y = value[0], value[1]
        if type(x) in {int, float} and type(y) in {int, float} and -360 <= x <= 360 and -90 <= y <= 90:
            return x, y
    raise _wrong(
        path,
        f"feature {place + 1} has a position that is not a longitude from -360 to 360 and a latitude from -90 to 90; "
        "export the shapes in degrees (WGS 84)",
    )


# The grid -----------------------------------------------------------------------------------------------------------------


def _draw(found: Mapping[str, list[list[Point]]], column: str, notes: Sequence[str], path: Path) -> Map:
    """The map on the finest grid on which its outlines are short enough."""
    areas, side = _on_grid(found), _SIDE
    outlines = _outlines(areas)
    while sum(len(key) + len(text) for key, text in outlines.items()) > MOST_OUTLINES:
        areas, side = _halve(areas), side // 2
        if side < _COARSEST:
            raise _wrong(path, "has too many shapes, or too many islands, for a map on a page; simplify them first")
        outlines = _outlines(areas)
    spots = [spot for rings in areas.values() for ring in rings for spot in ring]
    width, height = (max(axis) + 2 * _MARGIN for axis in zip(*spots, strict=True))
    return Map(column, width, height, tuple(Shape(*one) for one in sorted(outlines.items())), tuple(notes))


def _on_grid(found: Mapping[str, list[list[Point]]]) -> dict[str, list[list[Spot]]]:
    """Whole numbers from 0 on, the longer side of the map having 1,000; y points down."""
    turn = _turn(x for rings in found.values() for ring in rings for x, _ in ring)
    ys = [y for rings in found.values() for ring in rings for _, y in ring]
    xs = [x + turn * (x < 0) for rings in found.values() for ring in rings for x, _ in ring]
    west, north, shrunk = min(xs), max(ys), max(cos(radians((min(ys) + max(ys)) / 2)), _FINEST_COSINE)
    scale = _SIDE / (max((max(xs) - west) * shrunk, north - min(ys)) or 1)

    def spot(point: Point) -> Spot:
        x, y = point
        return round((x + turn * (x < 0) - west) * shrunk * scale), round((north - y) * scale)

    return {key: [[spot(point) for point in ring] for ring in rings] for key, rings in found.items()}


def _turn(longitudes: Iterator[float]) -> int:
    """360 if western longitudes have to follow the eastern ones, as in a map on both sides of the 180th meridian."""
    every = sorted(set(longitudes))
    gap = max((right - left for left, right in pairwise(every) if left < 0 <= right), default=0)
    return 360 if every[-1] - every[0] > 180 and gap > 360 - (every[-1] - every[0]) else 0


def _halve(areas: Mapping[str, list[list[Spot]]]) -> dict[str, list[list[Spot]]]:
    return {key: [[(x // 2, y // 2) for x, y in _shorter(ring)] for ring in rings] for key, rings in areas.items()}


def _outlines(areas: Mapping[str, list[list[Spot]]]) -> dict[str, str]:
    """The outlines as text. An area that is smaller than the grid is a small square at its place."""
    found = {}
    for key, rings in areas.items():
        kept = [ring for ring in map(_shorter, rings) if len(ring) > 2]
        found[key] = "".join(map(_text, kept or [_square(rings[0][0])]))
    return found


def _shorter(ring: Sequence[Spot]) -> list[Spot]:
    """The ring without repeated points and without points on the straight line between their neighbours."""
    found: list[Spot] = []
    for spot in ring:
        if found and spot == found[-1]:
            continue
        if len(found) > 1 and _is_straight(found[-2], found[-1], spot):
            found.pop()
        if not found or spot != found[-1]:
            found.append(spot)
    return found[:-1] if len(found) > 1 and found[0] == found[-1] else found


def _is_straight(first: Spot, second: Spot, third: Spot) -> bool:
    turn = (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])
    return turn == 0


def _square(spot: Spot) -> list[Spot]:
    x, y = spot
    return [(x - 2, y - 2), (x + 2, y - 2), (x + 2, y + 2), (x - 2, y + 2)]


def _text(ring: Sequence[Spot]) -> str:
    return f"M{' '.join(f'{x + _MARGIN} {y + _MARGIN}' for x, y in ring)}Z"
