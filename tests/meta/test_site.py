"""The documentation site has every page and every public name; what it changes about a page is only how it is read.

`make docs` builds the site and stops at any warning. What is here needs no site: only the tests of the hooks want mkdocs,
and are skipped without it.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODULES = ["discreet", "discreet.privacy", "discreet.invariants", "discreet.audit"]
WHOLE = ["discreet.privacy.convert", "discreet.privacy.amplify"]


def navigation(settings: str) -> Counter[str]:
    return Counter(re.findall(r"(?m)^ +- (?:[^:\n]+: )?(\S+\.md)$", settings[settings.index("\nnav:") :]))


def entries(text: str) -> list[str]:
    return re.findall(r"(?m)^::: (\S+)$", text)


def found(name: str) -> object:
    """What an entry names: a module, or a name in the module before its last dot."""
    module, _, last = name.rpartition(".")
    there = getattr(importlib.import_module(module), last, None) if module else None
    return importlib.import_module(name) if there is None else there


def reference() -> list[str]:
    return [name for page in sorted((DOCS / "reference").glob("*.md")) for name in entries(page.read_text(encoding="utf-8"))]


def undocumented(names: list[str]) -> list[str]:
    shown = [found(name) for name in names]
    wanted = [f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__]
    wanted = [name for name in [*wanted, *WHOLE] if not name.endswith(".__version__")]
    return [name for name in wanted if not any(found(name) is one for one in shown)]


def test_every_page_is_once_in_the_navigation():
    there = Counter(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert navigation((ROOT / "mkdocs.yml").read_text(encoding="utf-8")) == there


def outside(page: Path, text: str) -> list[str]:
    """Links of a page to files that are not in docs/ and that the site does not take in."""
    links = [link for link in re.findall(r"\]\(([^)\s#]+)", text) if not re.match("[a-z]+:", link)]
    targets = {link: (page.parent / link).resolve() for link in links}
    return [link for link, target in targets.items() if not target.is_relative_to(DOCS) and not taken_in(target)]


def taken_in(target: Path) -> bool:
    """Whether the site has a page of this file or folder: scripts/site_hooks.py."""
    if target.parent == ROOT / "examples" and target.is_dir():
        return any(target.glob("*.toml"))
    examples = [ROOT / "examples", *(ROOT / "examples").glob("*.py")]
    return target in [ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", *examples]


def test_links_out_of_the_docs_lead_to_pages_of_the_site():
    pages = {page: page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    assert {str(page): links for page, text in pages.items() if (links := outside(page, text))} == {}


def test_a_link_to_a_file_that_is_not_on_the_site_would_be_noticed():
    assert outside(DOCS / "index.md", "[a](../tests/meta/test_site.py), [b](../examples/)") == ["../tests/meta/test_site.py"]


def test_every_public_name_is_in_the_reference():
    assert undocumented(reference()) == []


def test_every_entry_of_the_reference_exists_and_is_the_only_one_of_its_kind():
    names = reference()
    twice = [name for name, times in Counter(id(found(name)) for name in names).items() if times > 1]
    assert not twice, [name for name in names if id(found(name)) in twice]


def test_a_missing_page_or_name_would_be_noticed():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert navigation(settings.replace("  - Tutorial: tutorial.md\n", "")) != navigation(settings)
    assert undocumented([name for name in reference() if name != "discreet.Session"]) == ["discreet.Session"]
    assert undocumented([name for name in reference() if name != "discreet.privacy.convert"])
    with pytest.raises(ImportError):
        found("discreet.privacy.no_such_module")


def test_continuous_integration_builds_the_site():
    assert re.search(r"(?m)^docs:.*\n\t.*mkdocs build --strict$", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert "make docs" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hooks():
    pytest.importorskip("mkdocs", reason="the site has its own extra; make docs installs it")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("site_hooks", ROOT / "scripts" / "site_hooks.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "link", "turned"),
    [
        ("semi-dp.md", "../examples/census.py", "examples/census.md"),
        ("how-to/choose-n.md", "../../examples/", "../examples/index.md"),
        ("deployments.md", "../examples/deployments/", "examples/deployments/index.md"),
        ("security.md", "../SECURITY.md", "project/security-policy.md"),
        ("project/security-policy.md", "docs/security.md#time", "../security.md#time"),
        ("how-to/choose-n.md", "../concepts.md#null", "../concepts.md#null"),
        ("index.md", "https://arxiv.org/abs/2410.17468", "https://arxiv.org/abs/2410.17468"),
        ("index.md", "../src/discreet/plan.py", "../src/discreet/plan.py"),  # no page: mkdocs warns
    ],
)
def test_links_lead_to_pages_of_the_site(hooks, page, link, turned):
    assert hooks.with_links(f"[a]({link})", page) == f"[a]({turned})"


FORMULAS = [
    "Σ_{k ≥ 1} f(k) = ∫_a^∞ f - Σ_{r=1}^m B_2r, and b̂_k = min_{j≤k} b_j.\n",
    "{w: <w, u> = 0 for u ∈ S} and `a_b < c_d`, <https://example.org/a_b>\n",
    "1. **First.** Words,\n   and more:\n\n     f = g\n\n   the end.\n2. Second.\n",
    "ρ_{s_i}(z_i - c_i)/ρ(Z\n- c_i)\n",
    "```python\na_b = '<c>'\n```\n",
]


def shown(text):
    import markdown

    extensions = ["pymdownx.betterem", "sane_lists", "tables", "pymdownx.superfences"]
    settings = {"pymdownx.betterem": {"smart_enable": "all"}}
    return markdown.markdown(text, extensions=extensions, extension_configs=settings)


def test_what_is_taken_in_is_what_the_hooks_take_in(hooks):
    assert all(taken_in(ROOT / path) for path in hooks.pages())


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_read_as_they_are_written(hooks, text):
    source = hooks.readable(text)
    assert hooks.difference(shown(source), source) == ""
    assert "<em>" not in shown(source)


@pytest.mark.parametrize("text", FORMULAS[:3])
def test_a_formula_that_is_not_escaped_would_be_noticed(hooks, text):
    assert hooks.difference(shown(text), hooks.readable(text)) != ""


def test_a_minus_that_begins_a_line_would_be_noticed(hooks):
    assert hooks.difference(shown(FORMULAS[3]), FORMULAS[3]) != ""  # an item in the repository, none on the site


def test_a_list_without_an_empty_line_before_it_would_be_noticed(hooks):
    source = hooks.readable("Two things:\n* one\n* two\n")
    assert hooks.difference(shown(source), source) != ""
