"""The code that is not a position on a grid."""

from __future__ import annotations

__all__ = ["NULL"]

NULL = -1
