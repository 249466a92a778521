"""Rows fitted to agreeing tables: totals to the last row, the same rows for everybody, and what is refused."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from tests.builders import run, session_over
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.pages.rows.page import render_rows, write_rows_page
from discreet.releases.rows import fit
from discreet.releases.rows.fit import _Law, sweep_rows
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.targets import PARTS, Axis, Target, Targets, scaled, targets_of
from discreet.releases.rows.words import Words, words_of

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category([1, 2]), v=dp.Number(0, 9), c=dp.Category([True, False]))
ROWS = [(a, b, v, b == 1) for a, b, v in product(["x", "x", "y", None], [1, 2, 2], [0, 4, 9])] * 2
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "v", "c"], orient="row")
HALVES = dp.bins("v", [0, 5, 9])
TABLES = dp.agreeing_tables(["a", "b"], [HALVES, "b"], ["c", "b"], ["a", "c"])


def released(asked=TABLES, neighbours=None, spend="1000", **options):
    neighbours = neighbours or dp.ReplaceOne(rows=len(ROWS))
    session = session_over(FRAME, SCHEMA, neighbours=neighbours, budget=dp.ZCDP(spend), **options)
    return session.release(session.table.agg(asked), spend=spend, name="all")


@pytest.fixture
def few_sweeps(monkeypatch):
    """Rows are fitted in two sweeps: enough for what holds after every draw."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 50, 1), (Fraction(40), 50, 1)))


def counts(frame, *columns):
    return {tuple(row[:-1]): row[-1] for row in frame.group_by(columns).len().rows()}


def test_tables_without_much_noise_are_met_by_rows():
    found = dp.fit_rows(released())
    assert len(found.frame) == len(ROWS)
    assert found.frame.schema == {"a": pl.String, "b": pl.Int64, "v": pl.String, "c": pl.Boolean}
    for pair in (("a", "b"), ("c", "b"), ("a", "c")):
        true, made = counts(FRAME, *pair), counts(found.frame, *pair)
        assert sum(abs(made.get(key, 0) - true.get(key, 0)) for key in true | made) <= len(ROWS) // 10


def test_what_chooses_by_the_opposite_errors_is_noticed(monkeypatch):
    least = "scores - scores.min(axis=1, keepdims=True)"
    Mutant(_Law, "cumulated", least, "scores.max(axis=1, keepdims=True) - scores").plant(monkeypatch)
    found = dp.fit_rows(released())
    true, made = counts(FRAME, "c", "b"), counts(found.frame, "c", "b")
    assert sum(abs(made.get(key, 0) - true.get(key, 0)) for key in true | made) > len(ROWS) // 10


@pytest.mark.parametrize(
    "totals",
    [dp.Totals("a"), dp.Totals("a", "b"), dp.Totals("a") + dp.Totals("c"), dp.Totals("a") + dp.Totals("a", "b")],
    ids=["one", "joint", "disjoint", "nested"],
)
def test_exact_totals_hold_to_the_last_row(totals, few_sweeps):
    found = dp.fit_rows(released(spend="0.01", invariants=totals))
    for part in totals.parts:
        assert counts(found.frame, *part.columns) == counts(FRAME, *part.columns)


def test_rows_that_are_not_public_in_number_are_about_as_many(few_sweeps):
    found = dp.fit_rows(released(neighbours=dp.AddRemove(), spend="100"))
    assert abs(len(found.frame) - len(ROWS)) <= 3


def test_everybody_gets_the_same_rows_and_another_release_gives_others(few_sweeps):
    release = released(spend="1/2")
    first, again, other = dp.fit_rows(release), dp.fit_rows(release), dp.fit_rows(released(spend="1/2"))
    assert first.frame.equals(again.frame)
    assert not first.frame.equals(other.frame)


MADE = Targets(
    axes=(Axis("a", ("x", "y", "z")), Axis("b", ("p", "q")), Axis("c", (1, 2, 3, 4)), Axis("d", ("only",))),
    rows=60,
    tables=(
        Target((0, 1), PARTS * np.array([[20, 0], [5, 5], [10, 20]]), 4095),
        Target((2, 0), PARTS * np.array([[12, 0, 3], [0, 5, 12], [1, 4, 9], [7, 1, 6]]), 2000),
        Target((1, 2, 3), PARTS * np.arange(8).reshape(2, 4, 1), 17),
        Target((3, 2), PARTS * np.array([[15, 17, 14, 14]]), 0),
    ),
    totals={(1,): np.array([35, 25])},
    singles=tuple(PARTS * np.array(one) for one in ([20, 10, 30], [35, 25], [15, 17, 14, 14], [60])),
    unit=Fraction(1, 9000),
)


def fitted(targets=MADE, digest="digest"):
    words = words_of(digest)
    return sweep_rows(targets, start_rows(targets, words), words, lambda done, every: None)


def test_the_rows_of_a_digest_are_those_that_they_have_always_been():
    """Integers only: no machine and no version of NumPy may give others. Another number needs another name of the scheme."""
    found = hashlib.sha256(fitted().astype("<i8").tobytes()).hexdigest()
    assert found == "62801c617a814e1c2b2f135fdf3aaf195e72b71175b678395d49930e7f1f38c0"


