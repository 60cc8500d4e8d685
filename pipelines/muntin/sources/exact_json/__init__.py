"""JSON as it is written: what its parsers would take for other values."""
