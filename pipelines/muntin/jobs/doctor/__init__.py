"""Doctor: what is wrong with a state and the disk below it, and what mends it."""
