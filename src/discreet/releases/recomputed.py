"""What readers recompute agreeing numbers with: the laws of noises and the places of rows, from a document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from discreet.domain.groups import Group, printed_labels
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.quotes.quote import Quote

__all__ = ["Published", "axis_json", "check_columns", "check_ends", "law_of", "places_of", "refuse_made_up"]

_LAWS: Mapping[str, tuple[str, type[RoundedGaussian] | type[DiscreteLaplace]]] = {
    "rounded Gaussian": ("variance", RoundedGaussian),
    "discrete Laplace": ("scale", DiscreteLaplace),
}


_NEAR = 2e-3
"""Of a half-width: a last digit may be one more where a half-width is not the same number to all digits."""


class Published(Protocol):
    """A release, of which nothing but the document, and the files that it describes, are read."""

    @property
    def document(self) -> dict[str, Any]:
        """The whole public document."""

    @property
    def folder(self) -> Path | None:
        """Where the files of a large release are."""


def axis_json(quote: Quote, group: Group, alive: Sequence[int]) -> dict[str, Any]:
    """A group of measured tables: its labels in every column that shows it, and the places that can have rows."""
    labels = [list(printed_labels(group, name, quote.plan.facts)) for name in group.names]
    return {"column": group.column, "labels": labels, "alive": list(alive)}


@contextmanager
def refuse_made_up() -> Iterator[None]:
    """A document with the right digest that discreet did not write is refused, whatever is wrong with it."""
    try:
        yield
    except Exception:  # noqa: BLE001 (whatever a made-up document does to arrays and rationals)
        raise ArgumentError("release: its measured integers cannot be read; discreet did not write it") from None


def law_of(written: Mapping[str, str]) -> Law:
    """The law of a noise as a document has it."""
    key, law = _LAWS[written["noise"]]
    return law(exact(written[key], key))


def places_of(axes: Sequence[Mapping[str, Any]], columns: Sequence[Mapping[str, Any]]) -> list[int]:
    """The position of each printed row of a frame among all its cells, from its labels."""
    start, sizes = 0, [len(axis["labels"][0]) for axis in axes]
    places = [0] * len(columns[0]["values"])
    for axis, size in zip(axes, sizes, strict=True):
        named = columns[start : start + len(axis["labels"])]
        known = {labels: place for place, labels in enumerate(zip(*axis["labels"], strict=True))}
        own = (known[one] for one in zip(*(column["values"] for column in named), strict=True))
        places = [place * size + one for place, one in zip(places, own, strict=True)]
        start += len(named)
    return places


def check_columns(frame: Mapping[str, Any], found: Mapping[str, list[float]]) -> None:
    """Checks that a frame has the numbers that follow from measured integers.

    Raises:
        ArgumentError: they differ.
    """
    columns = {one["name"]: one["values"] for one in frame["columns"]}
    for name, numbers in found.items():
        if numbers != columns.get(name):
            raise ArgumentError(f"release: '{name}' of '{frame['name']}' does not follow from the measured integers")


def check_ends(frame: Mapping[str, Any], found: Mapping[str, list[float]]) -> None:
    """Checks that the ends of intervals in a frame are those that were recomputed, but for the last digits of doubles.

    Raises:
        ArgumentError: they differ.
    """
    columns = {one["name"]: one["values"] for one in frame["columns"]}
    for name in ("count_low", "count_high"):
        widths = (abs(end - value) for end, value in zip(found[name], found["count"], strict=True))
        pairs = zip(columns.get(name, ()), found[name], widths, strict=True)
        if any(abs(end - other) > _NEAR * width for end, other, width in pairs):
            raise ArgumentError(f"release: '{name}' of '{frame['name']}' does not follow from the measured integers")
