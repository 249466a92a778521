"""Functions of the library with one line changed, to see whether a law notices."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """The text `old` of a function becomes `new`; the result stands at `owner.name` while a test runs."""

    owner: Any
    name: str
    old: str
    new: str

    def plant(self, monkeypatch: Any) -> None:
        """The changed function is in place until the test ends."""
        known = inspect.getattr_static(self.owner, self.name)
        monkeypatch.setattr(self.owner, self.name, mutant(getattr(known, "fget", known), self.old, self.new))


def mutant(function: Callable[..., Any], old: str, new: str) -> Any:
    """The function with one place of its text changed, in a copy of its own module."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, (function, old)
    names = dict(function.__globals__)
    exec(compile(source.replace(old, new), "mutant", "exec"), names)  # noqa: S102 (our own text, with one change)
    return names[function.__name__]
