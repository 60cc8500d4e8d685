"""Starts a process, reads its figures line by line, and watches the memory of the process and all its children."""

import dataclasses
import json
import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

SAMPLE_S = 0.2


class BrokenRunError(Exception):
    """A measured process ended in an error; the message is the end of what it said."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measurement:
    """Of the last job: seconds, CPU seconds, megabytes written. From the start of the process to the end of the first job. Peak memory."""

    job_s: float
    cpu_s: float
    process_s: float
    peak_mb: float
    written_mb: float = 0.0


def measure(module: str, arguments: Sequence[str], log: Path) -> Measurement:
    """Run `python -m module` and measure it."""
    begun = time.perf_counter()
    memory, seen = _watched(module, arguments, log)
    return Measurement(
        job_s=seen[-1][1]["job_s"],
        cpu_s=seen[-1][1]["cpu_s"],
        process_s=seen[0][0] - begun,
        peak_mb=max(memory, seen[-1][1]["own_peak_mb"]),
        written_mb=seen[-1][1]["written_mb"],
    )


def told(module: str, arguments: Sequence[str], log: Path) -> list[dict[str, float]]:
    """Run `python -m module` and return the figures it told, one line each."""
    return [line for _, line in _watched(module, arguments, log)[1]]


def alone(call: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - what it returns
    """The result of a call in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, given)


def _watched(module: str, arguments: Sequence[str], log: Path) -> tuple[float, list[tuple[float, dict[str, float]]]]:
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", module, *arguments]
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as child:
        memory = Memory(child.pid)
        try:
            lines = [(time.perf_counter(), json.loads(line)) for line in child.stdout or () if line.startswith("{")]
        finally:
            peak_mb = memory.stop()
            _end(child)
    if child.returncode or not lines:
        raise BrokenRunError(log.read_text()[-2000:])
    return peak_mb, lines


def _end(child: subprocess.Popen[str]) -> None:
    """Wait for the process, or, when this one was interrupted, end it with all its children."""
    try:
        child.wait(timeout=30)
    except subprocess.TimeoutExpired:
        for process in [*psutil.Process(child.pid).children(recursive=True), child]:
            process.kill()


class Memory:
    """Adds up, five times a second, what a process and its children hold; shared pages count in each of them."""

    def __init__(self, pid: int) -> None:
        """Start watching the process."""
        self._process = psutil.Process(pid)
        self._peak = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Stop watching; the peak in megabytes."""
        self._stopped.set()
        self._thread.join()
        return self._peak / 1e6

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLE_S):
            self._peak = max(self._peak, self._now())

    def _now(self) -> int:
        held = 0
        try:
            for process in [self._process, *self._process.children(recursive=True)]:
                held += process.memory_info().rss
        except psutil.NoSuchProcess:
            return 0
        return held
