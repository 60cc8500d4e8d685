"""Dimensions: rows that hold for a time, as events look them up."""
