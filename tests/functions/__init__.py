"""Sources whose rows a function gives, and databases."""
