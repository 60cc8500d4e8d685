"""Reading: rows of files and messages, as they are; and the few that cannot be read."""
