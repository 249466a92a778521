"""The documentation site shows what a reader of the repository sees: hooks of mkdocs (see mkdocs.yml).

Three things differ between the two. Links lead to files outside docs/, `../examples/` for instance: on the site these are
pages too, made from the files as they are. Formulas in plain Unicode have underscores and angles that the Markdown of the
site takes for markup: they are escaped. And whatever is still read otherwise is a warning, which stops the build.
"""

from __future__ import annotations

import ast
import html
import logging
import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
TAKEN = {
    "SECURITY.md": "project/security-policy.md",
    "CHANGELOG.md": "project/changelog.md",
    "examples/": "examples/index.md",
}
LANGUAGES = {".toml": "toml", ".py": "python"}
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
CODE = re.compile(
    r"(^```.*?^```$|`[^`\n]+`|\]\([^)\s]+\)|<!--.*?-->|<https?://[^>\s]+>|^::: \S+$)", flags=re.MULTILINE | re.DOTALL
)
LOG = logging.getLogger("mkdocs.hooks.site")


def pages() -> dict[str, str]:
    """Path in the repository → page of the site, for everything outside docs/ that is taken in."""
    programs = sorted((ROOT / "examples").glob("*.py"))
    folders = sorted({one.parent for one in (ROOT / "examples").glob("*/*.toml")})
    return (
        TAKEN
        | {f"examples/{one.name}": f"examples/{one.stem}.md" for one in programs}
        | {f"examples/{one.name}/": f"examples/{one.name}/index.md" for one in folders}
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages from outside docs/ are among the files of the site."""
    for path, page in pages().items():
        files.append(File.generated(config, page, content=_written(path), inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links lead to pages of the site, and formulas are read as they are in the repository."""
    return readable(with_links(markdown, page.file.src_uri))


def on_page_content(shown: str, page: Page, **_: object) -> str:
    """Words, items and cells of the page are those of CommonMark, with which the repository is read."""
    source = page.markdown or ""
    if "\n::: " not in source and (place := difference(shown, source)):
        LOG.warning("%s is read differently in the repository and on the site, near: %s", page.file.src_uri, place)
    return shown


def with_links(markdown: str, page: str) -> str:
    """Links to files of the repository that are pages of the site lead to these pages."""
    known = pages()
    source = {shown: path for path, shown in known.items()}.get(page, f"docs/{page}")

    def turned(link: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", link[2]):
            return link[0]
        path = normpath(join(dirname(source), link[2]))
        inside = path.removeprefix("docs/") if path.startswith("docs/") else None
        target = known.get(path) or known.get(f"{path}/") or inside
        if target is None:
            return link[0]  # mkdocs finds no such page and warns
        return f"{link[1]}{relpath(target, dirname(page) or '.')}{link[3] or ''}{link[4]}"

    return LINK.sub(turned, markdown)


def readable(markdown: str) -> str:
    """Formulas are characters, and what belongs to a numbered item is indented by four.

    An underscore, an angle, and a minus that a line break has put behind an open parenthesis, are no markup.
    """
    parts = CODE.split(markdown)
    for place in range(0, len(parts), 2):  # the others are code, links and comments
        text = parts[place].replace("_", r"\_").replace("<", "&lt;")
        text = re.sub(r"(\([^()\n]*\n)- ", r"\1\- ", text)
        text = re.sub(r"(?m)^ {3}(?=\S| +\S)", "    ", text)
        parts[place] = re.sub(r"(?m)(^ {4}.*\n)(?=\d+\. )", r"\1\n", text)
    return "".join(parts)


def difference(shown: str, markdown: str) -> str:
    """The first place where the words of two pages differ, or nothing."""
    wanted = MarkdownIt("commonmark").enable("table").render(markdown)
    first, second = _words(wanted), _words(re.sub(r'<a class="headerlink".*?</a>', "", shown))
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return "".join(first[max(0, place - 20) : place + 20])
    return "" if len(first) == len(second) else "the end"


def _words(page: str) -> str:
    """All characters of a page but blanks, with a mark for each item and cell."""
    marked = re.sub(r"(?=<(li|td|th|pre|h\d)[ >])", "•", re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL))
    return re.sub(r"\s+", "", html.unescape(re.sub(r"<[^>]*>", "", marked)))


def _written(path: str) -> str:
    """What the page of a file, or of the folder of examples, says."""
    if path == "examples/":
        return _list_of_examples()
    if path.endswith("/"):
        return f"# {Path(path).name}\n" + "".join(_shown(one) for one in _files_of(path))
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"# {Path(path).name}\n\n```python\n{text}```\n" if path.endswith(".py") else text


def _list_of_examples() -> str:
    """Every program with its first words, then every folder of plans."""
    programs = [name for name in pages() if name.endswith(".py")]
    folders = [path for path in pages() if re.fullmatch(r"examples/[^/]+/", path)]
    lines = [f"* [{Path(name).name}]({Path(name).name}): {_first_words(name)}\n" for name in programs]
    plans = [
        f"* [{Path(path).name}/]({Path(path).name}/): {', '.join(one.name for one in _files_of(path))}\n" for path in folders
    ]
    return (
        "# Examples\n\nEach of these programs runs as it stands, without arguments.\n\n"
        + "".join(lines)
        + "\nThese folders hold plans and the programs that make their data.\n\n"
        + "".join(plans)
    )


def _files_of(folder: str) -> list[Path]:
    """The plans of a folder of examples and its programs, in the order of their names."""
    return sorted(one for one in (ROOT / folder).iterdir() if one.suffix in LANGUAGES)


def _shown(file: Path) -> str:
    """A file under its name."""
    return f"\n## {file.name}\n\n```{LANGUAGES[file.suffix]}\n{file.read_text(encoding='utf-8')}```\n"


def _first_words(path: str) -> str:
    """The first paragraph of a program's docstring."""
    words = ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8"))) or ""
    return words.split("\n\n")[0].replace("\n", " ")
