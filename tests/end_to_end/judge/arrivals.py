"""Scenarios of windows in order of arrival: each window twice, batches of two files, rows that say when they came."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, sources
from muntin.testing.oracle import SECOND, Batch, Judgement
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import Bench
from tests.end_to_end.judge.scenarios import AHEAD, FILTER, LENGTH, MEASURES, TYPES, Scenario, scenario
from tests.oracle import Count, Delta, Keep, Punctuation, Time, judge_arrival
from tests.properties.random_arrivals import Asked, AskedSort, Twin, sort

COLUMNS = {**TYPES, "a": face.TIME}


def count(n: int, **more: int) -> Twin:
    """Or a time in microseconds."""
    return Twin(Count(n, **more), "by_count", (n,), more)


def time(seconds: float) -> Twin:
    """Of arrival."""
    return Twin(Time(round(seconds * SECOND)), "by_time", (round(seconds * SECOND),), {})


def delta(d: float, **more: bool) -> Twin:
    """Of `v`, where a null counts as none."""
    return Twin(Delta(lambda row: row["v"] or 0, d, **more), "by_delta", ("coalesce(v, 0)", d), more)


def punctuation(what: str) -> Twin:
    """A marker is a row whose `v` is 3."""
    return Twin(Punctuation({"v = 3": lambda row: row["v"] == 3}.get(what, what)), "by_punctuation", (what,), {})


def keep(seconds: int, **more: bool) -> Twin:
    """By age."""
    return Twin(Keep(age=seconds * SECOND, **more), "keep", (), {"age": seconds * SECOND, **more})


def asked(evict: Twin, trigger: Twin | None = None, partitions: Twin | None = None, **flags: Any) -> Asked:
    """A window twice."""
    return Asked(evict, trigger, partitions, flags)


ARRIVALS: Mapping[str, Asked | AskedSort] = {
    "four": asked(count(4), flush=True),
    "four_groups": asked(count(4), group_by=("s",)),
    "three_or_soon": asked(count(3, or_time=7 * SECOND)),
    "every_five": asked(time(5)),
    "every_four_dense": asked(time(4), dense=True),
    "rises": asked(delta(4)),
    "moves": asked(delta(3, absolute=True), flush=True),
    "marked": asked(punctuation("v = 3")),
    "files": asked(punctuation("file")),
    "batches": asked(punctuation("batch")),
    "count_count": asked(count(3), count(2)),
    "count_delta": asked(count(3), delta(4), incomplete=True),
    "count_time": asked(count(4), time(6)),
    "delta_count": asked(delta(4), count(1), incomplete=True),
    "delta_delta": asked(delta(6), delta(2), flush=True),
    "delta_time": asked(delta(5), time(7), group_by=("s",)),
    "time_count": asked(time(4), count(3), flush=True),
    "time_delta": asked(time(8), delta(3)),
    "time_time": asked(time(12), time(5), group_by=("s",)),
    "kept": asked(count(3), None, keep(6)),
    "kept_sliding": asked(count(2), count(1), keep(5), incomplete=True),
    "kept_emit": asked(count(5), None, keep(4, emit=True)),
    "sorted": sort(5, "v"),
    "sorted_down": sort(3, "y", lambda row: row["y"], descending=True, flush=True),
}


@dataclass(frozen=True)
class ArrivalBench(Bench):
    """A scenario on disk, its batches in two files each."""

    def write(self, case: Scenario) -> None:
        """Files that are not needed go."""
        for batch in case.batches:
            for name in ("one", "two"):
                rows = [row for row in batch.rows if row["file"] == name]
                write(self.folder / "data" / f"{face.instant(batch.start):{face.NAME}}-{name}.parquet", rows)

    def truth(self, name: str) -> Judgement:
        """The oracle's word."""
        oracle = {key: measure.oracle for key, measure in MEASURES.items()}
        where = {"max_ahead": AHEAD, "where": self.case.kept}
        return judge_arrival(ARRIVALS[name].theirs, self.case.batches, oracle, keys=self.case.keys, **where)


def write(path: Path, rows: list[Mapping[str, Any]]) -> None:
    """One Parquet file, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if rows:
        pq.write_table(pa.Table.from_pylist(rows, pa.schema({"t": face.TIME, **COLUMNS})), path)


def coming(seed: int, batch: Batch) -> Batch:
    """The rows in order of arrival: now and then at once, or at the very ends of the interval."""
    dice = random.Random(f"{seed} {batch.start}")
    times = sorted(batch.start + dice.choice([0, LENGTH - 1, dice.randrange(11) * SECOND, dice.randrange(LENGTH)]) for _ in batch.rows)
    times = [min(at, batch.end - 1) for at in times]
    cut = dice.randint(0, len(times))
    rows = [{**row, "a": at, "file": "one" if n < cut else "two"} for n, (row, at) in enumerate(zip(batch.rows, times, strict=True))]
    return replace(batch, rows=rows)


def arrival_bench(seed: int, folder: Path, spark: object, names: tuple[str, ...] = tuple(ARRIVALS)) -> ArrivalBench:
    """Written and defined, not yet run."""
    case = scenario(seed)
    case = replace(case, batches=tuple(coming(seed, batch) for batch in case.batches), windows=dict.fromkeys(names))
    made = ArrivalBench(case, folder, spark, defined(case, folder / "data", names))
    made.write(case)
    return made


def defined(case: Scenario, data: Path, names: tuple[str, ...]) -> Pipeline:
    """As a user writes it."""
    files = str(data / ("{start:" + face.NAME + "}-*.parquet"))
    return Pipeline(
        name="arriving",
        source=sources.files(files, event_time="t", arrival_time="a", missing="empty"),
        schedule=face.span(LENGTH),
        start=face.instant(case.batches[0].start),
        keys=list(case.keys),
        windows={name: ARRIVALS[name].ours for name in names},
        aggregates={name: measure.public for name, measure in MEASURES.items()},
        limits=Limits(max_ahead=face.span(AHEAD)),
        **({"where": FILTER} if case.where else {}),
    )
