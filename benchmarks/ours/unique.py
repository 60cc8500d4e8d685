"""Unique sliding windows, the hour as one batch: an interval of two hours, so that every window closes with it."""

from datetime import timedelta

from benchmarks.ours.pipeline import Job
from benchmarks.workloads import UNIQUE_SIZE_S
from muntin import windows

JOB = Job(windows.unique_sliding(f"{UNIQUE_SIZE_S}s"), schedule=timedelta(hours=2))
