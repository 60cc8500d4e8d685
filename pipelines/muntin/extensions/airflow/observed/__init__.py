"""The lineage of runs, and whether windows are fresh, for other programs."""
