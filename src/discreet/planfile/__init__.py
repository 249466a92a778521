"""A plan as a TOML file: read, written, and where it is wrong.

* `columns`: The `[columns]` section of a plan file: the schema
* `invariants`: The `[invariants]` section of a plan file: what is published exactly
* `read`: A plan file (TOML) and what it means
* `statistics`: A statistic in a plan file: the word alone, or a table with the word, what it is about, and further keys
* `tree`: A TOML file as a tree of values that know where they stand, so that every error can name file, line and key
* `write`: Values as TOML text
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.planfile.read import PlanFile, load_plan

__all__ = ["PlanFile", "load_plan"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The names that 0.1.0 had here, loaded when they are first used."""
        if name in __all__:
            return getattr(import_module("discreet.planfile.read"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
