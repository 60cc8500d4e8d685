"""What every aggregate must obey, by property, values that hurt, and what is refused."""
