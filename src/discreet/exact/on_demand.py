"""Public names that are loaded when they are first used, so that `import discreet` and every command begin at once.

Threads take turns to load. Two that begin at different ends of what modules and packages need of each other would wait
for each other, which Python ends in `_DeadlockError`, or with half a module for one of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType

__all__ = ["on_demand", "turn_to_load"]


class _Turn:
    """The thread that loads. It may load again from within."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Nobody loads: in a child the threads of the parent, which may have done so, are not there."""
        self.lock = threading.RLock()


_TURN = _Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_TURN.begin_anew)


def turn_to_load(module: str) -> ModuleType:
    """The module, which no other thread that asks here loads in part meanwhile.

    What is executed while a module loads must not ask here: it could wait for a thread that waits for that module.
    """
    with _TURN.lock:
        return import_module(module)


def on_demand(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package: it imports the module that has a name when the name is first used.

    `homes` has the names of each module, which is called as below the package.

    Type checkers do not follow it: they see imports of the same names below `if TYPE_CHECKING`, and nothing else.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(turn_to_load(f"{package}.{home[name]}"), name)

    return find
