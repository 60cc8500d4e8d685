"""Other batches: earlier ones whose rows a batch repeats, and later ones that change rows of it."""
