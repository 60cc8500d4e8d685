"""State: a pipeline bound to its root, and what lies below the root."""
