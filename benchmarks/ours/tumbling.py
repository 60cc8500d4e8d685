"""Tumbling windows, all events as one batch whose interval closes them all: what the other kinds are measured by."""

from datetime import timedelta

from benchmarks import workloads
from benchmarks.ours.pipeline import Job
from muntin import windows


def _job(work: workloads.Workload, schedule: timedelta) -> Job:
    return Job(windows.tumbling(timedelta(microseconds=work.size_us)), schedule)


SLIDING = _job(workloads.SLIDING_TUMBLING, timedelta(hours=2))
SESSIONS = _job(workloads.SESSIONS_TUMBLING, timedelta(hours=12))
UNIQUE = _job(workloads.UNIQUE_TUMBLING, timedelta(hours=2))
COUNTED = _job(workloads.COUNTED_TUMBLING, timedelta(hours=2))
LAST_ROWS = _job(workloads.LAST_ROWS_TUMBLING, timedelta(hours=2))
DAYS = _job(workloads.DAYS_TUMBLING, timedelta(days=128))
