"""The only orchestrator: orders, exact totals first, reserve, run, commit.

* `folders`: Where the files of large releases go: checked before anything is spent, put in their place after the
  commit
* `in_use`: What several threads work with and one of them closes: it is closed by the last who works with it
* `loading`: What a session works with, imported before another thread can fork in the middle of it
* `orders`: What a spend means: an amount of the budget's measure, always for the original data; and an order that
  names one
* `session`: The only orchestrator: quote → reserve → aggregate → resample → noise → estimate → commit
* `totals`: Exact totals on their way from the source to the ledger, and from the ledger to releases
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.session.orders import Order
    from discreet.session.session import Session

__all__ = ["Order", "Session"]

_HOME = MappingProxyType({"Order": "orders", "Session": "session"})

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The names that 0.1.0 had here, loaded when they are first used."""
        if name in _HOME:
            return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
