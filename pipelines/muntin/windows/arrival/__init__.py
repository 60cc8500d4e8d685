"""Windows of rows in the order in which they came (IBM SPL)."""
