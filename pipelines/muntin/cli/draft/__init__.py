"""A definition drafted from files: bytes and values in, guesses with their reasons out."""
