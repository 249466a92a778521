"""The suite that tries an engine: the same rows through it and through the reference.

* `conformance`: The suite that an engine has to pass: on every hostile table its cubes equal the reference's, cell by
  cell
* `hostile`: The hostile tables: public, made-up tables of everything that has broken counting code before
* `joins`: The suite that engines which put tables of persons beside rows have to pass: the same integers as the
  reference's
* `persons`: The suite that an engine which adds up persons has to pass: totals over persons and rows of persons as the
  reference's
"""
