"""Where state lives: Delta tables of immutable Parquet files, changed by atomic commits."""
