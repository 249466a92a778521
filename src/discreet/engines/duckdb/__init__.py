"""The default engine, and every source that DuckDB reads.

* `csv_files`: CSV files as a source, staged line by line through `csv_lines`, because no CSV reader keeps rows apart
  on every input
* `csv_lines`: CSV as lines: a row is a line, whatever its cells contain
* `database`: A private DuckDB database: opened when it is needed, used by several threads, left behind by forked
  children
* `database_files`: A table of a DuckDB database file, which is opened for reading, anew for each statement and under
  a separate name
* `dialect`: The dialect of DuckDB. Integers have 128 bits, sums of codes cannot overflow, texts are joined by their
  bytes
* `driver`: The default engine, DuckDB: its statements, and the meaning of its answers; `database` opens it
* `files`: Files as sources: the files that are checked for changes while they are read, each file under one name
* `folders`: A folder of Parquet files as a source: the files in it, and the values of rows that the names of its
  sub-folders give
* `frames`: Frames in memory as Arrow streams of the declared columns
* `parquet`: Parquet files as a source: one file, the files that a glob matches, or a folder whose sub-folders name
  partitions
* `parquet_days`: The days of timestamps that a Parquet file holds in milliseconds, read so that no value can raise
* `partitions`: The values that folders give to rows, added to a cube that was counted file by file
* `relations`: A DuckDB relation as a source, on the connection that it belongs to, which stays open and keeps its
  settings
* `spill`: The folder for data that does not fit into memory, which nobody else can enter
* `streams`: Rows that arrive as Arrow streams: the table of a database, through ADBC, or any stream that a function
  opens anew
"""
