"""Contracts on published windows: what they say, what breaks them, and their command."""
