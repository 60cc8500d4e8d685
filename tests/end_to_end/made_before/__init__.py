"""A state as version 0.1 wrote it, with the definitions it was written by."""
