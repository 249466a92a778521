"""Code, proofs and tests in step: what a proof names exists, and what the code calls a theorem is proved."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ("privacy", "cube", "pairs", "declaration", "samples", "original", "areas")
TEXT = "".join((ROOT / "docs" / "proofs" / f"{page}.md").read_text() for page in PAGES)
SECTIONS = {
    match.group(1): match.group(0)
    for match in re.finditer(r"^## ([A-Z]\d+)\. .*?(?=^#+ |\Z)", TEXT, re.MULTILINE | re.DOTALL)
}
# "Theorem R1", "Theorems F1 and F2", "(R3:" in the sources of the package; numbered theorems of papers have a point.
CITED = re.compile(r"(?:Theorems? |\(|and )([A-Z]\d+)\b")


def listed(section: str, label: str) -> list[str]:
    match = re.search(rf"^- {label}: (.*?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
    assert match is not None, f"no line '- {label}:'"
    return re.findall(r"`([^`]+)`", match.group(1))


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_names_code_and_tests_that_exist(name: str) -> None:
    section = SECTIONS[name]
    assert "*Proof.*" in section
    assert "∎" in section
    for path in listed(section, "Code"):
        assert resolve(path) is not None, path
    for place in listed(section, "Tests"):
        file, test = place.split("::")
        assert re.search(rf"^def {re.escape(test)}\(", (ROOT / file).read_text(), re.MULTILINE), place


def resolve(path: str) -> object:
    """The module or the object in a module that the dotted path names."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute)
        return found
    return None


def source_of(path: str) -> str:
    """The source of the module that holds what the dotted path names."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        file = ROOT.joinpath("src", *parts[:cut]).with_suffix(".py")
        if file.is_file():
            return file.read_text()
    raise AssertionError(f"{path}: no such file")


@pytest.mark.parametrize("name", SECTIONS)
def test_the_code_names_the_section_that_proves_it(name: str) -> None:
    for path in listed(SECTIONS[name], "Code"):
        assert re.search(rf"\b{name}\b", source_of(path)), f"{path} does not mention {name}"


def test_every_cited_theorem_is_proved() -> None:
    cited: set[str] = set()
    for file in sorted((ROOT / "src" / "discreet" / "privacy").rglob("*.py")):
        cited |= set(CITED.findall(file.read_text()))
    assert {"C1", "G1", "D1", "D2", "F1", "F2", "R1", "R2", "R3", "P1"} <= cited
    assert cited <= set(SECTIONS), cited - set(SECTIONS)


def test_the_proofs_are_complete() -> None:
    assert len(SECTIONS) == len(re.findall(r"^## ", TEXT, re.MULTILINE))
    assert len(SECTIONS) >= 17


def test_a_missing_test_would_be_noticed() -> None:
    broken = SECTIONS["C1"].replace("test_random_points", "test_no_points")
    names = [place.split("::")[1] for place in listed(broken, "Tests")]
    laws = (ROOT / "tests" / "laws" / "test_privacy_conversions.py").read_text()
    assert not all(f"def {name}(" in laws for name in names)
