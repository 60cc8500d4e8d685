"""`python -m benchmarks --profile W1`: where a job of ours spends its CPU seconds, step by step.

Spark is left out: the tasks run in this process, each step is measured around its functions, and a step does not count the steps that
it calls. The job runs once to warm up, then the asked number of times; each step shows its least CPU seconds. All threads count.
"""

import functools
import pkgutil
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from benchmarks.contestants import CONTESTANTS, Contestant
from benchmarks.events import event_files
from muntin.tasks import Runner

STEPS: Mapping[str, tuple[str, ...]] = {
    "accumulate: count the rows": ("jobs.accumulate.accumulate_split.count",),
    "accumulate: scan, lift": ("jobs.accumulate.accumulate_split.stored", "jobs.accumulate.slot_lift.slot_lift"),
    "accumulate: seal": ("jobs.accumulate.accumulate_split.sealed",),
    "accumulate: arrange": ("jobs.accumulate.accumulate_split.arranged", "jobs.accumulate.accumulate_split.with_files"),
    "finalize: read": ("jobs.finalize.finalize_task.read_states", "jobs.finalize.finalize_task.in_order"),
    "finalize: arrange": ("jobs.finalize.finalize_task.arrange", "jobs.finalize.finalize_task.arrange_rows"),
    "finalize: assign": ("engine.windows._candidates", "engine.assignment.Assignment.only", "engine.windows._heads"),
    "finalize: reduce": ("engine.windows._reduced",),
    "finalize: finish": ("engine.windows.results",),
    "finalize: tallies": ("jobs.finalize.finalize_task.tallies",),
    "files: encode": ("store.parquet._encode",),
    "files: digest": ("store.parquet.digest_of", "store.parquet.digest_of_file", "store.contents._is_named"),
    "files: write": ("store.parquet.write_whole",),
    "publish": ("jobs.publish.finish.publish",),
    "tasks of accumulate, the rest": ("jobs.accumulate.accumulate_task.accumulate_share",),
    "tasks of finalize, the rest": ("jobs.finalize.finalize_task.finalize_shards",),
}
REST = "driver, the rest"


class Clock:
    """CPU seconds of this process by step; a step stands still while another that it calls runs."""

    def __init__(self) -> None:
        """Begin with the rest."""
        self.seconds: dict[str, float] = defaultdict(float)
        self._stack, self._since = [REST], time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    def around(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, measured."""

        @functools.wraps(function)
        def measured(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever it is
            self._switch()
            self._stack.append(step)
            try:
                return function(*args, **named)
            finally:
                self._switch()
                self._stack.pop()

        return measured

    def stop(self) -> dict[str, float]:
        """Step -> CPU seconds."""
        self._switch()
        return dict(self.seconds)


@contextmanager
def measuring() -> Iterator[Clock]:
    """Measure the steps of whatever runs meanwhile in this process."""
    clock = Clock()
    with ExitStack() as patches:
        for step, names in STEPS.items():
            for name in names:
                found = pkgutil.resolve_name(f"muntin.{name}")
                patches.enter_context(mock.patch(f"muntin.{name}", clock.around(step, found)))
        yield clock


def profile(contestant: Contestant, data: Path, scale: float, runs: int) -> dict[str, float]:
    """Step -> its CPU seconds in the cheapest of so many runs; a first run warms up."""
    files, out, found = event_files(contestant.work(scale), data), data / "out", list[dict[str, float]]()
    with mock.patch("benchmarks.ours.pipeline.session", _OneByOne):
        for _ in range(runs + 1):
            shutil.rmtree(out, ignore_errors=True)
            with measuring() as clock:
                contestant.write_windows(files, out)
            found.append(clock.stop())
    shutil.rmtree(out, ignore_errors=True)
    return min(found[1:], key=lambda seconds: sum(seconds.values()))


def show(work: str, data: Path, scale: float, runs: int, console: Console) -> None:
    """Print a table of the steps for each of our contestants of a work, as "W1"."""
    for one in CONTESTANTS:
        if one.ours and one.workload.name == work:
            seconds = profile(one, data, scale, runs)
            table = Table("step", title=f"{one.name}: {one.workload.question}")
            for heading in ("CPU s", "%"):
                table.add_column(heading, justify="right")
            total = sum(seconds.values())
            for step in (*STEPS, REST):
                if seconds.get(step, 0) >= total / 1000:
                    table.add_row(step, f"{seconds[step]:.2f}", f"{100 * seconds[step] / total:.0f}")
            table.add_row("all", f"{total:.2f}", "100")
            console.print(table)


class _OneByOne(Runner):
    """Tasks as for two cores, one after the other in this thread."""

    parallelism, spark = 2, None

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return [work(item) for item in items]
