"""What is declared in public before anything is read: columns, neighbours, steps, groups.

* `codes`: What codes mean that are no position on a grid
* `declared_words`: The declared columns and the steps in words: one wording for commands, notebooks, explanations and
  reports
* `groups`: Groups of rows: categories, and bins of numbers and dates
* `imputation`: Imputation laws: what a null is replaced by
* `neighbours`: Who is compared with whom: the two neighbouring relations a custodian can declare, with all that is asked
  of them
* `schema`: Columns and their public domains
* `steps`: What is done to the table before it is asked anything: clamp, impute, where, resize
* `words`: How plans, quotes and releases look in a terminal and in a notebook: short, and without reading anything
"""
