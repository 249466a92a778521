"""`discreet export`, and reports in other words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text
from tests.unit.cli.commands import done, refused

OLD = Path(__file__).parents[2] / "golden" / "frozen" / "v0_1_0"


def test_a_release_is_written_in_each_format(tmp_path: Path) -> None:
    for to, name in (("csv", "f.csv"), ("sdmx", "s.csv"), ("json-stat", "j.json"), ("csvw", "w.csv"), ("xlsx", "x.xlsx")):
        told = json.loads(done("export", str(OLD / "small"), "--to", to, "--out", str(tmp_path / name), "--json"))
        assert [Path(file).is_file() for file in told["written"]] == [True] * (2 if to == "csvw" else 1)
        assert told["release"] == "persons"


def test_labels_of_a_file_are_used(tmp_path: Path) -> None:
    (tmp_path / "de.toml").write_text('language = "de"\n[columns.region]\ncategories = { north = "Norden" }\n', "utf-8")
    out = str(tmp_path / "f.csv")
    done("export", str(OLD / "small"), "--to", "csv", "--out", out, "--labels", str(tmp_path / "de.toml"))
    assert '"north","Norden"' in Path(out).read_text("utf-8")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--to", "xls"], "did you mean 'xlsx'"),
        (["--to", "csv", "--language", "de"], "the release has no texts in it"),
        (["--to", "csv", "--language", "german"], "BCP 47"),
        (["--to", "csv", "--language", "de", "--labels", "x"], "give one of them"),
        (["--to", "csv", "--labels", "none.toml"], "none.toml: the file of labels cannot be read"),
        (["--to", "csv", "--frame", "histogram"], "did you mean 'histogram_age'"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path: Path, more: list[str], told: str) -> None:
    assert told in refused(2, "export", str(OLD / "small"), "--out", str(tmp_path / "f"), *more)
    assert list(tmp_path.iterdir()) == []


def test_the_words_of_a_plan_are_for_all_of_its_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that only one of two releases needs once ended the command after its charge."""
    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(plan_text("two-releases"), "utf-8")
    for _ in range(2):  # a stored release too
        told = done("release", "two.toml", "--out", "results")
    assert "Mean age" in told
    assert "young" in told
    words = 'language = "en"\n[columns.age.categories]\n"[0, 50)" = "below 50"\n'
    Path("en.toml").write_text(words, "utf-8")
    for name in ("r", "s"):
        done("export", f"results/{name}", "--to", "csv", "--labels", "en.toml", "--out", f"{name}.csv")
        assert ("below 50" in Path(f"{name}.csv").read_text("utf-8")) == (name == "s")
    Path("en.toml").write_text(words.replace(".age.", ".agee."), "utf-8")
    assert "did you mean 'age'" in refused(2, "export", "results/r", "--to", "csv", "--labels", "en.toml", "--out", "x.csv")
