"""The programme page as one HTML file: no network, one script of a known digest, everything from the releases escaped."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from discreet.errors import ArgumentError
from discreet.exact.given_paths import content_of, require_path
from discreet.pages.programme.reading import Shelf, shelf_of
from discreet.pages.programme.view import page_of
from discreet.pages.report.files import template, write_page
from discreet.pages.words import words_in
from discreet.session.accounts import Account

__all__ = ["INDEX", "render_programme", "write_programme"]

INDEX = "index.html"
"""The name of the page in its folder."""

_FOLDER = Path(__file__).parent
_GENERATOR = "discreet programme"
_HEAD = 4_000


def render_programme(shelf: Shelf, accounts: Sequence[Account] = (), *, language: str = "en", title: str = "") -> str:
    """The page of the releases of a folder, complete in itself; its addresses are relative to that folder.

    Args:
        shelf: what the folder holds (`shelf_of`).
        accounts: the accounts of the ledgers that are given (`discreet.session.accounts.accounts_of`).
        language: of the page; labels of a release are in it too, where the release has them.
        title: of the page; empty for one made of the data sets.

    Raises:
        ArgumentError: no words in that language, or no document has what every release has.
    """
    words = words_in(language, demanded=True)
    script = _script()
    return template(_FOLDER / "programme.html.jinja").render(
        page=page_of(shelf, accounts, words, title),
        t=words,
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        generator=_GENERATOR,
    )


def write_programme(
    folder: str | Path, *, accounts: Sequence[Account] = (), language: str = "en", title: str = ""
) -> tuple[Path, Shelf]:
    """`folder` has index.html, a page over all releases in it and in its sub-folders, whole or not at all.

    Args:
        folder: with the results of `discreet release`, or of `Release.save` and `write_report`.
        accounts: as for `render_programme`; without them the documents say what was spent.
        language: as for `render_programme`.
        title: as for `render_programme`.

    Returns:
        The path of the page, and what it shows.

    Raises:
        ArgumentError: as `render_programme`; no release in the folder; an index.html that is not such a page; or the file
            cannot be written.
    """
    place = require_path(folder, "programme")
    shelf = shelf_of(place)
    _check_place(place / INDEX)
    return write_page(render_programme(shelf, accounts, language=language, title=title), place / INDEX, named=INDEX), shelf


def _check_place(place: Path) -> None:
    """Checks that the place is free or holds an older page: somebody else's page is not replaced."""
    if not os.path.lexists(place):
        return
    try:
        ours = not place.is_symlink() and f'content="{_GENERATOR}"'.encode() in content_of(place, _HEAD)
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise ArgumentError(f"programme: '{place}' is there, and is not a page of this command; move it away")


@cache
def _script() -> str:
    return (_FOLDER / "search.js").read_text(encoding="utf-8")
