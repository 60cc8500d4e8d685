"""Databases as sources: the rows of a batch are what a query of the user's gives."""
