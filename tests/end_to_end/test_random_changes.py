"""Random stories of files that come, change and go in earlier batches: a run that names no batch publishes what a first run does."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs import steps
from muntin.jobs.publish import finish
from muntin.tasks import Local
from tests.case_counts import at_length, random_seeds
from tests.end_to_end.hourly import HOUR, START, hour, times

HOURS = 6
KINDS: dict[str, Any] = {
    "hour": windows.tumbling("1h"),
    "visit": windows.session("40m"),
    "change": windows.unique_sliding("50m", resolution="1m"),
    "above": windows.while_("x > 4"),
}


@dataclass
class Story:
    """Files below a folder, and what a person may do to them."""

    folder: Path
    chance: Random
    suffix: str
    made: int = field(default=0)

    def pipelines(self) -> tuple[Pipeline, Pipeline]:
        """The pipeline over the files, and a pipeline over its windows."""
        common: dict[str, Any] = {"schedule": "1h", "start": START, "limits": Limits(max_quarantined=None, settle_after=0)}
        over_files = Pipeline(
            name="files",
            source=sources.files(
                f"{self.folder}/{{start:%H}}/*.{self.suffix}", event_time="at", missing="empty", types={"k": "VARCHAR", "x": "DOUBLE"}
            ),
            keys=["k"],
            windows=KINDS,
            aggregates={"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x")},
            **common,
        )
        upstream = Pipeline(
            name="over",
            source=sources.windows(over_files, "hour"),
            windows={"pair": windows.tumbling("2h")},
            aggregates={"n": agg.sum("n")},
            **common,
        )
        return over_files, upstream

    def write(self, at: int, name: str) -> None:
        count = self.chance.randint(1, 4)
        minutes = sorted(self.chance.randint(0, 59) for _ in range(count))
        rows = {
            "at": times(*(60 * at + each for each in minutes)),
            "k": self.chance.choices("ab", k=count),
            "x": [self.chance.randint(0, 9) / 3 for _ in minutes],
        }
        path = self.folder / f"{at:02d}" / f"{name}.{self.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        (pq.write_table if self.suffix == "parquet" else pyarrow.csv.write_csv)(pa.table(rows), path)

    def add(self, at: int) -> None:
        self.made += 1
        self.write(at, f"{self.chance.choice('amz')}{self.made}")

    def act(self) -> None:
        """Something happens to the files of a batch."""
        at = self.chance.randrange(HOURS - 1)
        there = sorted((self.folder / f"{at:02d}").glob(f"*.{self.suffix}"))
        if not there or self.chance.random() < 0.3:
            return self.add(at)
        file = self.chance.choice(there)
        acts: list[Callable[[], object]] = [
            lambda: self.write(at, file.stem),
            lambda: file.rename(file.with_name(f"{self.chance.choice('bny')}{file.name}")),
            lambda: os.utime(file, (1, self.chance.randint(1, 10**9))),
        ]
        if len(there) > 1:
            acts.append(file.unlink)
        self.chance.choice(acts)()
        return None


def published(pipelines: tuple[Pipeline, ...], root: Path) -> list[list[dict[str, Any]]]:
    return [read(each, name, root=root).to_pylist() for each in pipelines for name in each.windows]


def run_both(story: Story, root: Path, start: datetime | None, end: datetime) -> None:
    for each in story.pipelines():
        run(each, root=root, start=start, end=end, spark=Local(2))


@contextmanager
def stopped(chance: Random, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A run may end between reading and reporting, or between reporting and publishing."""

    def stop(*_: object, **__: object) -> None:
        raise OSError("the lights went out")

    with monkeypatch.context() as patch, suppress(OSError):
        patch.setattr(*chance.choice([(steps, "record_accumulated", stop), (finish, "finalize", stop)]))
        yield


def lived(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(folder / "data", chance := Random(seed), Random(seed).choice(["parquet", "csv"]))
    for at in range(HOURS):
        story.add(at)
    run_both(story, folder / "state", START, hour(HOURS - 1))
    for _ in range(chance.randint(1, 3)):
        for _ in range(chance.randint(1, 4)):
            story.act()
        if chance.random() < 0.4:
            with stopped(chance, monkeypatch):
                run_both(story, folder / "state", START + (HOURS - 1) * HOUR, hour(HOURS))
    runs = chance.choice(
        [[None], [START + (HOURS - 1) * HOUR], [None, START + (HOURS - 1) * HOUR]]
    )  # by itself, of the next batch, both at once
    with ThreadPoolExecutor(2) as threads:
        [*threads.map(lambda start: run_both(story, folder / "state", start, hour(HOURS)), runs)]
    run_both(story, folder / "clean", START, hour(HOURS))
    pipelines = story.pipelines()
    assert published(pipelines, folder / "state") == published(pipelines, folder / "clean"), seed
    shutil.rmtree(folder)


def test_a_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in random_seeds(100):
        lived(seed, tmp_path / str(seed), monkeypatch)


@at_length
@pytest.mark.parametrize("seed", range(60))
def test_stories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    lived(seed, tmp_path / "story", monkeypatch)
