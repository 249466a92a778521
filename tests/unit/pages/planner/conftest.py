from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet.pages.planner

FORMULAS = Path(discreet.pages.planner.__file__).with_name("formulas.js")


class Page:
    """The arithmetic of a page in an engine without a browser: `page.state` is what its controls say."""

    def __init__(self, engine, document) -> None:
        self._engine, self.document = engine, document
        self._engine.eval(f"plan = {json.dumps(document)}")
        self.state = self.call("initial(plan)")

    def call(self, expression):
        self._engine.eval(f"state = {json.dumps(getattr(self, 'state', None))}")
        shown = "(_, one) => typeof one === 'bigint' ? `${one}` : one === Infinity ? 'Infinity' : one"
        return json.loads(self._engine.eval(f"JSON.stringify({expression}, {shown})"))

    def outcome(self, place=0):
        found = self.call(f"outcome(plan, state, {place})")
        found["errors"] = [[float(error) for error in sizes] for sizes in found["errors"]]
        return found

    def text(self):
        return self.call("planText(plan, state)")


@pytest.fixture(scope="session")
def engine():
    from py_mini_racer import MiniRacer

    found = MiniRacer()
    found.eval("var plan, state;")
    found.eval(FORMULAS.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def page(engine):
    """A function that opens a document: `page(document)`."""
    return lambda document: Page(engine, json.loads(json.dumps(document)))
