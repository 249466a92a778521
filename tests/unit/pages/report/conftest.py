from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.releases.document import make_release


@pytest.fixture(scope="session")
def released():
    """A function that releases statistics of a small frame: `released(schema, rows, ask, **options)`."""

    def release(
        schema,
        rows,
        ask,
        *,
        neighbours=None,
        budget=None,
        invariants=None,
        name="a release",
        dataset="a data set",
        quality=None,
    ):
        frame = pl.DataFrame(rows, schema={column: _type(kind) for column, kind in schema.columns.items()})
        with dp.Session(
            frame,
            schema,
            dataset=dataset,
            ledger=":memory:",
            budget=budget or dp.PureDP(1),
            neighbours=neighbours or (dp.ReplaceOne(rows=frame.height) if invariants else dp.AddRemove()),
            invariants=invariants,
        ) as session:
            return session.release(ask(session.table), name=name, quality=quality)

    return release


def _type(column: object) -> Any:
    values = (0,) if isinstance(column, dp.Number) else column.values
    return {bool: pl.Boolean, int: pl.Int64, str: pl.String}[type(values[0])]


@pytest.fixture(scope="session")
def rewritten():
    """A function that gives a release whose document differs in the given parts, with a digest that fits."""

    def rewrite(release, without=(), **parts):
        content = {key: value for key, value in release.document.items() if key not in {"digest", *without}}
        return make_release({**content, **parts})

    return rewrite


@dataclass
class Shown:
    """A table of a page: its caption and its rows of cells, that of the headings first."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)

    @property
    def headings(self):
        return tuple(cell.strip() for cell in self.rows[0])

    def cells(self, columns):
        """The first `columns` cells of each row below the headings."""
        return [tuple(cell.strip() for cell in row[:columns]) for row in self.rows[1:]]


class Reader(HTMLParser):
    """Collects tags, attributes, and the tables of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.tables, self.ids = [], [], [], []
        self._into = None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]
        self.ids += [value for key, value in attrs if key == "id"]
        if tag == "table":
            self.tables.append(Shown())
        if tag == "tr":
            self.tables[-1].rows.append([])
        if tag in {"td", "th"}:
            self.tables[-1].rows[-1].append("")
        self._into = tag if tag in {"td", "th", "caption"} else self._into

    def handle_endtag(self, tag):
        self._into = None if tag in {"table", "caption"} else self._into

    def handle_data(self, data):
        if self._into == "caption":
            self.tables[-1].caption += data
        elif self._into:
            self.tables[-1].rows[-1][-1] += data

    def table(self, words):
        """The only table with these words in its caption."""
        (found,) = [table for table in self.tables if words in table.caption]
        return found


@pytest.fixture(scope="session")
def read():
    """A function that reads a page: `read(html)` has its tags, attributes, ids and tables."""

    def reader(html):
        found = Reader()
        found.feed(html)
        found.close()
        return found

    return reader


@pytest.fixture(scope="session")
def wages(released):
    """Counts, sums and means by sex, with every kind of step."""
    schema = dp.Schema(
        sex=dp.Category(["F", "M", "X"]),
        place=dp.Category(["here", "there"]),
        age=dp.Number(0, 99),
        wage=dp.Number(0, 2000, 10),
    )

    def ask(table):
        return (
            table.clamp({"wage": (0, 1500), "sex": ["F", "M"]})
            .impute({"wage": dp.Uniform(100, 100), "age": dp.Normal(40, 15), "sex": dp.Weights({"F": 1, "M": 2})})
            .where({"age": (18, 65)})
            .resize(500, proportion="1.5")
            .group_by("sex")
            .agg(dp.count(), dp.sum("wage"), dp.mean("wage"))
        )

    rows = {"sex": ["F", "M"] * 200, "place": ["here"] * 400, "age": list(range(20, 60)) * 10, "wage": [500, 700] * 200}
    return released(schema, rows, ask, budget=dp.PureDP(2), name="wages by sex", dataset="wages-2025")
