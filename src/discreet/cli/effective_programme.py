"""`discreet effective --programme`: what the advertised guarantees of several plans are worth, by attribute and by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.cli.output import Answer, Grid
from discreet.domain.origins import root_of
from discreet.errors import ArgumentError, PlanError
from discreet.exact.numbers import exact
from discreet.planfile.read import PlanFile, load_plan
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.amounts import amount_text
from discreet.totals.adjacency import SemiAdjacency, semi_adjacency
from discreet.totals.components import components_of
from discreet.totals.description import Description
from discreet.totals.statements import (
    ExactStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    TotalsStatement,
)

__all__ = ["effective_programme"]

_MEASURES: Mapping[str, type[ZCDP] | type[PureDP] | type[GDP]] = {"rho": ZCDP, "epsilon": PureDP, "mu": GDP}
_Amount = ZCDP | PureDP | GDP


@dataclass(frozen=True, slots=True)
class _Row:
    """What a reader may ask of one plan.

    Args:
        plan: the name of its file.
        relation: the change of one person's data.
        changed: which values of the row the guarantee is about.
        beside: the exact facts that are counted.
        a: how many rows of the compared tables differ at most; None where it is not known.
        advertised: the guarantee without counting the totals.
    """

    plan: str
    relation: str
    changed: str
    beside: str
    a: SemiAdjacency | None
    advertised: _Amount

    @property
    def effective(self) -> _Amount | None:
        """The advertised guarantee for a rows at once."""
        return None if self.a is None else self.advertised.group(self.a.a)

    def cells(self) -> list[str]:
        """The row as people read it."""
        a = "not known" if self.a is None else f"{'' if self.a.exact else '≤ '}{self.a.a}"
        effective = "not known" if self.effective is None else amount_text(self.effective)
        return [self.plan, self.changed, self.beside, a, amount_text(self.advertised), effective]

    def to_json(self) -> dict[str, object]:
        """The row as programs read it."""
        return {
            "plan": self.plan,
            "relation": self.relation,
            "changed": self.changed,
            "beside": self.beside,
            "a": None if self.a is None else self.a.a,
            "exact": None if self.a is None else self.a.exact,
            "reason": None if self.a is None else self.a.reason,
            "advertised": amount_text(self.advertised),
            "effective": None if self.effective is None else amount_text(self.effective),
        }


def effective_programme(parts: Sequence[str], others: Sequence[str], given: Mapping[str, str] | None = None) -> Answer:
    """A table with a line for each plan, each attribute and each level, and one for a person with a row in every plan.

    Args:
        parts: each PLAN=MEASURE:AMOUNT, the advertised guarantee of that plan, such as persons.toml=rho:2.56.
        others: the options that were given as well; none goes with a programme.
        given: the settings of the plans.

    Raises:
        ArgumentError: a part that is not of this form, or several measures.
        PlanError: a plan that cannot be read.
    """
    if others:
        raise ArgumentError(f"--programme: states the plans and their guarantees; leave out {', '.join(others)}")
    read = [_read(part, given) for part in parts]
    if len({type(amount) for _, _, amount in read}) > 1:
        raise ArgumentError("--programme: the plans have several measures; give all of them in rho, in epsilon or in mu")
    names = [plan.dataset for _, plan, _ in read]
    if len(set(names)) < len(names):
        raise ArgumentError(
            "--programme: two plans are of one data set; give one of them, with the guarantee of all its releases"
        )
    rows = [row for name, plan, amount in read for row in _rows_of(name, plan, amount)]
    wholes = [row.effective for row in rows if row.changed == "any"]
    advertised, together = read[0][2], wholes[0]
    for (_, _, amount), whole in zip(read[1:], wholes[1:], strict=True):
        advertised, together = advertised + amount, together + whole  # type: ignore[operator]  # of one measure
    grid = Grid(("plan", "values that change", "alongside", "a", "advertised", "effective"), [row.cells() for row in rows])
    lines: list[str | Grid] = [grid]
    if any(row.changed == "any (if only this were exact)" for row in rows):
        lines.append("the lines for a single level are no guarantee, because more is exact; they show what each level costs")
    lines.append(
        f"one row of each plan together: {amount_text(advertised)} advertised, {amount_text(together)} effective"  # type: ignore[arg-type]
    )
    facts = {
        "programme": [row.to_json() for row in rows],
        "together": {"advertised": amount_text(advertised), "effective": amount_text(together)},  # type: ignore[arg-type]
    }
    return Answer(lines, facts)


def _read(part: str, given: Mapping[str, str] | None) -> tuple[str, PlanFile, _Amount]:
    """The plan of one part, and its advertised guarantee."""
    path, equals, amount = part.rpartition("=")
    measure, colon, number = amount.partition(":")
    if not path or not equals or not colon or measure not in _MEASURES:
        raise ArgumentError(
            f"--programme {part}: must be PLAN=rho:R, PLAN=epsilon:E or PLAN=mu:M, as in persons.toml=rho:2.56"
        )
    return Path(path).name, load_plan(Path(path), given), _MEASURES[measure](exact(number, "--programme"))


def _rows_of(name: str, plan: PlanFile, amount: _Amount) -> Iterator[_Row]:
    """The lines of one plan: any values, each attribute, each level."""
    relation = plan.neighbours.word
    if plan.invariants is None:
        one = SemiAdjacency(1, exact=True, reason="nothing is published exactly")
        yield _Row(name, relation, "any", "nothing exact", one, amount)
        return
    invariants, rows = plan.invariants, plan.neighbours.rows
    whole = semi_adjacency(invariants, plan.schema, None, rows)
    yield _Row(name, relation, "any", "all of it", whole, amount)
    components = components_of(invariants, plan.schema)
    for column in plan.schema.columns:
        root = root_of(column, plan.schema)  # columns of one family change together
        of = next((one for one in components if root in {root_of(name, plan.schema) for name in one.columns}), None)
        if of is None:
            alone, beside = SemiAdjacency(1, exact=True, reason="no exact fact names it"), "all of it"
        else:
            # Rows that change in the columns of one component keep the facts of all the others (A3).
            found = semi_adjacency(Description(of.parts), plan.schema, None, rows)
            attained = found.exact and of.columns == (column,)
            alone, beside = SemiAdjacency(min(found.a, whole.a), attained, found.reason), "all of it"
        yield _Row(name, relation, column, beside, alone, amount)
    levels = [part for part in invariants.parts if not isinstance(part, ImpossibleStatement)]
    for part in levels if len(levels) > 1 else ():
        yield _Row(name, relation, "any (if only this were exact)", _words(part), _alone(part, plan), amount)


def _alone(part: ExactStatement, plan: PlanFile) -> SemiAdjacency | None:
    """a(t) alongside one part and nothing else; None where that has no closed form."""
    try:
        return semi_adjacency(Description((part,)), plan.schema, None, plan.neighbours.rows)
    except PlanError:
        return None


def _words(part: ExactStatement) -> str:
    """The part in a few words."""
    kinds = {
        TotalsStatement: "totals of",
        OccupiedStatement: "occupied cells of",
        LinearStatement: "sums over",
        ImpossibleStatement: "impossible cells of",
    }
    return f"{kinds[type(part)]} {', '.join(part.columns)}"
