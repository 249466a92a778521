"""Rows that were made from a release, compared with each of its tables, for people who get the rows.

* `page`: The comparison as one self-contained HTML file
"""
