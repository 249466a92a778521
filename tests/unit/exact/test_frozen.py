"""`exact.frozen` makes of every class what the standard decorator makes of it, and says when it does not."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import discreet
from discreet.exact import frozen
from discreet.exact.frozen import dataclass

_GENERATED = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__")
_ELSEWHERE = {"discreet.__main__", "discreet.pages.report._vega"}


def classes() -> Iterator[type[Any]]:
    """Every frozen class of the library with slots."""
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if module.name in _ELSEWHERE:
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == module.name:
                yield value


def is_made_here(cls: type[Any], name: str) -> bool:
    """True if this method of the class comes from `exact.frozen`."""
    return getattr(vars(cls).get(name), "__module__", "") == frozen.__name__


CLASSES = [cls for cls in classes() if is_made_here(cls, "__setattr__")]


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class One:
    """A class with one field that checks it."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


def twin_of(cls: type[Any]) -> type[Any]:
    """What the standard decorator makes of the class as it was written."""
    params = cls.__dataclass_params__
    made = {name for name in _GENERATED if is_made_here(cls, name) or vars(cls).get(name, cls) is None}
    made |= {"__init__"} if "__init__" in vars(cls) and cls.__init__.__code__.co_filename == "<string>" else set()
    fields = dataclasses.fields(cls)
    left = {*made, *(field.name for field in fields), "__slots__", "__dataclass_fields__", "__dataclass_params__"}
    left |= {"__match_args__", "__replace__"}
    members = {name: value for name, value in vars(cls).items() if name not in left}
    for field in fields:
        members[field.name] = dataclasses.field(
            default=field.default, repr=field.repr, compare=field.compare, hash=field.hash, kw_only=False
        )
    written = type(cls)(cls.__name__, cls.__bases__, members)
    written.__qualname__ = cls.__qualname__
    return dataclasses.dataclass(init=params.init, repr=params.repr, eq=params.eq, frozen=True, slots=True)(written)


def filled(cls: type[Any], value: object) -> Any:
    """An object whose fields hold the value, whatever the class checks."""
    made = object.__new__(cls)
    for field in dataclasses.fields(cls):
        object.__setattr__(made, field.name, value)
    return made


def test_most_classes_are_made_here() -> None:
    assert len(CLASSES) > 250


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_a_class_is_what_the_standard_decorator_makes_of_it(cls: type[Any]) -> None:
    twin = twin_of(cls)
    assert vars(cls).keys() == vars(twin).keys()
    assert inspect.signature(cls.__init__) == inspect.signature(twin.__init__)
    assert (cls.__init__.__qualname__, cls.__slots__, cls.__match_args__, cls.__doc__) == (
        twin.__init__.__qualname__,
        twin.__slots__,
        twin.__match_args__,
        twin.__doc__,
    )
    assert repr(cls.__dataclass_params__) == repr(twin.__dataclass_params__)
    assert repr(cls.__dataclass_fields__) == repr(twin.__dataclass_fields__)
    if is_made_here(cls, "__getstate__"):
        assert filled(cls, 7).__getstate__() == filled(twin, 7).__getstate__()
    if is_made_here(cls, "__repr__"):
        assert repr(filled(cls, 7)) == repr(filled(twin, 7))
    if is_made_here(cls, "__hash__"):
        assert hash(filled(cls, 7)) == hash(filled(twin, 7))
    with pytest.raises(dataclasses.FrozenInstanceError):
        filled(cls, 7).unknown = 8  # the standard one raises TypeError: it takes the class without slots for its own
    for name in (field.name for field in dataclasses.fields(cls)):
        said = []
        for one in (filled(cls, 7), filled(twin, 7)):
            with pytest.raises(dataclasses.FrozenInstanceError) as wrong:
                setattr(one, name, 8)
            with pytest.raises(dataclasses.FrozenInstanceError) as further:
                delattr(one, name)
            said.append((str(wrong.value), str(further.value)))
        assert said[0] == said[1]


def test_objects_are_compared_by_the_fields_that_count() -> None:
    assert Point(1) == Point(1, 0, "other")
    assert len({Point(1), Point(1, 0, "other"), Point(1, 2)}) == 2
    assert Point(1) != (1, 0)
    assert One(1) != Point(1)
    assert hash(One(1)) == hash((1,))
    assert repr(Point(1, note="kept back")) == "Point(x=1, y=0)"


def test_objects_are_copied_replaced_and_pickled() -> None:
    point = Point(1, 2, "note")
    for same in (copy.deepcopy(point), pickle.loads(pickle.dumps(point)), dataclasses.replace(point, x=1)):
        assert (same, same.note) == (point, "note")


def test_what_a_class_checks_is_checked() -> None:
    with pytest.raises(ValueError, match="x"):
        One(-1)
    with pytest.raises(TypeError, match=r"^One\.__init__\(\) missing 1 required positional argument: 'x'$"):
        One()  # type: ignore[call-arg]


def test_fields_that_need_more_are_left_to_the_standard_decorator() -> None:
    @dataclass(frozen=True, slots=True)
    class Child(Point):
        """It inherits fields."""

        z: int = 1

    @dataclass(frozen=True, slots=True)
    class Listed:
        """Its default is made anew."""

        x: list[int] = dataclasses.field(default_factory=list)

    assert (Child(1), Child(1).z) == (Child(1, 0), 1)
    assert Listed().x is not Listed().x
    for cls in (Child, Listed):
        assert not is_made_here(cls, "__setattr__")
