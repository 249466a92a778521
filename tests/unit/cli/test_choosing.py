"""`discreet choose-clamp`: the clamp for a mean, from a release in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet as dp

from .commands import done, refused

SCHEMA = dp.Schema(income=dp.Number(0, 500_000, step=1_000), age=dp.Number(0, 110))


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dp.Release:
    """A release of one histogram in the folder `out`."""
    monkeypatch.chdir(tmp_path)
    given = {"budget": dp.ZCDP(100), "neighbours": dp.ReplaceOne(rows=2000)}
    with dp.Session(dp.datasets.path("acs12"), SCHEMA, dataset="acs12", ledger=":memory:", **given) as session:
        asked = session.table.agg(dp.histogram("income", [0, 50_000, 200_000, 500_000]))
        found = session.release(asked, spend=50, name="incomes")
    found.save("out")
    return found


def test_it_says_what_the_function_says(release: dp.Release) -> None:
    found = dp.choose_clamp(release, spend="0.5")
    assert done("choose-clamp", "out", "--spend", "0.5") == f"{found}\nNothing was spent.\n"
    assert json.loads(done("choose-clamp", "out", "--spend", "0.5", "--column", "income", "--json")) == found.to_json()


@pytest.mark.usefixtures("release")
def test_what_is_not_there_is_refused() -> None:
    assert "has 0 histograms of column 'age'" in refused(2, "choose-clamp", "out", "--spend", "0.5", "--column", "age")
    assert "spend" in refused(2, "choose-clamp", "out", "--spend", "much")
    refused(2, "choose-clamp", "nowhere", "--spend", "0.5")
