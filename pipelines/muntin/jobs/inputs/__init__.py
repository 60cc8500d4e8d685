"""Inputs: which files a batch has, whatever its source is, and what of them has changed."""
