"""A reading of a table of persons of which one row is made of each: the code of each column, where all its rows agree."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.cube.value_paths import Path, paths_read

__all__ = ["Beside", "PersonCodes"]


@dataclass(frozen=True, slots=True, eq=False)
class PersonCodes:
    """One reading of a table of persons: of each person the code of each column, where all rows with a value have the same.

    Args:
        person: the identifier. A row that is null in it is of nobody.
        paths: how each column is read, before any step; null has the code NULL.
        every: whether each row counts as a person: one that is null in the identifier is a person of its own, with its own
            codes, and what a person has in more rows than one are persons of whom nothing is known.
    """

    person: str
    paths: tuple[Path, ...]
    every: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that are read, the identifier first."""
        return tuple(dict.fromkeys([self.person, *(path.name for path in self.read)]))

    @property
    def read(self) -> tuple[Path, ...]:
        """How each column of the source is read."""
        return tuple(one for path in self.paths for one in paths_read(path))


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """A table of persons whose codes stand on the rows of the same person.

    Rows of persons that it does not have have null codes; where it is the `whole` of the persons, they are left out.
    """

    table: str
    codes: PersonCodes
    whole: bool = False
