"""The reading of CSV text: a public declaration, and part of what a column is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from discreet.errors import ArgumentError, did_you_mean, printed

__all__ = ["ENCODINGS", "CsvFiles", "CsvFormat", "with_point"]

ENCODINGS = (
    *("utf-8", "utf-16", "iso-8859-1", "iso-8859-2", "iso-8859-15"),
    *("windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257"),
    *("cp437", "cp850", "cp852"),
)
"""In all of them no byte of a cell can be a part of a line end (docs/data-formats.md, CSV as lines)."""

_ALSO = {"latin-1": "iso-8859-1", "latin-2": "iso-8859-2", "latin-9": "iso-8859-15", "utf8": "utf-8", "utf16": "utf-16"}
_ALSO |= {f"cp{page}": f"windows-{page}" for page in (1250, 1251, 1252, 1253, 1254, 1257)}
_QUOTES = ('"', "'", "")
_DECIMALS = (".", ",")
_SEPARATORS = (",", ";", "\t", "|", ":", "~", "^", "#", "&", "!", "\x1f")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFormat:
    """The format of CSV files. A row is a line in each of them.

    Args:
        separator: what stands between two cells; left out, a tab in files whose name ends in .tsv and a comma in others.
        decimal: the decimal mark of numbers, "." or ",". With "," a cell with a point is none.
        encoding: one of `ENCODINGS`, or a usual other name of one.
        quote: what stands around cells that hold a separator; empty where nothing does.

    Raises:
        ArgumentError: another value, or a separator that is the decimal mark or the quote as well.
    """

    separator: str = ""
    decimal: str = "."
    encoding: str = "utf-8"
    quote: str = '"'

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", _find_encoding(self.encoding))
        _check("separator", self.separator, ("", *_SEPARATORS), "one character such as ';', a tab or '|'")
        _check("decimal", self.decimal, _DECIMALS, "'.' or ','")
        _check("quote", self.quote, _QUOTES, "'\"', \"'\" or '' for none")
        if self.separator and self.separator == self.decimal:
            raise ArgumentError(f"separator={printed(self.separator)}: is the decimal mark too; numbers would be cut in two")

    def to_json(self) -> dict[str, object]:
        """The differences from the usual form as canonical JSON values: nothing where nothing does."""
        usual = {one.name: one.default for one in fields(self)}
        return {key: value for key, value in asdict(self).items() if value != usual[key]}


def with_point(cell: object) -> object:
    """A cell of a column of numbers whose decimal mark is a comma, as text with a point; one with a point is none."""
    if not isinstance(cell, str):
        return cell
    return "." if "." in cell else cell.replace(",", ".")


def _check(name: str, value: object, known: tuple[str, ...], rule: str) -> None:
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(f"{name}={printed(value)}: must be {rule}")


def _find_encoding(value: object) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"encoding={printed(value)}: must be the name of an encoding, such as 'windows-1252'")
    plain = value.lower().replace("_", "-").replace("iso8859", "iso-8859")
    found = _ALSO.get(plain, plain)
    if found not in ENCODINGS:
        raise ArgumentError(
            f"encoding={printed(value)}: cannot be read line by line whatever is in it; convert the files to UTF-8"
            f"{did_you_mean(found, ENCODINGS)}"
        )
    return found


@dataclass(frozen=True, slots=True, init=False)
class CsvFiles:
    """CSV files of a certain format, as a source: a path or a glob, and what is said of `CsvFormat`."""

    path: str
    format: CsvFormat = field(default_factory=CsvFormat)

    def __init__(
        self, path: str | Path, *, separator: str = "", decimal: str = ".", encoding: str = "utf-8", quote: str = '"'
    ) -> None:
        if not isinstance(path, str | Path):
            raise ArgumentError(f"path={printed(path)}: must be the path of a file, or a glob")
        object.__setattr__(self, "path", str(path))
        form = CsvFormat(separator=separator, decimal=decimal, encoding=encoding, quote=quote)
        object.__setattr__(self, "format", form)
