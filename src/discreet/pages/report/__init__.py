"""A release as one HTML page for people who did not make it. Reads a `Release` only.

* `_vega`: Charts in, pictures out, in a separate process: `python -P _vega.py`
* `about`: The words at the head of the page: what a release says about itself, and the meaning of the classes of its
  numbers
* `appendix`: The facts from which a third party computes every noise scale again: the start, the share of each query,
  formulas, laws, the record
* `budget`: The spent and the remaining budget of the data set when the release was charged
* `choropleth`: Maps of the numbers: areas in five classes, with a legend, drawn as SVG inside the page
* `cross`: Cross tables: one number for two and more groups, with the subtotals that the release has
* `derived`: What is derived from published numbers, in sentences: of what it is made, how far its intervals hold, what is
  missing
* `drawing`: Vega-Lite charts as pictures inside a page, drawn by vl-convert (extra `plot`) in a separate process
* `files`: Templates and files of HTML pages
* `found`: How groups that nobody listed were found: the rounds, and which part of the guarantee paid for them
* `page`: One self-contained HTML file from a release: no network, one script that is always the
  same, everything escaped
* `pictures`: The pictures on the page, each with a description for readers who cannot see it
* `promise`: The promise to every person, in words and figures: the compared tables, and the success of an attacker
* `sheets`: The tables as they stand on the page: a cross table where there is one, the list, and a place to point at;
  key numbers
* `tables`: The tables of noisy numbers, for each number of a statistic and for further frames, with intervals and bars
* `tests`: The tests of a release in sentences: hypothesis, p-value, method and what is assumed
* `totals`: The exact totals and their effect on the guarantee: words, tables and warnings
* `view`: The contents of the page: a `Release` turned into texts, tables and bars
* `words`: The facts of a release document in plain sentences
"""

from typing import TYPE_CHECKING, Any

from discreet.exact.on_demand import turn_to_load

if TYPE_CHECKING:
    from discreet.pages.report.page import render, write_report

__all__ = ["render", "write_report"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A public name, loaded when it is first used: the process that draws is started before."""
        if name in __all__:
            return getattr(turn_to_load("discreet.pages.report.page"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
