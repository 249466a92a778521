"""What is declared in public before anything is read: columns, neighbours, steps, groups.

* `codes`: What codes mean that are no position on a grid
* `groups`: Groups of rows: categories, and bins of numbers and dates
* `imputation`: Imputation laws: what a null is replaced by
* `missing`: Missing codes: values of the source that stand for "not known", such as -8 and 999, and that are read as null
* `neighbours`: Who is compared with whom: the two neighbouring relations a custodian can declare, with all that is asked
  of them
* `schema`: Columns and their public domains
* `steps`: What is done to the table before it is asked anything: clamp, impute, where, resize
* `words`: How plans, quotes and releases look in a terminal and in a notebook: short, and without reading anything
"""
