"""Shards: the work of windows cut by key, and what one shard reads and notes."""
