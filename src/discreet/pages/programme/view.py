"""The contents of the page: the releases of a folder turned into texts, one line each. The template puts them in place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from discreet.domain.about import About
from discreet.errors import ArgumentError
from discreet.exact.figures import decimals_for, name
from discreet.exact.numbers import decimal_up
from discreet.pages.programme.agreement import Agreement, TotalsAgreement, agreements_of, totals_agreements_of
from discreet.pages.programme.reading import MADE_UP, Found, LeftOut, Shelf
from discreet.pages.programme.spending import Spending, spendings_of
from discreet.pages.report.words import title_words, what_words
from discreet.pages.words import Words
from discreet.privacy.amounts import amount_text
from discreet.releases.derived.reading import outputs_of
from discreet.releases.document import Release
from discreet.releases.files import DOCUMENT
from discreet.releases.frames import value_columns
from discreet.releases.labelled import apply_words, title_of, value_label
from discreet.releases.quality import BAD, CAUTION, GOOD, numbers_of
from discreet.session.accounts import Account

__all__ = ["Page", "page_of"]

_MOST_LISTED = 12
_CLASSES = (GOOD, CAUTION, BAD)
_WHYS = frozenset({"link", "made up", "not a file", "too large", "too many"})


@dataclass(frozen=True, slots=True)
class Link:
    """A file, as it is shown and as an address within the folder."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Line:
    """A release: its title, and what somebody who looks for it wants to know."""

    number: int
    title: str
    second: str
    report: str
    description: str
    what: str
    day: str
    time: str
    dataset: str
    spend: str
    epsilon: str
    classes: tuple[tuple[str, int], ...]
    quality: str
    files: tuple[Link, ...]
    copies: str


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """The budget of a data set in words, and the spent part of it in thousandths, None where no budget is known."""

    dataset: str
    budget: str
    spent: str
    left: str
    part: int | None
    source: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """A quantity that several releases publish: in which, how far apart, and whether the intervals meet."""

    title: str
    dataset: str
    direct: tuple[Link, ...]
    summed: tuple[Link, ...]
    more: str
    cells: str
    widest: str
    told: str
    alert: bool


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template needs; every field is text for people, not yet escaped."""

    title: str
    counts: str
    newest: str
    publisher: str
    budgets: tuple[BudgetLine, ...]
    lines: tuple[Line, ...]
    agreements: tuple[AgreementLine, ...]
    left_out: tuple[tuple[str, str], ...]


def page_of(shelf: Shelf, accounts: Sequence[Account], words: Words, title: str = "") -> Page:
    """The page of the releases of a folder.

    Args:
        shelf: what the folder holds.
        accounts: the accounts of the ledgers that are given; data sets without one are told from the documents.
        words: the language.
        title: of the page; empty for one made of the data sets.
    """
    ones, broken = _readable(shelf, words)
    releases = [one.release for one in ones]
    titles = Counter(one.about.title for one in releases)
    lines = [_line(place, one, words, alone=titles[one.release.about.title] == 1) for place, one in enumerate(ones)]
    links = [Link(line.title, f"#r{line.number}") for line in lines]
    datasets = sorted({line.dataset for line in lines})
    compared = [_agreement(one, releases, links, words) for one in agreements_of(releases)]
    exactly = [_totals(one, releases, links, words) for one in totals_agreements_of(releases)]
    publishers = {one.about.publisher for one in releases}
    return Page(
        title=title or (words("programme.of", dataset=datasets[0]) if len(datasets) == 1 else words("programme.title")),
        counts=f"{words.many('programme.releases', len(ones))} {words.many('programme.of_datasets', len(datasets))}",
        newest=words("programme.newest", day=words.day(found)) if (found := max(one.time for one in releases)) else "",
        publisher=min(publishers) if len(publishers) == 1 else "",
        budgets=tuple(_budget(one, lines, words) for one in spendings_of(releases, accounts)),
        lines=tuple(lines),
        agreements=tuple(sorted([*compared, *exactly], key=lambda one: not one.alert)),
        left_out=tuple((name(one.place), _why(one, words)) for one in (*shelf.left_out, *broken)),
    )


def _readable(shelf: Shelf, words: Words) -> tuple[list[Found], list[LeftOut]]:
    """The releases in the order of the page, in its language; and those that lack a part that every release has.

    A digest is not a signature: somebody may have made up a document that fits its own digest.

    Raises:
        ArgumentError: all of them do.
    """
    ones, broken = list[Found](), list[LeftOut]()
    for found in shelf.releases:
        try:
            one = _in_language(found, words)
            _line(0, one, words, alone=True)
            spendings_of([one.release])
        except MADE_UP:
            broken.append(LeftOut(f"{found.place}/{DOCUMENT}".lstrip("/"), "made up"))
        else:
            ones.append(one)
    if not ones:
        raise ArgumentError("programme: none of its documents has what every release has; they were not written by discreet")
    return sorted(ones, key=_order), broken


def _in_language(found: Found, words: Words) -> Found:
    """The release with its labels in the language of the page, if it has them."""
    if words.language not in found.release.languages:
        return found
    return Found(found.release.labelled(words.language), found.place, found.files, found.copies)


def _order(found: Found) -> tuple[str, list[tuple[int, str]], str]:
    """Data sets by name, then folders as people count them: T2 before T10."""
    parts = re.split(r"(\d{1,15})", found.place)
    return found.release.dataset, [(int(part), "") if part.isdecimal() else (0, part) for part in parts], found.place


def _line(place: int, found: Found, words: Words, *, alone: bool) -> Line:
    """A release; its name is its title where it has none, or one that others have too."""
    release, about = found.release, found.release.about
    document, guarantee = release.shown(0), release.guarantee
    own = name(document["name"])
    title, second = (about.title, own) if alone and about.title else (own, about.title)
    epsilon = f"ε ≤ {decimal_up(guarantee.epsilon, 4)}"
    delta = f"; δ = {decimal_up(guarantee.report_delta)}" if guarantee.report_delta else ""
    classes = _classes(release)
    return Line(
        number=place + 1,
        title=title,
        second=second if second != title else "",
        report=_address(found.place, found.report) if found.report else "",
        description=about.description.split("\n", 1)[0],
        what=what_words(document, about, words),
        day=words.day(release.time) if release.time else "",
        time=release.time[:10],
        dataset=name(document["dataset"]),
        spend=words.figures(amount_text(guarantee.effective)),
        epsilon="" if guarantee.effective.pair is not None else words.figures(epsilon + delta),
        classes=tuple((letter, round(1000 * classes[letter] / classes.total())) for letter in _CLASSES if classes[letter]),
        quality=_quality(release, classes, words),
        files=tuple(Link(name(file), _address(found.place, file)) for file in found.files if file != "report.html"),
        copies=words("programme.copies", places=", ".join(map(name, found.copies))) if found.copies else "",
    )


def _address(place: str, file: str) -> str:
    """The address of a file, relative to the page: no name in it can be a scheme or leave the folder."""
    return "./" + quote(f"{place}/{file}" if place else file, safe="/", errors="surrogateescape")


def _classes(release: Release) -> Counter[str]:
    """The number of numbers in each class; none where the numbers are in files."""
    if release.parts:
        return Counter()
    document = release.document
    main = [one.classes for one in numbers_of(document, document["columns"])]
    frames = [one.classes for frame in document.get("frames", ()) for one in _of_frame(document, frame)]
    return Counter(letter for classes in (*main, *frames) for letter in classes)


def _of_frame(document: Mapping[str, Any], frame: Mapping[str, Any]) -> list[Any]:
    return [*numbers_of(document, frame["columns"], frame["name"])]


def _quality(release: Release, classes: Counter[str], words: Words) -> str:
    if release.parts:
        return words("programme.in_files")
    parts = [words(f"programme.class_{letter}", n=words.number(classes[letter])) for letter in _CLASSES if classes[letter]]
    return " · ".join(parts) or words("programme.no_classes")


# Budgets ------------------------------------------------------------------------------------------------------------------


def _budget(spending: Spending, lines: Sequence[Line], words: Words) -> BudgetLine:
    def shown(budget: Any) -> str:
        return "–" if budget is None else words.figures(amount_text(budget))

    remarks = []
    if spending.elsewhere:
        remarks.append(words.many("programme.elsewhere", len(spending.elsewhere), names=_list(spending.elsewhere, words)))
    if spending.lost:
        remarks.append(words.many("programme.lost", len(spending.lost), names=_list(spending.lost, words)))
    if spending.unknown:
        names = [line.title for line in lines if line.number - 1 in spending.unknown]
        remarks.append(words.many("programme.unknown", len(names), names=_list(names, words)))
    return BudgetLine(
        name(spending.dataset),
        shown(spending.budget),
        shown(spending.spent),
        shown(spending.left),
        None if spending.budget is None else round(1000 * spending.part),
        words(f"programme.from_{spending.source}"),
        tuple(remarks),
    )


def _list(names: Sequence[str], words: Words) -> str:
    shown = ", ".join(words.quoted(name(one)) for one in names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return shown if more <= 0 else f"{shown} {words.many('programme.more', more)}"


# Agreement ----------------------------------------------------------------------------------------------------------------


def _agreement(one: Agreement, releases: Sequence[Release], links: Sequence[Link], words: Words) -> AgreementLine:
    release, gap = releases[one.direct[0]], one.widest
    about = release.about
    cell = ", ".join(_label(about, key, value, words) for key, value in zip(one.keys, gap.cell, strict=True))
    ends = gap.low[0], gap.high[0]
    decimals = 0 if all(value.denominator == 1 for value in ends) else decimals_for([float(gap.distance) / 2])
    values = [words.number(float(value), decimals) for value in ends]
    widest = words("programme.gap", low=values[0], high=values[1], apart=words.number(float(gap.distance), decimals))
    told = words("programme.meet")
    if one.apart:
        told = words.many("programme.apart", one.apart, of=words.number(one.cells))
    return AgreementLine(
        title=_title(one, release, words),
        dataset=name(one.quantity.dataset),
        direct=_some(links, one.direct),
        summed=_some(links, one.summed),
        more=_tell_hidden(len(one.direct), len(one.summed), words),
        cells=words.number(one.cells),
        widest=f"{cell}: {widest}" if cell else widest,
        told=told,
        alert=one.apart > _by_chance(len(one.direct) + len(one.summed)) * one.cells,
    )


def _label(about: About, column: str, value: str | None, words: Words) -> str:
    return words.name(None) if value is None and not about.column(column).unknown else value_label(about, column, value)


def _by_chance(tables: int) -> float:
    """The part of numbers whose intervals may well miss each other: each of them misses the true one in 5 % of cases."""
    return min(0.05 * tables, 0.5)


def _some(links: Sequence[Link], places: Sequence[int]) -> tuple[Link, ...]:
    return tuple(links[place] for place in places[:_MOST_LISTED])


def _tell_hidden(direct: int, summed: int, words: Words) -> str:
    more = max(0, direct - _MOST_LISTED) + max(0, summed - _MOST_LISTED)
    return words.many("programme.more", more) if more else ""


def _title(one: Agreement, release: Release, words: Words) -> str:
    """The statistic and its groups, in the words of the first release that publishes it."""
    document, about = release.document, release.about
    column, line = next(
        (column, line)
        for column, line in outputs_of(document).items()
        if (line["statistic"], line.get("column")) == (one.quantity.statistic, one.quantity.column)
        and column.removeprefix(line["name"]) == one.quantity.output
    )
    titled = about.statistic(column).label or title_words(apply_words(line, about), value_columns(line)[column])
    keys = " × ".join(title_of(about, key) for key in one.keys)
    return words("programme.by", what=words.said(titled), keys=keys) if keys else words.said(titled)


def _totals(one: TotalsAgreement, releases: Sequence[Release], links: Sequence[Link], words: Words) -> AgreementLine:
    about = releases[one.releases[0]].about
    columns = " × ".join(title_of(about, column) for column in one.columns) or words("programme.all_rows")
    return AgreementLine(
        title=words("programme.exact", columns=columns),
        dataset=name(one.dataset),
        direct=_some(links, one.releases),
        summed=(),
        more=_tell_hidden(len(one.releases), 0, words),
        cells="",
        widest="",
        told=words("programme.same" if one.same else "programme.differ"),
        alert=not one.same,
    )


def _why(one: LeftOut, words: Words) -> str:
    return words(f"programme.why_{one.why.replace(' ', '_')}") if one.why in _WHYS else words.said(name(one.why))
