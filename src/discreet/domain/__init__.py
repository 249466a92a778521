"""The public declarations, made before anything is read: columns, neighbours, steps, groups.

* `about`: The words of a publication about itself in one language: titles, notes, units, and labels of columns and
  categories
* `areas`: Areas and other public functions of a column: declarations that a schema turns into columns
* `bounds`: The bound of what one person counts for in a request: in how many groups fully, and with how many rows in each
* `categories`: Categories as values: texts in NFC, integers or booleans, listed by the caller or in a file
* `bin_steps`: Where bins of one width begin: steps of a grid, numbers of days, and months, quarters and years of the
  calendar
* `codes`: The code that is not a position on a grid
* `columns`: A column and its public domain: categories, numbers on a grid, or days
* `combinations`: A public list of combinations of several columns of the source, as one column: its categories are the rows
  of the list
* `completion`: Columns that are declared to have a value everywhere
* `conditions`: A condition that somebody wrote as text, and the nearest way to say it: the bounds that it leaves
* `declarations`: What a schema can be told of a column, and the columns that it has then: those of hierarchies and lists
  among them
* `declared_words`: The declared columns and the steps in words: one wording for commands, notebooks, explanations and
  reports
* `discovery`: Groups that nobody listed: what is asked for, and which groups there are before and after they were looked for
* `draws`: Draws of a file from a population that keep secret who was drawn; and designs from which nothing follows
* `geojson`: Maps from GeoJSON (RFC 7946): polygons in degrees, turned into outlines on a small grid
* `groups`: Groups of rows: categories, and bins of numbers and dates
* `identifiers`: A column that says whose row it is
* `imputation`: Imputation laws, the distributions that replace nulls
* `lookups`: Public look-up tables: the columns of a CSV or Parquet file, or of a mapping, with the line of every row for
  messages
* `maps`: Shapes of groups on a map: outlines in whole numbers on a small grid, each with the key of a category
* `missing`: Missing codes: values of the source that stand for "not known", such as -8 and 999, and that are read as null
* `neighbours`: The neighbouring relations that a custodian can declare, with all their facts
* `of_persons`: What becomes of all rows of a person: the columns of a table with one row for each person
* `origins`: Where a derived column comes from: a public map from the codes of another column, and what such maps say of
  each other
* `person_relations`: The relations whose neighbours differ in the rows of one person, however many: whole, or in any part
* `reading`: The reading of CSV text: a public declaration, and part of what a column is
* `row_samples`: The samples that a request can take of the rows of its table: each row by itself, or a fixed number of rows
* `rowwise`: A row-wise SELECT: a closed language of total functions, whose results depend on the cells of one row alone
* `schema`: The declared columns of a table
* `steps`: The steps that prepare the table: clamp, impute, where, and resize, sample or bound
* `texts`: A column of texts that nobody can list beforehand
* `words`: Plans, quotes and releases in a few words, for a terminal and for a notebook
"""
