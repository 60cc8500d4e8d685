"""Tables of PostgreSQL as a sink."""
