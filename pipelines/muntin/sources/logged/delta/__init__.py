"""Delta tables as a source: their log, and how rows lie in their files."""
