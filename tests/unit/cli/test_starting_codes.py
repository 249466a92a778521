"""`discreet init` from files whose header says what codes mean: categories and missing codes are proposed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.code_lists import join_values, split_values
from discreet.engines.surveys import driver

pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra `surveys`")

LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "wage": {-8: "unknown"}, "t": {"a": "A, first", "b": "B"}}
RANGES = {"sex": [9], "wage": [{"lo": -9, "hi": -7}], "far": [{"lo": -1000.0, "hi": -1.0}]}


@pytest.fixture
def source(tmp_path: Path) -> str:
    frame = pd.DataFrame({"sex": [1.0, 3.0], "wage": [77.0, -8.0], "t": ["b", "z"], "far": [5.0, 6.0]})
    pyreadstat.write_sav(frame, tmp_path / "p.sav", variable_value_labels=LABELS, missing_ranges=RANGES)
    return str(tmp_path / "p.sav")


def written(source: str, answers: str | None = None) -> tuple[dict[str, Any], str]:
    out = Path(source).with_suffix(".toml")
    done = CliRunner().invoke(app, ["init", source, "--out", str(out)], input=answers, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return tomllib.loads(out.read_text("utf-8"))["columns"], out.read_text("utf-8")


def test_labelled_codes_are_categories_and_missing_codes_are_missing(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "read_rows", lambda *_: pytest.fail("a row was read"))
    columns, text = written(source)
    assert columns == {
        "sex": {"type": "category", "categories": [1, 2], "missing": [9]},
        "wage": {"type": "number", "missing": [-9, -8, -7]},
        "t": {"type": "category", "categories": ["a", "b"]},
        "far": {"type": "number"},
    }
    assert "categories = [1, 2]    # 1 male, 2 female\nmissing = [9]    # 9 refused\n" in text
    assert "missing = [-9, -8, -7]    # -8 unknown\n" in text
    assert "# The file calls all codes from -1000 to -1 missing: add those that occur to `missing`.\n[columns.far]" in text


def test_a_label_cannot_end_its_comment(tmp_path: Path) -> None:
    labels = {"a": {1: 'x\n[budget]\nmeasure = "pure-dp"'}}
    pyreadstat.write_sav(pd.DataFrame({"a": [1.0]}), tmp_path / "p.sav", variable_value_labels=labels)
    columns, text = written(str(tmp_path / "p.sav"))
    assert columns == {"a": {"type": "category", "categories": [1]}}
    assert '[budget]\nmeasure = "pure-dp"' not in text


def test_codes_that_are_not_whole_are_no_categories(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"a": [1.5]}), tmp_path / "p.sav", variable_value_labels={"a": {1.5: "x"}})
    assert written(str(tmp_path / "p.sav"))[0] == {"a": {"type": "number"}}


@pytest.mark.parametrize("values", [["a", "b"], ["a, b", 'say "x"', "1"], ["1"]])
def test_proposed_values_are_read_as_they_are(values: list[str]) -> None:
    assert split_values(join_values(values)) == values
