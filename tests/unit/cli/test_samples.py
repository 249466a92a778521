"""What `check`, `quote` and `ledger show` say of a file that is a secret sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text

from discreet.privacy.population import CONDITION

from .commands import done, refused

PLAN = plan_text("sampled").replace("d.csv", "rows.csv").replace("l.db", "budget.db").replace("1/100", "1/10")


def written(folder: Path, dataset: str, spend: str, measure: str = 'pure-dp"\nepsilon = "2') -> str:
    (folder / "rows.csv").write_text("g\nx\ny\n")
    path = folder / f"{dataset}.toml"
    budget = PLAN.replace('pure-dp"\nepsilon = 1', f'{measure}"').replace("spend = 1", f"spend = {spend}")
    path.write_text(budget.replace('dataset = "d"', f'dataset = "{dataset}"'))
    return str(path)


def test_what_is_promised_to_the_population_is_said_before_and_after(tmp_path: Path) -> None:
    plan = written(tmp_path, "d", "1")
    promised = "up to their whole budget (ε = 2 for the rows of the file), give everybody in the population"
    said = done("check", plan)
    assert promised in said
    assert f"ε = 0.4941. {CONDITION}" in said  # log(1 + (e² − 1)/10), and not twice 0.1586
    for command in ("quote", "explain"):
        assert "the cost is for the rows of the file, which are a secret sample" in done(command, plan)
    done("release", plan, "--out", str(tmp_path / "results"))
    shown = done("ledger", "show", str(tmp_path / "budget.db"))
    assert promised in shown
    assert "Spent so far: ε = 0.1586\n" in shown
    facts = json.loads(done("ledger", "show", str(tmp_path / "budget.db"), "--json"))["datasets"][0]["population"]
    assert (facts["rate"], facts["delta"]) == ("0.1", "0")
    assert 0.49402870804417500831 <= facts["epsilon"] < 0.4940287080442


def test_two_data_sets_of_one_draw_are_shown_with_their_total(tmp_path: Path) -> None:
    done("release", written(tmp_path, "a", "1"), "--out", str(tmp_path / "a"))
    later = written(tmp_path, "b", "1.5")
    assert "of which ε = 1 remains" in done("check", written(tmp_path, "b", "0.5"))
    later = written(tmp_path, "b", "1.5")
    refused(3, "quote", later)
    refused(3, "release", later, "--out", str(tmp_path / "b"))
    done("release", written(tmp_path, "b", "0.5"), "--out", str(tmp_path / "b"))
    shown = done("ledger", "show", str(tmp_path / "budget.db"), "--dataset", "b")
    assert "Data sets of the draw 'panel' share this budget; together they spent ε = 1.5." in shown
    assert "Spent so far: ε = 0.2988\n" in shown  # log(1 + (e^1.5 − 1)/10)


def test_a_draw_without_a_name_has_that_of_its_data_set(tmp_path: Path) -> None:
    first = Path(written(tmp_path, "a", "1"))
    first.write_text(first.read_text().replace(', draw = "panel"', ""))
    done("release", str(first), "--out", str(tmp_path / "a"))
    assert "share this budget" not in done("ledger", "show", str(tmp_path / "budget.db"))
    second = Path(written(tmp_path, "b", "0.5"))
    second.write_text(second.read_text().replace('"panel"', '"a"'))
    done("release", str(second), "--out", str(tmp_path / "b"))
    for dataset in "ab":
        shown = done("ledger", "show", str(tmp_path / "budget.db"), "--dataset", dataset)
        assert "Data sets of the draw 'a' share this budget; together they spent ε = 1.5." in shown


@pytest.mark.parametrize("measure", ['zcdp"\nrho = "2', 'approx-dp"\nepsilon = "2"\ndelta = "1e-6'])
def test_what_was_spent_so_far_carries_its_condition_where_it_has_one(tmp_path: Path, measure: str) -> None:
    done("release", written(tmp_path, "d", "1", measure), "--out", str(tmp_path / "results"))
    assert "; as if this list of releases had been fixed in advance" in done("ledger", "show", str(tmp_path / "budget.db"))
