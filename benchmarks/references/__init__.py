"""What must come out, a module for each kind of window: `expected(events, work)`, sorted by key and start or index."""
