"""Windows that are not closed yet: how many, and since when."""
