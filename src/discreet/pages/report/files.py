"""Templates and files of HTML pages. The only file that imports jinja2; Every page includes `style.css` from this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError
from discreet.exact.files import replace_file
from discreet.exact.given_paths import reason, require_path

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["template", "write_page"]


@cache
def template(path: Path) -> Template:
    """The template at `path`: it escapes every value, and can include `style.css`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folders = FileSystemLoader([path.parent, Path(__file__).parent])
    return Environment(
        loader=folders, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(path.name)


def write_page(page: str, path: str | Path, *, named: str) -> Path:
    """Writes the page to `path`, whole or not at all, as UTF-8; in a folder it is called `named`.

    Returns:
        The path of the page.

    Raises:
        ArgumentError: the file cannot be written.
    """
    place = require_path(path, named)
    try:
        place = place / named if place.is_dir() else place
        replace_file(place, lambda path: path.write_bytes(page.encode("utf-8")))
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"'{path}': cannot be written ({reason(wrong)}); choose another path") from None
    return place
