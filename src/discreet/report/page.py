"""One self-contained HTML file from a release: no network, no scripts, everything escaped."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError
from discreet.release import Release
from discreet.report.view import page_of

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render", "write_report"]


def render(release: Release) -> str:
    """The HTML page of a release, complete in itself. It shows what the document says and adds nothing from elsewhere.

    Raises:
        ArgumentError: a document that lacks a part, which no version of discreet has written.
    """
    if not isinstance(release, Release):
        raise ArgumentError(f"release={type(release).__name__}: must be a Release; read one with Release.load(folder)")
    release.scan()  # of a large release: it is known where its table is
    try:
        return _template().render(page=page_of(release))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, StopIteration, RuntimeError):
        raise ArgumentError("release: lacks a part that every release has; it was not written by discreet") from None


def write_report(release: Release, path: str | Path) -> Path:
    """The page stands at `path`, whole or not at all, as UTF-8; in a folder it is called report.html.

    Returns:
        The path of the page.

    Raises:
        ArgumentError: as `render`, or the file cannot be written.
    """
    page = render(release).encode("utf-8")
    place = Path(path)
    place = place / "report.html" if place.is_dir() else place
    try:
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(page)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(place)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as wrong:
        raise ArgumentError(f"write_report('{path}'): cannot be written ({wrong.strerror}); choose another path") from None
    return place


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(
        loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template("report.html.jinja")
