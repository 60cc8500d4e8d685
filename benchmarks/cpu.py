"""CPU seconds of programs and of all that they start."""

import contextlib
import threading
from collections.abc import Iterable

import psutil

SAMPLE_S = 0.25


class Cpu:
    """Looks four times a second at programs and their descendants. The last moments of a process that ends are missed."""

    def __init__(self, pids: Iterable[int]) -> None:
        """Start watching these programs."""
        self._pids = tuple(pids)
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
        for pid in self._pids:
            with contextlib.suppress(psutil.Error):
                top = psutil.Process(pid)
                for one in (top, *top.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        times = one.cpu_times()
                        found[one] = times.user + times.system
        return found
