"""The default engine, and every source that DuckDB reads.

* `csv_files`: CSV files as a source, staged line by line through `csv_lines`, because no CSV reader keeps rows apart
  on every input
* `csv_lines`: CSV as lines: a row is a line, whatever stands in its cells
* `database`: A private DuckDB database: opened when it is needed, used by several threads, left behind by forked
  children
* `database_files`: A table of a DuckDB database file, which is opened for reading, for each statement anew and under
  a name of its own
* `dialect`: The dialect of DuckDB. Integers have 128 bits, sums of codes cannot overflow, texts are joined by their
  bytes
* `driver`: The default engine: DuckDB. What it is asked, and what its answers mean; `database` opens it
* `files`: Files as sources: what can be checked for changes while it is read, each file under one name
* `folders`: A folder of Parquet files as a source: which files are in it, and what the names of its sub-folders say
  about rows
* `frames`: Frames in memory as Arrow streams of the declared columns
* `parquet`: Parquet files as a source: one, those that a glob matches, or those of a folder whose sub-folders name
  partitions
* `parquet_days`: The days of timestamps that a Parquet file holds in milliseconds, read so that no value can raise
* `partitions`: What folders say about rows, put into a cube that was counted file by file
* `relations`: A DuckDB relation as a source, on the connection that it belongs to, which stays open with its own
  settings
* `spill`: Where a driver may put what does not fit into memory: a folder that nobody else can enter
* `streams`: Rows that arrive as Arrow streams: the table of a database, through ADBC, or whatever a function opens
  anew
"""
