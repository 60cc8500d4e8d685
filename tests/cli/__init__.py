"""The command line, called in process on a small pipeline."""
