"""What tests of many rooms build their subjects from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discreet as dp

PLANS = Path(__file__).parent / "plans"
PATIENCE = 600
"""Seconds until something that hangs is ended: far more than a loaded machine needs, as nothing is measured with it."""


def plan_text(name: str) -> str:
    """The plan file `plans/NAME.toml`, which the test writes where it needs it, changed or not."""
    return (PLANS / f"{name}.toml").read_text(encoding="utf-8")


def session_over(source: Any, schema: dp.Schema, **options: Any) -> dp.Session:
    """A session of the data set `d` with a ledger in memory, where the options do not say otherwise.

    Its budget is ε = 1, and neighbours differ in a row that is added or removed.
    """
    given = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(1), "neighbours": dp.AddRemove(), **options}
    return dp.Session(source, schema, **given)
