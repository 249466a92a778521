"""Where modules of 0.1.0 are now, for programs that import them by their old names and for pickles, which hold these.

Only the names that 0.1.0 documents, and those that pickles of plans and releases hold. New names belong into a room.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    Loader = MetaPathFinder = object  # their module loads a large part of the library, and they do nothing

__all__ = ["MOVED", "keep_old_names"]

MOVED = MappingProxyType(
    {
        "discreet.allocate": "discreet.quotes.allocate",
        "discreet.evaluate": "discreet.releases.evaluate",
        "discreet.release": "discreet.releases.document",
        "discreet.table": "discreet.plan.table",
        "discreet.report": "discreet.pages.report",
        "discreet.planner": "discreet.pages.planner",
        "discreet.engines.conformance": "discreet.audit.engines.conformance",
        "discreet.privacy.compose": "discreet.privacy.calculus.compose",
        "discreet.privacy.calibrate": "discreet.privacy.calculus.calibrate",
        "discreet.privacy.profile": "discreet.privacy.calculus.profile",
        "discreet.schema": "discreet.domain.schema",
        "discreet.neighbours": "discreet.domain.neighbours",
        "discreet.groups": "discreet.domain.groups",
        "discreet.laws": "discreet.domain.imputation",
        "discreet.steps": "discreet.domain.steps",
        "discreet.spend": "discreet.session.orders",
    }
)
"""Old names and new ones."""


def keep_old_names() -> None:
    """An import of an old name gives the module of the new one: the same object, so that its classes are the same."""
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.append(_Finder())


class _Finder(MetaPathFinder):
    """Asked last, when there is no file of that name."""

    def find_spec(self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, _Moved()) if fullname in MOVED else None


class _Moved(Loader):
    """Gives the module that is there already, and leaves it as it was."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MOVED[spec.name])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the machinery has put the old name there
