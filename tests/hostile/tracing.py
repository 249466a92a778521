"""Where a trace function may raise, so that a fault is one that a program can meet without being traced."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import FrameType

__all__ = ["is_open_to_faults"]


def is_open_to_faults(frame: FrameType) -> bool:
    """Whether an exception on this line can come from anything but a trace function.

    Python visits the line of a `with` statement again when the block has ended and its end has not been called yet. Nothing
    is executed there that could fail, and no signal is handled. An exception raised by a trace function would skip the
    end of the block: a lock would stay locked for ever. The same holds for the line of a `try`, which Python visits and
    where it executes nothing: an exception there skips the ends of the blocks around it.
    """
    return frame.f_lineno not in _lines_of_heads(frame.f_code.co_filename)


@cache
def _lines_of_heads(filename: str) -> frozenset[int]:
    """The lines of a source file that belong to the heads of `with` and `try` statements; none of code without a file."""
    if filename.startswith("<"):
        return frozenset()
    nodes = [*ast.walk(ast.parse(Path(filename).read_text("utf-8")))]
    heads = [node for node in nodes if isinstance(node, ast.With)]
    ends = [max(item.context_expr.end_lineno or 0 for item in node.items) for node in heads]
    tries = {node.lineno for node in nodes if isinstance(node, ast.Try)}
    return frozenset(line for node, end in zip(heads, ends, strict=True) for line in range(node.lineno, end + 1)) | tries
