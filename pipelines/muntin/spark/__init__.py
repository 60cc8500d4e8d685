"""Spark: the session, and tasks that get plain values and return plain values."""
