"""`discreet register`: the entry of a release for the registry of deployments, and the page of its evaluation."""

from __future__ import annotations

from pathlib import Path

from discreet.cli.looking import release_folders
from discreet.cli.output import Answer
from discreet.pages.registry.page import write_registration
from discreet.releases.document import Release

__all__ = ["register_folder"]


def register_folder(folder: Path, published: str | None) -> Answer:
    """Writes both files next to the release.json in `folder`, or next to each in its sub-folders.

    Raises:
        ArgumentError: `folder` has no release or cannot be written, or the day of publication is not known.
    """
    written: list[Path] = []
    lines: list[str] = []
    asked: list[dict[str, str]] = []
    for place in release_folders(folder, "register"):
        files, questions = write_registration(Release.load(place), place, published)
        written += files
        lines += [*(str(path) for path in files), *(f"  {field}: {question}" for field, question in questions)]
        asked += [{"field": field, "question": question} for field, question in questions]
    lines.append(f"{len(asked)} questions are left to the custodian; they are marked in the entry. Nothing was spent.")
    return Answer(lines, {"written": [str(path) for path in written], "questions": asked})
