"""Upkeep of a state: what to remove, what to read again."""
