"""Tables of counts that agree, from noisy effects: unbiased counts, each cell with its own interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import ClassVar

from discreet.cube.queries import EffectCounts, Query
from discreet.errors import InternalError
from discreet.exact.cached import cached_property
from discreet.exact.numbers import float_up
from discreet.mechanisms import law_of_cell
from discreet.mechanisms.effects import Axes
from discreet.noise.single.laws import RoundedGaussian
from discreet.statistics.agreed_cells import agreement_words, known_effects, printed_tables, told_of
from discreet.statistics.base import Asked
from discreet.statistics.conditioned_cells import Agreed, Shown, agree, widths_of
from discreet.statistics.effects import Halves, MeasuredEffect, gain_of, halves_of, parts_of, variances_of
from discreet.statistics.estimate import Estimate
from discreet.statistics.filled import Reading, readings_of, widest_of
from discreet.statistics.printed_cells import decimals_of_parts
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements
from discreet.statistics.table_axes import Domain
from discreet.statistics.table_demands import TableDemand

__all__ = ["EffectsRecipe", "effects_recipe"]

_PARTS = 1 << 24  # parts of the weight are whole multiples of 1 over this, for short fractions


def effects_recipe(domain: Domain, demand: TableDemand, asked: Asked) -> EffectsRecipe:
    """Tables from the effects that do not follow from what is public; these get noise."""
    return EffectsRecipe(domain, domain.words(asked.totals), demand.of_noisy(domain.noisy))


@dataclass(frozen=True, eq=False)
class EffectsRecipe:
    """Tables from effects.

    Args:
        domain: what the tables are margins of.
        words: for each table what a document says of its counts beside exact totals.
        demand: what is asked of their noise.
    """

    whole: ClassVar = False
    domain: Domain
    words: tuple[Mapping[str, str], ...]
    demand: TableDemand

    @cached_property
    def noisy(self) -> dict[Axes, EffectCounts]:
        """The effects that get noise."""
        return {part: query for part, query in self.domain.parts.items() if part not in self.domain.known}

    @cached_property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        """Each effect with √(v p): p its energy, v what its variance adds to the sum of those of all cells."""
        wanted = self.domain.worth(self.demand.importance(self.domain.cells))
        sizes = {part: (float(self.domain.effects.energy(part)) * one) ** 0.5 for part, one in wanted.items()}
        total = sum(sizes.values())
        short = {part: max(1, round(one / total * _PARTS)) for part, one in sizes.items()}
        every, tables = sum(short.values()), len(self.domain.tables)
        return tuple((query, Fraction(tables * short[part], every)) for part, query in self.noisy.items())

    @cached_property
    def _readings(self) -> tuple[tuple[Reading, ...], ...]:
        each = enumerate(self.domain.effects.sizes)
        return tuple(readings_of(size, self.domain.fills.get(axis)) for axis, size in each)

    @cached_property
    def limits(self) -> tuple[tuple[tuple[tuple[EffectCounts, float], ...], float], ...]:
        """For each table with an error, and each kind of its cells whose noise may be the widest, what it demands.

        These are its noisy effects, with what a unit of their variance adds to the variance of a cell, and its error.
        """
        found = []
        sizes = self.domain.effects.sizes
        for table, wanted in zip(self.domain.tables, self.demand.errors, strict=True):
            if wanted is None:
                continue
            parts = [part for part in parts_of(self.domain.effects, table) if part in self.noisy]
            outside = [prod(sizes[axis] for axis in table if axis not in part) for part in parts]
            for readings in product(*(widest_of(self._readings[axis]) for axis in table)):
                gains = [float(gain_of(table, part, readings)) / size**2 for part, size in zip(parts, outside, strict=True)]
                adds = tuple((self.noisy[part], gain) for part, gain in zip(parts, gains, strict=True))
                found.append((adds, float(wanted)))
        return tuple((adds, wanted) for adds, wanted in found if adds)

    def error(self, noises: Noises, rows: int) -> float:
        return float_up(self.demand.error(self.errors(noises)))

    def errors(self, noises: Noises) -> list[Fraction]:
        """For each table a half-width of the noise in every cell that can have rows."""
        return [max(half for _, half in one) for one in self.halves(noises)]

    def halves(self, noises: Noises) -> list[Halves]:
        """For each table its cells in parts, each with a half-width of the noise in every cell."""
        own = self.domain
        return halves_of(own.effects, own.tables, self.noise_behind(noises), own.fills, noises.level)

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return self.demand.unit

    def accuracy(self, noises: Noises) -> str:
        return agreement_words(self.domain, self.demand)

    def statements(self, noises: Noises) -> Statements:
        # Each cell of each table has a sum of noises of its own.
        return Statements({}, sum(self.domain.cells), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return printed_tables(self.domain, self.words, self.agreed(answers), self.decimals(answers.noises))

    def agreed(self, answers: Answers) -> Agreed:
        """The cells of all tables with the half-widths of their noise, as public sums of cells leave them."""
        own, noises = self.domain, answers.noises
        shown = Shown(own.effects, own.tables, own.fills, self.variances(noises), self.halves(noises))
        return agree(shown, self.measured(answers), own.conditions, widths_of(self.noise_behind(noises), noises.level))

    def decimals(self, noises: Noises) -> list[int | None]:
        """For each table how many decimals the ends of its intervals have."""
        return list(map(decimals_of_parts, self.halves(noises)))

    def measured(self, answers: Answers) -> dict[Axes, MeasuredEffect]:
        """The public answers of all effects, with noise or without."""
        found = self.noise_behind(answers.noises)
        for part, query in self.noisy.items():
            found[part] = replace(found[part], values=answers.values[query].reshape(query.levels))
        return found | known_effects(self.domain, answers)

    def noise_behind(self, noises: Noises) -> dict[Axes, MeasuredEffect]:
        """The noise behind each effect."""
        found = {part: MeasuredEffect(None, 1, None) for part in self.domain.known}
        for part, query in self.noisy.items():
            shape = noises.choose_shape(query)
            times = shape.times if isinstance(shape, EffectCounts) else 1
            law = law_of_cell(noises.law(query))
            if not isinstance(law, RoundedGaussian):
                raise InternalError("effects are measured with rounded Gaussian noise")
            found[part] = MeasuredEffect(None, times, law)
        return found

    def variances(self, noises: Noises) -> dict[Axes, Fraction]:
        """For each effect with noise s: its estimate has the covariance s times the projector."""
        return variances_of(self.domain.effects, self.noise_behind(noises))

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"measured": "as effects", **told_of(self.domain)}
