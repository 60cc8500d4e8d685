"""Sliding windows, the hour as one batch: an interval of two hours, so that every window closes with it."""

from datetime import timedelta

from benchmarks.ours.pipeline import Job, start
from benchmarks.workloads import SLIDING_SIZE_S, SLIDING_STEP_S
from muntin import windows

__all__ = ["read_windows", "start", "write_windows"]

JOB = Job(windows.sliding(f"{SLIDING_SIZE_S}s", step=f"{SLIDING_STEP_S}s"), schedule=timedelta(hours=2))

write_windows = JOB.write_windows
read_windows = JOB.read_windows
