"""Commands that keep a state small and right."""
