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
from discreet.releases.rows import fit
from discreet.releases.rows.fit import _Law, sweep_rows
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.targets import PARTS, Axis, Target, Targets, targets_of
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
