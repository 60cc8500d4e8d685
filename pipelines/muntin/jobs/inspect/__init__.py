"""Inspect: reads a state; nothing is changed."""
