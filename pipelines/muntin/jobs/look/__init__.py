"""Looks at a state: nothing is changed."""
