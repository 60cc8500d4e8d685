"""States: the rows of a checkpoint, with their columns, their order and their keys."""
