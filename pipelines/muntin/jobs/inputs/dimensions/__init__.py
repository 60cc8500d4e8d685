"""Dimensions of a pipeline: their versions as a run reads them, and what the events of each batch met of
them.
"""
