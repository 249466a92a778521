"""Files of shapes: what is drawn of them, what is left out with a note, and what is refused in one sentence."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import pytest

import discreet as dp
from discreet.domain import geojson
from discreet.domain.about import about_in
from discreet.domain.maps import MOST_OUTLINES, Map, Shape

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]


def feature(key: Any, *rings: Any, kind: str = "Polygon", **more: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"code": key},
        "geometry": {"type": kind, "coordinates": list(rings) or [SQUARE]},
        **more,
    }


def moved(ring: Any, x: float, y: float = 0) -> list[list[float]]:
    return [[one + x, other + y] for one, other in ring]


@pytest.fixture
def read(tmp_path):
    """A function that reads features, or the given bytes, as a map."""

    def reading(*features: Any, content: bytes | None = None, key: str = "code") -> Map:
        path = tmp_path / "shapes.geojson"
        tree = {"type": "FeatureCollection", "features": list(features)}
        path.write_bytes(json.dumps(tree).encode() if content is None else content)
        return dp.read_map(path, key=key, column="region")

    return reading


def keys(found: Map) -> list[str]:
    return [shape.key for shape in found.shapes]


def points(outline: str) -> list[tuple[int, int]]:
    numbers = [int(one) for one in re.findall(r"\d+", outline)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


# What is drawn ------------------------------------------------------------------------------------------------------------


def test_a_square_at_the_equator_is_a_square_and_north_is_above(read):
    found = read(feature("low", moved(SQUARE, 0, -10)), feature("high", SQUARE))
    assert keys(found) == ["high", "low"]
    assert (found.width, found.height) == (506, 1006)
    high, low = (points(shape.outline) for shape in found.shapes)
    assert max(y for _, y in high) == min(y for _, y in low)


def test_a_degree_of_longitude_is_as_wide_as_at_the_middle_latitude(read):
    found = read(feature("a", moved(SQUARE, 5, 55)))
    assert (found.width, found.height) == (506, 1006)  # cos 60° = 1/2


def test_common_borders_stay_common(read):
    left = [[0, 0], [3.00001, 1.1], [2.9, 7.77], [3.1, 10], [-5, 10], [0, 0]]
    right = [[3.00001, 1.1], [9, 2], [9, 10], [3.1, 10], [2.9, 7.77], [3.00001, 1.1]]
    one, other = (set(points(shape.outline)) for shape in read(feature("l", left), feature("r", right)).shapes)
    assert len(one & other) == 3


def test_points_on_a_line_and_repeated_points_go(read):
    ring = [[0, 0], [0, 0], [2, 0], [5, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
    (shape,) = read(feature("a", ring)).shapes
    assert len(points(shape.outline)) == 4


def test_holes_islands_and_features_of_one_key_are_rings_of_one_shape(read):
    hole = [[4, 4], [6, 4], [6, 6], [4, 6], [4, 4]]
    islands = feature("a", [SQUARE, hole], [moved(SQUARE, 20)], kind="MultiPolygon")
    found = read(islands, feature("a", moved(SQUARE, 40)))
    assert [shape.outline.count("M") for shape in found.shapes] == [4]
    assert found.notes == ("1 of 2 features have the key of an earlier feature, and are joined with it",)


def test_an_area_smaller_than_the_grid_can_still_be_seen(read):
    small = [[x / 10**6, y / 10**6] for x, y in SQUARE]
    found = read(feature("a"), feature("b", small), feature("c", [[3, 3]]))
    assert all(len(points(shape.outline)) == 4 for shape in found.shapes)
    alone = read(feature("c", [[3, 3]]))
    assert len(points(alone.shapes[0].outline)) == 4


def test_a_map_across_the_180th_meridian_is_not_torn_apart(read):
    found = read(feature("east", moved(SQUARE, 165)), feature("west", moved(SQUARE, -180)))
    assert found.width / found.height == pytest.approx(2.5, abs=0.1)


def test_keys_are_those_of_plan_files(read):
    shown = read(feature(17), feature(2.0), feature(True), feature("e\u0301"), feature("<script>"))
    assert keys(shown) == ["17", "2", "<script>", "true", "é"]
    assert keys(read(feature("x", id="first"), key="id")) == ["first"]


def test_a_million_points_become_a_small_map(read):
    ring = [[k % 1000 / 100, (k * 7919) % 1000 / 100] for k in range(20_000)]
    found = read(*(feature(str(one), [[*moved(ring[one * 3000 : one * 3000 + 3000], one)]][0]) for one in range(6)))
    assert sum(len(shape.outline) for shape in found.shapes) <= MOST_OUTLINES


# What is left out ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, 1.5, ["a"], {}, "", "a\x1b[2J", "\ud800", "x" * 101, 2**70])
def test_a_key_that_no_category_can_have_is_left_out_with_a_note(read, key):
    found = read(feature("a"), feature(key))
    assert (keys(found), found.notes) == (["a"], ("1 of 2 features have no usable key",))


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        "text",
        {},
        {"type": "Point", "coordinates": [1, 2]},
        {"type": "LineString", "coordinates": SQUARE},
        {"type": "GeometryCollection", "geometries": []},
        {"type": ["Polygon"], "coordinates": [SQUARE]},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[]]},
        {"type": "MultiPolygon", "coordinates": [[[]], []]},
    ],
)
def test_what_is_not_an_area_is_left_out_with_a_note(read, geometry):
    found = read(feature("a"), {**feature("b"), "geometry": geometry})
    assert (keys(found), found.notes) == (["a"], ("1 of 2 features have no Polygon or MultiPolygon",))


# What is refused ----------------------------------------------------------------------------------------------------------

NAN = json.dumps({"type": "FeatureCollection", "features": [feature("a", [[float("nan"), 1]])]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"[" * 10_000,
        b"[" * 200_000 + b"]" * 200_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        NAN,
        NAN.replace(b"NaN", b"-Infinity"),
        NAN.replace(b"NaN", b"9" * 5000),
    ],
)
def test_what_is_not_json_is_refused(read, content):
    with pytest.raises(dp.ArgumentError, match=r"^file='.*shapes\.geojson': is not valid JSON in UTF-8$"):
        read(content=content)


@pytest.mark.parametrize("tree", [[], 1, None, {}, {"type": "Topology"}, {"type": "FeatureCollection"}, feature("a")])
def test_what_is_not_a_collection_of_features_is_refused(read, tree):
    with pytest.raises(dp.ArgumentError, match="is not GeoJSON with a FeatureCollection"):
        read(content=json.dumps(tree).encode())
    with pytest.raises(dp.ArgumentError, match="is not GeoJSON with a FeatureCollection"):
        read(tree if isinstance(tree, list) else 1)


@pytest.mark.parametrize("number", [b"1e300", b"1e999", b"-1e999", b"361", b'"1"', b"null", b"true", b"[1]", b"{}"])
def test_positions_that_are_not_degrees_are_refused(read, number):
    with pytest.raises(dp.ArgumentError, match="feature 1 has a position that is not a longitude"):
        read(content=NAN.replace(b"NaN", number))


@pytest.mark.parametrize("coordinates", [None, 1, "text", {}, [1], [["a"]], [[[]]], [[[1]]], [[1, 2]], [[None]]])
def test_coordinates_of_another_depth_are_refused(read, coordinates):
    with pytest.raises(dp.ArgumentError, match=r"feature 1 has a position|the coordinates of feature 1"):
        read({**feature("a"), "geometry": {"type": "Polygon", "coordinates": coordinates}})


def test_a_key_that_no_feature_has_is_refused_with_the_nearest(read):
    with pytest.raises(dp.ArgumentError, match=r"key='kode': no feature .* has this key and a polygon; did you mean 'code'"):
        read(feature("a"), key="kode")
    with pytest.raises(dp.ArgumentError, match="no feature"):
        read()


def test_a_file_that_is_too_large_or_not_there_is_refused(read, tmp_path):
    with pytest.raises(dp.ArgumentError, match="has more than 20 MB"):
        read(content=b" " * 50_000_000)
    with pytest.raises(dp.ArgumentError, match="has 5001 features"):
        read(*[{}] * 5001)
    for path in (tmp_path / "none", tmp_path, "/dev/zero", "x" * 5000):
        with pytest.raises(dp.ArgumentError, match="cannot be read"):
            dp.read_map(path, key="code", column="region")


def test_shapes_that_no_page_can_hold_are_refused(read, monkeypatch):
    monkeypatch.setattr(geojson, "MOST_OUTLINES", MOST_OUTLINES // 10)
    star = [[k % 97 / 10, (k * 61) % 89 / 10] for k in range(60)]
    with pytest.raises(dp.ArgumentError, match="too many shapes"):
        read(*(feature(str(one), moved(star, one % 70, one // 70 - 80)) for one in range(500)))


# The concept --------------------------------------------------------------------------------------------------------------


def test_a_document_holds_a_map_and_gives_it_back():
    shapes = Map("region", 20, 10, (Shape("a", "M0 0 10 0 10 10Z"),), ("a note",))
    about = dp.About(title="t", map=shapes)
    again = about_in(json.loads(json.dumps(about.to_json())))
    assert again.map == shapes
    assert again.map.notes == ()
    assert pickle.loads(pickle.dumps(about)).map == shapes
    assert (about.only(["region"]).map, about.only(["sex"]).map) == (shapes, None)
    assert dp.About().over(about).map == shapes
    assert "map" not in dp.About(title="t").to_json()


@pytest.mark.parametrize(
    "outline", ["", "M0 0Z", "M0 0 1 1", "M0 0 1 1 2 2Z<script>", "M0 0 1 1 -2 2Z", "M0 0 1 1 2Z", "M0 0 1 1 22222 2Z", 5]
)
def test_an_outline_is_a_path_in_whole_numbers(outline):
    with pytest.raises(dp.ArgumentError, match="outline"):
        Shape("a", outline)


def test_a_map_is_checked_part_by_part():
    shape = Shape("a", "M0 0 10 0 10 10Z")
    wrong = [("", 1, 1, (shape,)), ("r", 0, 1, (shape,)), ("r", 1, True, (shape,)), ("r", 1, 1, ()), ("r", 1, 1, [shape])]
    for parts in (*wrong, ("r", 1, 1, (shape, shape)), ("r", 1, 1, (1,))):
        with pytest.raises(dp.ArgumentError):
            Map(*parts)
    with pytest.raises(dp.ArgumentError, match="more than 200000 characters"):
        Map("r", 1, 1, (Shape("a", "M0 0 10 0 10 10Z" * 20_000),))
    with pytest.raises(dp.ArgumentError, match="map="):
        dp.About(map="shapes.geojson")


def test_a_file_of_very_many_points_is_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(geojson, "_MOST_POINTS", 1000)
    ring = [[0.01 * k, 1.0] for k in range(500)] + [[0, 5], [0, 1.0]]
    many = {
        "type": "Feature",
        "properties": {"key": "a"},
        "geometry": {"type": "MultiPolygon", "coordinates": [[ring], [ring]]},
    }
    file = tmp_path / "many.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [many]}))
    monkeypatch.setattr(geojson, "_point", None)
    with pytest.raises(dp.ArgumentError, match="has 1,004 points; a map may have 1,000"):
        dp.read_map(file, key="key", column="g")
