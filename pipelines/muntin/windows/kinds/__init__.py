"""Kinds of windows, one a file."""
