"""The evaluation as one self-contained HTML file, and both files of a release written."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import ArgumentError
from discreet.exact.files import replace_file
from discreet.exact.given_paths import reason
from discreet.pages.registry.entry import entry_of, questions_in
from discreet.pages.registry.evaluation import evaluation_of
from discreet.pages.registry.facts import slug
from discreet.pages.registry.yaml_text import yaml_text
from discreet.pages.report.files import template, write_page
from discreet.releases.document import Release

__all__ = ["render_evaluation", "write_registration", "write_registry_entry"]

_TEMPLATE = Path(__file__).with_name("evaluation.html.jinja")


def write_registry_entry(release: Release, published: str | None = None) -> str:
    """The entry of a release for the registry of deployments, as YAML.

    Raises:
        ArgumentError: no day of publication, or a document that lacks a part.
    """
    try:
        return yaml_text(entry_of(release, published))
    except ArgumentError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
        raise ArgumentError("release: lacks a part that every release has; it was not written by discreet") from None


def render_evaluation(release: Release) -> str:
    """The page that answers the evaluation of NIST SP 800-226: no network, no scripts, everything escaped.

    Raises:
        ArgumentError: a document that lacks a part.
    """
    try:
        return template(_TEMPLATE).render(page=evaluation_of(release))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
        raise ArgumentError("release: lacks a part that every release has; it was not written by discreet") from None


def write_registration(
    release: Release, folder: Path, published: str | None = None
) -> tuple[list[Path], list[tuple[str, str]]]:
    """The entry and the page, whole or not at all, and the questions that the custodian has to answer in the entry.

    The entry has the name that the registry asks for: lower-case letters, digits and underscores.

    Raises:
        ArgumentError: as `write_registry_entry`, or the files cannot be written.
    """
    written, page = write_registry_entry(release, published), render_evaluation(release)
    place = folder / f"{slug(release.shown(0))}.yaml"
    try:
        replace_file(place, lambda path: path.write_text(written, encoding="utf-8"))
    except OSError as wrong:
        raise ArgumentError(f"register '{folder}': cannot be written ({reason(wrong)}); copy it elsewhere") from None
    found = write_page(page, folder / "evaluation.html", named="evaluation.html")
    return [place, found], list(questions_in(entry_of(release, published)))
