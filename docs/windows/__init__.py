"""The windows, a page a kind, and the programs that draw their pictures."""
