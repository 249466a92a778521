"""What tests of many rooms build their subjects from."""

from __future__ import annotations

from pathlib import Path

PLANS = Path(__file__).parent / "plans"


def plan_text(name: str) -> str:
    """The plan file `plans/NAME.toml`, which the test writes where it needs it, changed or not."""
    return (PLANS / f"{name}.toml").read_text(encoding="utf-8")
