"""Public names that are loaded when they are first used, so that `import discreet` and every command begin at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

__all__ = ["on_demand"]


def on_demand(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package: it imports the module that has a name when the name is first used.

    `homes` has the names of each module, which is called as below the package.

    Type checkers do not follow it: they see imports of the same names below `if TYPE_CHECKING`, and nothing else.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
