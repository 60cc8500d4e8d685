"""Windows of adjacent rows of a key, in order of event time: by a condition, by a value, from one row to another."""
