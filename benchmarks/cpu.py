"""CPU seconds of programs and of all that they start."""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterable

import psutil

SAMPLE_S = 0.25


class Cpu:
    """Looks four times a second at programs and their descendants. The last moments of a process that ends are missed."""

    def __init__(self, pids: Iterable[int]) -> None:
        """Start watching these programs."""
        self._pids = tuple(pids)
        self._seen: dict[psutil.Process, float] = {}
        self._before = self._now()
        self._seen = dict(self._before)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Stop watching; the CPU seconds since the start."""
        self._stopped.set()
        self._thread.join()
        self._seen |= self._now()
        return sum(seconds - self._before.get(one, 0) for one, seconds in self._seen.items())

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLE_S):
            self._seen |= self._now()

    def _now(self) -> dict[psutil.Process, float]:
        """Process -> its CPU seconds so far, without those of its children."""
        found = {}
        for one in self._all():
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                found[one] = times.user + times.system
        return found

    def _all(self) -> set[psutil.Process]:
        """The programs, what they started, and what that started, whose starter may have ended."""
        started = defaultdict[int, list[psutil.Process]](list)
        for one in psutil.process_iter(["ppid"]):
            started[one.info["ppid"]].append(one)
        new = {one for of_parent in started.values() for one in of_parent if one.pid in self._pids or one in self._seen}
        found: set[psutil.Process] = set()
        while new:
            found |= new
            new = {child for one in new for child in started[one.pid]} - found
        return found
