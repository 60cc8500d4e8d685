"""Delta tables as a source: their log, their files, and the rows that their commits change."""
