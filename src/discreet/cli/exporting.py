"""`discreet export`, and releases in the words that somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.output import Answer
from discreet.domain.about import About, language_tag
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path
from discreet.pages.words import words_in
from discreet.planfile.about import about_file
from discreet.releases.document import Release
from discreet.releases.labelled import fitting

if TYPE_CHECKING:
    from discreet.releases.exports.base import Wishes

__all__ = ["Words", "write_export"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a release: from a file of labels, or from the release in one of its languages; else its main words."""

    file: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if self.file is not None and self.language is not None:
            raise ArgumentError("--labels, --language: give one of them; a file of labels is in one language")

    def of(self, release: Release) -> Release:
        """The release in these words.

        Raises:
            ArgumentError: it has no texts in that language, or the file cannot be read, or none of its words fit.
        """
        if self.file is not None:
            return release.labelled(_select_words(release, about_file(require_path(self.file, "--labels"))))
        return release if self.language is None else release.labelled(self.language)

    def for_page(self, release: Release) -> tuple[Release, str | None]:
        """The release in these words, and the language of its page where the release has no texts in it.

        Raises:
            ArgumentError: neither the release nor a page has words in that language; or as `of`.
        """
        if self.language is not None and self.file is None:
            tag = language_tag(self.language)
            if tag not in release.languages and words_in(tag).language == tag.partition("-")[0]:
                return release, tag
        return self.of(release), None


def _select_words(release: Release, about: About) -> About:
    """The words of a file that this release needs, which may be for several releases; all of them where it needs none."""
    own = fitting(release.document, about)
    return own if own.columns or own.statistics or not (about.columns or about.statistics) else about


def write_export(folder: Path, to: str, path: Path, words: Words, wishes: Wishes) -> Answer:
    """Writes the release in `folder` to a file of another format.

    Raises:
        ArgumentError: no release there, no such format, frame or language, or a file that cannot be written.
    """
    from discreet.releases.exports.registry import export  # all formats, which releases and reports do not need

    release = words.of(Release.load(folder))
    files = [str(place) for place in export(release.document, release.about, to, path, wishes)]
    return Answer(files, {"written": files, "release": release.name, "digest": release.digest})
