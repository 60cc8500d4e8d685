"""What may pass the door, what may not, and what is said about it."""
