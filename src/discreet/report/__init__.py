"""A release as one HTML page for people who did not make it. Reads a `Release` only."""

from discreet.report.page import render, write_report

__all__ = ["render", "write_report"]
