"""Deduplication: the ids of events, kept beside the states, and which rows of later
batches they leave out.
"""
