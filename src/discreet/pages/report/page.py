"""One self-contained HTML file from a release: no network, one script that is always the same, everything escaped."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from discreet.domain.about import language_tag
from discreet.errors import ArgumentError
from discreet.pages.report.drawing import Artist
from discreet.pages.report.files import template, write_page
from discreet.pages.report.view import page_of
from discreet.pages.words import words_in
from discreet.releases.document import Release

__all__ = ["render", "write_report"]

_TEMPLATE = Path(__file__).with_name("report.html.jinja")


def render(release: Release, artist: Artist | None = None, *, language: str | None = None) -> str:
    """The HTML page of a release, complete in itself. It shows the contents of the document and nothing else.

    Args:
        release: the release that the page shows.
        artist: the process that draws the pictures; None starts one when it is needed.
        language: of the page, such as "de"; left out, the language of the texts, English where pages have no words
            in it. Labels of the release stay in their own language (`Release.labelled`).

    Raises:
        ArgumentError: a document that lacks a part, which no version of discreet has written; or a language without words.
    """
    if not isinstance(release, Release):
        raise ArgumentError(f"release={type(release).__name__}: must be a Release; read one with Release.load(folder)")
    words = words_in(release.about.language) if language is None else words_in(language_tag(language), demanded=True)
    release.scan()  # of a large release: it is known where its table is
    try:
        page, tools = page_of(release, words, artist), json.dumps(words.table("report.tools."))
        return template(_TEMPLATE).render(page=page, t=words, tools=tools, script=_script_digest())
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, StopIteration, RuntimeError):
        raise ArgumentError("release: lacks a part that every release has; it was not written by discreet") from None


@cache
def _script_digest() -> str:
    """The digest by which the policy of the page allows its one script, and no other."""
    script = (_TEMPLATE.parent / "report.js").read_text(encoding="utf-8").removesuffix("\n")
    return f"sha256-{b64encode(sha256(script.encode('utf-8')).digest()).decode('ascii')}"


def write_report(release: Release, path: str | Path, artist: Artist | None = None, *, language: str | None = None) -> Path:
    """Writes the page to `path`, whole or not at all, as UTF-8; in a folder it is called report.html.

    Args:
        release: the release that the page shows.
        path: a file or a folder.
        artist: as for `render`.
        language: as for `render`.

    Returns:
        The path of the page.

    Raises:
        ArgumentError: as `render`, or the file cannot be written.
    """
    return write_page(render(release, artist, language=language), path, named="report.html")
