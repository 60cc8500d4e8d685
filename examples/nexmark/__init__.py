"""Queries of NEXMark as definitions, each a file; README.md has the list, and those that cannot be written, with the reason."""
