"""Does combining cost more when a window is made of more frames? `python -m benchmarks.ours.widths` tells the figures.

Ten, a hundred and a thousand frames a window, the step chosen so that the number of windows is the same. A first run
accumulates all events while grace keeps every window open; the second, timed, brings no events and closes them all. A
third closes nothing: what a run costs whatever it does.
"""

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.events import event_files
from benchmarks.ours.pipeline import Job, start
from benchmarks.workloads import SLIDING
from muntin import windows

FRAMES = (10, 100, 1000)
WINDOWS_A_KEY = 3_699
"""Of one hour in windows of a hundred frames of one second."""
HOUR = timedelta(hours=1)


def job(frames: int) -> Job:
    """Windows of so many frames; a key has `duration / step + frames - 1` of them."""
    step = timedelta(seconds=SLIDING.duration_s) / (WINDOWS_A_KEY - frames + 1)
    window = windows.sliding(step * frames, step=step, grace=HOUR)
    return Job(window, schedule=HOUR, names="{start:%Y%m%dT%H}*.parquet")


def timed(measured: Job, files: Sequence[Path], out: Path) -> dict[str, float]:
    """Accumulate, then close everything, then do nothing; the seconds of the last two."""
    shutil.rmtree(out, ignore_errors=True)
    measured.write_windows(files, out)
    times = [time.perf_counter()]
    for batches in (range(1, 4), range(4, 7)):
        measured.write_windows(files, out, batches)
        times.append(time.perf_counter())
    return {"finalize_s": times[1] - times[0], "idle_s": times[2] - times[1]}


def main() -> None:
    """Time the widths in turn, `--runs` times after a warm-up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    files = event_files(SLIDING.scaled(asked.scale), asked.data)
    start()
    for number in range(asked.runs + 1):
        for frames in FRAMES:
            figures = timed(job(frames), files, asked.out)
            count = job(frames).read_windows(files, asked.out).num_rows
            if number:
                print(json.dumps({"frames": frames, "windows": count} | figures), flush=True)


if __name__ == "__main__":
    main()
