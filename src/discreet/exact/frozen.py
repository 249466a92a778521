"""Frozen dataclasses with slots, made in a third of the time that the standard library takes.

A command loads some 300 of them, and most of the time of the standard decorator is the compiler's, which it calls six times
for a class. Here it is called once, for `__init__`; the other methods are closures. They do what the standard ones do:
`tests/unit/exact/test_frozen.py` compares every class of the library with what the standard decorator makes of it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_Method = Callable[..., Any]

if TYPE_CHECKING:
    from dataclasses import dataclass  # type checkers know this name, and what follows from it
else:

    def dataclass(*, frozen=False, slots=False, init=True, repr=True, eq=True, kw_only=False):  # noqa: A002
        """What `dataclasses.dataclass` makes of a class with these arguments."""
        wanted = {"init": init, "repr": repr, "eq": eq, "frozen": frozen}
        standard = dataclasses.dataclass(**wanted, slots=slots, kw_only=kw_only)
        usual = frozen and slots and not kw_only
        return lambda cls: _made(cls, wanted) if usual and _is_plain(cls) else standard(cls)


def _is_plain(cls: type[Any]) -> bool:
    """True of a class that inherits no field, gives each field as an argument, and says what it is.

    The standard library writes a docstring where there is none. Defaults that are made anew need more than a closure.
    """
    fields = [value for value in vars(cls).values() if isinstance(value, dataclasses.Field)]
    plain = all(field.init and field.default_factory is dataclasses.MISSING for field in fields)
    return plain and bool(cls.__doc__) and not hasattr(cls, "__dataclass_fields__")


def _made(cls: type[Any], wanted: dict[str, bool]) -> type[Any]:
    """The class with slots, and with the methods that are wanted and that it does not define itself."""
    described = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    for name, value in wanted.items():
        setattr(described.__dataclass_params__, name, value)  # what inherits from it asks whether it is frozen
    fields = dataclasses.fields(described)
    slotted = _with_slots(described, [field.name for field in fields])
    methods = _refusals(slotted, {field.name for field in fields})
    if wanted["init"]:
        methods["__init__"] = _initialiser(slotted, fields)
    if wanted["repr"]:
        methods["__repr__"] = _shown([field.name for field in fields if field.repr])
    if wanted["eq"]:
        methods["__eq__"] = _equality([field.name for field in fields if field.compare])
        methods["__hash__"] = _hash(
            [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
        )
    for name, method in methods.items():
        if vars(slotted).get(name) is None:  # the hash of a class that defines equality is None
            method.__qualname__, method.__name__ = f"{slotted.__qualname__}.{name}", name
            setattr(slotted, name, method)
    for name, pickled in (("__getstate__", _state), ("__setstate__", _set_state)):
        if name not in vars(slotted):
            setattr(slotted, name, pickled)
    return slotted


def _with_slots(cls: type[Any], names: Sequence[str]) -> type[Any]:
    """The class once more: a class that exists cannot be given slots."""
    members = {name: value for name, value in vars(cls).items() if name not in {*names, "__dict__", "__weakref__"}}
    metaclass: Callable[..., type[Any]] = type(cls)
    slotted = metaclass(cls.__name__, cls.__bases__, {**members, "__slots__": tuple(names)})
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _initialiser(cls: type[Any], fields: Sequence[dataclasses.Field[Any]]) -> _Method:
    """`__init__`, whose arguments and defaults are the signature that people see."""
    known = {f"_{field.name}": field.default for field in fields if field.default is not dataclasses.MISSING}
    named = [f"{field.name}=_{field.name}" if f"_{field.name}" in known else field.name for field in fields]
    lines = [f"_set(self, {field.name!r}, {field.name})" for field in fields]
    lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "pass")
    text = f"def make(_set, {', '.join(known)}):\n def __init__({', '.join(['self', *named])}):\n  "
    local: dict[str, Any] = {}
    exec(text + "\n  ".join(lines) + "\n return __init__", vars(sys.modules[cls.__module__]), local)  # noqa: S102 (names alone)
    made: _Method = local["make"](object.__setattr__, **known)
    made.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return made


def _refusals(cls: type[Any], names: set[str]) -> dict[str, _Method]:
    """Nothing is assigned to an object of the class, and no field of an object of a subclass."""

    def assign(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}


def _shown(names: Sequence[str]) -> _Method:
    def show(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return show


def _equality(names: Sequence[str]) -> _Method:
    values = _values(names)
    return lambda self, other: values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(names: Sequence[str]) -> _Method:
    values = _values(names)
    return lambda self: hash(values(self))


def _values(names: Sequence[str]) -> Callable[[Any], tuple[object, ...]]:
    """The values of these fields, as a tuple whatever their number is."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=False):  # an older pickle may have fewer
        object.__setattr__(self, field.name, value)
