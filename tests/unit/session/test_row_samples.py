"""A sample of rows through sessions, plan files, commands, reports and the audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.audit import audit_quote
from discreet.cube.resample import impute
from discreet.pages.report import render
from discreet.quotes.allocate import quote
from discreet.releases import evaluate, publish

from .sessions import means, session


def test_a_draw_that_failed_is_not_drawn_again(monkeypatch):
    """The sample is drawn once for a charge: a second draw would be a second mechanism (soundness 35)."""
    with session() as one:
        request = one.table.sample("1/2").agg(dp.count())
        drawn = []

        def fails(*_args, **_given):
            drawn.append(True)
            raise ValueError("secret 42")

        with monkeypatch.context() as broken:
            broken.setattr(evaluate, "resample", fails)
            with pytest.raises(dp.ReleaseFailed) as failed:
                one.release(request, spend="0.1", name="r")
        assert "secret" not in str(failed.value)
        monkeypatch.setattr(evaluate, "resample", fails)
        with pytest.raises(dp.DiscreetError):
            one.release(request, spend="0.1", name="r")
        assert len(drawn) == 1
        assert one.spent == dp.ZCDP("0.1")


def test_a_stored_release_of_a_sample_is_given_back():
    with session() as one:
        request = one.table.sample("1/2").agg(dp.count())
        first = one.release(request, spend="0.1", name="r")
        assert one.release(request, spend="0.1", name="r").payload == first.payload
        assert one.spent == dp.ZCDP("0.1")
        with pytest.raises(dp.DiscreetError):
            one.release(one.table.sample("1/3").agg(dp.count()), spend="0.1", name="r")
        assert one.release(means(one), spend="0.1", name="s").payload != first.payload


def test_commands_take_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_artist: None):
    monkeypatch.chdir(tmp_path)
    text = (
        plan_text("hours")
        .replace("spend = 0.1", 'spend = 0.1\nsample = "1/2"')
        .replace('statistics = ["count",', 'statistics = ["count", { sum = "hrs_work" }, { count = "hrs_work" },')
    )
    Path("plan.toml").write_text(text, encoding="utf-8")
    assert run("check", "plan.toml").exit_code == 0
    quoted = run("quote", "plan.toml")
    assert "the sample costs accuracy" in quoted.stdout
    assert "Each row is kept with probability 0.5" in run("explain", "plan.toml").stdout
    assert run("release", "plan.toml", "--out", "results").exit_code == 0
    derived = run("derive", "before-sampling", "results", "--statistic", "count", "--json")
    assert json.loads(derived.stdout)["derived"] == "before_sampling"
    mean = run("derive", "before-sampling", "results", "--statistic", "sum_hrs_work", "--over", "count_hrs_work")
    assert "for the table before its rows were sampled" in mean.stdout
    assert run("derive", "before-sampling", "results", "--statistic", "hours").exit_code == 2


def test_the_report_says_that_rows_are_sampled(one_artist):
    with session() as one:
        release = one.release(one.table.sample(rows=10).agg(dp.count()), spend="0.1", name="r")
    assert release.document["interval"]["covers"] == publish.COVERS_SAMPLE
    assert "without the error of the sample" in publish.COVERS_SAMPLE
    english, german = (render(release, language=language) for language in ("en", "de"))
    assert "A random selection of 10 rows is kept, or all rows if there are fewer; nothing is filled in." in english
    assert "single row of the sampled table" in english
    assert "Eine zufällige Auswahl von 10 Zeilen bleibt" in german
    assert "the sampled" not in german


AUDITED = dp.Table(dp.Schema(g=dp.Category(["x", "y"])), dp.ReplaceOne(rows=40)).sample("1/4").group_by("g").agg(dp.count())


@pytest.mark.slow
def test_the_audit_finds_nothing_in_a_sample():
    assert not audit_quote(quote(AUDITED, dp.PureDP(1)), runs=200_000).refuted


def test_the_audit_notices_a_sample_that_is_not_taken(monkeypatch):
    def all_rows(cube, axes, moments, *, drawing, rows, bits):
        return impute(cube, axes, moments, bits)

    asked = quote(AUDITED, dp.PureDP(1))
    monkeypatch.setattr(evaluate, "resample", all_rows)
    assert audit_quote(asked, runs=200_000).leaks
