"""Notes on derived numbers that a reader has to know, in the words of documents; pages have them by their keys."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["NOTES", "OTHERWISE", "RANDOM"]

OTHERWISE = (
    "The two releases declare or prepare their columns, groups or conditions differently: the change is also one of what is "
    "counted."
)
RANDOM = "Rows were imputed or sampled: the intervals speak of the prepared tables, which differ from release to release."

NOTES: Mapping[str, str] = {OTHERWISE: "otherwise", RANDOM: "random"}
"""Each note with its key."""
