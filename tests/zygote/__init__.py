"""The process that has imported what workers of Spark need, and forks for each session."""
