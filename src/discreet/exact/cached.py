"""Properties that are computed once for each object, without a lock that a child could find held.

The one of Python 3.11 holds a lock for all objects of a class while it computes: threads wait for each other, and a child
that was forked meanwhile waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["cached_property"]

_T = TypeVar("_T")


class cached_property(Generic[_T]):  # noqa: N801 - it is used as `functools.cached_property` is
    """A property that the object keeps when it has been computed; threads that ask at once all get the value of one."""

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute, self._name, self.__doc__ = compute, "", compute.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, _owner: type) -> cached_property[_T]: ...
    @overload
    def __get__(self, one: object, _owner: type) -> _T: ...

    def __get__(self, one: object | None, _owner: type) -> cached_property[_T] | _T:
        if one is None:
            return self
        kept: dict[str, _T] = one.__dict__  # also of a frozen class; later looks find the value there and do not come here
        return kept.setdefault(self._name, self._compute(one))
