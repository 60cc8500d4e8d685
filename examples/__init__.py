"""Programs that show Muntin at work on real data."""
