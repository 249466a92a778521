"""A release in the formats of others: what readers, offices and portals open. Functions of the document and its labels.

* `base`: The description of a format, what can be asked of it, and files that are written whole
* `csv_table`: One frame as CSV for people: labels, ends of bins, rounded numbers, classes of quality
* `csvw`: The same CSV with metadata in JSON, as CSV on the Web describes it (W3C)
* `digits`: The number of digits that are shown: two of the half-width
* `ids`: Identifiers of SDMX and JSON-stat for columns and categories
* `json_stat`: One frame as a data cube of JSON-stat 2.0
* `registry`: All formats, by the words that the command line has for them
* `sdmx`: One frame as SDMX-CSV 2.0, with the status of each observation
* `sheets`: The frames of a release in words: groups with their labels, numbers with their classes
* `xlsx`: A workbook with notes, cross tables and all numbers (extra `xlsx`)
"""
