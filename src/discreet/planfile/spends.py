"""The spends of a plan file: stated release by release, or what the stated ones leave, split by shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.errors import did_you_mean
from discreet.exact.numbers import exact
from discreet.planfile.tree import Node
from discreet.privacy import Budget, coordinates
from discreet.privacy.amounts import Spend, budget_down, spend_of
from discreet.session.orders import Order

__all__ = ["read_spend", "with_spends"]

_SPENDS = ("stated", "split")
"""Releases that state no spend: there may be none beside others, or they split what the others leave of the budget."""


def read_spend(node: Node, budget: Budget) -> Budget:
    """The amount of the budget's measure that a release states."""
    given: Spend
    with node.locate_errors():
        if isinstance(node.value, dict):
            make: Any = type(budget)
            given = make(*(node.table(make.fields)[field].number() for field in make.fields))
        else:
            given = [item.number() for item in node.items()] if isinstance(node.value, list) else node.number()
        amount = spend_of(given, budget)
    if not coordinates(amount)[0] > 0:
        raise node.wrong("must be greater than 0")
    return amount


def with_spends(section: Node, releases: Sequence[Node], orders: Sequence[Order], budget: Budget) -> list[Order]:
    """The orders, each with its spend or its errors; only a single one may have neither, and takes all that remains.

    Under `spends = "split"` those without a spend get parts of what the others leave of the budget, in its additive
    coordinates and in proportion to their shares (1 where none is stated). No part is rounded up, so all of them fit.

    Raises:
        PlanError: a spend is missing, nothing is left to split, a share is not above 0, or stands where nothing is split.
    """
    word = section.child("spends").string() if "spends" in section.value else _SPENDS[0]
    if word not in _SPENDS:
        raise section.child("spends").wrong(f"'{word}' is unknown{did_you_mean(word, _SPENDS)}")
    if word == "split":
        return _split(section.child("spends"), releases, orders, budget)
    for node, order in zip(releases, orders, strict=True):
        if "share" in node.value:
            raise node.child("share").wrong('needs spends = "split" in [budget]')
        if order.spend is None and order.error is None and len(orders) > 1:
            raise node.wrong(
                "the key 'spend' (or 'error') is missing; only a single release can take all that remains, and several can "
                'split the budget with spends = "split" in [budget]'
            )
    return list(orders)


def _split(section: Node, releases: Sequence[Node], orders: Sequence[Order], budget: Budget) -> list[Order]:
    for node in releases:
        for key in ("error", "spend"):
            if "share" in node.value and key in node.value:
                raise node.child("share").wrong(f"cannot stand beside '{key}'; leave one of the two out")
        if "error" in node.value:
            raise node.child("error").wrong(f"cannot stand beside {section.keys[-1]} = 'split'; state a spend or a share")
    shares = [_share(node) if order.spend is None else Fraction(0) for node, order in zip(releases, orders, strict=True)]
    left = _left(orders, budget)
    if any(shares) and not (left[0] > 0 and min(left) >= 0):
        raise section.wrong("nothing is left to split: the releases that state a spend take all of the budget")
    every = sum(shares, Fraction(0))
    parts = (budget_down(budget, tuple(share / every * one for one in left)) if share else None for share in shares)
    return [order if part is None else replace(order, spend=part) for order, part in zip(orders, parts, strict=True)]


def _share(node: Node) -> Fraction:
    if "share" not in node.value:
        return Fraction(1)
    place = node.child("share")
    with place.locate_errors():
        share = exact(place.number(), "share")
    if share <= 0:
        raise place.wrong("must be greater than 0")
    return share


def _left(orders: Sequence[Order], budget: Budget) -> tuple[Fraction, ...]:
    """What the stated spends leave of the budget, in additive coordinates."""
    stated = [coordinates(spend_of(order.spend, budget)) for order in orders if order.spend is not None]
    return tuple(whole - sum((one[place] for one in stated), Fraction(0)) for place, whole in enumerate(coordinates(budget)))
