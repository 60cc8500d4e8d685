"""Commands: a file for each command of `muntin`, or for a few that belong together."""
