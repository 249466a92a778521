"""Missing codes: values of the source that stand for "not known", such as -8 and 999, and that are read as null.

They belong to the declaration of a column, because they decide what its cells mean. A cell that is a missing code is null
before anything else is done with it, whatever the bounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from discreet.errors import SchemaError, printed

__all__ = ["missing_codes"]

Code = TypeVar("Code")

_MOST = 100


def missing_codes(given: object, read: Callable[[Any, str], Code]) -> tuple[Code, ...]:
    """The codes in ascending order, each as `read` gives it for a value and the name of its place.

    Raises:
        SchemaError: no list, more than 100 codes, a code twice, or what `read` refuses.
    """
    if isinstance(given, str | bytes) or not isinstance(given, list | tuple | set | frozenset | range):
        raise SchemaError(f"missing={printed(given)}: must be a list of the codes that are read as null, such as [-8, 999]")
    if len(given) > _MOST:
        raise SchemaError(f"missing: {len(given)} codes are more than {_MOST}; set them to null in a copy of the source")
    codes = [read(value, "missing") for value in given]
    for place, code in enumerate(codes):
        if code in codes[:place]:
            raise SchemaError(f"missing={printed(code)}: listed twice; leave one out")
    return tuple(sorted(codes))  # type: ignore[type-var]
