"""The frames that a release document holds, and what their files are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.exact import exact

if TYPE_CHECKING:
    import polars as pl

__all__ = ["all_frames", "frame_of", "named_files"]


def all_frames(document: Mapping[str, Any], table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All frames of the document by name, the main one, which is given, first."""
    frames = {"table": table}
    frames |= {frame["name"]: frame_of(frame["columns"]) for frame in document.get("frames", [])}
    schema = document["plan"]["schema"]
    for part in (document["invariants"] or {"totals": {"parts": []}})["totals"]["parts"]:
        name = "_".join([part["part"], *(_file_name(column) for column in part["columns"])])
        times = sum(other == name or other.startswith(f"{name}.") for other in frames)
        frames[f"{name}.{times + 1}" if times else name] = _totals_frame(part, schema)
    if not all(isinstance(name, str) for name in frames):
        raise TypeError
    return frames


def frame_of(columns: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns of the document as a frame."""
    import polars as pl

    types = {"text": pl.String, "integer": pl.Int64, "boolean": pl.Boolean, "real": pl.Float64}
    return pl.DataFrame([pl.Series(one["name"], one["values"], dtype=types[one["kind"]]) for one in columns])


def _totals_frame(part: Mapping[str, Any], schema: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The frame of one part of the exact totals, of types that follow from the schema."""
    import polars as pl

    if part["part"] == "linear":
        return pl.DataFrame({"name": list(part["values"]), "value": list(part["values"].values())})
    value = "count" if part["part"] == "totals" else "occupied"
    while value in part["columns"]:
        value += "_exact"
    texts = {one["name"] for one in schema if one["type"] == "number" and not _is_whole(one)}
    cells = list(zip(*part["cells"], strict=True)) or [()] * (len(part["columns"]) + 1)
    columns = []
    for name, values in zip(part["columns"], cells, strict=False):
        shown = [None if one is None else str(one) for one in values] if name in texts else list(values)
        columns.append(pl.Series(name, shown))
    return pl.DataFrame([*columns, pl.Series(value, list(cells[-1]), dtype=pl.Int64)])


def _is_whole(column: Mapping[str, Any]) -> bool:
    """Whether a numeric column holds whole numbers only, which totals show as such; other grids show texts."""
    return all(exact(column[end], end).denominator == 1 for end in ("lower", "step"))


def named_files(frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The frames by the names of their files, which stay in their folder whatever a frame is called."""
    files: dict[str, pl.DataFrame] = {}
    for name, frame in frames.items():
        short, times = _file_name(name), 1
        while (short if times == 1 else f"{short}_{times}").casefold() in map(str.casefold, files):
            times += 1
        files[short if times == 1 else f"{short}_{times}"] = frame
    return files


def _file_name(column: str) -> str:
    """The name of a column where it can stand in the name of a file."""
    return "".join(char if char.isalnum() or char in "-_" else "_" for char in column)[:60]
