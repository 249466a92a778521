"""Rows that are fitted to what a release has published: post-processing of its document, nothing charged.

* `fit`: Rows by sweeps of draws with integer weights, the same on every machine
* `result`: The rows of a release, how they compare with its tables, and what its tables do not say
* `start`: Where the sweeps start: columns of exact totals as they are, the others one by one
* `targets`: What a document says of tables, in integers: targets, weights and exact totals
* `words`: The words of the generator: raw bits of a counter, keyed with the digest of a release
"""

from __future__ import annotations

from discreet.releases.rows.result import Rows, fit_rows

__all__ = ["Rows", "fit_rows"]
