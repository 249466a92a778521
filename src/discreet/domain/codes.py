"""What codes mean that are no position on a grid."""

from __future__ import annotations

__all__ = ["NULL"]

NULL = -1
