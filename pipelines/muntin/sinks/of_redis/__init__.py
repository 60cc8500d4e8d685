"""A sink of Redis or Valkey."""
