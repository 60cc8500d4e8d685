"""Everything that says what Muntin must do."""
