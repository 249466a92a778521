"""Cells of public codes: paths, scans, primitive queries and their answers, and resampling.

* `cells`: From the cells of a cube to the cells of a release: the cell in which rows count, and one code for each key
* `combinations`: Combinations of columns of the source that a public list names: their numbers, and the label of each
* `cube`: The cube: integer counts and sums per cell of public codes
* `value_paths`: The way of one value of a column through the steps, as a public table
* `joins`: A scan of rows and of the tables of persons beside it: what each table is asked for, and how its columns go on
* `keys`: The scan of a column of texts that nobody listed, and what one person weighs in each of her texts
* `membership`: Which group of a release a final code belongs to, and which codes pass a condition: functions of plan and
  schema
* `person_numbers`: What a person counts for in a cell: whole numbers that follow from this person's rows there
* `person_rows`: The scan that makes one row of all rows of each person, and the cubes of the table of these rows
* `persons`: The scan of a table of persons: whose row it is, in which cell of the request it is, and what a person counts
  for
* `queries`: Primitive integer queries: what noise is added to, a class each
* `resample`: Impute, copy, sample and fill, drawn on the cube: the same law as row by row, at the cost of the cells
* `scans`: One cube, brought in one scan, and how it maps to the cells of a release
* `tables`: A reading of a table of persons of which one row is made of each: the code of each column, where all its rows
  agree
* `trees`: Trees of counts over the grid of a column: their shape, chosen before anything is read, and their
  consistent estimate
* `weights`: The weights of persons in many groups: public tables of whole numbers
"""
