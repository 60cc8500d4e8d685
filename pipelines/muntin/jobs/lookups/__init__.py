"""Lookups: windows found for rows that a reader brings, and aggregates over ranges that no window was defined
for.
"""
