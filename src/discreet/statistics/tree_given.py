"""Shares of levels and tables that somebody states, such as those of a census, as shares of the effects that are measured.

Measuring a table as a whole, with the same noise in each cell, says the same of its effects, and costs the same, as
measuring each of them with a precision of its own; and two measurements of an effect say what one of their precisions
together says. So stated shares of tables are shares of effects (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from discreet.errors import PlanError, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms.effects import Axes, Effects
from discreet.statistics.effects import parts_of

__all__ = ["LevelShares", "check_levels", "given_shares", "shares_json", "shares_of_effects"]

_LARGEST = 10**30  # of a numerator or denominator


@dataclass(frozen=True, slots=True)
class LevelShares:
    """The shares of one level.

    Args:
        level: its column; empty for all areas together.
        share: of the level.
        tables: for each table its share of the level.
    """

    level: str
    share: Fraction
    tables: tuple[Fraction, ...]


def given_shares(shares: object, level_shares: object, many: int) -> tuple[LevelShares, ...]:
    """The shares that a caller states; none where none are.

    Args:
        shares: for each level a list of so many numbers as there are tables.
        level_shares: for some levels a factor of these.
        many: the number of tables.

    Raises:
        PlanError: anything else.
    """
    if shares is None:
        if level_shares is not None:
            raise PlanError("agreeing_areas(level_shares=…): needs shares, the shares of the tables of each level")
        return ()
    if not isinstance(shares, Mapping) or not shares:
        raise PlanError(
            f'agreeing_areas(shares={printed(shares)}): must give each level its list, such as {{"": [1, 0], "area.state": '
            "[1, 2]}"
        )
    factors = {} if level_shares is None else level_shares
    if not isinstance(factors, Mapping):
        raise PlanError(f'agreeing_areas(level_shares={printed(factors)}): must be numbers by level, such as {{"": 1}}')
    for level in factors:
        if level not in shares:
            raise PlanError(f"agreeing_areas(level_shares=…): {printed(level)} has no list in shares")
    return tuple(_level(level, own, factors.get(level, 1), many) for level, own in shares.items())


def _level(level: object, own: object, factor: Amount, many: int) -> LevelShares:
    said = f"agreeing_areas(shares=…): {printed(level)}"
    if not isinstance(level, str):
        raise PlanError(f"{said} must be the column of a level, or '' for all areas together")
    if not isinstance(own, Sequence) or isinstance(own, str) or len(own) != many:
        raise PlanError(f"{said} must have a list of {many} numbers, one for each list of columns in by")
    return LevelShares(level, _share(factor, f"the share of {printed(level)}"), tuple(_share(one, said) for one in own))


def _share(value: Amount, said: str) -> Fraction:
    found = exact(value, "shares")
    if found < 0 or max(found.numerator, found.denominator) > _LARGEST:
        raise PlanError(f"{said}: {printed(value)} must be a number from 0 on, such as '3773/4097'")
    return found


def check_levels(shares: Sequence[LevelShares], levels: Sequence[str]) -> None:
    """Checks that the shares are of these levels, and that something of the last level is measured.

    Raises:
        PlanError: they are not.
    """
    for one in shares:
        if one.level not in {"", *levels}:
            known = ", ".join(map(repr, levels))
            raise PlanError(f"agreeing_areas(shares=…): '{one.level}' is not a level; the levels are '' and {known}")
    if shares and not any(one.level == levels[-1] and one.share and any(one.tables) for one in shares):
        raise PlanError(
            f"agreeing_areas(shares=…): '{levels[-1]}' has no share above 0; the areas of the last level have to be measured"
        )


def shares_json(shares: Sequence[LevelShares]) -> list[dict[str, object]]:
    """The shares as canonical JSON values."""
    return [
        {"level": one.level, "share": text(one.share), "tables": [text(own) for own in one.tables]}
        for one in sorted(shares, key=lambda one: one.level)
    ]


def shares_of_effects(
    shares: Sequence[LevelShares], levels: Sequence[str], effects: Effects, tables: Sequence[Axes]
) -> dict[tuple[int, Axes], Fraction]:
    """For each level and effect that is measured its share: of what a row that appears costs, or in proportion to it.

    A table of cells with precision m is each of its effects a with precision m/Π n_i, over the axes of the table beside a.
    """
    found: dict[tuple[int, Axes], Fraction] = {}
    for one in shares:
        level = levels.index(one.level) + 1 if one.level else 0
        for table, own in zip(tables, one.tables, strict=True):
            for part in parts_of(effects, table) if own and one.share else ():
                outside = prod(effects.sizes[axis] for axis in table if axis not in part)
                share = one.share * own * effects.energy(part) / outside
                found[level, part] = found.get((level, part), Fraction(0)) + share
    return found
