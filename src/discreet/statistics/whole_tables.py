"""Tables of counts that are measured whole, each by itself, and made to agree by least squares with intervals.

This is what Laplace noise is best for, and Gaussian noise where effects would be too many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar

from discreet.cube.queries import FINE, Query, WholeTable
from discreet.cube.weights import Weighting
from discreet.exact.cached import cached_property
from discreet.exact.numbers import float_up
from discreet.mechanisms import law_of_cell
from discreet.mechanisms.effects import Axes
from discreet.statistics.agreed_cells import agreement_words, known_effects, printed_tables, told_of
from discreet.statistics.base import Asked
from discreet.statistics.conditioned_cells import Agreed, Shown, Widths, agree, halves_beside
from discreet.statistics.conditions import system_before
from discreet.statistics.effects import Halves, MeasuredEffect, telling_axes
from discreet.statistics.estimate import Estimate
from discreet.statistics.printed_cells import decimals_of_parts
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements
from discreet.statistics.table_axes import Domain
from discreet.statistics.table_demands import TableDemand
from discreet.statistics.whole_effects import (
    MeasuredTable,
    WholeTables,
    best_weights,
    effects_from,
    halves_of_whole,
    variance_of_effect,
)
from discreet.statistics.whole_shares import divide_for_errors, divide_whole, divide_within
from discreet.statistics.whole_widths import widths_of_whole

__all__ = ["WholeRecipe", "whole_recipe"]

_PARTS = 64  # of the mean share of a table: shares are short fractions, and hardly worse than the best ones


@dataclass(frozen=True, slots=True)
class _Noise:
    """How tables are measured with one kind of noise.

    Args:
        fine: the least variance of the noise in units of the answers; 0 for any.
        power: without least squares best are shares in proportion to this power of what the variances of a table count
            together.
        steep: widths are in proportion to errors with shares in proportion to these to this power, inverted.
        precise: a share gives the noise a precision in proportion to this power of it.
        because: why tables are not measured as effects, in words.
    """

    fine: int
    power: float
    steep: int
    precise: int
    because: str


# A share s leaves Laplace noise of a scale in proportion to 1/s, and Gaussian noise of such a variance.
_NOISES: Mapping[Weighting, _Noise] = MappingProxyType(
    {
        "sums": _Noise(0, 1 / 3, 1, 2, "Laplace noise in effects would be wider"),
        "squares": _Noise(FINE, 1 / 2, 2, 1, "their effects would be too many"),
    }
)


def whole_recipe(domain: Domain, demand: TableDemand, asked: Asked) -> WholeRecipe:
    """The tables that do not follow from what is public; these get noise."""
    return WholeRecipe(domain, domain.words(asked.totals), demand.of_noisy(domain.noisy), _NOISES[asked.weighting])


@dataclass(frozen=True, eq=False)
class WholeRecipe:
    """Tables that are measured whole.

    Args:
        domain: what the tables are margins of.
        words: for each table what a document says of its counts beside exact totals.
        demand: what is asked of their noise.
        noise: how they are measured.
    """

    whole: ClassVar = False
    domain: Domain
    words: tuple[Mapping[str, str], ...]
    demand: TableDemand
    noise: _Noise

    @cached_property
    def noisy(self) -> dict[int, WholeTable]:
        """The tables that get noise, by their positions; one of those that count the same in another order."""
        found = {}
        each = reversed(list(enumerate(self.domain.tables)))
        once = {telling_axes(self.domain.effects, table): place for place, table in each}
        for place in sorted(once.values()):
            table = self.domain.tables[place]
            if not self.domain.is_public(table):
                whole = self.domain.whole_table(table)
                found[place] = WholeTable(whole.groups, whole.sizes, self.domain.alive(table), self.noise.fine)
        return found

    @cached_property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        sizes = dict(zip(self.noisy, self._shares() if self.noisy else (), strict=True))
        whole = _PARTS * len(sizes) / max(sum(sizes.values()), 1e-300)
        short = {place: max(1, round(one * whole)) for place, one in sizes.items()}
        every, tables = sum(short.values()), len(self.domain.tables)
        return tuple((query, Fraction(tables * short[place], every)) for place, query in self.noisy.items())

    def _shares(self) -> list[float]:
        """About the best ones after least squares, beginning with the best ones before them."""
        own, demand, precise = self.domain, self.demand, self.noise.precise
        tables, importance = [own.tables[place] for place in self.noisy], demand.importance(own.cells)
        worth = own.worth(importance)
        if not demand.limited:
            start = [importance[place] ** self.noise.power for place in self.noisy]
            return divide_whole(own.effects, tables, worth, start, precise)
        errors = [(table, float(one)) for table, one in zip(own.tables, demand.errors, strict=True) if one is not None]
        cells = [one for one in (own.worth_of(table, 1 / error**2) for table, error in errors) if one]
        if not cells:
            return divide_whole(own.effects, tables, worth, [1.0] * len(tables), precise)
        least = min(error for _, error in errors)
        wanted = [demand.errors[place] for place in self.noisy]
        start = [1 / (least if one is None else float(one)) ** self.noise.steep for one in wanted]
        if demand.alike:
            return divide_for_errors(own.effects, tables, cells, start, precise)
        return divide_within(own.effects, tables, (cells, worth), start, (precise, demand.room))

    def error(self, noises: Noises, rows: int) -> float:
        return float_up(self.demand.error(self.errors(noises)))

    def errors(self, noises: Noises) -> list[Fraction]:
        """For each table a half-width of the noise in every cell that can have rows."""
        return [max(half for _, half in one) for one in self._halves_beside(noises)]

    def halves(self, noises: Noises) -> list[Halves]:
        """For each table its cells in parts, each with a half-width of the noise in every cell."""
        own = self.domain
        return halves_of_whole(self._behind(noises), own.tables, own.fills, noises.level)

    def _halves_beside(self, noises: Noises) -> list[Halves]:
        """The same where public sums of cells are met: Laplace noise of moved estimates may have wider intervals."""
        own = self.domain
        if not own.conditions or self.noise.fine:
            return self.halves(noises)
        shown = self._shown(noises)
        system = system_before(own.effects, own.conditions, shown.variances)
        return halves_beside(shown, own.conditions, system, self._widths(noises))

    def _shown(self, noises: Noises) -> Shown:
        own = self.domain
        return Shown(own.effects, own.tables, own.fills, self.variances(noises), self.halves(noises))

    def _widths(self, noises: Noises) -> Widths:
        return widths_of_whole(self._behind(noises), self.domain.fills, noises.level)

    def _behind(self, noises: Noises) -> WholeTables:
        """What is known of all tables before they are measured."""
        return self.taken_from(self.noise_behind(noises))

    def taken_from(self, tables: tuple[MeasuredTable, ...]) -> WholeTables:
        """The tables, and how much each of them counts in each effect that gets noise."""
        noisy = [part for part in self.domain.parts if part not in self.domain.known]
        return WholeTables(self.domain.effects, tables, best_weights(self.domain.effects, tables, noisy))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return self.demand.unit

    def accuracy(self, noises: Noises) -> str:
        said = agreement_words(self.domain, self.demand)
        return f"{said}; each table is measured whole: {self.noise.because}"

    def statements(self, noises: Noises) -> Statements:
        # Each cell of each table has a sum of noises of its own.
        return Statements({}, sum(self.domain.cells), 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return printed_tables(self.domain, self.words, self.agreed(answers), self.decimals(answers.noises))

    def agreed(self, answers: Answers) -> Agreed:
        """The cells of all tables with the half-widths of their noise, as public sums of cells leave them."""
        noises = answers.noises
        return agree(self._shown(noises), self.measured(answers), self.domain.conditions, self._widths(noises))

    def decimals(self, noises: Noises) -> list[int | None]:
        """For each table how many decimals the ends of its intervals have."""
        return list(map(decimals_of_parts, self.halves(noises)))

    def measured(self, answers: Answers) -> dict[Axes, MeasuredEffect]:
        """The estimates of all effects, those that are public among them."""
        return effects_from(self.taken_from(self.measured_tables(answers))) | self.known(answers)

    def known(self, answers: Answers) -> dict[Axes, MeasuredEffect]:
        """The effects that follow from what is public."""
        return known_effects(self.domain, answers)

    def measured_tables(self, answers: Answers) -> tuple[MeasuredTable, ...]:
        """The public answers of the tables that get noise."""
        sizes = self.domain.effects.sizes
        each = zip(self.noise_behind(answers.noises), self.noisy.values(), strict=True)
        return tuple(
            replace(one, values=answers.values[query].reshape([sizes[axis] for axis in one.axes])) for one, query in each
        )

    def noise_behind(self, noises: Noises) -> tuple[MeasuredTable, ...]:
        """The noise behind each of them."""
        found = []
        for place, query in self.noisy.items():
            shape = noises.choose_shape(query)
            times = shape.times if isinstance(shape, WholeTable) else 1
            found.append(MeasuredTable(self.domain.tables[place], None, times, law_of_cell(noises.law(query))))
        return tuple(found)

    def variances(self, noises: Noises) -> dict[Axes, Fraction]:
        """For each effect with noise at least s: its estimate has the covariance s times the projector."""
        whole = self._behind(noises)
        return {part: variance_of_effect(whole, part) for part in whole.weights}

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {"measured": "whole", **told_of(self.domain)}
