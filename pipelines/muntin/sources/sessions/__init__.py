"""Sessions of DuckDB: what they may do, what they read, and the SQL of a definition in them."""
