"""Spark: sessions, and tasks that get plain values and return plain values."""
