"""Duplicates in different batches: the ids of events, kept beside the states, and which rows they leave out."""
