"""What is asked: the table with its steps, the request, its layout of scans and its sizes.

* `layout`: Which cubes the engine brings for a request: their keys, their sums, and how many there are
* `plan`: A plan: schema, neighbours, steps and one request
* `sizes`: How large a release and its cubes may be
* `table`: The table as a program sees it: immutable, without rows
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

__all__ = ["Plan"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The names that 0.1.0 had here, loaded when they are first used."""
        if name in __all__:
            return getattr(import_module("discreet.plan.plan"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
