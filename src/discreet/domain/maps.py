"""Shapes of groups on a map: outlines in whole numbers on a small grid, each with the key of a category.

They are public, are simplified once when a file is read (`geojson`), and change no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import ArgumentError, printed

__all__ = ["MOST_OUTLINES", "MOST_SHAPES", "Map", "Shape", "map_in"]

MOST_SHAPES = 5_000
MOST_OUTLINES = 200_000
"""The number of characters that all outlines and keys of a map may have: it stands in every document of a release."""

_MOST_KEY = 500
_MOST_SIDE = 9_999
_OUTLINE = re.compile(r"(?:M[0-9]{1,4} [0-9]{1,4}(?: [0-9]{1,4} [0-9]{1,4})+Z)+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shape:
    """An area of a map.

    Args:
        key: of the category, as plan files write it: true, 17, or the text itself.
        outline: its closed rings as a path of SVG in whole numbers, such as "M0 0 10 0 10 10Z"; y points down.

    Raises:
        ArgumentError: it is something else.
    """

    key: str
    outline: str

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or len(self.key) > _MOST_KEY:
            raise ArgumentError(f"key={printed(self.key)}: must be a text of at most {_MOST_KEY} characters")
        if not isinstance(self.outline, str) or not _OUTLINE.fullmatch(self.outline):
            raise ArgumentError("outline: must be rings in whole numbers, such as 'M0 0 10 0 10 10Z'")


@dataclass(frozen=True, slots=True)
class Map:
    """The shapes of the groups of one column. `read_map` makes it from a file.

    Args:
        column: the column of the data whose categories are the keys of the shapes.
        width: of the grid.
        height: of the grid.
        shapes: the areas, each key once.
        notes: what the file has that the map does not show. They are for who writes the plan; documents do not have them.

    Raises:
        ArgumentError: a part is something else, a key stands twice, or the outlines are too long.
    """

    column: str
    width: int
    height: int
    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ArgumentError(f"column={printed(self.column)}: must be the name of a column")
        for name in ("width", "height"):
            side = getattr(self, name)
            if type(side) is not int or not 1 <= side <= _MOST_SIDE:
                raise ArgumentError(f"{name}={printed(side)}: must be a whole number from 1 to {_MOST_SIDE}")
        if not isinstance(self.shapes, tuple) or not all(isinstance(one, Shape) for one in self.shapes):
            raise ArgumentError("shapes: must be a tuple of Shape(…)")
        if not self.shapes or len(self.shapes) > MOST_SHAPES or len({one.key for one in self.shapes}) < len(self.shapes):
            raise ArgumentError(f"shapes: must be 1 to {MOST_SHAPES} shapes, each with a key of its own")
        if sum(len(one.key) + len(one.outline) for one in self.shapes) > MOST_OUTLINES:
            raise ArgumentError(f"shapes: have more than {MOST_OUTLINES} characters; simplify them")

    def to_json(self) -> dict[str, object]:
        """The map as a release document holds it."""
        shapes = {one.key: one.outline for one in self.shapes}
        return {"column": self.column, "width": self.width, "height": self.height, "shapes": shapes}


def map_in(stated: Mapping[str, Any]) -> Map:
    """The map that a document holds.

    Raises:
        ArgumentError, TypeError, AttributeError: discreet has not written it.
    """
    shapes = tuple(Shape(key, outline) for key, outline in stated["shapes"].items())
    return Map(**{**stated, "shapes": shapes})
