"""The store of the state: Delta tables of immutable Parquet files, changed by atomic commits."""
