"""Calendar days, the hundred days as one batch: an interval of 128, so that every window closes with it."""

from datetime import timedelta

from benchmarks.ours.pipeline import Job
from benchmarks.workloads import ZONE
from muntin import windows

JOB = Job(windows.tumbling("1d", timezone=ZONE), schedule=timedelta(days=128))
