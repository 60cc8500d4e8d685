"""Windows of adjacent rows of a key, by event time: by a condition, a value, or from row to row."""
