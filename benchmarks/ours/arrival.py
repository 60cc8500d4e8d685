"""Windows of single rows, all rows as one batch; what is not full, or not ended, when it ends is no window."""

from datetime import timedelta

from benchmarks.ours.pipeline import Job
from benchmarks.workloads import BELOW, DELTA_S, ROWS
from muntin import windows

BATCH = timedelta(hours=2)
COUNTED = Job(windows.arrival(windows.by_count(ROWS)), BATCH)
LAST_ROWS = Job(windows.arrival(windows.by_count(ROWS), trigger=windows.by_count(1)), BATCH)
DELTAS = Job(windows.arrival(windows.by_delta("t", f"{DELTA_S}s")), BATCH)
STRETCHES = Job(windows.while_(f"a < {BELOW}"), BATCH)
