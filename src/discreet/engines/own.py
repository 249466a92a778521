"""An engine of one's own, handed over as the source. It has passed `conformance` elsewhere; here it is taken as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import getattr_static

from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.joined import Joinable, Joiner
from discreet.engines.kind import EngineKind, Given
from discreet.engines.resources import Limits

__all__ = ["ENGINE"]

_PARTS = ("header", "snapshot", "aggregate", "close")
_NONE = object()


def _is_engine(source: object) -> bool:
    """By what it has itself: frames also answer to the names of their columns."""
    return all(getattr_static(source, name, _NONE) is not _NONE for name in _PARTS)


def _open(source: Engine, columns: Sequence[str], limits: Limits) -> Engine:  # noqa: ARG001
    return source


def _join(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:  # noqa: ARG001
    """Its author has decided what it can be put beside."""
    return engine.joiner(others) if isinstance(engine, Joinable) else None


def _check_schema(schema: Schema) -> None:
    """Its author has decided what it can read."""


ENGINE = EngineKind(
    name="own",
    check_schema=_check_schema,
    join=_join,
    given=(Given("", "the engine", _is_engine, _open, "an engine of one's own follows its own settings"),),
)
