"""Clocks: time zones, alignment, instants as users give them."""
