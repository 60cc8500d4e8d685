"""Earlier states: what the state of an earlier definition has, and is not read again."""
