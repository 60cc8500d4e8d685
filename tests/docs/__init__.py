"""The documents: their code runs, what they name is there."""
