"""Sources that are named by a URL: what they are, and passwords, which no plan and no message holds.

In a URL a password can only be the name of an environment variable, `${NAME}`, which is looked up when the source is opened.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from discreet.errors import SourceError, without_secrets

__all__ = ["check_url", "fill_in", "is_url", "refused_url"]

# One letter before the colon is a drive; a text that was taken for a path has lost a slash.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{1,30}):/+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WITH_PASSWORD = re.compile(r"(?i)[?&](?:ssl)?passw(?:or)?d=([^&]*)|[?&]passfile=([^&]*)")


def is_url(source: str) -> bool:
    """True if a text begins like a URL. A name that exists is a path all the same."""
    return _URL.match(source) is not None and not _exists(source)


def _exists(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):
        return False


def check_url(source: str) -> None:
    """Checks that no password stands in a URL. Everything before the last "@" is looked at, whatever is in it.

    Raises:
        SourceError: one may. The message does not show it.
    """
    before, at, _ = source.rpartition("@")
    user, _, password = before[before.find(":") :].lstrip(":/").partition(":") if at else ("", "", "")
    named = [part for found in _WITH_PASSWORD.findall(source) for part in found if part]
    open_parts = [part for part in (password, *named) if part and not _VARIABLE.fullmatch(part)]
    if "://" in source and not open_parts and re.fullmatch(r"[A-Za-z0-9_.%+\-]*", user):
        return
    # Nothing here has an "@": whatever stands before the last one of a message is left out.
    raise SourceError(
        f"source '{without_secrets(source)}': must be a URL without a password; in its place write ${{NAME}}, with the name "
        "of an environment variable"
    )


def fill_in(url: str) -> str:
    """The URL with the values of its environment variables. Never shown, and never kept.

    Raises:
        SourceError: a variable is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise SourceError(f"source: the environment variable '{found[1]}', which its URL names, is not set")
        return quote(os.environ[found[1]], safe="")

    return _VARIABLE.sub(value, url)


def refused_url(source: str, read: str) -> SourceError:
    """The error for a URL that no engine reads; `read` says which ones are."""
    scheme = source.partition(":")[0]
    return SourceError(
        f"source '{without_secrets(source)}': URLs of '{scheme}' are not read; {read}, files by their paths, and other "
        "databases in a program, with dp.DatabaseTable"
    )
