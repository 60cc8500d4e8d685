"""Muntin through its public face only, against the oracle."""
