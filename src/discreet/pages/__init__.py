"""Words and pages made from quotes and releases.

* `explain`: A quote explained: the chain from one person's data to each noise scale, in words and formulas
* `planner`: The planner: one HTML page with sliders for spend, n, p and exact totals; errors and costs follow without
  a server
* `programme`: One page over all releases of a folder: search, budgets, agreement of tables, links
* `registry`: A release for people who register or review deployments of differential privacy
* `report`: A release as one HTML page for people who did not make it
* `rows`: Rows that were made from a release, compared with each of its tables, for people who get the rows
* `words`: The texts of the pages in several languages, each in one file: `en.toml`, `de.toml`
"""
