"""The command `muntin`: thin commands over the jobs, for people and (with --json) for machines."""
