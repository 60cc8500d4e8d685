"""What every aggregate must obey, by property. `laws.check(aggregate, rows)` runs the laws on any aggregate."""
