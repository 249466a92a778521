"""A release as one HTML page for people who did not make it. Reads a `Release` only.

* `_vega`: Charts in, pictures out, in a process of their own: `python -P _vega.py`
* `appendix`: How a third party computes every noise scale again: the start, the share of each query, formulas, laws,
  the record
* `budget`: What of the budget of the data set was spent when the release was charged, and what was left
* `drawing`: Vega-Lite charts as pictures inside a page, drawn by vl-convert (extra `plot`) in a process of its own
* `files`: Templates and files of HTML pages
* `page`: One self-contained HTML file from a release: no network, no scripts, everything escaped
* `pictures`: Which pictures stand on the page beside the tables, and what each says to those who cannot see it
* `promise`: What every person is promised, in words and figures: who is compared with whom, and what an attacker can
  find out
* `tables`: The tables of noisy numbers: one for each number of a statistic, and those of further frames; with
  intervals and bars
* `totals`: What is published exactly beside the noisy numbers, and what that does to the guarantee: words, tables and
  warnings
* `view`: What stands on the page: a `Release` turned into texts, tables and bars
* `words`: What a release document says, in plain sentences
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.pages.report.page import render, write_report

__all__ = ["render", "write_report"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is public here, loaded when it is first used: the process that draws is begun before."""
        if name in __all__:
            return getattr(import_module("discreet.pages.report.page"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
