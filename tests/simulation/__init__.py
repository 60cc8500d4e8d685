"""Seeded worlds: runs, crashes and upkeep in turns, on a simulated disk or a real one. Each world is held against its laws."""
