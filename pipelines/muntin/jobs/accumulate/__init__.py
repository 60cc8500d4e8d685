"""Accumulate: rows become states."""
