"""Other batches: earlier batches whose rows a batch repeats, and later batches that change its rows."""
