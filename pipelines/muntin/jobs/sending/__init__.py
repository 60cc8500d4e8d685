"""Results leave: what each sink of a definition lacks is sent after publishing.

A sink that is down stops nothing.
"""
