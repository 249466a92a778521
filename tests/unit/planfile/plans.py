"""Plan files that the tests of reading share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.builders import plan_text

from discreet.errors import PlanError
from discreet.planfile.read import PlanFile, load_plan

FULL = plan_text("every-key")


SMALL = plan_text("small")


def load(tmp_path: Path, text: str, name: str = "plan.toml") -> PlanFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_plan(path)


def refused(tmp_path: Path, text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        load(tmp_path, text)
    assert caught.value.place.startswith("plan.toml")
    assert str(caught.value).startswith(caught.value.place + ": ")
    return caught.value


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)
