"""Signs of a run for the DAGs after it: the assets of windows, their events, and the partition keys of
events.
"""
