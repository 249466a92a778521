"""A plan as a TOML file: reading, writing, and the places of its mistakes.

* `about`: The `[about]` and `[quality]` sections of a plan file, and files of labels in further languages
* `approval`: The `[approval]` section of a plan file: who must sign its releases
* `beside`: The `[beside.NAME]` sections of a plan file: tables of persons, and the table that a release begins with
* `budgets`: The `[budget]` section of a plan file: of the data set, of its population, and of each of its windows
* `columns`: The `[columns]` section of a plan file: the schema
* `derived`: The `[[derive]]` sections of a plan file: ratios, changes and means of what its releases publish
* `faults`: All faults of a plan file at once: the reader finds one, it is taken out of the way, and the plan is read
  again
* `groups`: The groups of a request in a plan file: columns, bins of them, and columns of texts whose groups are found
* `invariants`: The `[invariants]` section of a plan file: the exact totals and the other exact statements
* `original`: The meaning of `original` and `prepared` in a release of a plan file
* `parameters`: The `[parameters]` section of a plan file: what one plan for many months leaves open, and the values
  that fill it
* `read`: A plan file (TOML) and its meaning
* `row_draws`: `resize`, `sample` and `bound` in a plan file: the last step, which draws rows or bounds what a person counts
  for
* `samples`: `sampled` in a plan: how the file was secretly drawn from a population, and a budget that is stated for it
* `sources`: A source in a plan file, and the format of its text files
* `spends`: The spends of a plan file: stated release by release, or what the stated ones leave, split by shares
* `statistics`: A statistic in a plan file: a word alone, or a table with the word, its column or value, and further keys
* `steps`: The steps of a release in a plan file: clamps and imputations, conditions, one row of each person, and the last
  step
* `tested`: The `[[test]]` sections of a plan file: hypotheses that are tested on what its releases publish
* `tree`: A TOML file as a tree of values with their places, so that every error can name file, line and key
* `write`: Values as TOML text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.planfile.read import PlanFile, load_plan

__all__ = ["PlanFile", "load_plan"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"read": __all__})  # loaded when they are first used
