"""`--set NAME=VALUE` and `--csv KEY=VALUE`: the parameters of a plan and the form of CSV files, as they were typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from discreet.domain.reading import CsvFormat
from discreet.errors import ArgumentError, did_you_mean, printed

__all__ = ["csv_format_of", "settings_of"]


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


def csv_format_of(written: Sequence[str] | None) -> CsvFormat:
    r"""The form of CSV files: `separator=;` says what the key of that name says in a plan. `\t` is a tab.

    Raises:
        ArgumentError: another key, a key that is given twice, or a value that it cannot have.
    """
    keys = [one.name for one in fields(CsvFormat)]
    found: dict[str, str] = {}
    for one in written or ():
        key, equals, value = one.partition("=")
        if key not in keys or not equals:
            near = did_you_mean(key, keys)
            known = f"{', '.join(keys[:-1])} or {keys[-1]}"
            raise ArgumentError(f"--csv={printed(one)}: must be {known}, = and a value, as in encoding=utf-16{near}")
        if key in found:
            raise ArgumentError(f"--csv={printed(one)}: {printed(key)} is given twice; give it one value")
        found[key] = value.replace("\\t", "\t")
    return CsvFormat(**found)
