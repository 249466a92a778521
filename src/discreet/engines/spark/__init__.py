"""The engine of Spark DataFrames, tables and paths.

* `dialect`: The dialect of Spark 4
* `driver`: The distributed engine: Spark 4
* `files`: The files behind a Spark source, and their metadata in the file system: an identity that costs no scan
"""

PREFIX = "spark:"
"""The beginning of a text that names a Spark source."""

__all__ = ["PREFIX"]
