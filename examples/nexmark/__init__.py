"""Queries of NEXMark as definitions, each a file; `queries.md` has the list, and those that cannot be written, with the reason."""
