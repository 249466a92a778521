"""A plan as a TOML file: read, written, and where it is wrong.

* `columns`: The `[columns]` section of a plan file: the schema
* `invariants`: The `[invariants]` section of a plan file: what is published exactly
* `read`: A plan file (TOML) and what it means
* `statistics`: A statistic in a plan file: the word alone, or a table with the word, what it is about, and further keys
* `tree`: A TOML file as a tree of values that know where they stand, so that every error can name file, line and key
* `write`: Values as TOML text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.planfile.read import PlanFile, load_plan

__all__ = ["PlanFile", "load_plan"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"read": __all__})  # loaded when they are first used
