"""The lineage of runs, and whether windows are fresh, told to others."""
