"""The engine, through its public names only."""
