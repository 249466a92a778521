"""Code, proofs and tests of the semi-adjacency in step: what a proof names exists, and what the code cites is proved."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "proofs" / "semi-adjacency.md").read_text(encoding="utf-8")
SECTIONS = {match[1]: match[0] for match in re.finditer(r"^## (A\d+)\. .*?(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)}
MODULES = ["adjacency", "classes", "components", "disclosure", "enumerate", "general", "graver", "laminar", "magnitudes"]
MODULES += ["overlaps", "ranges", "recovered", "../quotes/public_ranges"]


def listed(section, label):
    match = re.search(rf"^- {label}: (.*?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", match[1])


def source(module):
    return (ROOT / "src" / "discreet" / "totals" / f"{module}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_names_code_and_tests_that_exist(name):
    section = SECTIONS[name]
    assert "*Proof.*" in section
    assert "∎" in section
    for path in listed(section, "Code"):
        module, attribute = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), attribute), path
    for place in listed(section, "Tests"):
        file, test = place.split("::")
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), place


def test_the_code_cites_every_section_and_no_other():
    cited = set(re.findall(r"\bA\d+\b", " ".join(map(source, MODULES))))
    assert cited == set(SECTIONS)
    assert len(SECTIONS) == len(re.findall(r"^## ", TEXT, re.MULTILINE))
