"""Keys of Redis as a sink."""
