"""A row-wise SELECT: a closed language of total functions, whose results depend on the cells of one row alone.

Nothing that a user writes reaches an engine. A query is read into the tree of this room, or refused; an engine writes its
own expressions from the tree. docs/proofs/rowwise.md shows why neighbours stay neighbours, and why no failure depends on a
row.

* `arithmetic`: Operations on numbers: 64-bit integers that cannot overflow, and finite doubles
* `casts`: Conversions from one type to another, null where a value has no counterpart
* `conditions`: Conditions in the three-valued logic of SQL, and choices between values
* `days`: Operations on days of the years 1 to 9999
* `operations`: The description of an operation: the types that it takes and gives, and its meaning, which never raises
* `parsing`: A query as its tree; whatever is not in the grammar is refused, with its place and the remedy
* `refused`: The words of SQL that are not part of a row-wise query, and what to do instead
* `registry`: All operations, in one tuple, and the one that is meant by a name and the types of its arguments
* `texts`: Operations on texts, whose results are bounded in length
* `tokens`: A query as words, each with its place
* `tree`: The tree of a query, and its one canonical text
* `typed`: An expression whose types are known, and its value for one row
"""
