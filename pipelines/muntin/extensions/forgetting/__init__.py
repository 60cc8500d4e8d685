"""Forgetting: everything that a pipeline keeps of a key goes, stays away, and is proven to be gone."""
