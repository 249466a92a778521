"""Templates and files of HTML pages. The only file that imports jinja2; `style.css` beside it is in every page."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["template", "write_page"]


@cache
def template(path: Path) -> Template:
    """The template at `path`: what is put into it is escaped, and `style.css` can be included."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folders = FileSystemLoader([path.parent, Path(__file__).parent])
    return Environment(
        loader=folders, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(path.name)


def write_page(page: str, path: str | Path, *, named: str) -> Path:
    """The page stands at `path`, whole or not at all, as UTF-8; in a folder it is called `named`.

    Returns:
        The path of the page.

    Raises:
        ArgumentError: the file cannot be written.
    """
    place = Path(path)
    place = place / named if place.is_dir() else place
    try:
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(page.encode("utf-8"))
            Path(temporary).chmod(0o644)
            Path(temporary).replace(place)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as wrong:
        raise ArgumentError(f"'{path}': cannot be written ({wrong.strerror}); choose another path") from None
    return place
