"""`discreet init`: a plan file from the header of a source and the answers of the custodian. No row has a part in it.

Every question goes through an `Asker`: a terminal answers them; where nobody can answer, an entry without a default is left
for the custodian to fill in. Bounds and categories never have a default that comes from rows. Categories and missing codes
that a header names, such as the header of an SPSS file, are proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from discreet.cli.answers import ask_choice, ask_number, ask_text, check_amount, check_count, check_filled
from discreet.cli.asking import Asker, GoneBack, nobody
from discreet.cli.code_lists import split_values
from discreet.cli.drafting import Entry, Section, render_list, render_sections, to_fill_in
from discreet.cli.output import Answer
from discreet.cli.starting_columns import ask_column, can_be_declared
from discreet.cli.starting_persons import ALONE, Opened, Unit, open_beside
from discreet.cli.starting_sources import USUAL_FORM, outline, written_source
from discreet.domain.neighbours import relations
from discreet.domain.reading import CsvFormat
from discreet.engines.base import CodeList, Header
from discreet.engines.urls import is_url
from discreet.errors import ArgumentError, PlanError, did_you_mean
from discreet.exact.figures import name as shown_name
from discreet.exact.figures import plural
from discreet.exact.files import create_file
from discreet.exact.given_paths import require_path, require_writable, stands
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.planfile.write import toml_visible
from discreet.privacy.measures import budgets, find_budget
from discreet.session.orders import check_name
from discreet.statistics.other_words import nearest_way
from discreet.statistics.registry import by_word

__all__ = ["start_plan"]

_NO_CODES = CodeList({})
_MOST_LEFT = 8
_ALL = "all that may ever be spent on this data set"
_USUAL: Mapping[str, str] = {
    "epsilon": f"{_ALL}; often 0.1 to 4, and above 10 it says little",
    "delta": "δ, well below 1/rows; often 1e-9",
    "rho": f"{_ALL}; often 0.005 to 0.5, and 0.5 is ε = 6.5 at δ = 1e-9",
    "mu": f"{_ALL}; often 0.1 to 1, and 1 is ε = 6.2 at δ = 1e-9",
}
"""The fields of a budget, with usual amounts."""


def start_plan(
    source: str, out: Path, ask: Asker, columns: str | None = None, form: CsvFormat = USUAL_FORM, *, unit: Unit = ALONE
) -> Answer:
    """Writes a plan file to `out`: complete as far as there were answers, with the rest to be filled in.

    Args:
        source: a path, or another text that names a source.
        out: where the plan is written.
        ask: who answers the questions.
        columns: the names of the columns to declare, separated by commas; None for all of them.
        form: the form of CSV files.
        unit: who is one person.

    Raises:
        SourceError: the header of a source cannot be read.
        ArgumentError: the file exists already, or cannot be written; or a source has not the columns that are asked for.
    """
    if not is_url(source):
        require_path(source, "SOURCE")
    if stands(out, "--out") or out.is_symlink():
        raise ArgumentError(f"--out={out}: exists already; choose another name, or edit the file")
    if not stands(out.parent, "--out"):
        raise ArgumentError(f"--out={out}: '{out.parent}' is not a writable folder; create it, or choose another place")
    require_writable(out.parent, "--out")
    header, codes = outline(source, form)
    unit.check(header)
    header = unit.without(_select_columns(header, columns))
    beside = open_beside(unit, form, out)
    start = _Start(written_source(source, form, out), _stem(source), header, codes, unit, beside)
    while True:
        try:
            sections = _sections(start, out, ask)
            break
        except GoneBack:
            continue
    try:
        create_file(out, lambda path: path.write_bytes(render_sections(sections).encode()))
    except OSError as wrong:
        raise ArgumentError(f"--out={out}: cannot be written ({wrong.strerror}); choose another place") from None
    missing = to_fill_in(sections)
    every = [*header.items(), *(pair for one in beside for pair in one.header.items() if pair[0] != one.file.person)]
    left = [f"{shown_name(n)} ({shown_name(k.shown)[:40]})" for n, k in every if not can_be_declared(n, k)]
    facts = {"plan": str(out), "source": source, "to_fill_in": missing, "left_out": len(left)}
    return Answer(list(_tell(out, missing, left)), facts)


@dataclass(frozen=True, slots=True)
class _Start:
    """What is known before the first question: how the source is written, its name, its columns, and who is one person."""

    source: list[Entry]
    stem: str
    header: Header
    codes: Mapping[str, CodeList]
    unit: Unit
    beside: list[Opened]


def _sections(start: _Start, out: Path, ask: Asker) -> list[Section]:
    """The answers to all questions."""
    sections = [_data(start, ask), *start.unit.identifier()]
    asked = start.header.items()
    columns = [ask_column(name, kind, start.codes.get(name, _NO_CODES), out.parent, ask) for name, kind in asked]
    sections += [column for column in columns if column is not None]
    sections += [section for one in start.beside for section in one.sections(out, ask)]
    if ask is nobody and len(sections) > 1:
        sections[1] = replace(
            sections[1],
            notes=("Delete the columns that no release uses: a column that is not here is never read.", *sections[1].notes),
        )
    sections.append(_budget(ask))
    sections.append(_release(sections, start.unit, out, ask))
    return sections


def _select_columns(header: Header, columns: str | None) -> Header:
    """The columns of a list such as "age,sex", in its order; all of them without one."""
    if columns is None:
        return header
    names = split_values(columns)
    for name in names:
        if name not in header:
            raise ArgumentError(f"--columns: '{name}' is not in the source{did_you_mean(name, header)}")
    return {name: header[name] for name in names}


def _tell(out: Path, missing: list[str], left: list[str]) -> Iterator[str]:
    yield f"{out} was written. The names and types of the columns were read, but no values. Nothing was spent."
    if left:
        more = f" and {len(left) - _MOST_LEFT} more" if len(left) > _MOST_LEFT else ""
        yield (
            f"Left out: {len(left)} {plural('column', len(left))} with a name or type that no plan can declare: "
            f"{', '.join(left[:_MOST_LEFT])}{more}. To use one, rename it or cast it in a copy of the source."
        )
    if missing:
        yield f"It is a template: {len(missing)} entries, marked FILL IN, are missing before `discreet check` accepts it."
        yield "Bounds and categories must come from public knowledge, never from the data."
    yield f"Next: discreet check {out}"


# Data -----------------------------------------------------------------------------------------------------------------


def _stem(source: str) -> str:
    return re.sub(r"[^\w.-]+", "-", Path(source.removeprefix("example:")).stem).strip("-") or "data"


def _data(start: _Start, ask: Asker) -> Section:
    called = "what the data set is called in the ledger"
    entries = [
        ask_text("dataset", called, start.stem, ask, lambda a: check_name(a, "dataset")),
        *start.source,
        *(_relation(ask) if start.unit.person is None else start.unit.relation(ask)),
        ask_text("ledger", "the file that records every charge", f"{start.stem}.db", ask, check_filled),
    ]
    return Section("[data]", tuple(entries), ("Everything in this file is public. See docs/plan-file.md.",))


def _relation(ask: Asker) -> list[Entry]:
    """The neighbours of a data set in which one person has so many rows."""
    entries = [
        ask_choice(
            "neighbours",
            f"the neighbouring relation: {' or '.join(f'{kind.word} ({kind.about})' for kind in relations())}",
            tuple(kind.word for kind in relations()),
            None,
            ask,
        )
    ]
    relation = entries[0].value
    sized = [kind.word for kind in relations() if "rows" in kind.needed]
    if relation is None or relation.strip('"') in sized:
        what = "the number of rows, known to everybody"
        what += f"; with {' or '.join(sized)} only" if relation is None else ""
        entries.append(ask_number("rows", what, None, ask, lambda a: check_count(a, "rows")))
    most = "how many rows one person can have at most; if nobody knows, begin again with --person COLUMN"
    return [*entries, ask_number("rows_per_person", most, "1", ask, lambda a: check_count(a, "rows"))]


# Budget and release ---------------------------------------------------------------------------------------------------


def _budget(ask: Asker) -> Section:
    # First the measures of Gaussian noise, which serves many statistics best; the others gain from sampling.
    words = tuple(kind.word for kind in sorted(budgets(), key=lambda kind: kind.amplified))
    measure = ask_choice("measure", f"how privacy is measured: {', '.join(words)}", words, words[0], ask)
    fields = find_budget((measure.value or "").strip('"')).fields
    told = [ask_number(field, _USUAL[field], None, ask, check_amount) for field in fields]
    note = "Other files about the same persons, or a table that grows every month: see docs/how-to/persons-over-time.md."
    return Section("[budget]", (measure, *told), (note,))


def _release(sections: list[Section], unit: Unit, out: Path, ask: Asker) -> Section:
    """The first release; its questions are repeated until the whole plan is valid."""
    while True:
        joined = unit.joined(ask)
        by = ask("columns to group by, separated by commas (none: -)", check_filled, "-")
        alone = [*unit.statistics, "count"]
        asked = ask(
            f"statistics, separated by commas, such as count, mean wage: {', '.join(alone)} or {', '.join(_words()[1:])} "
            "of a column",
            lambda answer: _check_statistics(answer, unit),
            alone[0],
        )
        groups = [] if by in {None, "-"} else [one.strip() for one in str(by).split(",")]
        words = [one.strip() for one in str(asked).split(",")]
        statistics = [_statistic(one, unit, unit.totals(one, ask)) for one in words]
        entries = [Entry("name", toml_visible("first release")), *joined]
        entries += [Entry("group_by", render_list(groups))] if groups else []
        entries += unit.bound(groups, words, ask)
        entries += [Entry("statistics", f"[{', '.join(statistics)}]")]
        notes = ("Without a spend it takes all of the budget; see docs/plan-file.md for groups, bins and all statistics.",)
        section = Section("[[release]]", tuple(entries), notes)
        wrong = None if to_fill_in([*sections, section]) else _find_error([*sections, section], out)
        if wrong is not None:
            typer.echo(f"  {shown_name(str(wrong).removeprefix(f'{wrong.place}: '))}")
        if wrong is None or ": release" not in wrong.place:  # `discreet check` reports the errors elsewhere
            return section


def _find_error(sections: list[Section], out: Path) -> PlanError | None:
    """The error in the plan, if there is one. Paths in it start at the folder of the plan file."""
    try:
        plan_of(toml_root(render_sections(sections).encode(), out))
    except PlanError as wrong:
        return wrong
    return None


def _words() -> list[str]:
    """The statistics that are asked for by their word and a column."""
    return [kind.word for kind in by_word().values() if kind.keys.interview]


def _check_statistics(answer: str, unit: Unit) -> None:
    for word in answer.split(","):
        _statistic(word, unit)


def _statistic(word: str, unit: Unit = ALONE, totals: str = "") -> str:
    """A statistic as TOML: "mean hours" is { mean = "hours", nulls = "skip" }; `totals` bound what each person has."""
    kind, _, column = word.strip().partition(" ")
    if word.strip() in unit.statistics:
        return toml_visible(kind)
    if kind not in _words() or (not column.strip() and not by_word()[kind].keys.alone):
        near = nearest_way(kind).removeprefix("; ")
        said = f"{near}; " if near else ""
        raise ArgumentError(f"'{word.strip()}': {said}write count, or one of {', '.join(_words())} and a column")
    if not column.strip():
        return toml_visible(kind)
    keys = by_word()[kind].keys
    skip = {"nulls": "skip"} if "nulls" in keys.allowed and not totals else {}
    advised = dict(keys.advised) if unit.person is None else {}  # such intervals are not there for rows of persons
    options = totals + "".join(f", {key} = {toml_visible(word)}" for key, word in (skip | advised).items())
    return f"{{ {kind} = {toml_visible(column.strip())}{options} }}"
