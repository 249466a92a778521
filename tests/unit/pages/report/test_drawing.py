"""The process that draws: one for several pages, gone in the end, and nothing that happens to it ends this one."""

import subprocess

import pytest

from discreet.pages.report import drawing
from discreet.pages.report.drawing import begin_drawing, histogram_chart, profile_chart

POINTS = [{"epsilon": e, "delta": 0.1 / (1 + e), "kind": "guarantee"} for e in (0.0, 1.0)]
CHART = profile_chart(POINTS, POINTS[:1])


@pytest.fixture
def begun(monkeypatch):
    """The processes that were begun."""
    processes = []

    def popen(*args, **kwargs):
        processes.append(subprocess.Popen(*args, **kwargs))
        return processes[-1]

    class Watched:
        PIPE, DEVNULL, SubprocessError = subprocess.PIPE, subprocess.DEVNULL, subprocess.SubprocessError
        Popen = staticmethod(popen)

    monkeypatch.setattr(drawing, "subprocess", Watched)
    return processes


def programmed(program, folder, monkeypatch):
    (folder / "_vega.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(drawing, "__file__", str(folder / "drawing.py"))


@pytest.mark.slow
def test_one_process_draws_several_times_and_is_gone_afterwards(begun):
    with begin_drawing() as artist:
        first, second, none = artist.sources([CHART]), artist.sources([CHART, CHART]), artist.sources([])
        assert begun[0].poll() is None
    assert len(first) == 1
    assert second == first * 2
    assert none == []
    assert len(begun) == 1
    assert begun[0].returncode is not None
    assert begun[0].stdin.closed
    assert begun[0].stdout.closed


def test_the_process_is_gone_when_the_work_beside_it_fails(begun):
    with pytest.raises(KeyError), begin_drawing():
        raise KeyError
    assert begun[0].returncode is not None


def test_a_process_that_ends_draws_nothing_more(begun, tmp_path, monkeypatch):
    programmed("import sys; sys.stdin.readline(); print('[\"a>b\"]', flush=True)", tmp_path, monkeypatch)
    with begin_drawing() as artist:
        assert len(artist.sources([CHART])) == 1
        assert artist.sources([CHART]) == []
        assert artist.sources([CHART] * 1000) == []  # more than a pipe holds


def test_a_process_that_takes_too_long_is_ended(begun, tmp_path, monkeypatch):
    programmed("import time; time.sleep(600)", tmp_path, monkeypatch)
    monkeypatch.setattr(drawing, "_PATIENCE", 0.2)
    with begin_drawing() as artist:
        assert artist.sources([CHART] * 1000) == []


def test_without_a_thread_to_watch_it_nothing_is_drawn(begun, tmp_path, monkeypatch):
    class Timer:
        def __init__(self, *_):
            pass

        def start(self):
            raise RuntimeError("can't start new thread")

    programmed("", tmp_path, monkeypatch)
    monkeypatch.setattr(drawing.threading, "Timer", Timer)
    with begin_drawing() as artist:
        assert artist.sources([CHART]) == []


def test_where_no_process_can_be_begun_nothing_is_drawn(monkeypatch):
    def refused(*_, **__):
        raise OSError

    monkeypatch.setattr(subprocess, "Popen", refused)
    with begin_drawing() as artist:
        assert artist.sources([CHART]) == []


def test_the_title_of_bins_does_not_stand_in_the_labels_of_small_charts():
    points = [{"group": group, "bin": "[0, 1)", "value": 1, "low": 0, "high": 2} for group in "ab"]
    one, several = histogram_chart(points[:1], title="age", rows="rows"), histogram_chart(points, title="age", rows="rows")
    assert one["layer"][0]["encoding"]["x"]["title"] == "age"
    assert several["spec"]["layer"][0]["encoding"]["x"]["title"] is None
