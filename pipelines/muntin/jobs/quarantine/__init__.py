"""Quarantine: rows that cannot be read or computed, with their places and reasons."""
