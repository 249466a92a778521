"""`--set NAME=VALUE`: the values of a plan's parameters, as they were typed."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import ArgumentError, printed

__all__ = ["settings_of"]


def settings_of(written: Sequence[str] | None) -> dict[str, str]:
    """The values by the names of the parameters. The plan decides what they may be.

    Raises:
        ArgumentError: a setting without a name or a value, or a name that is set twice.
    """
    found: dict[str, str] = {}
    for one in written or ():
        name, equals, value = one.partition("=")
        if not name or not equals or not value:
            raise ArgumentError(f"--set={printed(one)}: must be a parameter, = and its value, as in month=2026-11")
        if name in found:
            raise ArgumentError(f"--set={printed(one)}: {printed(name)} is set twice; give it one value")
        found[name] = value
    return found