def literal(targets, digest="digest"):
    """The scheme as its page says it: all errors are counted anew for every chunk and column, in integers of Python."""
    words = words_of(digest)
    rows = start_rows(targets, words).tolist()
    held = {axis for own in targets.totals for axis in own}
    law = [int(one) for one in fit._exponentials()]
    used = {axis for table in targets.tables if table.weight for axis in table.axes}
    for beta, chunks, many in fit._STAGES:
        factor = max(1, round(2**20 * 512 * beta * targets.unit / 64))
        for _ in range(many):
            order = words.shuffle(len(rows)).tolist()
            ends = [len(order) * place // chunks for place in range(chunks + 1)]
            for low, high in pairwise(ends):
                for axis in range(len(targets.axes)):
                    if low < high and axis in used - held and len(targets.axes[axis].labels) > 1:
                        draw((targets, rows), order[low:high], axis, (factor, law), words)
    return rows


def draw(state, chunk, axis, law, words):
    (targets, rows), (factor, exponentials) = state, law
    tables = [table for table in targets.tables if table.weight and axis in table.axes]
    kept = [list(row) for row in rows]
    levels = range(len(targets.axes[axis].labels))
    limits = []
    for place in chunk:
        scores = []
        for level in levels:
            row = [*kept[place][:axis], level, *kept[place][axis + 1 :]]
            scores.append(sum(table.weight * error(table, kept, row, own=level == kept[place][axis]) for table in tables))
        steps = [min((score - min(scores)) * factor >> 20, 8704) for score in scores]
        limits.append(np.cumsum([exponentials[step] for step in steps]).tolist())
    for place, cumulated, word in zip(chunk, limits, words.draw(len(chunk)).tolist(), strict=True):
        limit = word * cumulated[-1] >> 32
        rows[place][axis] = sum(one <= limit for one in cumulated)


def error(table, rows, row, *, own):
    same = sum(all(other[axis] == row[axis] for axis in table.axes) for other in rows)
    return PARTS * (same - own) - int(table.counts[tuple(row[axis] for axis in table.axes)])


def test_the_sweeps_are_those_of_the_literal_scheme(monkeypatch):
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 3, 1), (Fraction(40), 7, 1)))
    assert fitted().tolist() == literal(MADE)


def test_values_are_chosen_with_their_weights():
    """All 32 bits in equal steps: each value is chosen as often as its weight says."""

    class Steps(Words):
        def draw(self, many):
            return (np.arange(many, dtype=np.int64) << 32) // many

    weights = np.array([3, 0, 5, 2, 0])
    chosen = Steps(None).choose(np.broadcast_to(np.cumsum(weights), (1000, 5)))
    found = np.bincount(chosen, minlength=5)
    assert np.abs(found - 100 * weights).max() <= 1
    assert found[[1, 4]].sum() == 0


def test_columns_of_many_levels_have_weights_that_fit():
    law = _Law(1, fit._exponentials())
    for size in (2, 127, 128, 5000):
        assert 0 < law.cumulated(np.zeros((1, size), dtype=np.int64))[0, -1] < 1 << 31


def test_a_table_counts_for_what_its_own_effect_adds():
    """For one table and its margin: the margin has a weight of its own only where its noise is less than the table says."""
    targets = targets_of(released(dp.agreeing_tables(["a", "b"], ["a"]), spend="1").document)
    alone = targets_of(released(dp.agreeing_tables(["a", "b"]), spend="1").document)
    assert [one.weight for one in alone.tables] == [4095]
    assert max(one.weight for one in targets.tables) == 4095


REFUSED = {
    "it has none": dp.tables(["a"], ["b"]),
    "in several ways": dp.agreeing_tables(["a", HALVES], [dp.bins("v", [0, 3, 9]), "b"]),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_releases_without_such_tables_are_refused(rule):
    with pytest.raises(dp.ArgumentError, match=rule):
        dp.fit_rows(released(REFUSED[rule]))


BESIDE = {
    "overlap": dp.Totals("a", "b") + dp.Totals("b", "c"),
    "can keep only lists": dp.Totals("a", only=["x"]),
    "publishes ranges": dp.Rounded("a", base=3),
}


@pytest.mark.parametrize("rule", BESIDE)
def test_facts_that_rows_cannot_keep_are_refused(rule):
    release = released(invariants=BESIDE[rule])
    with pytest.raises(dp.ArgumentError, match=rule):
        dp.fit_rows(release)


@pytest.mark.parametrize("many", [1, 7, 36, 1000])
def test_another_number_of_rows_has_the_shares_of_the_totals(many, few_sweeps):
    totals = dp.Totals("a") + dp.Totals("c")
    found = dp.fit_rows(released(invariants=totals), rows=many)
    assert len(found.frame) == many
    for part in totals.parts:
        true, made = counts(FRAME, *part.columns), counts(found.frame, *part.columns)
        assert all(abs(made.get(key, 0) - Fraction(many * true[key], len(ROWS))) < 1 for key in true)
    assert "as shares" in str(found)


def test_the_published_number_of_rows_gives_the_rows_themselves(few_sweeps):
    release = released(spend="1/2")
    assert release.rows(len(ROWS)).frame.equals(dp.fit_rows(release).frame)
    assert "as shares" not in str(release.rows())


def test_scaled_targets_are_the_shares():
    more = scaled(MADE, 90)
    assert more.rows == 90
    assert more.totals[(1,)].tolist() == [53, 37]  # 52.5 and 37.5: the first of equal remainders
    assert more.tables[0].counts.tolist() == (PARTS * np.array([[30, 0], [7.5, 7.5], [15, 30]])).tolist()
    assert more.unit == MADE.unit * Fraction(4, 9)
    assert scaled(MADE, 60) is MADE


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "9", 10**9])
def test_numbers_of_rows_are_checked(rows):
    with pytest.raises(dp.ArgumentError, match="rows="):
        dp.fit_rows(released(spend="1/2"), rows=rows)


