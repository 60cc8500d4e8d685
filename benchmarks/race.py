"""First everyone's windows are compared with the reference; then those who are right are timed, in turn."""

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.comparison import differences
from benchmarks.contestants import Contestant
from benchmarks.events import event_files
from benchmarks.figures import Outcome
from benchmarks.measurement import BrokenRunError, Measurement, measure, told
from benchmarks.reference import reference


@dataclasses.dataclass(frozen=True, slots=True)
class Race:
    """Where the events are, how many of them, and whom to tell how it goes."""

    data: Path
    scale: float
    say: Callable[[str], None]

    def outcomes(self, contestants: Sequence[Contestant], runs: int) -> list[Outcome]:
        """Compare everyone once, which also warms the disk's cache; then time `runs` rounds of those who are right."""
        wrong = {one.name: self._wrong(one) for one in contestants}
        measured: dict[str, list[Measurement]] = {one.name: [] for one in contestants if not wrong[one.name]}
        for number in range(runs):
            for one in contestants:
                if one.name in measured:
                    self._time(one, measured[one.name], f"{number + 1} of {runs}")
        shutil.rmtree(self._out, ignore_errors=True)
        return [Outcome(one, measured.get(one.name, ()), wrong[one.name], self._windows(one)) for one in contestants]

    def widths(self, runs: int) -> list[dict[str, float]]:
        """Our time of combining, by the number of frames a window."""
        self.say("frames a window ...")
        arguments = ["--scale", f"{self.scale}", "--runs", f"{runs}", "--data", f"{self.data}", "--out", f"{self._out}"]
        try:
            return told("benchmarks.ours.widths", arguments, self._log)
        except BrokenRunError as broken:
            self.say(f"frames a window: {broken}")
            return []
        finally:
            shutil.rmtree(self._out, ignore_errors=True)

    def _wrong(self, one: Contestant) -> list[str]:
        files = event_files(one.work(self.scale), self.data)
        expected = reference(one.work(self.scale), files)
        try:
            self._measure(one, jobs=1)
            found = differences(one.read_windows(files, self._out), expected)
        except BrokenRunError as broken:
            found = [f"broken: {broken}"]
        self.say(f"{one.name}: {'; '.join(found) or 'right'}")
        return found

    def _windows(self, one: Contestant) -> int:
        work = one.work(self.scale)
        return len(reference(work, event_files(work, self.data))["key"])

    def _time(self, one: Contestant, measured: list[Measurement], turn: str) -> None:
        measurement = self._measure(one, jobs=2)
        measured.append(measurement)
        self.say(f"{one.name}, {turn}: {measurement.job_s:.2f} s, {measurement.peak_mb:,.0f} MB")

    def _measure(self, one: Contestant, jobs: int) -> Measurement:
        arguments = [one.name, "--scale", f"{self.scale}", "--jobs", f"{jobs}"]
        arguments += ["--data", f"{self.data}", "--out", f"{self._out}"]
        return measure("benchmarks.contestant", arguments, self._log)

    @property
    def _out(self) -> Path:
        return self.data / "out"

    @property
    def _log(self) -> Path:
        return self.data / "last-run.log"
