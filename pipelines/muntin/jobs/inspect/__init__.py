"""Inspect: looks at a state; nothing is changed."""