def mostly_empty():
    """A release with a table of 200 groups, 199 of them empty: half of its estimates are within eight deviations below 1."""
    frame = pl.DataFrame({"k": [0] * 60, "b": ["p", "q", "q"] * 20})
    schema = dp.Schema(k=dp.Category(range(200)), b=dp.Category(["p", "q"]))
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        return session.release(session.table.agg(dp.agreeing_tables(["k"], ["b"])), spend=1, name="empty")


def test_tables_of_noise_are_named_and_refused_where_that_is_asked_for(few_sweeps):
    release = mostly_empty()
    assert release.rows().noisy == ("k",)
    assert "noise dominates in k:" in str(release.rows())
    assert "Where noise dominates" in render_rows(release.rows())
    with pytest.raises(dp.ArgumentError, match="strict=True: noise dominates in k;"):
        release.rows(strict=True)
    assert released(dp.agreeing_tables(["a"])).rows(strict=True).noisy == ()


def test_pairs_that_no_table_counts_by_are_told(few_sweeps):
    found = dp.fit_rows(released())
    assert set(map(frozenset, found.apart)) == {frozenset(one) for one in (("a", "v"), ("c", "v"))}
    assert "no table has" in str(found)


def test_the_page_has_every_table_and_escapes_names(few_sweeps, tmp_path):
    evil = "<script>alert(1)</script>"
    frame = pl.DataFrame({evil: ["x", "y"] * 30, "b": ["p", "q", "q"] * 20})
    schema = dp.Schema({evil: dp.Category(["x", "y"]), "b": dp.Category(["p", "q"])})
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        release = session.release(session.table.agg(dp.agreeing_tables([evil], ["b"])), spend=1, name=evil)
    found = release.rows()
    page = render_rows(found)
    assert "<script" not in page
    assert page.count('scope="row"') == 2
    assert "and <bdi>b</bdi>" in page
    for row in found.compared:
        assert f"{100 * row.within / row.cells:.1f} %" in page
    assert "same shares" not in page
    assert "same shares" in render_rows(release.rows(9))
    assert write_rows_page(found, tmp_path).name == "rows.html"


def test_the_command_writes_a_page_and_another_number_of_rows(tmp_path, few_sweeps):
    released(spend="1/2").save(tmp_path / "all")
    out, page = tmp_path / "rows.csv", tmp_path / "page.html"
    shown = run("rows", str(tmp_path / "all"), "--out", str(out), "--report", str(page), "--rows", "20", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert len(pl.read_csv(out)) == json.loads(shown.stdout)["rows"] == 20
    assert "20 rows that agree with 4 published tables" in page.read_text(encoding="utf-8")
    mostly_empty().save(tmp_path / "noisy")
    refused = run("rows", str(tmp_path / "noisy"), "--out", str(tmp_path / "none.csv"), "--strict")
    assert refused.exit_code != 0
    assert not (tmp_path / "none.csv").exists()


def test_the_command_writes_the_same_file_twice(tmp_path, few_sweeps):
    release = released(spend="1/2")
    release.save(tmp_path / "all")
    for name in ("rows.csv", "again.csv", "rows.parquet"):
        shown = run("rows", str(tmp_path / "all"), "--out", str(tmp_path / name), "--json")
        assert shown.exit_code == 0, shown.stderr
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(dp.fit_rows(release).frame)
    facts = json.loads(shown.stdout)
    assert facts["digest"] == release.digest
    assert sum(one["cells"] for one in facts["tables"]) == sum(dp.fit_rows(release).check()["cells"])


def test_the_command_refuses_other_files_before_it_begins(tmp_path):
    release = released(spend="1/2")
    release.save(tmp_path / "all")
    assert "must end in" in run("rows", str(tmp_path / "all"), "--out", str(tmp_path / "rows.txt")).stderr
    assert "no release.json" in run("rows", str(tmp_path), "--out", str(tmp_path / "rows.csv")).stderr
