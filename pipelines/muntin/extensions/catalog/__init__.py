"""Names in Spark's catalog as a sink."""
