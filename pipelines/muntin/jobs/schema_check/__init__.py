"""Schema check: does the definition fit the columns, types and texts that are there."""
