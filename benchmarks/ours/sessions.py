"""Sessions, the six hours as one batch: an interval of twelve hours, so that every session closes with it."""

from datetime import timedelta

from benchmarks.ours.pipeline import Job, start
from benchmarks.workloads import SESSION_GAP_S
from muntin import windows

__all__ = ["read_windows", "start", "write_windows"]

JOB = Job(windows.session(f"{SESSION_GAP_S}s"), schedule=timedelta(hours=12))

write_windows = JOB.write_windows
read_windows = JOB.read_windows
