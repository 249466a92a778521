"""The inverse-variance mean of several releases of one quantity."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount
from discreet.releases.derived.certainty import check_confidence
from discreet.releases.derived.linear import Cell, Linear
from discreet.releases.derived.operands import Key, Numbers, check_units
from discreet.releases.derived.ratio import operand
from discreet.releases.derived.result import Derived, figure
from discreet.releases.document import Release

__all__ = ["combine"]

_PARTS = 256
"""Weights are multiples of one over this number: near enough to the best ones, and few laws to compute."""


def combine(*releases: Numbers | Release, confidence: Amount = "0.95") -> Derived:
    """For each group the mean of several releases of one quantity, weighted by the inverse of their public variances.

    Its interval is never wider than the interval of any of them at the same confidence: the weights are chosen by the
    widths, which are public, among the inverse variances and each release alone (Theorem D5).

    Args:
        releases: two or more, of the same statistic, column, preparation and data set.
        confidence: each interval holds the true number with at least this probability.

    Raises:
        ArgumentError: fewer than two, different quantities or groups, prepared tables that were drawn for each release, or
            numbers of which only intervals are known.
    """
    level = check_confidence(confidence)
    ones = [operand(one, f"release {place + 1}") for place, one in enumerate(releases)]
    _check(ones)
    shared = [key for key in ones[0].cells if all(_cell_of(other, ones[0].keys, key) is not None for other in ones)]
    if not shared:
        raise ArgumentError("combine(): the releases share no group; their labels must be the same texts")
    figures = []
    for key in shared:
        mean = _mean([_cell_of(one, ones[0].keys, key) for one in ones], level)
        half = mean.half_width(level)
        figures.append(figure(mean.value, (mean.value - half, mean.value + half)))
    return Derived(
        "combine",
        f"the inverse-variance mean of {' and '.join(str(one) for one in ones)}",
        ones[0].keys,
        tuple(shared),
        (("mean", tuple(figures)),),
        level,
        tuple(one.source for one in ones),
        tuple(_find_left_out(one, ones[0].keys, shared) for one in ones),
    )


def _check(ones: Sequence[Numbers]) -> None:
    if len(ones) < 2:
        raise ArgumentError("combine(): needs at least two releases")
    first = ones[0]
    for other in ones[1:]:
        if other.quantity != first.quantity or set(other.keys) != set(first.keys):
            raise ArgumentError(
                f"combine(): {first} and {other} are different quantities; combine one statistic of one data set, "
                "prepared by the same steps and for the same group columns"
            )
        check_units(first, other)
    if first.quantity.random:
        raise ArgumentError(
            "combine(): rows were imputed or sampled, so every release describes a prepared table of its own; "
            "release without impute, resize and sample, or report the releases separately"
        )
    if not all(isinstance(cell, Linear) for one in ones for cell in one.cells.values()):
        raise ArgumentError(
            f"combine(): only intervals are known of {first}; combine counts or sums, and derive the rest from those"
        )


def _cell_of(one: Numbers, keys: tuple[str, ...], key: Key) -> Linear | None:
    """The number of the group with these labels of these columns; None where there is none."""
    named = dict(zip(keys, key, strict=True))
    found = one.cells.get(tuple(named[name] for name in one.keys))
    return found if isinstance(found, Linear) else None


def _find_left_out(one: Numbers, keys: tuple[str, ...], shared: Sequence[Key]) -> tuple[Key, ...]:
    """The groups of one operand that are not in all of them."""
    places = [keys.index(name) for name in one.keys]
    kept = {tuple(key[place] for place in places) for key in shared}
    return tuple(key for key in one.cells if key not in kept)


def _mean(ones: Sequence[Linear | None], level: Fraction) -> Linear:
    """The weighted mean with the least half-width among those of `_choices`."""
    known = [one for one in ones if one is not None]
    weights = _weights(tuple(one.terms for one in known), level)
    mean = Linear(Fraction(0))
    for weight, one in zip(weights, known, strict=True):
        mean = mean.plus(weight, one)
    return mean


@lru_cache(maxsize=4096)
def _weights(noises: tuple[tuple[tuple[Fraction, Cell], ...], ...], level: Fraction) -> tuple[Fraction, ...]:
    """The weights: by noises alone, never by values. Every choice is unbiased, since its weights add up to 1."""

    def width(weights: Sequence[Fraction]) -> Fraction:
        mean = Linear(Fraction(0))
        for weight, terms in zip(weights, noises, strict=True):
            mean = mean.plus(weight, Linear(Fraction(0), terms))
        return mean.half_width(level)

    alone = [tuple(Fraction(int(place == one)) for place in range(len(noises))) for one in range(len(noises))]
    exact = [one for one, terms in zip(alone, noises, strict=True) if not terms]
    if exact:
        return exact[0]
    return min([_inverse_variances(noises), *alone], key=width)


def _inverse_variances(noises: Sequence[tuple[tuple[Fraction, Cell], ...]]) -> tuple[Fraction, ...]:
    inverse = [1 / Linear(Fraction(0), terms).variance() for terms in noises]
    parts = [round(_PARTS * one / sum(inverse)) for one in inverse]
    parts[parts.index(max(parts))] += _PARTS - sum(parts)
    return tuple(Fraction(part, _PARTS) for part in parts)
