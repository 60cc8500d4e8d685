"""What a row of a checkpoint is: its columns, its order, its key."""
