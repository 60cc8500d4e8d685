"""A table of Iceberg that names the Parquet files of published windows: a mirror, which has no rows of its own."""
