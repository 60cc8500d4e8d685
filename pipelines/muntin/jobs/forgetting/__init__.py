"""Forgetting: everything that a pipeline keeps of a key goes, stays away, and is proven to be gone."""

DAG_ENDS = ".forget_keys"
"""The end of the name of the DAG that forgets, behind that of the pipeline. Who may read this DAG may see what was forgotten."""
