"""Housekeeping: the slice of upkeep that each run does: small files are put together, old rows go."""
