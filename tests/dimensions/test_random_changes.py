"""Random stories of dimensions and tables of spans that change: a run that names no batch publishes what a first run does."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.sources.source import Source
from muntin.tasks import Local
from tests.case_counts import at_length, random_seeds
from tests.dimensions.worlds import HOURS, ROW, START, Row, World, hour, random_world
from tests.end_to_end.test_random_changes import published
from tests.forgetting.stops import Stop
from tests.storage.crashing import Crash

INSTANT = pa.timestamp("us", "UTC")
SPAN = pa.schema([("k", pa.string()), ("shift", pa.string()), ("begins", INSTANT), ("ends", INSTANT)])
Span = tuple[str | None, str, int, int]
KINDS: dict[str, Any] = {
    "quiet": windows.session("20m"),
    "long": windows.sliding("3h", step="30m"),
    "three": windows.arrival(windows.by_count(3)),
    "change": windows.unique_sliding("50m", resolution="1m"),
    "above": windows.while_("rates.rate > 1.5"),
}


@dataclass
class Story(World):
    """A world with a table of spans, and what a person may do to its tables.

    Attributes:
        tables: whether they are Delta tables; else one to three files each.
        kinds: of windows, beside hours and spans.
        late: lateness of hours and spans.
        spans: key, name, five minutes from and to.
    """

    tables: bool = field(init=False)
    kinds: Sequence[str] = field(init=False)
    late: Any = field(init=False)
    spans: set[Span] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tables = self.random.random() < 0.4
        self.kinds = self.random.sample([*KINDS], 2)
        self.late = self.random.choice(({}, {"allowed_lateness": "1h"}, {"grace": "1h"}))

    @property
    def dimension(self) -> Source:
        return self._source_of("rates")

    def _source_of(self, name: str, **at: Any) -> Any:
        folder = self.folder / name
        return (
            sources.table(str(folder), **at)
            if self.tables
            else sources.files(f"{folder}/*.parquet", **at, **({"all_files": True} if at else {}))
        )

    @property
    def pipelines(self) -> tuple[Pipeline, Pipeline]:
        """The pipeline over the events, and a pipeline over its hours; both look up, and have windows of spans."""
        shift = windows.given(
            self._source_of("spans", event_time="begins"), start="begins", end="ends", keys=["k"], columns=["shift"], **self.late
        )
        limits, below = Limits(max_quarantined=None, settle_after=0), self.looking_up
        kinds = {"hour": windows.tumbling("1h", **self.late), "shift": shift, **{name: KINDS[name] for name in self.kinds}}
        below = replace(below, windows=kinds, limits=limits)
        above = Pipeline(
            name="above",
            source=sources.windows(below, "hour"),
            schedule="@hourly",
            start=START,
            keys=["k"],
            windows={"pair": windows.tumbling("2h"), "shift": shift},
            aggregates={"n": agg.sum("n"), "euros": agg.sum("n * rates.rate")},
            lookups={"rates": below.lookups["rates"]},
            limits=limits,
        )
        return below, above

    def write_rows(self) -> None:
        nobody: Row = {"k": "nobody", "since": START, "rate": 1.0}  # a table without any row is refused
        self._put("rates", [*self.rows, nobody] if self.tables else self.rows, ROW)

    def write_spans(self) -> None:
        rows = [(key, shift, hour(first / 12), hour(end / 12)) for key, shift, first, end in sorted(self.spans, key=repr)]
        self._put("spans", [dict(zip(SPAN.names, span, strict=True)) for span in rows], SPAN)

    def _put(self, name: str, rows: Sequence[Row], schema: pa.Schema) -> None:
        """A table gets other rows: a commit, or other files."""
        folder = self.folder / name
        if self.tables:
            write_deltalake(folder, pa.Table.from_pylist([*rows], schema), mode="overwrite")
            if self.random.random() < 0.3:
                DeltaTable(folder).optimize.compact()
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = self.random.sample("abc", self.random.randint(1, 3))
        places = [self.random.choice(names) for _ in rows]
        for file in names:
            part = [row for row, place in zip(rows, places, strict=True) if place == file]
            pq.write_table(pa.Table.from_pylist(part, schema), folder / f"{file}.parquet")

    def change_spans(self) -> None:
        """A span more, others that move or get another name, a span less."""
        for _ in range(self.random.choice((1, 1, 3))):
            key, shift, first, end = span = self.random.choice(sorted(self.spans, key=repr) or [self._span()])
            self.spans.discard(span)
            moved = first + self.random.randint(-6, 6)
            choices: list[list[Span]] = [
                [span, self._span()],
                [(key, shift, moved, max(moved + 1, end))],
                [(key, f"{shift}'", first, end)],
                [],
            ]
            self.spans.update(self.random.choice(choices))
        self.write_spans()

    def _span(self) -> Span:
        first = self.random.randrange(-6, 12 * HOURS)
        return self.random.choice(("a", "b", "c", None)), self.random.choice("xy"), first, first + self.random.randint(1, 30)

    def act(self, before: tuple[list[Row], set[Span]]) -> None:
        """Something happens to a table, or to the events of a batch. `before`: what tables held once."""
        what = self.random.random()
        if what < 0.4:
            self.change_dimension()
        elif what < 0.8:
            self.change_spans()
        elif what < 0.9:
            self.write_batch(self.random.randrange(HOURS - 1))
        else:
            self.rows, self.spans = [dict(row) for row in before[0]], {*before[1]}
            self.write_dimension()
            self.write_spans()

    def run_both(self, start: datetime | None, state: str = "state", at_once: int = 2) -> None:
        for each in self.pipelines:
            run(each, root=self.folder / state, start=start, end=hour(HOURS), spark=Local(at_once))


def tables_that_change(seed: int, folder: Path) -> None:
    """Tables change, runs stop anywhere; the last, or two at once, name no batch that was read, and a further run has nothing to do."""
    story = random_world(folder, seed, Story)
    chance = story.random
    story.spans = {story._span() for _ in range(chance.randrange(8))}
    story.write_spans()
    for each in story.pipelines:
        run(each, root=folder / "state", start=START, end=hour(HOURS - 1), spark=Local(2))
    before = [dict(row) for row in story.rows], {*story.spans}
    for _ in range(chance.randint(1, 3)):
        for _ in range(chance.randint(1, 3)):
            story.act(before)
        if chance.random() < 0.5:
            with Stop(chance.randrange(150), after=chance.random() < 0.5).watching(), suppress(Crash):
                story.run_both(chance.choice((None, hour(HOURS - 1))), at_once=1)
    runs = chance.choice([[None], [hour(HOURS - 1)], [None, hour(HOURS - 1)]])  # by itself, of the next batch, both at once
    with ThreadPoolExecutor(2) as threads:
        [*threads.map(story.run_both, runs)]
    story.run_both(START, "clean")
    assert published(story.pipelines, folder / "state") == published(story.pipelines, folder / "clean"), seed
    for each in story.pipelines if len(runs) == 1 else ():
        again = run(each, root=folder / "state", end=hour(HOURS), spark=Local(1))
        assert (again.batches, again.published) == ((), {}), seed
    shutil.rmtree(folder)


def test_a_story(tmp_path: Path) -> None:
    for seed in random_seeds(100):
        tables_that_change(seed, tmp_path / str(seed))


@at_length
@pytest.mark.parametrize("seed", range(60))
def test_stories(tmp_path: Path, seed: int) -> None:
    tables_that_change(seed, tmp_path / "story")
