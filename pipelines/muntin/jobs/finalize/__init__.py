"""Finalize: states become windows. Work is cut into shards by key; a task derives a shard."""
