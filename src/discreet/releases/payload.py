"""The bytes of a document: read as JSON, and written in the canonical form, with errors that say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from discreet.errors import ArgumentError
from discreet.exact.canonical import has_text_keys

__all__ = ["parse_document", "require_text_names", "written"]

Written = TypeVar("Written", str, bytes)


def parse_document(payload: bytes) -> dict[str, Any]:
    """The object in these bytes.

    Raises:
        ArgumentError: they are not a JSON object.
    """
    try:
        document = json.loads(payload)
    except (ValueError, TypeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ArgumentError("release: is not a release document, or is only part of one")
    return document


def require_text_names(value: object) -> object:
    """The same value: all names in its objects are texts.

    Raises:
        ArgumentError: one is not.
    """
    if not has_text_keys(value):
        raise ArgumentError("release: holds an object with a name that is not a text")
    return value


def written(write: Callable[[Mapping[str, Any]], Written], body: Mapping[str, Any]) -> Written:
    """What `write` makes of a document.

    Raises:
        ArgumentError: a number that is not finite, or an object that is nested too deeply.
    """
    try:
        return write(body)
    except ArgumentError:  # of a part that is made when it is written
        raise
    except ValueError:
        raise ArgumentError("release: holds a number that is not finite") from None
    except RecursionError:
        raise ArgumentError("release: is nested too deeply; it is not a document that discreet wrote") from None
