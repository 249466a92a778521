"""One cube, brought in one scan, and how it maps to the cells of a release."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Protocol

from discreet.cube.value_paths import KeyAxis, Moment, Path
from discreet.domain.groups import Group, Label
from discreet.domain.steps import Step, TableFacts

__all__ = ["Prepared", "Scan"]


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One cube, brought in one scan, and how it maps to the cells of the release.

    `axes` are the keys of the cube, `moments` the columns that come as sums instead; `labels` are the public labels of
    each group of the release. The cube has at most `domain` cells once its marks are drawn.
    """

    axes: tuple[KeyAxis, ...]
    moments: tuple[Moment, ...]
    labels: tuple[tuple[Label, ...], ...]
    domain: int

    @property
    def cells(self) -> int:
        """The number of rows of the release: the product of the group domains."""
        return prod(len(labels) for labels in self.labels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys([*(axis.name for axis in self.axes), *(moment.name for moment in self.moments)]))

    @property
    def imputed(self) -> frozenset[str]:
        """The columns of which values are drawn."""
        paths: list[Path] = [*(axis.path for axis in self.axes), *(moment.path for moment in self.moments)]
        return frozenset(path.name for path in paths if path.drawn)

    def axis(self, name: str) -> int | None:
        """The position of what is called so among the axes, None when it is not a key."""
        return next((position for position, axis in enumerate(self.axes) if axis.called == name), None)

    def moment(self, name: str) -> int | None:
        """The position of what is called so among the moments, None when its sum is not brought."""
        return next((position for position, moment in enumerate(self.moments) if moment.called == name), None)

    def has_codes(self, name: str) -> bool:
        """True if every code of the column is a separate key."""
        position = self.axis(name)
        return position is not None and self.axes[position].cuts is None


class Prepared(Protocol):
    """The steps and the groups: the part of a plan that a scan has to know."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that prepare the table."""

    @property
    def group_by(self) -> tuple[Group, ...]:
        """The groups of the release."""

    @property
    def facts(self) -> TableFacts:
        """The facts that are known of the table after the steps."""
