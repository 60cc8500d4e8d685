"""One contestant in a process of its own: `python -m benchmarks.contestant NAME --scale 1 --jobs 2 --out FOLDER`.

Prints a line of JSON after each job. The first job is cold; the second finds session, imports and compiled code warm.
"""

import argparse
import contextlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import psutil

from benchmarks.contestants import BY_NAME, Contestant
from benchmarks.events import event_files


def jobs(contestant: Contestant, scale: float, count: int, data: Path, out: Path) -> Iterator[dict[str, float]]:
    """Run the job `count` times, each into an empty folder, and yield its figures; the last result stays."""
    files = event_files(contestant.work(scale), data)
    contestant.start()
    return timed(lambda: contestant.write_windows(files, out), count, out)


def timed(job: Callable[[], object], count: int, out: Path) -> Iterator[dict[str, float]]:
    """Run a job `count` times, each into an empty folder, and yield its figures; the last result stays."""
    for _ in range(count):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        begun, used = time.perf_counter(), cpu_s()
        job()
        job_s = time.perf_counter() - begun
        yield {"job_s": job_s, "cpu_s": cpu_s() - used, "own_peak_mb": own_peak_mb(), "written_mb": written_mb(out)}


def written_mb(out: Path) -> float:
    """Megabytes of all files in a folder."""
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6


def cpu_s() -> float:
    """What this process and its living children have computed so far: less sensitive to a busy machine than time."""
    used = time.process_time()
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            used += sum(one.cpu_times()[:4])
    return used


def own_peak_mb(pid: str = "self") -> float:
    """The most memory this process or another, without its children, has held; 0 where the system does not tell.

    Not `ru_maxrss`: a started process inherits that of the one that started it.
    """
    told = Path(f"/proc/{pid}/status")
    found = re.search(r"VmHWM:\s*(\d+) kB", told.read_text()) if told.exists() else None
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _tasks_here() -> contextlib.AbstractContextManager[object]:
    """Let tasks of ours run in this process; peers do not import the engine."""
    from muntin.tasks import Local

    return mock.patch("benchmarks.ours.pipeline.session", Local)


def main() -> None:
    """Read the arguments, run the jobs, tell the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(BY_NAME))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without-spark", action="store_true", help="our tasks run in this process")
    asked = parser.parse_args()
    with _tasks_here() if asked.without_spark else contextlib.nullcontext():
        for figures in jobs(BY_NAME[asked.name], asked.scale, asked.jobs, asked.data, asked.out):
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
