"""Sliding windows, the hour as four batches worked in bulk: grace for the late, an empty fifth that closes the rest."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.ours.pipeline import Job, start
from benchmarks.workloads import LATEST_ARRIVAL_US, SLIDING_SIZE_S, SLIDING_STEP_S
from muntin import windows

__all__ = ["read_windows", "start", "write_windows"]

JOB = Job(
    windows.sliding(f"{SLIDING_SIZE_S}s", step=f"{SLIDING_STEP_S}s", grace=timedelta(microseconds=LATEST_ARRIVAL_US)),
    schedule=timedelta(minutes=15),
    names="{start:%Y%m%dT%H%M}-*.parquet",
)
BATCHES = range(5)

read_windows = JOB.read_windows


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Publish the windows of all batches."""
    JOB.write_windows(files, out, BATCHES)
