"""Materialised: rows that Spark reads are written to files of the state, from which batches are then made."""
